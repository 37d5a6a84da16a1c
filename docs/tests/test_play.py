"""The pages to play with, and (--site FOLDER) the built site, in a real Chromium without a window, opened from the disk.

Skipped where there is no Selenium, no Chromium or no driver for it (Debian: python3-selenium chromium chromium-driver).
"""

import functools
import os
import shutil
import sys
import unittest

import repository

ROOT = repository.ROOT
PLAY = ROOT / "docs" / "site" / "play"
SITE = repository.folder_option("--site")
WIDE, NARROW = (1200, 900), (390, 800)
sys.path.append(str(ROOT / "docs" / "site"))
import check  # noqa: E402
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
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", *sandbox):
        options.add_argument(argument)
    try:
        started = webdriver.Chrome(options=options, service=Service(driver))
    except WebDriverException as error:
        raise unittest.SkipTest(f"Chromium does not start: {error.msg}") from None
    unittest.addModuleCleanup(started.quit)
    return started


class Browser(unittest.TestCase):
    """Pages of a folder, as a reader has them."""

    folder = PLAY

    @classmethod
    def setUpClass(cls):
        cls.browser = browser()

    def open(self, page, size=WIDE, scheme="light", motion="reduce"):
        emulate = self.browser.execute_cdp_cmd
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}]
        emulate("Emulation.setEmulatedMedia", {"features": features})
        emulate("Emulation.setDeviceMetricsOverride", {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == NARROW})
        self.browser.get_log("browser")  # what others left there
        self.browser.get((self.folder / page).as_uri())

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def text(self, selector):
        return self.find(selector).text

    def click(self, selector):
        element = self.find(selector)
        self.browser.execute_script("arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})", element)
        element.click()

    def choose(self, selector, value):
        """An entry of a list, as a reader would."""
        self.browser.execute_script("arguments[0].value = arguments[1];"
                                    "arguments[0].dispatchEvent(new Event('change', {bubbles: true}))", self.find(selector), value)
        self.assertEqual(self.find(selector).get_property("value"), value)

    def press(self, keys):
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).send_keys(keys).perform()

    def wait(self, condition):
        from selenium.webdriver.support.wait import WebDriverWait
        WebDriverWait(self.browser, 10).until(lambda _: condition())

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
                    self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), size[0])
                    self.assertEqual(self.browser.execute_script(CONTRASTS), [])
        self.assertEqual(self.browser.execute_script(NAMELESS), [])


class Race(Browser):
    def rows(self):
        return [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in self.all("#counters tbody tr")]

    def test_it_is_presentable(self):
        self.presentable("race.html")

    def test_losing_on_purpose_and_the_same_order_otherwise(self):
        self.open("race.html")
        self.click("#lose")
        self.assertEqual(self.rows(), [["0", "1", "2", "1"]])
        self.assertIn("did not know of 1 addition: lost", self.text("#said"))
        self.assertEqual(len(self.all("#chart g")), 6)
        for way, kept in (("atomic", ["0", "2", "2", "0"]), ("tables", ["0", "1", "1", "-", "2", "0"])):
            self.click(f"[value={way}]")
            self.click("#lose")
            self.assertEqual(self.rows(), [kept])
            self.assertIn("nothing is lost", self.text("#said"))
        self.quiet()

    def test_run_to_the_end_and_back(self):
        self.open("race.html")
        self.choose("#items", "8")
        self.choose("#pixels", "1")
        self.click("#run")
        self.assertEqual(self.rows(), [["0", "1", "8", "7"]])  # as chapter 02 says of eight in a warp
        self.assertIn("8 pixels, 1 counts. 7 lost.", self.text("#said"))
        self.assertFalse(self.find("#step").is_enabled())
        self.click("#back")
        self.assertEqual(self.rows(), [["0", "1", "7", "6"]])
        self.choose("#order", "alone")
        self.click("#again")
        self.click("#run")
        self.assertEqual(self.rows(), [["0", "8", "8", "0"]])

    def test_with_the_keyboard_alone(self):
        from selenium.webdriver.common.keys import Keys
        self.open("race.html")
        self.browser.execute_script("arguments[0].focus()", self.find("#choice button"))
        self.press(Keys.ENTER + Keys.SPACE)
        self.assertIn("A adds one", self.text("#said"))
        self.press(Keys.TAB + Keys.ENTER)
        self.assertIn("B loads the counter: 0.", self.text("#said"))

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
        return [int(cell.text) for cell in self.all("#totals tbody td:nth-child(2)")]

    def turns(self, row):
        """The same as the model has it, which tests of its own hold against the kernels."""
        return self.browser.execute_script("""const sum = (list) => list.reduce((a, b) => a + b);
            return [1, 2, 8, 32].map((copies) => sum(banksModel.turnsOfRow(arguments[0], copies)));""", row)

    @staticmethod
    def sample(number):
        """A row of images/landscape.bmp, whose rows go upwards, with its palette."""
        data = (ROOT / "images" / "landscape.bmp").read_bytes()
        return [data[54 + 4 * value] for value in data[1078 + (511 - number) * 512:][:512]]

    def test_it_is_presentable(self):
        self.presentable("banks.html")

    def test_the_turns_and_the_recorded_times(self):
        self.open("banks.html")
        self.assertEqual(self.totals(), self.turns(self.sample(32)))
        self.click("#other")
        self.assertEqual(self.totals(), self.turns(self.sample(96)))
        recorded = [cell.text for cell in self.all("#totals tbody td:nth-child(5)")]
        times = play_data.lanes()["ms"]["photo"]
        self.assertEqual(recorded, [f"{times[copies]:.4f}" if copies in times else "not recorded" for copies in self.COPIES])
        self.choose("#kind", "ramp")
        self.assertEqual(self.totals(), self.turns([place % 256 for place in range(512)]))
        for kind in ("uniform", "four-values", "constant"):
            self.choose("#kind", kind)
            self.assertEqual(self.totals()[-1], 16)
        self.quiet()

    def test_a_step_and_its_banks(self):
        self.open("banks.html")
        self.choose("#kind", "ramp")
        self.assertIn("Step 1 of 16: 8 turns, 7 conflicts. Bank 0 has the most to do. The whole row: 128 turns, 112 of them",
                      self.text("#said"))
        self.assertEqual(len(self.all("#banks .turn")), 16)
        self.click("#next")
        self.assertIn("Step 2 of 16", self.text("#said"))
        self.click("[name=copies][value='32']")
        self.assertIn("1 turn, no conflict", self.text("#said"))
        self.assertEqual(len(self.all("#banks .turn")), 32)
        self.choose("#kind", "constant")
        self.click("[name=copies][value='1']")
        self.assertIn("1 turn, no conflict", self.text("#said"))  # 32 lanes, one word: +1 of it is one step
        self.click("[value=one-by-one]")
        self.assertIn("32 turns, 31 waits", self.text("#said"))

    def test_a_picture_of_ones_own(self):
        self.open("banks.html")
        self.find("#file").send_keys(str(ROOT / "docs" / "README.md"))
        self.wait(lambda: "README.md is no picture" in self.text("#said"))
        self.find("#file").send_keys(str(ROOT / "images" / "landscape.bmp"))
        self.wait(lambda: self.find("#kind").get_property("value") == "own")
        self.assertEqual(self.totals(), self.turns(self.sample(256)))
        self.assertIn("not recorded", self.text("#totals"))

    def test_with_the_keyboard_alone(self):
        from selenium.webdriver.common.keys import Keys
        self.open("banks.html")
        self.browser.execute_script("arguments[0].focus()", self.find("[name=copies]"))
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.text("#totals .now th"), "2")
        fifth = self.all("#steps button")[4]
        self.assertEqual(fifth.accessible_name, f"Step 5: {fifth.text} turns")
        self.browser.execute_script("arguments[0].focus()", fifth)
        self.press(Keys.ENTER)
        self.assertIn("Step 5 of 16", self.text("#said"))


class Walk(Browser):
    def cells(self, selector):
        return [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in self.all(f"{selector} tbody tr")]

    def test_it_is_presentable(self):
        self.presentable("walk.html")

    def test_what_each_request_asks_for(self):
        self.open("walk.html")
        self.assertIn("Request 1 of 64: work-items 0 to 31 ask for 32 bytes, in 1 sector. 32 bytes come, 100 %", self.text("#said"))
        self.click("[value=blocked]")
        self.assertIn("ask for 32 bytes, in 32 sectors. 1024 bytes come, 3 %", self.text("#said"))
        self.click("#next")
        self.assertIn("Request 2 of 64", self.text("#said"))
        self.assertIn("a cache may still have it", self.text("#said"))
        self.click("[value=vectors]")
        self.assertIn("Request 1 of 4: work-items 0 to 31 ask for 512 bytes, in 16 sectors. 512 bytes come, 100 %", self.text("#said"))
        self.click("[value=interleaved]")
        self.click("[value=cpu]")
        self.choose("#items", "64")
        self.assertIn("Request 1 of 2048: work-item 0 asks for 1 byte, in 1 line. 64 bytes come, 2 %", self.text("#said"))
        self.click("#run")
        self.assertIn("Request 2048 of 2048", self.text("#said"))
        self.assertFalse(self.find("#next").is_enabled())
        self.click("#again")
        self.assertIn("Request 1 of 2048", self.text("#said"))
        self.quiet()

    def test_the_costs_and_the_recorded_times(self):
        self.open("walk.html")
        self.assertEqual(self.cells("#costs")[2], ["blocked", "GPU", "64", "2048", "–"])
        self.assertEqual(self.text("#costs .now"), "interleaved GPU 64 64 –")
        shown = [row[1:] for row in self.cells("#measured")]
        self.assertEqual(shown, [[f"{each['strategy']}, {launch}", each["size"], *(f"{ms[walk]:g}" for walk in ("interleaved", "blocked"))]
                                 for each in play_data.walks() for launch, ms in each["launches"].items()])

    def test_the_bytes_are_painted(self):
        self.open("walk.html")
        self.click("[value=vectors]")
        pixel = """const {data} = document.getElementById("bytes").getContext("2d").getImageData(arguments[0], arguments[1], 1, 1);
                   return "#" + [...data.slice(0, 3)].map((v) => v.toString(16).padStart(2, "0")).join("");"""
        self.assertEqual(self.browser.execute_script(pixel, 635, 72), svg.COLOURS["blue"][0])  # byte 511
        self.assertEqual(self.browser.execute_script(pixel, 5, 82), svg.COLOURS["band"][0])  # byte 512
        self.click("#next")
        self.assertEqual(self.browser.execute_script(pixel, 635, 72), svg.COLOURS["muted"][0])

    def test_with_the_keyboard_alone(self):
        from selenium.webdriver.common.keys import Keys
        self.open("walk.html")
        self.browser.execute_script("arguments[0].focus()", self.find("#place"))
        self.press(Keys.ARROW_RIGHT * 3)
        self.assertIn("Request 4 of 64", self.text("#said"))


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

    def tearDown(self):
        self.browser.execute_script("localStorage.clear()")

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
            return [float(text) for text in self.browser.execute_script(cells) if text != "-"]

        before = rates()
        for direction, ordered in (("ascending", sorted(before)), ("descending", sorted(before, reverse=True))):
            self.click("table.sortable:first-of-type th:nth-child(5) button")
            self.assertEqual((head.get_attribute("aria-sort"), rates()), (direction, ordered))

    def test_light_and_dark_hold_on_the_pages_to_play_with(self):
        self.open("index.html", scheme="light")
        while self.find("body").get_attribute("data-theme") != "dark":
            self.click(".content-icon-container .theme-toggle")
        for page in ("02-global-atomics/index.html", "docs/site/play/race.html"):
            self.open(page, scheme="light")
            colour = self.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            self.assertLess(max(map(int, colour.strip("rgb()").split(","))), 40, page)

    def test_from_a_lesson_to_its_page_and_back(self):
        self.open("02-global-atomics/index.html")
        self.click("a[href$='race.html']")
        self.assertEqual(self.text("h1"), "The race")
        self.click("nav a")
        self.assertIn("02-global-atomics/index.html#the-race-conditions", self.browser.current_url)


if __name__ == "__main__":
    if SITE:
        Site.folder = SITE
    unittest.main(defaultTest="Site" if SITE else ["Race", "Banks", "Walk", "Files"])
