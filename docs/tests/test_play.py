"""The pages to play with, and (--site FOLDER) the built site, in a real Chromium without a window, opened from the disk.

Skipped where there is no Selenium, no Chromium or no driver for it (Debian: python3-selenium chromium chromium-driver). The lab
runs on Chromium's own software GPU; where a Chromium has no WebGPU, its tests are skipped. axe (Python: axe_core_python) looks at
the pages, too, where it is installed.
"""

import functools
import importlib.util
import os
import pathlib
import shutil
import sys
import unittest

import repository

ROOT = repository.ROOT
PLAY = ROOT / "docs" / "site" / "play"
SITE = repository.folder_option("--site")
WIDE, NARROW = (1200, 900), (390, 800)
sys.path += [str(ROOT / "docs" / "site"), str(ROOT / "common" / "tutor" / "gallery")]
import check  # noqa: E402
import gallery  # noqa: E402
import pages  # noqa: E402
import play_data  # noqa: E402
import svg  # noqa: E402

# Every text that can be seen, and by how much it stands out from what is behind it, as WCAG 2 computes it.
CONTRASTS = """
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const behind = (node) => {
  for (let at = node; at; at = at.parentElement) {
    const colour = parse(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0.99) return colour;
  }
  return [255, 255, 255];
};
const found = [];
for (const node of document.querySelectorAll("body *")) {
  if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim())) continue;
  if (node.closest(":disabled, script, style") || !node.checkVisibility() || !node.getClientRects().length) continue;
  const style = getComputedStyle(node);
  const front = luminance(parse(node.closest("svg") ? style.fill : style.color));
  // A text in a drawing lies on the box that was drawn before it.
  const box = node.closest("svg") && [...node.parentElement.children].filter((each) => each.tagName === "rect"
    && each.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING).pop();
  const back = luminance(box && !node.matches(".halo") ? parse(getComputedStyle(box).fill) : behind(node));
  const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  if (ratio < (large ? 3 : 4.5)) found.push(`${ratio.toFixed(2)}: ${node.textContent.trim().slice(0, 40)}`);
}
return found;
"""

# Every control that can be seen and has no name for those who cannot see it.
NAMELESS = """
return [...document.querySelectorAll("button, select, input")].filter((node) => node.checkVisibility()
  && !(node.textContent.trim() && node.tagName === "BUTTON") && !node.ariaLabel && !node.title && !node.placeholder
  && ![...node.labels].some((label) => label.textContent.trim())).map((node) => node.outerHTML);
"""

AXE = importlib.util.find_spec("axe_core_python")
AXE_RUN = """
const done = arguments[arguments.length - 1];
axe.run().then(({violations}) => done(violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 80)).join(" | ")}`)));
"""

# What the keyboard has to reach: everything that can be pressed, chosen or written in; of radio buttons the chosen one.
REACHABLE = """
return [...document.querySelectorAll("a[href], button, select, input, textarea, summary, [tabindex='0']")].filter((node) =>
  node.checkVisibility() && !node.disabled && (node.type !== "radio" || node.checked)).length;
"""
FOCUSED = """
const node = document.activeElement;
if (node === document.body) return "";
window.seenByKeyboard = (window.seenByKeyboard || new Set()).add(node);
return `${node.tagName} ${getComputedStyle(node).outlineStyle} ${window.seenByKeyboard.size}`;
"""
FLAGS = ("--headless=new", "--disable-dev-shm-usage", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
         "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


@functools.cache
def browser():
    """The one browser of all tests. Raises SkipTest where there is none."""
    try:
        from selenium import webdriver
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        raise unittest.SkipTest("no Selenium for Python (package python3-selenium)") from None
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        raise unittest.SkipTest("no Chromium with its driver (package chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium refuses one to root
    for argument in (*FLAGS, *sandbox):
        options.add_argument(argument)
    try:
        started = webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        raise unittest.SkipTest(f"Chromium does not start: {error.msg}") from None
    unittest.addModuleCleanup(started.quit)
    started.set_script_timeout(60)
    return started


class Browser(unittest.TestCase):
    """Pages of a folder, as a reader has them."""

    folder = PLAY

    @classmethod
    def setUpClass(cls):
        cls.browser = browser()

    def tearDown(self):
        self.browser.execute_script("localStorage.clear()")

    def open(self, page, size=WIDE, scheme="light", motion="reduce"):
        emulate = self.browser.execute_cdp_cmd
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}]
        emulate("Emulation.setEmulatedMedia", {"features": features})
        emulate("Emulation.setDeviceMetricsOverride", {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == NARROW})
        self.browser.get_log("browser")  # what others left there
        self.browser.get("about:blank")  # another #part alone would load nothing
        path, hash_, state = page.partition("#")
        self.browser.get((self.folder / path).as_uri() + hash_ + state)

    def script(self, text, *given):
        return self.browser.execute_script(text, *given)

    def later(self, text, *given):
        """What the function body `text` comes to, in which `await` may be."""
        return self.browser.execute_async_script(
            f"""const given = [...arguments];
            const done = given.pop();
            (async () => {{ {text} }})().then(done, (error) => done(`${{error.constructor.name}} ${{error.message}}`));""", *given)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def count(self, selector):
        return len(self.all(selector))

    def text(self, selector):
        return self.find(selector).get_property("textContent")

    def said(self):
        return self.text("#said")

    def rows(self, selector):
        """The cells of a table's rows."""
        return self.script("""return [...document.querySelectorAll(arguments[0] + " tbody tr")].map((row) =>
            [...row.cells].map((cell) => cell.textContent))""", selector)

    def click(self, selector):
        element = self.find(selector) if isinstance(selector, str) else selector
        self.script("""arguments[0].closest("details")?.setAttribute("open", "");
            arguments[0].scrollIntoView({behavior: "instant", block: "center"})""", element)
        element.click()

    def choose(self, selector, value):
        """An entry of a list or a place of a slider, as a reader would."""
        self.script("""arguments[0].value = arguments[1];
            for (const kind of ["input", "change"]) arguments[0].dispatchEvent(new Event(kind, {bubbles: true}))""", self.find(selector), value)
        self.assertEqual(self.find(selector).get_property("value"), value)

    def focus(self, selector):
        self.script("arguments[0].focus()", self.find(selector))

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        ActionChains(self.browser).send_keys(*(getattr(Keys, key) if key.isupper() else key for key in keys)).perform()

    def wait(self, condition, seconds=10):
        from selenium.webdriver.support.wait import WebDriverWait
        WebDriverWait(self.browser, seconds, 0.05).until(lambda _: condition())

    def quiet(self):
        """Nothing in the console that is more than information."""
        said = self.browser.get_log("browser")
        self.assertEqual([entry["message"] for entry in said if entry["level"] in ("WARNING", "SEVERE")], [])

    def presentable(self, page):
        """Light and dark, wide and narrow: nothing in the console, nothing wider than the window, all text readable."""
        for size in (WIDE, NARROW):
            for scheme in ("light", "dark"):
                with self.subTest(page=page, size=size, scheme=scheme):
                    self.open(page, size, scheme)
                    self.quiet()
                    self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), size[0])
                    self.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                    self.assertEqual(self.script(CONTRASTS), [])
        self.assertEqual(self.script(NAMELESS), [])
        if AXE and self.folder == PLAY:
            self.script((pathlib.Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
            self.assertEqual(self.browser.execute_async_script(AXE_RUN), [])


class Pages(Browser):
    """What holds for each of the pages to play with."""

    # A control, what is chosen there, and what the address says of it.
    STATES = {"race.html": ("#items", "8", "items=8"), "banks.html": ("#kind", "ramp", "kind=ramp"), "walk.html": ("#items", "64", "items=64"),
              "steps.html": ("#mergeStride", "launch", "mergeStride=launch"), "underway.html": ("#bytes", "4", "bytes=4"),
              "lab.html": ("#strategy", "local", "strategy=local")}

    def test_they_are_presentable(self):
        self.assertEqual(sorted(self.STATES), sorted(path.name for path in PLAY.glob("*.html")))
        for page in self.STATES:
            self.presentable(page)

    def test_what_happens_and_what_one_presses_are_seen_at_once(self):
        for page in self.STATES:
            for size in (WIDE, NARROW):
                with self.subTest(page=page, size=size):
                    self.open(page, size)
                    for selector in ("#said", ".bar"):
                        box = self.script("""const {top, bottom} = document.querySelector(arguments[0]).getBoundingClientRect();
                            return [top, bottom]""", selector)
                        self.assertTrue(0 <= box[0] < box[1] <= size[1], f"{selector}: {box}")

    def test_the_state_is_in_the_address(self):
        for page, (selector, value, state) in self.STATES.items():
            with self.subTest(page):
                self.open(page)
                before = self.find(selector).get_property("value")
                self.choose(selector, value)
                self.assertEqual(self.script("return location.hash"), f"#{state}")
                self.open(f"{page}#{state}&nosuch=1")
                self.assertEqual(self.find(selector).get_property("value"), value)
                self.script("location.hash = ''")
                self.wait(lambda selector=selector, before=before: self.find(selector).get_property("value") == before)
                self.quiet()

    def test_all_of_it_with_the_keyboard(self):
        for page in self.STATES:
            with self.subTest(page):
                self.open(page)
                self.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
                reachable, seen = self.script(REACHABLE), 0
                for _ in range(reachable + 3):
                    self.press("TAB")
                    focused = self.script(FOCUSED)
                    if focused:
                        self.assertNotIn(" none ", focused)
                        seen = max(seen, int(focused.split()[-1]))
                self.assertEqual(seen, reachable)

    def test_light_or_dark_is_kept(self):
        self.open("race.html")
        self.click("#theme")
        self.click("#theme")
        self.open("walk.html")
        self.assertEqual((self.text("#theme"), self.script("return document.documentElement.dataset.theme")), ("Theme: dark", "dark"))

    def test_a_goal_that_was_reached_is_kept(self):
        self.open("race.html")
        self.assertEqual(len(self.all("#goals .reached")), 0)
        self.choose("#items", "4")
        self.choose("#pixels", "1")
        self.click("#run")
        self.open("race.html")
        self.assertEqual([each.text for each in self.all("#goals .reached")], ["Lose a count. Done.", "Lose 3 of 4 counts. Done."])


class Race(Browser):
    def test_losing_on_purpose_and_the_same_order_otherwise(self):
        self.open("race.html")
        self.click("#lose")
        self.assertEqual(self.rows("#counters"), [["0", "1", "2", "1"]])
        self.assertIn("did not know of 1 addition: lost", self.said())
        self.assertEqual(len(self.all("#chart g")), 6)
        for way, kept in (("atomic", ["0", "2", "2", "0"]), ("tables", ["0", "1", "1", "-", "2", "0"])):
            self.click(f"[value={way}]")
            self.click("#lose")
            self.assertEqual(self.rows("#counters"), [kept])
            self.assertIn("nothing is lost", self.said())
        self.quiet()

    def test_run_to_the_end_and_back(self):
        self.open("race.html#items=8&pixels=1")
        self.click("#run")
        self.assertEqual(self.rows("#counters"), [["0", "1", "8", "7"]])  # as chapter 02 says of eight in a warp
        self.assertIn("8 pixels, 1 counts. 7 lost.", self.said())
        self.assertEqual(self.find("#step").get_attribute("aria-disabled"), "true")
        steps = self.count("#log li")
        self.focus("#chart")
        self.press("ARROW_LEFT")
        self.assertEqual((self.rows("#counters"), self.count("#log li")), ([["0", "1", "7", "6"]], steps - 1))
        self.choose("#order", "alone")
        self.click("#run")
        self.assertEqual(self.rows("#counters"), [["0", "8", "8", "0"]])

    def test_the_focus_stays(self):
        self.open("race.html#pixels=1")
        self.focus("#choice button")
        self.press("ENTER", "SPACE", "ENTER")
        self.assertIn("A stores 1", self.said())
        self.press("ENTER")  # A has finished
        self.assertIn("A stores 1", self.said())
        self.press("TAB", "ENTER")
        self.assertIn("B loads the counter: 1.", self.said())
        self.quiet()

    def test_it_moves_unless_the_reader_wants_no_motion(self):
        self.open("race.html", motion="no-preference")
        self.click("#run")
        self.assertEqual((self.text("#run"), len(self.all("#chart g"))), ("Pause", 1))
        self.click("#run")
        self.assertEqual(self.text("#run"), "Run")


class Banks(Browser):
    COPIES = ("1", "2", "8", "32")

    def totals(self):
        """The turns of the row, for each number of copies."""
        return [int(row[1]) for row in self.rows("#totals")]

    def turns(self, row):
        """The same as the model has it, which tests of its own hold against the kernels."""
        return self.script("""const sum = (list) => list.reduce((a, b) => a + b);
            return [1, 2, 8, 32].map((copies) => sum(banksModel.turnsOfRow(arguments[0], copies)));""", row)

    @staticmethod
    def sample(number):
        """A row of images/landscape.bmp, whose rows go upwards, with its palette."""
        data = (ROOT / "images" / "landscape.bmp").read_bytes()
        return [data[54 + 4 * value] for value in data[1078 + (511 - number) * 512:][:512]]

    def test_the_turns_and_the_recorded_times(self):
        self.open("banks.html")
        self.assertEqual(self.totals(), self.turns(self.sample(32)))
        self.click("#other")
        self.assertEqual(self.totals(), self.turns(self.sample(96)))
        times = play_data.lanes()["ms"]["photo"]
        self.assertEqual([row[4] for row in self.rows("#totals")],
                         [f"{times[copies]:.4f}" if copies in times else "not recorded" for copies in self.COPIES])
        self.choose("#kind", "ramp")
        self.assertEqual(self.totals(), self.turns([place % 256 for place in range(512)]))
        for kind in ("uniform", "four-values", "constant"):
            self.choose("#kind", kind)
            self.assertEqual(self.totals()[-1], 16)
        self.quiet()

    def test_a_step_and_its_banks(self):
        self.open("banks.html#kind=ramp")
        self.assertIn("Step 1 of 16: 8 turns, 7 conflicts. Bank 0 has the most to do. The whole row: 128 turns, 112 of them", self.said())
        self.assertEqual(len(self.all("#banks .turn")), 16)
        self.assertIn("bank 0: bin 0 for 2 lanes, bin 32 for 2 lanes", self.text("#words"))
        self.click("#next")
        self.assertIn("Step 2 of 16", self.said())
        self.click("[name=copies][value='32']")
        self.assertIn("1 turn, no conflict", self.said())
        self.assertEqual(len(self.all("#banks .turn")), 32)
        self.choose("#kind", "constant")
        self.click("[name=copies][value='1']")
        self.assertIn("1 turn, no conflict", self.said())  # 32 lanes, one word: +1 of it is one step
        self.click("[value=one-by-one]")
        self.assertIn("32 turns, 31 waits", self.said())

    def test_all_banks_are_seen_on_a_phone(self):
        self.open("banks.html", NARROW)
        self.assertEqual(self.script("""return [...document.querySelectorAll("#banks text")].filter((each) =>
            each.getBoundingClientRect().right > innerWidth).length"""), 0)

    def test_a_picture_of_ones_own(self):
        self.open("banks.html")
        self.find("#file").send_keys(str(ROOT / "docs" / "README.md"))
        self.wait(lambda: "README.md is no picture" in self.said())
        self.find("#file").send_keys(str(ROOT / "images" / "landscape.bmp"))
        self.wait(lambda: self.find("#kind").get_property("value") == "own")
        self.assertEqual(self.totals(), self.turns(self.sample(256)))
        self.assertEqual(self.rows("#totals")[0][4], "not recorded")

    def test_with_the_keyboard_alone(self):
        self.open("banks.html")
        self.focus("[name=copies]")
        self.press("ARROW_RIGHT")
        self.assertEqual(self.text("#totals .now th"), "2")
        fifth = self.all("#steps button")[4]
        self.assertEqual(fifth.accessible_name, f"Step 5: {fifth.text} turns")
        self.focus("#steps li:nth-child(5), #steps button:nth-child(5)")
        self.press("ENTER")
        self.assertIn("Step 5 of 16", self.said())
        self.focus("#banks")
        self.press("ARROW_LEFT")
        self.assertIn("Step 4 of 16", self.said())


class Walk(Browser):
    def test_what_each_request_asks_for(self):
        self.open("walk.html")
        self.assertIn("Request 1 of 64: work-items 0 to 31 ask for 32 bytes, in 1 sector. 32 bytes come, 100 %", self.said())
        self.click("[value=vectors]")
        self.assertIn("Request 1 of 4: work-items 0 to 31 ask for 512 bytes, in 16 sectors. 512 bytes come, 100 %", self.said())
        self.click("[value=interleaved]")
        self.click("[value=cpu]")
        self.choose("#items", "64")
        self.assertIn("Request 1 of 2048: work-item 0 asks for 1 byte, in 1 line. 64 bytes come, 2 %", self.said())
        self.click("#run")
        self.assertIn("Request 2048 of 2048", self.said())
        self.click("#again")
        self.assertIn("Request 1 of 2048", self.said())
        self.quiet()

    def test_picture_status_and_table_agree_on_the_cache(self):
        for cache, said, comes, colour in (("none", "1024 bytes come, 3 %", "2048", "orange"), ("small", "the cache has it all", "64", "band")):
            self.open(f"walk.html#walk=blocked&cache={cache}")
            self.click("#next")
            self.assertIn("Request 2 of 64", self.said())
            self.assertIn(said, self.said())
            self.assertEqual(self.rows("#costs")[2][2:4], ["64", comes])
            self.assertEqual(self.colour(61), svg.COLOURS[colour][0])  # byte 3 of the first line

    def colour(self, x, y=10):
        return self.script("""const {data} = document.getElementById("bytes").getContext("2d").getImageData(arguments[0], arguments[1], 1, 1);
                              return "#" + [...data.slice(0, 3)].map((v) => v.toString(16).padStart(2, "0")).join("");""", x, y)

    def test_the_recorded_times(self):
        self.open("walk.html")
        self.assertEqual([row[1:] for row in self.rows("#measured")],
                         [[f"{each['strategy']}, {launch}", each["size"], *(f"{ms[walk]:g}" for walk in ("interleaved", "blocked"))]
                          for each in play_data.walks() for launch, ms in each["launches"].items()])

    def test_the_bytes_are_painted(self):
        self.open("walk.html#walk=vectors")
        self.assertEqual(self.colour(1270, 144), svg.COLOURS["blue"][0])  # byte 511
        self.assertEqual(self.colour(10, 164), svg.COLOURS["band"][0])  # byte 512
        self.click("#next")
        self.assertEqual(self.colour(1270, 144), svg.COLOURS["muted"][0])

    def test_with_the_keyboard_alone(self):
        self.open("walk.html")
        self.focus("#place")
        self.press(*["ARROW_RIGHT"] * 3)
        self.assertIn("Request 4 of 64", self.said())
        self.focus("#bytes")
        self.press("ARROW_LEFT")
        self.assertIn("Request 3 of 64", self.said())


class Steps(Browser):
    """The model has tests of its own; here, that the page shows it."""

    def test_right_forward_and_backward(self):
        self.open("steps.html")
        self.click("#search")
        self.assertIn("None of 2,000 orders goes wrong.", self.said())
        self.click("#run")
        self.assertIn("All done, and right.", self.said())
        cells = self.script("return ['histogram', 'truth'].map((id) => document.getElementById(id).textContent)")
        self.assertEqual(cells[0], cells[1])
        self.focus("#log")
        self.press("ARROW_LEFT")
        self.assertEqual(self.find("#step").get_attribute("aria-disabled"), "false")
        self.press("ARROW_RIGHT")
        self.assertIn("All done", self.said())
        self.assertEqual(self.text("#found"), "")

    def test_what_goes_wrong_is_found_and_shown(self):
        self.open("steps.html")
        for change, found in (("barrierAfterZero", "Race: A zeroes bin 0"), ("barrierBeforeMerge", "B adds one to it"),
                              ("atomicCount", "A loads bin 0"), ("atomicMerge", "of the histogram")):
            with self.subTest(change):
                self.click(f"#{change}")
                self.assertIn(found, self.text("#found"))
                self.click("#search")
                self.assertIn("All done, and wrong in bin", self.said())
                self.click(f"#{change}")
                self.assertEqual(self.text("#found"), "")
        self.open("steps.html#pixels=3&earlyReturn=true")
        self.assertIn("Divergent: D never reaches", self.text("#found"))
        self.click("#run")
        self.assertIn("Group 1 waits for ever at a barrier.", self.said())
        self.quiet()


class UnderWay(Browser):
    def test_the_line_the_ceiling_and_the_recorded_points(self):
        self.open("underway.html")
        recorded = play_data.under_way()
        self.assertIn("256 bytes under way on each of 132 multiprocessors", self.said())
        self.assertEqual(len(self.all("#chart circle, #chart path")), len(recorded[0]["points"]) + 2)  # the line, and the chosen one
        self.choose("#bytes", "4")
        self.assertNotIn("ceiling: more", self.said())
        self.choose("#loads", "4")
        self.assertIn(f"{recorded[0]['ceiling']:.0f} GB/s. That is the ceiling: more loads change nothing.", self.said())
        self.assertEqual([row[:3] for row in self.rows("#points")],
                         [[f"{size}", f"{rate:g}", strategy] for size, rate, strategy, _ in recorded[0]["points"]])
        self.choose("#local", "33")
        self.assertIn("6 groups, 1536 of 2048 work-items: 75 % occupancy. Decided by: local memory.", self.text("#held"))
        self.assertEqual(len(self.all("#goals .reached")), 3)
        self.quiet()


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
        if (input.pixels.length > 2 ** 22 && !["racy", "local"].includes(strategy)) continue;
        // Which takes seconds to compile for a size of groups: one that nothing divides.
        const compiled = await gpu.compile(strategy, code, strategy === "lane-bins" ? 96 : size);
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
        self.assertIn("--constant 127 --random 17M, 16 of 64", wrong.pop("racy"))
        self.assertEqual(wrong, {strategy: [] for strategy in play_data.STRATEGIES if strategy != "racy"})

    def run_it(self):
        self.click("#run")
        self.wait(lambda: self.find("#run").get_attribute("aria-disabled") == "false", 60)

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
        self.ready()
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

    def test_the_clock_where_there_is_one(self):
        """On a GPU the page shows this; software's own times are never shown."""
        self.open("lab.html")
        timing = self.later("""const gpu = await labGpu.open();
            if (!gpu.canTime) return null;
            const pixels = play.samplePicture();
            const timing = await gpu.time(pixels, await gpu.compile("global", labData.strategies.global.code, 64, {asWritten: true}), 64);
            const ceiling = await gpu.readCeiling(pixels.pixels, [64]);
            gpu.device.destroy();
            return [timing, ceiling];""")
        for each in timing or []:
            self.assertTrue(0 < each["min"] <= each["median"] <= each["max"] and each["runs"] >= 3, each)

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


class Files(unittest.TestCase):
    """What needs no browser."""

    def test_the_colours_are_those_of_the_figures(self):
        css = (PLAY / "play.css").read_text(encoding="utf-8")
        for role, pair in svg.COLOURS.items():
            if role != "best":
                self.assertIn(f"--{role}: light-dark({pair[0]}, {pair[1]});", css)

    def test_headings_links_and_pictures(self):
        for path in PLAY.glob("*.html"):
            page = check.Page(path.read_text(encoding="utf-8"))
            self.assertEqual(list(check.faults(path, page, ROOT, None)), [], path.name)
            for link in page.links:
                file, _, part = link.partition("#")
                if part:
                    self.assertIn(part, pages.anchors((path.parent / file).read_text(encoding="utf-8")))


class Site(Browser):
    """The site as it was built."""

    @classmethod
    def setUpClass(cls):
        if not (cls.folder / "index.html").is_file():
            raise unittest.SkipTest("the site was not built")
        super().setUpClass()

    def test_pages_are_presentable(self):
        for page in ("index.html", "02-global-atomics/index.html", "03-local-atomics/exercise/five-steps/index.html"):
            self.presentable(page)

    def chosen(self):
        return {label.text for label in self.all(".sd-tab-set > input:checked + label") if label.text}

    def test_the_choice_of_an_api_holds_everywhere(self):
        self.open("02-global-atomics/index.html")
        self.assertEqual(self.chosen(), {"OpenCL"})
        self.click(".sd-tab-set label:nth-of-type(2)")
        self.assertEqual(self.chosen(), {"CUDA"})
        self.open("04-per-thread-bins/source.html")
        self.assertEqual(self.chosen(), {"CUDA"})

    def test_a_link_into_a_tab_opens_it(self):
        self.open("02-global-atomics/index.html")
        self.find("a[href$='#file-02-global-atomics-cuda-cu']").click()
        self.wait(lambda: self.chosen() == {"CUDA"})
        self.assertTrue(self.find("#file-02-global-atomics-cuda-cu").is_displayed())

    def test_tables_can_be_sorted(self):
        self.open("docs/results/h100.html")
        head = self.all("table.sortable:first-of-type th")[4]
        cells = "return [...document.querySelector('table.sortable').tBodies[0].rows].map((row) => row.cells[4].textContent.trim())"

        def rates():
            return [float(text) for text in self.script(cells) if text != "-"]

        before = rates()
        for direction, ordered in (("ascending", sorted(before)), ("descending", sorted(before, reverse=True))):
            self.click("table.sortable:first-of-type th:nth-child(5) button")
            self.assertEqual((head.get_attribute("aria-sort"), rates()), (direction, ordered))

    def test_code_can_be_copied(self):
        self.open("02-global-atomics/index.html")
        self.click("div.highlight button.copy")
        self.wait(lambda: self.text("div.highlight button.copy") == "Copied")

    def test_figures_are_as_wide_as_they_are_and_scroll_on_a_phone(self):
        for size in (WIDE, NARROW):
            self.open("02-global-atomics/index.html", size)
            self.assertGreater(self.script("return document.querySelector('article img[src$=\".svg\"]').getBoundingClientRect().width"), 690)

    def test_light_and_dark_hold_on_the_pages_to_play_with(self):
        self.open("index.html", scheme="light")
        while self.find("body").get_attribute("data-theme") != "dark":
            self.click(".content-icon-container .theme-toggle")
        for page in ("02-global-atomics/index.html", "docs/site/play/race.html"):
            self.open(page, scheme="light")
            colour = self.script("return getComputedStyle(document.body).backgroundColor")
            self.assertLess(max(map(int, colour.strip("rgb()").split(","))), 40, page)

    def test_the_pages_to_play_with_are_embedded(self):
        self.open("03-local-atomics/index.html")
        frames = self.all("iframe.play")
        self.assertEqual(len(frames), 3)
        self.script("arguments[0].scrollIntoView()", frames[0])
        self.browser.switch_to.frame(frames[0])
        self.wait(lambda: self.all("#said"))
        self.assertEqual((self.text("h1"), self.find("nav").is_displayed()), ("The five steps", False))
        self.click("#run")
        self.assertIn("All done, and right.", self.said())
        self.browser.switch_to.default_content()

    def test_from_a_lesson_to_its_page_and_back(self):
        self.open("02-global-atomics/index.html")
        self.click("a[href$='race.html']")
        self.assertEqual(self.text("h1"), "The race")
        self.click("nav a:nth-child(2)")
        self.assertIn("02-global-atomics/index.html#the-race-conditions", self.browser.current_url)


if __name__ == "__main__":
    if SITE:
        Site.folder = SITE
    unittest.main(defaultTest="Site" if SITE else ["Pages", "Race", "Banks", "Walk", "Steps", "UnderWay", "Files"])
