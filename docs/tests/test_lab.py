"""The lab: its page, and the chapters' kernels in WGSL on the software GPU of the browser. Skipped where a Chromium has no WebGPU."""

import sys
import unittest

from browser import NARROW, ROOT, Browser

sys.path.append(str(ROOT / "docs" / "site"))
import play_data  # noqa: E402


class Lab(Browser):
    """The kernels on the software GPU of the browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open(cls("open"), "lab.html")
        why = cls("later").later("const gpu = await labGpu.open(); gpu.device.destroy(); return '';")
        if why.startswith("Refused "):
            raise unittest.SkipTest(f"no WebGPU in this Chromium: {why}")
        if why:
            raise AssertionError(why)

    # {strategy: what is wrong} on inputs and in launches.
    COUNTS = """
    const gpu = await labGpu.open();
    const wrong = Object.fromEntries(Object.keys(labData.strategies).map((strategy) => [strategy, []]));
    for (const [words, groups, size] of given[0]) {
      const input = labModel.inputOf(words, play.samplePicture(), play.randomFrom);
      const expected = labModel.serial(input.pixels);
      for (const [strategy, { code }] of Object.entries(labData.strategies)) {
        if (input.pixels.length > 2 ** 22 && strategy !== "local") continue;
        const compiled = await gpu.compile(strategy, code, size);
        const counts = await gpu.count(input, compiled, groups);
        if (counts.some((count, bin) => count !== expected[bin])) wrong[strategy].push(`${words}, ${groups} of ${size}`);
      }
    }
    gpu.device.destroy();
    return wrong;
    """
    LAUNCHES = ((64, 1), (16, 32), (64, 128), (7, 96), (1, 64), (1, 1), (1, 256), (200, 64))

    def test_every_kernel_is_right_on_the_inputs_of_the_tests(self):
        self.open("lab.html")
        inputs = [(words, 16, 64) for words in play_data.inputs().values()]
        self.assertGreater(len(inputs), 20)
        wrong = self.later(self.COUNTS, inputs + [("--random 10007", *launch) for launch in self.LAUNCHES])
        self.assertIn("--constant 127 --random 100003, 16 of 64", wrong.pop("racy"))
        self.assertEqual(wrong, {strategy: [] for strategy in play_data.STRATEGIES if strategy != "racy"})

    def run_it(self, button="run"):
        self.click(f"#{button}")
        self.later(f"while (document.getElementById('{button}').ariaDisabled === 'true') await new Promise((done) => setTimeout(done, 10));")

    def plant(self, name):
        self.click(self.script("""return [...document.querySelectorAll("#mistakes button")].find((each) => each.textContent === arguments[0])""",
                               name.replace("-", " ")))

    def ready(self, page="lab.html#strategy=racy"):
        self.open(page)
        self.wait(lambda: "Press Run" in self.said())

    def write(self, old, new):
        """Edits the kernel as a reader would."""
        text = self.find("#code").get_property("value")
        self.assertIn(old, text)
        self.script("""const code = document.getElementById("code");
            code.value = arguments[0];
            code.dispatchEvent(new Event("input"))""", text.replace(old, new))

    def test_losing_and_mending(self):
        self.ready("lab.html#strategy=racy&input=constant-127")
        self.run_it()
        self.assertIn("Wrong: 1 bin of 256", self.said())
        self.assertEqual(self.rows("#bins")[0][:2], ["127", "100003"])
        self.assertIn("the addition is not atomic", self.text("#named"))
        self.choose("#input", "landscape")
        self.write("plain_histogram[pixel(i)] += 1u", "atomicAdd(&histogram[pixel(i)], 1u)")
        self.run_it()
        self.assertIn("Right: all 256 bins, 3 times. 262,144 pixels, 64 groups of 64.", self.said())
        self.assertIn("software", self.script("return labGpu.open().then(({about}) => about.software ? 'software' : '')"))
        self.assertFalse(self.find("#measure").is_displayed())
        self.script("Object.assign(labGpu, { TIMED_BYTES: 2 ** 16, ROUNDED_MS: 1 }); document.getElementById('measure').hidden = false")
        self.click("#measure")
        self.wait(lambda: "GB/s at which this GPU reads" in self.said(), 60)
        self.quiet()

    def test_what_the_compiler_says_stands_at_its_line(self):
        self.ready()
        line = 1 + self.find("#code").get_property("value").split("plain_histogram[pixel(i)]")[0].count("\n")
        self.write("plain_histogram[pixel(i)]", "nosuch[pixel(i)]")
        self.run_it()
        self.assertIn("refuses the kernel: 1 error", self.said())
        self.assertIn(f"Line {line}, column 9: unresolved value 'nosuch'", self.text("#messages"))
        self.assertEqual(self.text("#lines .bad"), str(line))
        self.assertIn("unresolved value 'nosuch'", self.text("#colours .wrong"))
        self.click("#messages button")
        place = self.script("const code = document.activeElement; return code.value.slice(code.selectionStart, code.selectionStart + 6)")
        self.assertEqual(place, "nosuch")

    def test_what_is_missing_at_the_end_of_a_line_is_said_there(self):
        self.ready("lab.html#strategy=local")
        code = self.find("#code").get_property("value")
        self.write(code, code.replace("workgroupBarrier();", "workgroupBarrier()", 1))
        for on in ("gpu", "alone"):
            self.choose("#on", on)
            self.run_it()
            self.assertRegex(self.text("#messages"), "^Line 36, column 23: expected ';'[^:]*$")  # and nothing that follows from it
        self.click("#messages button")
        self.press("END", "ENTER", "x")
        self.assertIn("workgroupBarrier()\n    x\n", self.find("#code").get_property("value"))

    def control_enter(self):
        self.browser.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Enter", "code": "Enter", "modifiers": 2})

    def test_one_screen(self):
        for width in (1024, 1366):
            self.ready("lab.html#strategy=02%2Fno-lost-counts&on=together")
            self.resize((width, 768))
            self.assertFalse(self.find("#size").is_displayed() or self.find("#break").is_displayed())
            self.find("#code").click()
            self.control_enter()
            self.wait(lambda: "Right before that" in self.said())  # it was a check
            self.assertTrue(self.script("""const [run, code, said, chart] = ["#run", ".editor", "#said", "#chart"].map((each) =>
                document.querySelector(each).getBoundingClientRect());
                return run.bottom < Math.min(code.top, said.top) && code.right < said.left && Math.max(code.bottom, chart.bottom) <= 768"""))
            self.assertEqual(self.script("return [scrollY, document.activeElement.id]"), [0, "code"])
        self.resize(NARROW)
        self.script("document.getElementById('tasks').scrollIntoView()")
        place = self.script("document.getElementById('said').textContent = ''; return scrollY")
        self.control_enter()
        self.wait(lambda: "Right before that" in self.said())
        self.assertAlmostEqual(self.script("return scrollY"), place, delta=300)  # what is above may grow

    def looked_at(self):
        self.wait(lambda: not self.script("return document.getElementById('access').hidden"), 30)

    def test_the_order_that_loses_a_count_is_replayed(self):
        self.ready("lab.html#strategy=local&on=together")
        self.plant("no-barrier-before-merge")
        self.run_it()
        self.looked_at()
        self.assertIn("In the end bin 1 holds 1.", self.text("#story-said"))
        self.focus("#events .scroll")
        self.press(*["ARROW_RIGHT"] * 8, "ARROW_LEFT")
        self.assertEqual(self.text("#steps .now"), "840adds to table[1]: reads 1, writes 2. A count is lost: nobody reads it any more.")
        self.assertEqual((self.text("#steps .bad"), self.text("#lines .here")), (self.text("#steps .now td:nth-child(3)"), "40"))
        self.plant("early-return")
        self.run_it()
        self.wait(lambda: self.find("#story").is_displayed())
        self.assertEqual((self.text("#story-title"), self.text("#steps .bad")), ("An order in which some wait for ever", "waits for ever"))
        self.plant("early-return")
        self.run_it()
        self.looked_at()
        self.assertRegex(self.text("#story-said"), "^None was found among 1,[0-9]{3} orders")
        self.assertFalse(self.find("#steps").is_displayed())
        self.quiet()

    def test_the_access_of_a_warp(self):
        self.ready("lab.html#strategy=local&on=together&input=ramp")
        self.run_it()
        self.looked_at()
        self.assertIn(["passes of banks", "1"], [row[:2] for row in self.rows("#counts")])
        # What the terminal says of this launch: test_predicted.py compares them.
        self.assertRegex(self.text("#speed"), r"^Predicted, not measured: 1\d\.\d GB/s on an H100$")
        self.assertEqual(self.rows("#limits")[0][0], "bytes in flight ◂ the lowest")
        self.assertRegex(self.text("#changes"), r"twice the work-items: \d\.\d\d times as fast")
        self.assertRegex(self.text("#right"), "within a quarter: the chapters' kernels [0-9]+ of [0-9]+; others")
        self.assertIn("Line 40, step 1 of 64: 32 lanes, 32 addresses of table, 1 pass;", self.text("#lanes-said"))
        self.focus("#lanes")
        self.press("ARROW_RIGHT")
        self.assertIn("Line 40, step 2 of 64", self.find("#lanes svg").get_attribute("aria-label"))
        self.focus("#code")
        self.script("const code = document.activeElement; code.setSelectionRange(...Array(2).fill(code.value.indexOf('words[i')))")
        self.wait(lambda: "Line 20, step 1 of 64: 32 lanes, 8 addresses of words, 1 sector." in self.text("#lanes-said"))
        self.assertEqual(self.count("#lanes svg rect"), 32 + 8)  # equal addresses are drawn as one
        self.choose("#input", "constant-127")
        self.choose("#strategy", "global")
        self.run_it()
        self.looked_at()
        self.assertIn("1 address of histogram, 32 visits; the fullest piece of 256 bytes has 32.", self.text("#lanes-said"))
        self.assertEqual(self.count("#lanes rect[fill*=orange]"), 32)
        self.presentable(None)

    def test_a_loop_without_end(self):
        self.ready("lab.html#strategy=racy&groups=3")
        self.write("i += groups.x * GROUP_SIZE", "i += 0u")
        self.run_it()
        self.assertIn("does-not-end", self.said())
        self.click("#reset")
        self.run_it()
        self.assertRegex(self.said(), "Right|Wrong")
        # What no bound helps: the page waits only so long, leaves the device behind, and opens another.
        self.assertEqual(self.later("const gpu = await labGpu.open(); try { await gpu.within(new Promise(() => 0), 50); } catch (error) {"
                                    "await gpu.device.lost; await labGpu.open(); return error.constructor.name; }"), "DoesNotEnd")

    def test_what_one_writes_is_kept(self):
        self.ready()
        self.write("racy: broken", "mine: broken")
        self.ready()
        self.assertIn("mine: broken", self.find("#code").get_property("value"))
        self.choose("#strategy", "global")
        self.assertNotIn("mine: broken", self.find("#code").get_property("value"))
        self.write("global: one", "mine: one")
        self.click("#mistakes button")
        self.assertNotIn("mine: one", self.find("#code").get_property("value"))
        self.click("#mistakes button")
        self.assertIn("mine: one", self.find("#code").get_property("value"))
        self.click("#reset")
        self.assertEqual(self.find("#code").get_property("value"), play_data.kernel("global")["code"])
        self.script("document.execCommand('undo')")
        self.assertIn("mine: one", self.find("#code").get_property("value"))
        self.ready("lab.html#strategy=global")
        self.assertIn("mine: one", self.find("#code").get_property("value"))

    def test_what_one_foresees(self):
        self.ready("lab.html#strategy=local")
        self.plant("early-return")
        self.click("[name=foreseen][value=right]")
        self.run_it()
        self.assertTrue(self.text("#answer").startswith("Not as you said. The compiler refuses it: "))
        self.click("[name=foreseen][value=refused]")
        self.run_it()
        self.assertTrue(self.text("#answer").startswith("As you said."))
        self.script("scrollTo(0, document.body.scrollHeight)")
        self.focus("#run")
        self.press("ENTER")
        top = "return document.getElementById('said').getBoundingClientRect().top"
        self.wait(lambda: 0 <= self.script(top) < 300)  # what comes of it is in sight

    def settings(self):
        return [self.find(f"#{name}").get_property("value") for name in ("input", "groups", "size")]

    def test_what_is_counted_is_shown(self):
        self.ready()
        self.assertEqual(self.text("#what"), "landscape.bmp, 512 x 512. Run counts it with 64 groups of 64 work-items.")
        shown = "const {width, height} = document.getElementById('picture'); return [width, height]"
        self.assertEqual(self.script(shown), [256, 256])
        self.assertIn("2,272", self.text("#chart"))  # the sample picture's most frequent value
        self.run_it()
        self.choose("#input", "four-values")
        self.choose("#groups", "3")
        self.assertEqual(self.text("#what"), "300,007 random pixels of 4 values, shown in rows of 512. Run counts it with 3 groups of 64 work-items.")
        self.assertEqual((self.said(), self.rows("#bins")), ("Press Run.", []))  # nothing of what was counted before
        self.find("#code").click()
        self.control_enter()
        self.wait(lambda: "3 groups of 64" in self.said())
        self.assertIn("300,007 pixels", self.said())
        self.quiet()

    def test_a_task(self):
        self.ready("lab.html#strategy=03%2Ffive-steps&groups=16")
        self.script("localStorage.setItem('lab-tasks', '01/merge')")  # which stays done
        self.assertEqual((self.text("#task-title"), self.count("#hints details")), ("The five steps", 3))
        self.assertIn("Write the kernel of this chapter", self.text("#goal"))
        self.assertFalse(self.find("#next").is_displayed())
        self.run_it("check")
        self.assertTrue(self.said().startswith("Your part is empty yet"), self.said())
        self.write("    // TODO 2: wait", "    workgroupBarrier(); // wait")
        self.run_it("check")
        self.assertRegex(self.said(), "^Wrong: 1 bin of 256; 1 count lost.* Right before that: sizes: 1 run.$")
        self.assertIn("no count arrives in the result. There may be more", self.text("#named"))
        self.assertEqual(self.settings(), ["shows", "3", "64"])  # so that it can be looked at
        self.assertIn("Changed by the check: groups (before: 16)", self.text("#changed"))
        local = play_data.kernel("local")["code"].split("groups: vec3u) {", 1)[1].rsplit("}", 1)[0]
        self.write("    workgroupBarrier(); // wait: workgroupBarrier()\n", local.replace("    workgroupBarrier();\n", "", 1))
        self.run_it("check")
        self.assertIn("writes over what others have counted. Is a barrier missing", self.text("#named"))
        self.write("    // Step 3: count", "    workgroupBarrier();\n    // Step 3: count")
        self.run_it("check")
        self.assertEqual(self.find("#said").text, "Done. All counts are right in 19 runs, the last of them in three orders of the work-items.\n"
                         "Mended: 0 lines out, 11 lines in.\nCounted: global atomics for 1000 pixels: 3.91 (wanted: at most 40). "
                         "To the terminal's grader such counts are worth 15 of 100 points.")
        self.assertEqual(self.settings(), ["landscape", "16", "64"])
        # Nothing of the failure is left.
        self.assertEqual([self.text(f"#{each}") for each in ("named", "bins", "changed")] + [self.count(".changed")], ["", "", "", 0])
        self.assertEqual(self.script("return document.querySelectorAll('#chart path[fill*=orange][d^=M]').length"), 0)
        self.assertIn("0 bins of 256 are wrong", self.find("#chart").get_attribute("aria-label"))
        self.assertIn("2 of 14 done", self.text("#progress"))
        self.ready("lab.html#strategy=03%2Ffive-steps")
        self.assertEqual([each.text for each in self.all("#tasks .reached")], ["01 A thread-safe merge Done.", "03 The five steps Done."])
        self.focus("#next")
        self.press("ENTER")
        self.assertEqual(self.script("return document.activeElement.textContent"), "Eight tables")
        self.choose("#strategy", "racy")
        self.assertEqual([self.find(f"#{each}").is_displayed() for each in ("task", "check", "next")], [False, False, True])
        self.quiet()

    def test_a_goal_is_a_count(self):
        self.ready("lab.html#strategy=02%2Fneighbours&on=together")
        self.assertIn("sectors for 32 pixels: at most 1.1 (random pixels)", self.text("#goal"))
        self.run_it("check")
        self.assertEqual(self.said(), "All counts are right, but the goal is not reached: sectors for 32 pixels: 32.0, and wanted is at most 1.1; "
                         "see line 22.")
        self.assertIn("Line 22, step 1 of 64: 32 lanes, 32 addresses of words, 32 sectors", self.text("#lanes-said"))
        self.write("var i = item.x * share; i < min(args.count, (item.x + 1u) * share); i += 1u",
                   "var i = item.x; i < args.count; i += groups.x * GROUP_SIZE")
        self.run_it("check")
        self.assertEqual(self.find("#said").text.split("\n")[1:], [
            "Mended: for (var i = item.x * share; i < min(args.count, (item.x + 1u) * share); i += 1u) { → "
            "for (var i = item.x; i < args.count; i += groups.x * GROUP_SIZE) {", "Counted: sectors for 32 pixels: 1.00 (wanted: at most 1.1)."])

    def test_a_race_that_is_right_by_luck_is_no_solution(self):
        self.ready("lab.html#strategy=02%2Fno-lost-counts&on=alone")
        self.run_it("check")
        self.assertRegex(self.said(), "^Wrong: .*, without a GPU, .* Right before that: sizes: 5 runs, distributions: 7 runs, launches: . runs.$")
        self.assertEqual(self.find("#on").get_property("value"), "together")
        self.assertIn("the addition is not atomic. In the terminal this is lost-updates.", self.text("#named"))
        # What only the GPU can run is no mistake.
        self.choose("#on", "gpu")
        self.write("plain_histogram[pixel(i)] += 1u;", "atomicAdd(&histogram[pixel(i)], u32(1i));")
        self.run_it("check")
        self.assertRegex(self.said(), "^Right on all inputs and launches, but not tried in other orders of the work-items: '1i' is not known here")
        self.wait(lambda: self.text("#right").startswith("Nothing can be said, since '1i' is not known here"))
        self.ready("lab.html#strategy=01%2Fmerge&on=alone")
        self.run_it()
        self.wait(lambda: self.text("#right") == "Nothing can be said, since the work-items' own arrays are not counted here.")

    def test_without_webgpu_it_runs_all_the_same_and_says_that_this_is_no_gpu(self):
        none = {"source": "Object.defineProperty(navigator, 'gpu', {value: undefined})"}
        hidden = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", none)
        try:
            self.open("lab.html")
            self.wait(lambda: "Press Run" in self.said())
        finally:
            self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", hidden)
        self.assertTrue(self.said().startswith("This browser has no WebGPU. This is no GPU: the page itself"), self.said())
        self.run_it()
        self.assertRegex(self.said(), "Wrong: 2.. bins of 256; .* counts lost. 262,144 pixels, 64 groups of 64, without a GPU")
        self.assertIn("the addition is not atomic", self.text("#named"))
        self.choose("#on", "alone")
        self.assertIn("This is no GPU", self.said())
        self.run_it()
        self.assertIn("Right: all 256 bins, in this order.", self.said())  # as one thread on one core
        self.choose("#input", "prime")
        self.assertIn("1,048,573 random pixels, of which the first 262,144.", self.text("#what"))
        self.choose("#on", "random")
        self.run_it()
        self.assertRegex(self.said(), "Wrong: 256 bins of 256; .* counted as [0-9,]+, then ")
        self.assertFalse(self.find("#measure").is_displayed())
        self.choose("#on", "alone")
        self.write("i += groups.x * GROUP_SIZE", "i += 0u")
        self.run_it()
        self.assertIn("does-not-end", self.said())
        self.write("plain_histogram[pixel(i)]", "nosuch[pixel(i)]")
        self.run_it()
        self.assertRegex(self.text("#messages"), r"Line \d+, column 9: unresolved value 'nosuch'")
        self.assertEqual(self.said(), "The page cannot run this kernel: unresolved value 'nosuch'.")
        self.quiet()


if __name__ == "__main__":
    unittest.main()
