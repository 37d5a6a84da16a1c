"""Each room of common/ includes only itself and rooms that stand further down in the table of common/README.md.

And each file includes what it uses of the standard library."""

import re

import programs
from programs import ROOT, Test

# What comes by itself with one compiler's library, and not with the next one's; without std::.
STANDARD = {"algorithm": r"(sort|find\w*|\w+_of|count(_if)?|transform|copy(_n)?|fill(_n)?|(min|max)(_element)?|clamp|remove_if|nth_element|equal|reverse)\(",
            "cstdlib": r"(getenv|abort|\w*exit)\(", "cstring": r"(mem(cpy|set|cmp)|str(error|len|cmp))\(", "memory": r"(unique|shared)_ptr"}
TABLE = (ROOT / "common/README.md").read_text(encoding="utf-8")


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


def included(path, seen):
    """Of the standard library, by the file or by the project's headers that it includes."""
    if path in seen or not path.is_file():
        return set()
    seen.add(path)
    own = re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return set(re.findall(r"^#include <(.*)>", path.read_text(encoding="utf-8"), re.MULTILINE)).union(
        *(included(folder / name, seen) for name in own for folder in (ROOT, path.parent)))


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

    def test_what_is_used_is_included(self):
        files = [path for folder in ("common", "0?-*") for path in sorted(ROOT.glob(f"{folder}/**/*.[ch]*"))]
        self.assertEqual([f"{path.relative_to(ROOT)}: <{header}>" for path in files for header, use in STANDARD.items()
                          if re.search(r"^(?!.*//).*\bstd::" + use, path.read_text(encoding="utf-8"), re.MULTILINE) and header not in included(path, set())], [])


if __name__ == "__main__":
    programs.main()
