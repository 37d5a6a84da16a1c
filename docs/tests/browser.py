"""The pages to play with, and the built site, in a real Chromium without a window, opened from the disk: what their tests share.

Skipped where there is no Selenium, no Chromium or no driver for it (Debian: python3-selenium chromium chromium-driver). axe (Python:
axe_core_python) looks at the pages, too, where it is installed.
"""

import functools
import importlib.util
import os
import pathlib
import shutil
import unittest

import repository

ROOT = repository.ROOT
PLAY = ROOT / "docs" / "site" / "play"
WIDE, NARROW = (1200, 900), (390, 800)

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

    def unfold(self):
        self.script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")

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
                    self.unfold()
                    self.assertEqual(self.script(CONTRASTS), [])
        self.assertEqual(self.script(NAMELESS), [])
        if AXE and self.folder == PLAY:
            self.script((pathlib.Path(AXE.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
            self.assertEqual(self.browser.execute_async_script(AXE_RUN), [])
