"""How many instructions a GPU would issue, estimated from the machine code of a counted program.

Each basic block of a kernel begins with a call; counts.cpp tells how often warps entered it. What stands behind it is weighed: an
address is two or three instructions on a GPU, a branch two, logic mostly a part of one. The weights were fitted to Nsight Compute's
counts of 25 kernels of unseen.cu (docs/results/counting/instructions-h100.json; docs/counting.md says how near they are).
The longest chain of instructions that wait for each other says how long a warp takes that has nobody to wait for.
"""

import functools
import re
import subprocess

import model

# In clocks: how long one waits for what the instruction gives. Measured, but for what is supposed of a jump, of an addition with its
# answer, and of all others.
ANSWERS = {**model.devices()["h100"]["answers"], "answered": 60, "jump": 6, "plain": 4.5, "register": 0, "constant": 29}
WEIGHTS = {"logic": 0.2, "shift": 1.1, "add": 1, "wide": 0.3, "jump": 0.5, "branch": 2.1, "emulated": 1, "move": 0.8, "popc": 1, "vote": 1,
           "shuffle": 1, "reduce": 1, "match": 1, "access": 0.6, "index local": 0.7, "index global": 2.1, "index own": 0.6, "index constant": 0.7}
# Of them, those that keep the unit for integers busy, which takes half as many in a clock as all units together.
INTEGERS = {"logic": 0.6, "shift": 1.1, "wide": 0.5, "move": 0.2, "index global": 0.2}
KINDS = (("logic", ("and", "or", "xor", "not", "bt")), ("shift", ("sh", "sa", "ro", "set", "cmov", "neg", "cmp", "test")),
         ("add", ("add", "sub", "lea", "imul", "inc", "dec", "adc", "sbb", "mul")))
CALL, LONGEST = 5, 1 << 16  # bytes: of a hook's call, and of no basic block
HEAD = 32  # bytes: a block begins with the call of its hook, or a few instructions before
UNROLLED = 4  # so often, as CUDA's compiler does it
# CUDA's words that the emulation computes bit by bit, and how many instructions CUDA's compiler makes of them.
EMULATED = {"<__v": 6, "<__brev": 1, "<__byte_perm": 1, "<__funnelshift": 1, "<__dp4a": 1}
HOOKS = "__sanitizer_cov_load", "__sanitizer_cov_store", "note_atomic"
# What the lanes of a warp do together.
WORDS = {"on_cpu::meet": "vote", "on_cpu::shuffle": "shuffle", "on_cpu::reduce": "reduce", "__match_any_sync": "match"}
WORD = re.compile(rf"({'|'.join(WORDS)})\b")
REGISTERS = {"%" + name.format(n): n for n in "abcd" for name in ("r{}x", "e{}x", "{}x", "{}l", "{}h")}
REGISTERS |= {"%" + name.format(n): n for n in ("si", "di", "bp") for name in ("r{}", "e{}", "{}", "{}l")}
REGISTERS |= {f"%r{n}{end}": f"r{n}" for n in range(8, 16) for end in ("", "d", "w", "b")}
WIDE = re.compile(r"%r(?:[abcd]x|[sd]i|bp|\d+)$")


def registers(text):
    return [REGISTERS[name] for name in re.findall(r"%\w+", text) if name in REGISTERS]


def weighed(code, memories):
    """{kind: how many} of a block's [(address, operation, operands)], and its longest "chain", in clocks. The memories are those of
    the accesses, by the address behind their hook."""
    many, known, memory, chain = dict.fromkeys(WEIGHTS, 0), {}, None, 0

    def known_at(names):
        return max((known.get(name, 0) for name in names), default=0)

    for n, (address, operation, text) in enumerate(code):
        if n and any(hook in code[n - 1][2] for hook in HOOKS):
            memory = memories.get(address, "register")  # or a part of an access that clang has taken apart
        if operation == "lock":
            operation, _, text = text.partition(" ")
        word = WORD.search(text) if operation == "call" else None
        if word:
            word = WORDS[word[1]]
            many[word] += 1
            known["a"] = known_at(("si", "di")) + ANSWERS[word]
            chain = max(chain, known["a"])
        for name, number in EMULATED.items():
            if operation == "call" and name in text:
                many["emulated"] += number
                known["a"] = known_at(("di", "si", "d")) + number * ANSWERS["plain"]
                chain = max(chain, known["a"])
        if operation in ("call", "push", "pop", "ret", "jmp", "data16", "cs", "int3", "ud2") or operation.startswith("nop"):
            continue
        if operation.startswith("j"):
            goes_to = re.match("[0-9a-f]+", text)
            many["jump" if goes_to and int(goes_to[0], 16) < address else "branch"] += 1
            chain = max(chain, known.get("flags", 0) + ANSWERS["jump"])
            continue
        operands = [each.strip() for each in re.findall(r"[^,(]*\([^)]*\)|[^,]+", text)]
        to = operands[-1] if operands else ""
        if to in ("%rdi", "%edi", "%rsi", "%esi", "%rdx", "%edx") and any(
                hook in a for _, o, a in code[n + 1:n + 5] if o == "call" for hook in HOOKS):
            known[REGISTERS[to]] = 0  # what a hook is told
            continue
        stored = next((each for each in operands if "(" in each), "") if not operation.startswith("lea") else ""
        slot = stored if "%rsp" in stored else ""
        moves = operation.startswith("mov")
        reads = operands[:-1] + [stored] if moves or operation.startswith(("lea", "set")) else operands
        uses = ["flags"] * operation.startswith(("cmov", "set", "adc", "sbb")) + [slot]
        begin = known_at([name for each in reads for name in registers(each)] + uses)
        if stored and not slot and to != stored:
            begin = max(begin, known.get(memory, 0))  # of what may have been stored there
        kind = next((kind for kind, names in KINDS if operation.startswith(names)), None)
        takes = ANSWERS["plain"]
        if stored and not slot:
            if operation == "xadd":
                takes = ANSWERS["answered"] if memory == "local" else ANSWERS["plain"]
            elif to != stored:
                takes = ANSWERS[memory or "plain"]
            elif moves:  # nobody waits for what goes to memory, but for a load behind it
                known[memory] = begin
            if memory != "register":
                many["access"] += 1
                many[f"index {memory or 'local'}"] += "," in stored
            if kind and to in REGISTERS:
                many[kind] += 1
        elif moves:
            after, into = code[n + 1][1:] if n + 1 < len(code) else ("", "")
            is_free = slot or operands[0].startswith("$") or (into.endswith(to) and not after.startswith(("mov", "cmp", "test", "j")))
            extends = operation.startswith(("movz", "movs")) and not slot
            many["logic" if extends else "move"] += 1 if extends or not is_free else 0
            takes = takes if extends else 0
        elif operation in ("popcnt", "bsf", "bsr", "tzcnt", "lzcnt"):
            many["popc"] += 1
            takes = ANSWERS["popc"]
        elif kind:
            many[kind] += 1
            many["wide"] += any(WIDE.match(each) for each in operands)
        end = begin + takes
        chain = max(chain, end)
        if kind and not operation.startswith(("lea", "set", "cmov", "not")):
            known["flags"] = end
        if operation.startswith(("cmp", "test")):
            continue
        for name in (to, operands[0]) if operation == "xadd" else (to,):
            if name in REGISTERS or (slot and name == slot):
                known[REGISTERS.get(name, slot)] = end
    # A loop of one block is unrolled, and its turns overlap.
    goes_to = re.match("[0-9a-f]+", code[-1][2]) if code and code[-1][1].startswith("j") else None
    again = goes_to and 0 <= code[0][0] - int(goes_to[0], 16) < HEAD
    return {**many, "chain": chain / UNROLLED if again else chain}


@functools.cache
def blocks(program, first, last):
    """{address: [(address, operation, operands), ...]} of the basic blocks between two addresses, by the address behind its call."""
    part = f"--start-address={first}", f"--stop-address={last}"  # all of a program takes longer than to count its kernels
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-C", *part, program], capture_output=True, text=True, check=True).stdout
    found, code = {}, None
    for line in text.splitlines():
        at = re.match(r"\s+([0-9a-f]+):\t(\S+)\s*([^#]*)", line)
        if not at:
            code = None
        elif "__sanitizer_cov_trace_pc>" in at[3]:
            code = []
        elif code is not None:
            found.setdefault(int(at[1], 16), code) if not code else None
            code.append((int(at[1], 16), at[2], at[3].strip()))
    return found


def of(program, launch):
    """Of a launch as counts.cpp has written it: {"all": instructions of warps, "integers", "popc", "votes" and other words of a warp,
    "chain": clocks of warps}."""
    entered = {int(site.rpartition("+")[2], 16): times for site, times in launch["entered"].items()}
    memories = {int(line["site"].rpartition("+")[2], 16): line["memory"] for line in launch["lines"]}
    many = dict.fromkeys((*WEIGHTS, "chain"), 0.0)
    code = blocks(program, min(entered) - CALL, max(entered) + LONGEST)
    for address, times in entered.items():
        for kind, number in weighed(code.get(address, []), memories).items():
            many[kind] += times * number
    return {"all": sum(weight * many[kind] for kind, weight in WEIGHTS.items()),
            "integers": sum(weight * many[kind] for kind, weight in INTEGERS.items()),
            **{kind: many[kind] for kind in ("popc", *WORDS.values(), "chain")}}
