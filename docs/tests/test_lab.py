"""The lab: its page, and the chapters' kernels in WGSL on the software GPU of the browser. Skipped where a Chromium has no WebGPU."""

import sys
import unittest

from browser import ROOT, Browser

sys.path += [str(ROOT / "docs" / "site"), str(ROOT / "common" / "tutor" / "gallery")]
import gallery  # noqa: E402
import play_data  # noqa: E402


class Lab(Browser):
    """The kernels on the software GPU of the browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open(cls("open"), "lab.html")
        why = cls("later").later("const gpu = await labGpu.open(); gpu.device.destroy(); return '';")
        if why:
            raise unittest.SkipTest(f"no WebGPU in this Chromium: {why}")

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

    def run_it(self):
        self.click("#run")
        self.later("while (document.getElementById('run').ariaDisabled === 'true') await new Promise((done) => setTimeout(done, 10));")

    def plant(self, name):
        self.click(next(each for each in self.all("#mistakes button") if each.text == name.replace("-", " ")))

    def test_each_mistake_is_seen_and_named_as_the_diagnosis_names_it(self):
        self.ready()
        mistakes = sorted((one for one in gallery.mistakes() if one.files("wgsl")), key=lambda one: one.variant)
        self.assertGreater(len(mistakes), 12)
        self.assertEqual({one.variant for one in mistakes}, set(play_data.STRATEGIES) - {"racy"})
        for one in mistakes:
            with self.subTest(one.name):
                if self.find("#strategy").get_property("value") != one.variant:
                    self.ready(f"lab.html#strategy={one.variant}&copies=8")
                self.plant(one.name)
                self.run_it()
                called, _, words = (one.wgsl or one.names).partition(" ")
                if called == "refused":
                    self.assertIn("The compiler refuses the kernel: 1 error.", self.said())
                    self.assertIn(words, self.text("#answer"))
                elif called == "nothing":
                    self.assertIn("Right: all 256 bins", self.said())
                    self.assertIn("In WGSL it cannot show", self.text("#answer"))
                else:
                    self.assertIn("Wrong: ", self.said())
                    self.assertIn(f"({called})", self.text("#named"))
                self.assertIn(one.sentence, self.text("#answer"))
                self.quiet()

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
        self.assertIn("(lost-updates)", self.text("#named"))
        self.write("plain_histogram[pixel(i)] += 1u", "atomicAdd(&histogram[pixel(i)], 1u)")
        self.run_it()
        self.assertIn("Right: all 256 bins, 3 times. 100,003 pixels, 64 groups of 64.", self.said())
        self.assertEqual([each.text.split()[0] for each in self.all("#goals .reached")], ["Lose", "Mend"])
        self.assertIn("software", self.script("return labGpu.open().then(({about}) => about.software ? 'software' : '')"))
        self.assertFalse(self.find("#measure").is_displayed())
        self.quiet()

    def test_what_the_compiler_says_stands_at_its_line(self):
        self.ready()
        line = 1 + self.find("#code").get_property("value").split("plain_histogram[pixel(i)]")[0].count("\n")
        self.write("plain_histogram[pixel(i)]", "nosuch[pixel(i)]")
        self.run_it()
        self.assertIn("refuses the kernel: 1 error", self.said())
        self.assertIn(f"Line {line}, column 9: unresolved value 'nosuch'", self.text("#messages"))
        self.assertEqual(self.text("#lines .bad"), str(line))
        self.click("#messages button")
        place = self.script("const code = document.activeElement; return code.value.slice(code.selectionStart, code.selectionStart + 6)")
        self.assertEqual(place, "nosuch")

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
        self.click("#mine")
        self.assertIn("mine: one", self.find("#code").get_property("value"))
        self.click("#reset")
        self.ready("lab.html#strategy=global")
        self.assertEqual(self.find("#code").get_property("value"), play_data.kernel("global")["code"])

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

    def test_a_picture_and_a_camera_of_ones_own(self):
        self.ready("lab.html#strategy=global")
        self.find("#file").send_keys(str(ROOT / "images" / "one-column.bmp"))
        self.wait(lambda: "of your own" in self.said())
        self.run_it()
        self.assertIn("Right: all 256 bins", self.said())
        self.click("#camera")
        self.wait(lambda: "307,200 pixels of your own" in self.said() or "No picture" in self.said())
        self.run_it()
        self.assertIn("Right: all 256 bins, 3 times. 307,200 pixels", self.said())

    def test_without_webgpu_it_says_why(self):
        none = {"source": "Object.defineProperty(navigator, 'gpu', {value: undefined})"}
        hidden = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", none)
        try:
            self.open("lab.html")
            self.wait(lambda: self.said() != "")
        finally:
            self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", hidden)
        self.assertEqual(self.said(), "This browser has no WebGPU. The other pages to play with work without it.")
        self.assertEqual(self.find("#run").get_attribute("aria-disabled"), "true")


if __name__ == "__main__":
    unittest.main()
