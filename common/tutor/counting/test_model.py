"""The model of times: what it says of kernels that are known, and that accuracy.json and devices.json are what it gives.

    test_model.py [--build BUILD] [CLASS ...]
"""

import collections
import json
import pathlib
import statistics
import sys
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tests")]
import accuracy  # noqa: E402
import devices  # noqa: E402
import instructions  # noqa: E402
import model  # noqa: E402
import programs  # noqa: E402
from programs import BUILD, GIVEN, Test  # noqa: E402

CONTENTS, H100 = accuracy.contents(), model.devices()["h100"]
NAMES = {words: name for name, words in model.LIMITS.items()}


def counts_of(*key):
    return CONTENTS["counts"][" ".join(key)]


LOCAL = counts_of("03-local-atomics", "--variant", "local", "uniform", str(1 << 30))
GLOBAL = counts_of("02-global-atomics", "--variant", "global", "constant", str(1 << 30))
RAMP = counts_of("05-launch-tuning", "--variant", "vector", "ramp", str(1 << 30))


def lowest(launches, device=H100):
    return NAMES[model.lowest(launches, 1 << 30, device)]


def gains(launches):
    return dict(model.changes(launches, H100))


class Record(Test):
    def wrong(self, device):
        return [row["name"] for row in CONTENTS["rows"] if {**row, **accuracy.predicted(row, CONTENTS["counts"], device)} != self.tidy(row, device)]

    @staticmethod
    def tidy(row, device):
        said = accuracy.predicted(row, CONTENTS["counts"], device)
        if said["predicted_us"] and abs(said["predicted_us"] / (row["predicted_us"] or 1) - 1) < 1e-4:
            return {**said}
        return {**row}

    def test_published_predictions_are_those_of_the_model_and_of_no_other_device(self):
        self.assertEqual(self.wrong(H100), [])
        for name in ("answer_ns", "visit_ns", "ceiling_gb_s", "bend", "clock_ghz"):
            self.assertTrue(self.wrong({**H100, name: H100[name] * 1.02}), name)

    def test_the_page_says_how_right_the_numbers_would_be_that_branches_forbid(self):
        rows = [row for row in CONTENTS["rows"] if "part at branches" in row["reason"]]
        factors = [model.all_us(CONTENTS["counts"][row["key"]], H100, row["api"]) / row["measured_us"] for row in rows]
        page = " ".join((accuracy.ROOT / "docs/counting.md").read_text(encoding="utf-8").split())
        self.assertIn(f"Of {len(rows)} that it would have given {sum(0.8 <= each <= 1.25 for each in factors)} were within a quarter.", page)

    def test_both_halves_are_drawn_by_their_names(self):
        for row in CONTENTS["rows"]:
            if row["of"] == "chapters":
                self.assertEqual(row["half"], ("seen", "unseen")[int(accuracy.hashed(row["name"]), 16) % 2], row["name"])
        unseen = {row["name"].split()[0] for row in CONTENTS["rows"] if (row["of"], row["half"]) == ("others", "unseen")}
        self.assertEqual(unseen, {row["kernel"] for row in accuracy.rows_of(accuracy.KERNELS[-1])})

    def test_measured_constants_are_those_of_the_recordings(self):
        results = {name: json.loads((accuracy.RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in ("h100", "counting/words-h100")}
        found = devices.measured(results["h100"], results["counting/words-h100"])
        for name, value in found.items():
            if isinstance(value, float):
                self.assertAlmostEqual(H100[name], value, places=3, msg=name)
        self.assertEqual(set(H100), {*found, *devices.FITTED, "fitted"})

    def test_a_recording_makes_a_device(self):
        found = devices.of_recording(accuracy.RESULTS / "h100.json")
        self.assertEqual({name: round(value, 4) if isinstance(value, float) else value for name, value in found.items() if name != "launch_us"},
                         {name: value for name, value in H100.items() if name != "launch_us"})
        for lacks in ("h200.json", "xeon-2-threads.json", "none.json"):
            with self.assertRaisesRegex(devices.recorded.NotRecorded, lacks):
                devices.of_recording(accuracy.RESULTS / lacks)

    def test_kibs_share_as_many_queues_as_the_counters_say(self):
        of = json.loads((accuracy.RESULTS / "counting/queues-h100.json").read_text(encoding="utf-8"))["first_of_queue"]
        # Each KiB has two queues; which of them its first 256 bytes have changes from 64 KiB to 64 KiB.
        pair = {of[kib]: kib % 32 for kib in (*range(32), *range(64, 96))}
        self.assertEqual((len(pair), len(set(of))), (64, 80))
        for first, most in ((32, 1), (64, 2), (256, 8), (384, 12), (1024, 28)):  # counts_test.cpp; other memory differs by one or two
            self.assertAlmostEqual(max(collections.Counter(pair[queue] for queue in of[:first] if queue in pair).values()), most, delta=2)

    def test_shares_and_order_are_counted_rightly(self):
        rows = [{"of": "others", "api": "CUDA", "pixels": 1, "name": f"{n} ramp", "measured_us": measured, "predicted_us": predicted}
                for n, (measured, predicted) in enumerate(((100, 104), (200, 100), (110, 109), (400, None)))]
        found = accuracy.summary(rows)
        self.assertEqual((found["rows"], found["numbers"], found["worst"]), (4, 3, 2))
        self.assertAlmostEqual(found["within_5"], 2 / 3)
        self.assertEqual(accuracy.in_order(rows), (0, 2))  # 100 and 110 are too near


class Limits(Test):
    def test_lowest_limit_is_what_the_chapters_say_it_is(self):
        self.assertEqual([lowest(each) for each in (LOCAL, GLOBAL, RAMP)], ["wait", "queue", "banks"])

    def test_where_a_limit_is_absent_another_takes_its_place(self):
        (of,) = RAMP
        self.assertEqual(lowest([{**of, "passes": of["local"]}]), "memory")
        (of,) = GLOBAL
        self.assertEqual(lowest([{**of, "visits": 0, "fullest": 0}]), "wait")
        self.assertNotIn(model.LIMITS["queue"], dict(model.limits([{**of, "visits": 0, "fullest": 0}], 1 << 30, H100)))

    def test_groups_that_find_no_place_come_in_a_second_wave(self):
        (of,) = LOCAL
        large = {**of, "local_bytes": 120 << 10}
        self.assertEqual((model.places(of, H100), model.places(large, H100)), (8, 1))
        self.assertGreater(model.times(large, H100)["together"], 1.9 * model.times(of, H100)["together"])

    def test_no_number_where_own_arrays_decide_but_the_reason(self):
        (of,) = LOCAL
        with self.assertRaisesRegex(model.NoNumber, "own arrays"):
            model.time_us([{**of, "own": of["loads"], "own_missed": of["loads"]}], H100)
        small = {name: value / 1000 if isinstance(value, (int, float)) and name != "group_size" else value for name, value in of.items()}
        model.time_us([of, {**small, "groups": of["groups"], "unsure": of["loads"]}], H100)  # a launch that takes next to nothing decides nothing
        with self.assertRaisesRegex(model.NoNumber, "8 bytes"):
            model.time_us([{**of, "wide_atomics": of["loads"]}], H100)
        with self.assertRaisesRegex(model.NoNumber, "just stored"):
            model.time_us([{**of, "again": of["loads"]}], H100)
        with self.assertRaisesRegex(model.NoNumber, "without atomics"):
            model.time_us([{**of, "shared_stores": of["loads"]}], H100)
        parted = {**of, "parted": 0.5}
        model.time_us([parted], H100)  # the answers of memory decide
        with self.assertRaisesRegex(model.NoNumber, "part at branches"):
            model.time_us([{**parted, "chain": 200 * of["chain"]}], H100)

    def test_what_the_second_level_cache_has_no_memory_gives(self):
        (of,), (ramp,) = LOCAL, RAMP
        near = model.times({**of, "near": of["missed"]}, H100)
        self.assertEqual((near["memory"], model.times(ramp, H100)["memory"] > 0), (0, True))
        self.assertLess(near["wait"], 0.6 * model.times(of, H100)["wait"])

    def test_idle_warps_leave_the_others_more_and_whole_sectors_take_less(self):
        (of,) = LOCAL
        half = model.times({**of, "idle": of["groups"] * of["group_size"] / 64}, H100)["wait"]
        self.assertAlmostEqual(half / model.times(of, H100)["wait"], 2, delta=0.01)
        self.assertLess(model.times({**of, "loading": 0.1}, H100)["wait"], 0.98 * model.times(of, H100)["wait"])
        (of,) = GLOBAL
        queue = model.times({**of, "whole": of["visits"]}, H100)["queue"] / model.times(of, H100)["queue"]
        self.assertAlmostEqual(queue, H100["whole_ns"] / H100["visit_ns"])

    def test_constant_memory_gives_one_address_after_the_other(self):
        (of,) = LOCAL
        per = of["loads"] / H100["multiprocessors"] / H100["clock_ghz"]
        self.assertAlmostEqual(model.times({**of, "constants": 32 * of["loads"]}, H100)["instructions"] / per, 64, delta=1)

    def test_registers_are_given_by_eight(self):
        (of,) = LOCAL
        self.assertEqual([model.places({**of, "registers": number}, H100) for number in (32, 33, 40, 41)], [8, 6, 6, 5])
        self.assertEqual(model.places({**of, "group_size": 225}, H100), 8)  # of whole warps


class Changes(Test):
    def test_bytes_in_flight_are_gained_by_items_and_width_and_not_by_copies(self):
        found = gains(LOCAL)
        self.assertGreater(found["twice the work-items"], 1.8)
        self.assertGreater(found["loads four times as wide"], 3)
        self.assertEqual((found["a local table for each lane"], found["half the visits in the L2 cache"]), (1, 1))

    def test_banks_are_relieved_by_copies_and_queues_by_fewer_visits(self):
        self.assertGreater(gains(RAMP)["a local table for each lane"], 2)
        self.assertEqual(gains(RAMP)["half the visits in the L2 cache"], 1)
        self.assertAlmostEqual(gains(GLOBAL)["half the visits in the L2 cache"], 2, delta=0.05)

    def test_words_fit_a_terminal(self):
        launch = {"kernel": "k", "groups": 264, "group_size": 256, "local_bytes": 1024, "barriers": 2, "idle": 0, "blocks": 1, "blocks_loading": 1,
                  "loads_ahead": 1, "others_ahead": 0, "queues": [0],
                  "lines": [{"what": "load", "memory": "global", **dict.fromkeys(("lanes", "requests", "sectors", "tags", "waits"), 1 << 20),
                             "bytes": 1, "found": 0, "unsure": 0, "again": 0, "near": 0, "whole": 0,
                             "visits": 0, "passes": 0}]}
        with mock.patch.object(model, "LEAST_GAIN", 1.01):
            lines = model.in_words({"api": "OpenCL", "pixels": 1 << 25, "launches": [launch]}, "h200")
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertIn("  -> bytes in flight", "\n".join(lines))


class Instructions(Test):
    def test_a_block_is_weighed_and_its_longest_chain_found(self):
        code = [(0, "lea", "(%rsi,%rax,4),%rdi"), (4, "call", "1 <__sanitizer_cov_load4>"), (8, "mov", "(%rsi,%rax,4),%ecx"),
                (12, "add", "%ecx,%edx"),
                (16, "add", "%r8,%r9"), (20, "popcnt", "%r10d,%r11d"), (24, "cmp", "%edx,%ebx"), (28, "jne", "1000 <k>")]
        many = instructions.weighed(code, {8: "global"})
        self.assertEqual({kind: times for kind, times in many.items() if times and kind != "chain"},
                         {"access": 1, "index global": 1, "add": 2, "wide": 1, "popc": 1, "shift": 1, "branch": 1})
        self.assertEqual(many["chain"], 39 + 4.5 + 4.5 + 6)  # the load, the addition, the comparison, the jump
        alone = instructions.weighed(code[:3] + code[4:], {8: "global"})
        self.assertEqual(alone["chain"], 39)
        loop = [*code[:-1], (28, "jne", "0 <k>")]  # its turns overlap
        self.assertEqual(instructions.weighed(loop, {8: "global"})["chain"], many["chain"] / instructions.UNROLLED)
        self.assertEqual(instructions.weighed(code, {})["access"], 0)  # a part of another access

    def test_words_of_a_warp_are_told_apart_and_a_load_waits_for_a_store(self):
        code = [(0, "call", "1 <on_cpu::meet(unsigned int)>"), (4, "call", "1 <unsigned int __match_any_sync<int>(unsigned int)>"),
                (8, "call", "1 <__vminu4(unsigned int, unsigned int)>")]
        many = instructions.weighed(code, {})
        self.assertEqual((many["vote"], many["match"], many["emulated"], many["shuffle"]), (1, 1, 6, 0))
        stored = [(0, "mov", "(%rcx),%eax"), (4, "call", "1 <__sanitizer_cov_store4>"), (8, "mov", "%eax,(%rdx)"),
                  (12, "call", "1 <__sanitizer_cov_load4>"),
                  (16, "mov", "(%rbx),%esi")]
        memories = {0: "local", 8: "local", 16: "local"}
        self.assertEqual(instructions.weighed([(-4, "call", "1 <__sanitizer_cov_load4>"), *stored], memories)["chain"], 58)
        self.assertEqual(instructions.weighed([(-4, "call", "1 <__sanitizer_cov_load4>"), *stored], {**memories, 8: "global"})["chain"], 33.5)


    def test_they_are_as_near_the_profilers_as_the_page_says(self):
        recorded, off = json.loads((accuracy.RESULTS / "counting/instructions-h100.json").read_text(encoding="utf-8"))["rows"], {}
        for row in recorded:
            of = counts_of(row["kernel"], row["picture"], str(row["groups"]), str(row["pixels"]))[0]
            off.setdefault(row["kernel"], []).append(of["instructions"] / row["instructions"])
        # Own arrays, a loop that is none here, and warps without work: not what the weights are for.
        kinds = {kernel: statistics.median(each) for kernel, each in off.items()
                 if kernel not in ("own_array", "own_sixteen", "packed_64", "bytes_2048_apart")}
        factors = [max(each, 1 / each) for each in kinds.values()]
        tenth, quarter = (sum(each <= most for each in factors) for most in (1.1, 1.25))
        page = " ".join((accuracy.ROOT / "docs/counting.md").read_text(encoding="utf-8").split())
        self.assertIn(f"counts for {len(factors)} of the kernels below. Of these {tenth} are within a tenth and {quarter} within a quarter; "
                      f"the worst, `{max(kinds, key=lambda each: max(kinds[each], 1 / kinds[each]))}`, "
                      f"is off by a factor of {max(factors):.1f}.", page)


class Kernels(Test):
    def test_those_that_the_model_is_judged_on_are_right(self):
        if BUILD["sanitize"] or not (GIVEN.build / "common/libcommon_cuda_on_cpu.a").exists():
            self.skipTest("no emulation, or a sanitizer watches the whole build")
        programs.build("unseen")
        # The photo has both halves of its rows in so many pixels; 16 groups have all parts of `own_sixteen`.
        self.expect([GIVEN.build / "common/tutor/counting/unseen", "--photo", accuracy.ROOT / "images/landscape.bmp", "--pixels", "131072",
                     "--groups", "16", "--repeat", "1"])


programs.main()
