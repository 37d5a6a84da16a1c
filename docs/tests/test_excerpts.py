"""excerpts.py: what is cut out of a source, and that generate.py --check notices a source that has changed."""

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


class Excerpts(repository.RepositoryTest):
    def setUp(self):
        super().setUp()
        self.write("02-a/histogram.cl", CL)
        self.write("02-a/histogram.cuh", CUDA)

    def page(self, call):
        self.write(LESSON, f"One.\n\n<!-- {call} -->\n<!-- end -->\n\nTwo.\n")

    def written(self, call):
        """What stands between the comments."""
        self.page(call)
        self.succeed("generate.py")
        self.succeed("generate.py", "--check")
        lines = self.read(LESSON).splitlines()
        self.assertEqual(lines[:3] + lines[-3:],
                         ["One.", "", f"<!-- {call} -->", "<!-- end -->", "", "Two."])
        return lines[3:-3]

    def test_what_is_cut_out(self):
        for call, shown in (
            ("excerpt: histogram.cl count", ["```c", *CL.splitlines()[8:], "```"]),
            ('excerpt: histogram.cl count since="if" upto="}"', ["```c", "if (b) {", "    second();", "}", "```"]),
            # A part that begins a block has its end.
            ('excerpt: histogram.cl count since="for" upto="first"',
             ["```c", "for (;;) {", "    first();", "    if (b) {", "        second();", "    }", "}", "```"]),
            # To the end without the brace of the function.
            ('excerpt: histogram.cuh count since="second"', ["```cpp", "second();", "```"]),
            ('kernels: count since="first" upto="first"',
             ["OpenCL ([histogram.cl](histogram.cl)):", "", "```c", "first();", "```", "",
              "<details><summary>The same in CUDA (histogram.cuh)</summary>", "", "```cpp", "first();", "```", "", "</details>"]),
        ):
            with self.subTest(call=call):
                self.page(call)
                self.succeed("generate.py")
                self.assertEqual(self.read(LESSON), "\n".join(["One.", "", f"<!-- {call} -->", *shown, "<!-- end -->", "", "Two.", ""]))
                self.succeed("generate.py", "--check")

    def test_a_changed_source_or_page_is_noticed(self):
        self.page("kernels: count")
        self.succeed("generate.py")
        for file in ("02-a/histogram.cl", "02-a/histogram.cuh", LESSON):
            before = self.read(file)
            self.write(file, before.replace("first", "last", 1))
            self.fail_with(f"{LESSON}: kernels: count: differs from its source", "generate.py", "--check")
            self.write(file, before)
        self.succeed("generate.py", "--check")

    def test_what_is_not_there_is_an_error(self):
        for call, line in (('excerpt: histogram.cl nosuch', "histogram.cl: 0 functions are called nosuch"),
                           ('excerpt: nosuch.cl count', "No such file"),
                           ('excerpt: histogram.cuh count since="nosuch"', "histogram.cuh: no line holds 'nosuch'"),
                           ('kernels(count)', "what is generated stands between")):
            with self.subTest(call=call):
                self.page(call)
                self.fail_with(line, "generate.py", "--check")


if __name__ == "__main__":
    unittest.main()
