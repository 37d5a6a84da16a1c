"""excerpts.py: what it cuts out of a source, and that --check notices a source that has changed."""

import importlib.util
import unittest

import repository

CL = """// A comment.
#define BINS 256

void other(int a) {
    count(a);
}

// Counts.
__kernel OF_SIZE(N) void count(__global uint* a,
                               uint b) {
    for (;;) {
        first();
        if (b) {
            second();
        }
    }
}
"""
CUDA = "__global__ void count(unsigned* a) {\n    first();\n    second();\n}\n"
LESSON = "02-a/README.md"


@unittest.skipIf(importlib.util.find_spec("cogapp") is None, "no cog (package python3-cogapp)")
class Excerpts(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.write("02-a/histogram.cl", CL)
        self.write("02-a/cuda.cu", CUDA)

    def page(self, call):
        self.write(LESSON, f"One.\n\n<!-- [[[cog {call} ]]] -->\n<!-- [[[end]]] -->\n\nTwo.\n")

    def written(self, call):
        """What stands between the comments."""
        self.page(call)
        self.succeed("excerpts.py")
        self.succeed("excerpts.py", "--check")
        lines = self.read(LESSON).splitlines()
        self.assertEqual(lines[:3] + lines[-3:],
                         ["One.", "", f"<!-- [[[cog {call} ]]] -->", "<!-- [[[end]]] -->", "", "Two."])
        return lines[3:-3]

    def test_a_function(self):
        self.assertEqual(self.written('excerpt("histogram.cl", "count")'), ["```c", *CL.splitlines()[8:], "```"])

    def test_a_part(self):
        self.assertEqual(self.written('excerpt("histogram.cl", "count", since="if", upto="}")'),
                         ["```c", "if (b) {", "    second();", "}", "```"])

    def test_a_part_that_begins_a_block_has_its_end(self):
        self.assertEqual(self.written('excerpt("histogram.cl", "count", since="for", upto="first")'),
                         ["```c", "for (;;) {", "    first();", "    if (b) {", "        second();", "    }", "}", "```"])

    def test_to_the_end_without_the_brace_of_the_function(self):
        self.assertEqual(self.written('excerpt("cuda.cu", "count", since="second")'), ["```cpp", "second();", "```"])

    def test_both(self):
        self.assertEqual(self.written('kernels("count", since="first", upto="first")'), [
            "OpenCL ([histogram.cl](histogram.cl)):", "", "```c", "first();", "```", "",
            "<details><summary>The same in CUDA (cuda.cu)</summary>", "", "```cpp", "first();", "```", "", "</details>",
        ])

    def test_a_changed_source_is_noticed(self):
        self.page('kernels("count")')
        self.succeed("excerpts.py")
        for file, text in (("02-a/histogram.cl", CL), ("02-a/cuda.cu", CUDA)):
            self.write(file, text.replace("first", "last"))
            page = self.read(LESSON)
            self.fail_with(f"{LESSON}: an excerpt differs from its source", "excerpts.py", "--check")
            self.assertEqual(self.read(LESSON), page)
            self.write(file, text)
        self.succeed("excerpts.py", "--check")

    def test_a_changed_page_is_noticed(self):
        self.page('kernels("count")')
        self.succeed("excerpts.py")
        self.write(LESSON, self.read(LESSON).replace("second();", "third();", 1))
        self.fail_with("an excerpt differs", "excerpts.py", "--check")

    def test_what_is_not_there_is_an_error(self):
        for call, line in (('excerpt("histogram.cl", "nosuch")', "histogram.cl: 0 functions are called nosuch"),
                           ('excerpt("nosuch.cl", "count")', "No such file"),
                           ('excerpt("cuda.cu", "count", since="nosuch")', "cuda.cu: no line holds 'nosuch'"),
                           ('nosuch("count")', "nosuch")):
            with self.subTest(call=call):
                self.page(call)
                self.fail_with(f"{LESSON}: ", "excerpts.py", "--check")
                self.fail_with(line, "excerpts.py")

    def test_a_comment_without_its_end_is_an_error(self):
        self.write(LESSON, '<!-- [[[cog kernels("count") ]]] -->\nTwo.\n')
        self.fail_with(f"{LESSON}: ", "excerpts.py", "--check")


if __name__ == "__main__":
    unittest.main()
