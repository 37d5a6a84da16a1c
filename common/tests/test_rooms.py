"""Each room of common/ includes only itself and rooms that stand further down in the table of common/README.md; and each file what it uses."""

import re

import programs
from programs import ROOT, Test

TABLE = (ROOT / "common/README.md").read_text(encoding="utf-8")

# Headers of the standard library that older versions of it include in others: there a file without them compiles.
USES = {"algorithm": r"sort|min|max|minmax_element|find(_if)?|any_of|all_of|none_of|copy(_n)?|fill(_n)?|clamp|equal|remove_if|ranges::\w+",
        "cstdint": r"u?int(8|16|32|64|ptr)_t", "memory": r"(make_)?(unique|shared)(_ptr)?", "stdexcept": r"(runtime|logic)_error|invalid_argument",
        "system_error": r"error_code|system_error", "tuple": "tuple|tie", "utility": "move|pair|exchange|forward"}


def rooms_in_order():
    """Of each room its place in the table, counted from the top; rooms of one row may include each other."""
    rows = re.findall(r"^\| (\[.*?\]\(.*?) \| ", TABLE, re.MULTILINE)
    return {room: place for place, row in enumerate(rows) for room in re.findall(r"\]\((\w+)(?:/|\.hpp)\)", row)}


def includes(path):
    """The rooms that a file includes, and lesson.hpp as one."""
    return re.findall(r'^#include "common/(\w+)(?:/|\.hpp)', path.read_text(encoding="utf-8"), re.MULTILINE)


def upwards(files, order):
    """The includes that point upwards, a line for each."""
    for path in files:
        room = path.relative_to(ROOT / "common").parts[0].split(".")[0]
        for other in includes(path):
            if other != room and order[other] <= order[room]:
                yield f"{path.relative_to(ROOT)} includes {other}"


class Rooms(Test):
    def setUp(self):
        self.files = [path for suffix in ("cpp", "hpp", "cu", "h") for path in sorted((ROOT / "common").rglob(f"*.{suffix}"))
                      if not re.search(r"_test\.", path.name)]  # which may include what they need

    def test_every_room_stands_in_the_table(self):
        self.assertEqual(set(rooms_in_order()), {path.name.split(".")[0] for path in (ROOT / "common").iterdir()
                                                 if path.is_dir() and path.name != "__pycache__" or path.suffix == ".hpp"})

    def test_no_room_includes_one_further_up(self):
        self.assertEqual(list(upwards(self.files, rooms_in_order())), [])

    def test_no_room_includes_a_chapter(self):
        self.assertEqual([path for path in self.files if re.search(r'#include "0\d-', path.read_text(encoding="utf-8"))], [])


class Headers(Test):
    def headers(self, path, seen):
        """What a file includes, and what the project's files that it includes do."""
        if path in seen or not path.is_file():
            return set()
        seen.add(path)
        found = re.findall(r'^#include [<"](.*)[>"]', path.read_text(encoding="utf-8"), re.MULTILINE)
        return set(found).union(*(self.headers(folder / name, seen) for name in found for folder in (ROOT, path.parent)))

    def test_a_file_includes_what_it_uses(self):
        files = [path for pattern in ("0*/**/*.?pp", "common/**/*.?pp") for path in sorted(ROOT.glob(pattern)) if "exercise" not in path.parts[:-1]]
        self.assertGreater(len(files), 100)
        for path in files:
            text = re.sub(r'//.*|"(\\.|[^"\\\n])*"', "", path.read_text(encoding="utf-8"))
            lacks = {name for name, words in USES.items() if re.search(rf"\bstd::({words})\b", text)} - self.headers(path, set())
            self.assertEqual(lacks, set(), path.relative_to(ROOT))


if __name__ == "__main__":
    programs.main()
