"""The version stands in three files, for three kinds of readers, and is the same."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLACES = {"CMakeLists.txt": r"^    VERSION (\S+)$", "CITATION.cff": r"^version: (\S+)$", "CHANGELOG.md": r"^## ([0-9.]+)\b"}


class Versions(unittest.TestCase):
    def test_all_files_name_one(self):
        found = {}
        for name, pattern in PLACES.items():
            match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
            found[name] = match and match.group(1)
        self.assertNotIn(None, found.values(), found)
        self.assertEqual(len(set(found.values())), 1, found)


if __name__ == "__main__":
    unittest.main()
