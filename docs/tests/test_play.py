"""The pages to play with, and (--site FOLDER) the built site, in a browser; the lab's kernels are in test_lab.py."""

import pathlib
import re
import shutil
import sys
import tempfile
import unittest

import repository
from browser import FOCUSED, FOLLOW_FOCUS, NARROW, PLAY, REACHABLE, ROOT, WIDE, Browser

SITE = repository.folder_option("--site")
sys.path.append(str(ROOT / "docs" / "site"))
import svg  # noqa: E402


class Pages(Browser):
    """The lab as a page; a second page to play with would need the same."""

    def test_it_is_presentable_and_what_happens_is_seen_at_once(self):
        self.assertEqual([path.name for path in PLAY.glob("*.html")], ["lab.html"])
        self.presentable("lab.html", "#said", ".bar")

    def test_where_nobody_has_built_it_it_says_so(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(PLAY, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lab-data.js", "photo.js"))
            self.browser.get(pathlib.Path(folder, "lab.html").as_uri())
            self.wait(lambda: self.text("main") == "This page is not built yet: ./tutorial run, typed in this clone, builds it.")
        self.quiet()

    def test_the_state_is_in_the_address(self):
        self.open("lab.html#strategy=local&nosuch=1")
        self.assertEqual(self.find("#strategy").get_property("value"), "local")
        self.script("location.hash = ''")
        self.wait(lambda: self.find("#strategy").get_property("value") == "racy")
        self.choose("#strategy", "local")
        self.assertEqual(self.script("return location.hash"), "#strategy=local")
        self.quiet()

    def test_all_of_it_with_the_keyboard(self):
        self.open("lab.html")
        self.unfold()
        reachable = self.script(REACHABLE)
        self.script(FOLLOW_FOCUS)
        self.press(*["TAB"] * (reachable + 3))
        focused = self.script(FOCUSED)
        self.assertEqual([each for each, outline in focused if outline == "none"], [])
        self.assertEqual(len(focused), reachable, focused)


class Files(unittest.TestCase):
    """What needs no browser."""

    def test_the_colours_are_those_of_the_figures(self):
        css = (PLAY / "lab.css").read_text(encoding="utf-8")
        for role, pair in svg.COLOURS.items():
            if role != "best":
                self.assertIn(f"--{role}: light-dark({pair[0]}, {pair[1]});", css)

    def test_they_stand_out_from_the_page(self):
        """As WCAG 2 computes it: axe looks at no letters in drawings."""
        def luminance(colour):
            parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
            return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
                       for weight, part in zip((0.2126, 0.7152, 0.0722), parts))

        for role in ("ink", "muted", "blue", "orange", "green", "purple", "yellow"):
            for colour, page in zip(svg.COLOURS[role], svg.COLOURS["page"]):
                low, high = sorted(luminance(each) + 0.05 for each in (colour, page))
                self.assertGreaterEqual(high / low, 4.5, f"{role}: {colour} on {page}")


class Site(Browser):
    """The site as it was built."""

    @classmethod
    def setUpClass(cls):
        if not (cls.folder / "index.html").is_file():
            raise unittest.SkipTest("the site was not built")
        super().setUpClass()

    # A page of each kind.
    PAGES = ("index.html", "02-global-atomics/index.html", "03-local-atomics/exercise/five-steps/index.html", "docs/results/h100.html", "search.html")
    KINDS = (*PAGES[:3], "02-global-atomics/measured.html", "docs/results/xeon-2-threads.html", "03-local-atomics/opencl.cpp.html",
             "05-launch-tuning/workshops/tune/index.html",
             "docs/json.html", "docs/counting.html", "docs/results/index.html", "predictions.html", "docs/site/play/index.html",
             "docs/site/play/lab.html#strategy=lane-bins", "search.html", "LICENSE.html")
    # What is wider than the window, but for what scrolls or moves in from the side; and on a phone what has small letters,
    # outside of drawings.
    CUT = """
    const wide = document.documentElement.clientWidth, phone = wide <= 480, wrong = new Set();
    const scrolls = (node) => node && node !== document.body && (/auto|scroll/.test(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
    if (document.documentElement.scrollWidth > wide) wrong.add(`scrolls: ${document.documentElement.scrollWidth}`);
    for (const cards of document.querySelectorAll(".cards")) if (cards.scrollWidth > cards.clientWidth + 1) wrong.add("cut: cards");
    const seen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    const what = (node) => `${node.tagName} ${node.textContent.trim().slice(0, 30)}`;
    for (const node of document.querySelectorAll("body :not(pre *, svg *, td *)")) {
      const { left, right, width } = node.getBoundingClientRect();
      const beside = width < 2 || left >= wide || right <= 0;
      if (!beside && (right > wide + 1 || left < -1) && seen(node) && !scrolls(node.parentElement)) wrong.add(`cut: ${what(node)}`);
      const says = [...node.childNodes].some((each) => each.nodeType === Node.TEXT_NODE && each.data.trim());
      if (!phone || beside || !says || node.closest("figure")) continue;
      if (parseFloat(getComputedStyle(node).fontSize) < 15.9 && seen(node)) wrong.add(`small: ${what(node)}`);
    }
    return [...wrong];
    """

    def test_pages_are_presentable(self):
        for page in self.PAGES:
            self.presentable(page)

    def test_nothing_is_cut_at_any_width(self):
        for page in self.KINDS:
            self.open(page)
            for width in (320, 360, 390, 480, 560, 640, 736, 820, 1024, 1200, 1366, 1600, 1920, 2560):
                self.resize((width, 800))
                with self.subTest(page=page, width=width):
                    self.assertEqual(self.script(self.CUT), [])

    # Cells that are out of sight; figures whose letters, of 11 to 18 pixels, are shrunk or blown up.
    OUT = """return [...document.querySelectorAll("article .table-wrapper td")].filter((cell) =>
        cell.checkVisibility() && cell.getBoundingClientRect().right > innerWidth).map((cell) => cell.textContent).concat(
        [...document.querySelectorAll("article p > img[src$='.svg']")].filter((figure) =>
            figure.width < 0.84 * figure.naturalWidth || figure.width > figure.naturalWidth
            || figure.naturalWidth < 500 && figure.width > 450).map((figure) => `${figure.src} ${figure.width}`))"""

    def test_a_phone_shows_the_numbers(self):
        for page in ("index.html", "01-cpu/measured.html", "03-local-atomics/measured.html", "03-local-atomics/the-idea-in-one-picture.html",
                     "docs/results/h100.html"):
            for size in (NARROW, WIDE):
                self.open(page, size)
                with self.subTest(page=page, size=size):
                    self.unfold()
                    self.assertEqual(self.script(self.OUT), [])
        self.assertFalse(self.script("return document.querySelector('.cards') !== null"))  # on a desk they are tables
        cut = """return [...document.querySelectorAll("article :is(pre, p:has(> img))")].filter((part) =>
            part.scrollWidth > part.clientWidth + 1).length"""
        for page in ("03-local-atomics/the-strategy.html", "04-per-thread-bins/predict-then-run.html"):
            self.open(page, (1366, 768))
            self.assertEqual(self.script(cut), 0, page)

    def test_tables_have_bars(self):
        self.open("docs/results/h100.html")
        bars = self.script("""return [...document.querySelector("table.measured").tBodies[0].rows].map((row) =>
            [parseFloat(row.cells[3].textContent) || 0, parseFloat(row.cells[3].style.getPropertyValue("--part"))])""")
        most = max(rate for rate, _ in bars)
        for rate, part in bars:
            self.assertAlmostEqual(part, 100 * rate / most, 3)

    def test_a_prediction_is_made_before_its_answer_opens_and_is_kept(self):
        page = "05-launch-tuning/predict-then-run.html"
        self.open(page)
        answer = "return document.querySelectorAll('.predict')[2].nextElementSibling"
        self.assertFalse(self.script(f"{answer}.checkVisibility()"))
        self.find(".predict input[type=number]").send_keys("507")
        self.press("ENTER")
        self.assertFalse(self.script(f"{answer}.checkVisibility()"))  # which answers one more question
        self.click("[name='05-launch-tuning 2'][value='2']")
        self.click(self.all(".predict form button:not(.skip)")[1])
        self.assertTrue(self.script(f"{answer}.open"))
        self.open(page)
        said = [each.text for each in self.all(".predict .outcome")]
        self.assertEqual(said[0], "Yours: A ramp. That is it.")
        self.assertRegex(said[1], r"^yours 507 · ours 1014 · measured (\d+) GB/s\nYours is 4\d percent too low. Measured on NVIDIA H100")
        places = [self.script("return parseFloat(arguments[0].style.left)", each) for each in self.all(".predict .mark")]
        self.assertAlmostEqual(places[1], 2 * places[0], 3)
        self.find(".predict p > label input[type=number]").send_keys("300")
        self.press("TAB")
        self.wait(lambda: re.search(r"measured \d+ · here 300 GB/s", self.all(".predict .outcome")[1].text))
        said = [each.text for each in self.all(".predict .outcome")]
        self.open("predictions.html")
        self.assertIn("you have 1 of 1 right.", self.text(".predict"))
        self.assertEqual([each.text for each in self.all(".predict .outcome")], said)
        self.presentable("predictions.html")
        self.script("localStorage.clear()")
        self.open("predictions.html")
        self.assertIn("None of ", self.text(".predict"))
        self.open(page)
        self.click(self.all(".predict .skip")[2])
        self.assertTrue(self.script(f"{answer}.open"))

    def arrived(self, heading):
        self.wait(lambda: self.script("return document.readyState === 'complete'") and self.text("h1").startswith(heading))

    def test_a_page_that_only_leads_on_is_not_read(self):  # though all of it is in sight, and there before the other one
        early = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
            "source": "addEventListener('DOMContentLoaded', () => dispatchEvent(new Event('load')))"})
        self.open("03-local-atomics/index.html#the-race-conditions", (1200, 4000))
        self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", early)
        self.arrived("The race conditions")
        self.assertNotIn("03-local-atomics/index.html", self.script("return localStorage.getItem('read') ?? ''"))

    def test_one_goes_through_by_arrow_keys_and_sees_what_was_read(self):
        self.open("03-local-atomics/index.html#the-race-conditions")  # where links of others lead
        self.arrived("The race conditions")
        self.press("ARROW_RIGHT")
        self.arrived("Where the data lives")
        self.assertEqual(self.count(".sections .read, .sidebar-tree .read"), 1)  # the one that is seen whole
        self.press("END")
        self.wait(lambda: self.count(".sidebar-tree .read") == 2)
        self.press("ARROW_LEFT")
        self.arrived("The race conditions")
        self.open("03-local-atomics/index.html")
        self.assertEqual([each.text for each in self.all(".sections .read")], ["The race conditions", "Where the data lives"])
        self.assertEqual(self.find(".sections").get_attribute("data-done"), f"2 of {self.count('.sections a')} read")
        self.quiet()

    def test_the_search_finds_lessons_and_no_listings(self):
        self.browser.get(f"{(self.folder / 'search.html').as_uri()}?q=bank+conflict")
        self.wait(lambda: "finished" in self.text("#search-results") and self.all("#search-results li a"))
        found = [each.get_attribute("href").partition("?")[0] for each in self.all("#search-results li a")]
        self.assertIn("04-per-thread-bins/the-idea-in-one-picture.html", " ".join(found))
        self.assertEqual([each for each in found if "schema" in each], [])
        self.wait(lambda: self.all("#search-results a[data-of='Chapter 04: ']"))  # whose sections have the names of others
        self.quiet()

    def test_a_lesson_leads_to_its_kernel_in_the_lab(self):
        self.open("03-local-atomics/the-strategy.html")
        self.browser.find_element("link text", "Break it").click()
        self.wait(lambda: self.all("[data-begun]"))
        self.assertEqual(self.find("#strategy").get_property("value"), "local")

    ORANGE = "#chart path[fill*=orange][d^=M]"

    def bottom(self, selector):
        return self.script("return document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)

    def test_the_first_screen_loses_counts_and_one_line_mends_them(self):
        """With the keyboard; on a phone without WebGPU, and before the lab's scripts have come by themselves."""
        late = "Object.defineProperty(navigator, 'gpu', {value: undefined}); requestIdleCallback = () => 0"
        for size in ((1366, 768), NARROW):
            hidden = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": late if size == NARROW else ""})
            self.resize(size)
            self.browser.get((self.folder / "index.html").as_uri())
            self.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", hidden)
            for selector in ("#said", "#picture", "#chart", "#run", "#code")[:5 if size != NARROW else 4]:
                self.assertLessEqual(self.bottom(selector), size[1], selector)
            self.assertTrue(size != NARROW or self.count("script[src$='photo.js']") == 0)  # it holds nothing up
            self.script("""const run = document.getElementById("run");
                run.focus();
                run.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true }))""")
            self.wait(lambda: re.match(r"Wrong: 2\d\d bins of 256; \d+,\d+ counts lost\. 262,144 pixels, 64 groups of 64", self.said()))
            self.assertEqual("the page itself takes the steps" in self.said(), size == NARROW)
            self.assertEqual([self.count(self.ORANGE)] + [self.find(each).is_displayed() for each in ("#lost", "#next")], [2, True, False])
            self.press("TAB", "TAB", "ENTER")  # over the kernel to "Put it in", which leads back to Run
            self.assertIn("    atomicAdd(&histogram[pixel(i)], 1u);\n}", self.text("#colours"))
            self.press("ENTER")
            self.wait(lambda: self.said().startswith("Right: all 256 bins"))
            self.assertEqual([self.count(self.ORANGE)] + [self.find(each).is_displayed() for each in ("#lost", "#next")], [0, False, True])
            self.assertIn("; 0 bins of 256 are wrong", self.find("#chart").get_attribute("aria-label"))
            self.assertEqual(self.script("return document.documentElement.scrollWidth <= innerWidth"), True)
            self.script("const code = document.getElementById('code'); code.value = code.value.replace('1u', 'nosuch')")
            self.press("ENTER")
            self.wait(lambda: self.said() == "It does not compile.")
            self.assertEqual(self.text("#messages"), "Line 2, column 37: unresolved value 'nosuch'")
            self.presentable(None)
            self.assertEqual(self.script("""return [...document.querySelectorAll("[src], link")].map((each) => each.src ?? each.href).filter(
                (each) => !/^(file|data):/.test(each))"""), [])  # no request outside

    def test_a_count_being_lost_is_watched_at_once(self):
        self.open("index.html")
        self.wait(lambda: self.all("[data-begun]"))
        self.script("document.querySelector('#lost a').click()")
        self.wait(lambda: self.all("#lines .here"), 30)
        self.assertEqual((self.text("#lines .here"), self.count(self.ORANGE)), ("32", 2))
        self.assertIn("Mend it there: atomicAdd(", self.text("#named"))
        for selector in ("#run", "#picture", "#chart"):
            self.assertLessEqual(self.bottom(selector), WIDE[1], selector)


if __name__ == "__main__":
    if SITE:
        Site.folder = SITE
    unittest.main(defaultTest="Site" if SITE else ["Pages", "Files"])
