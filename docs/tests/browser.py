"""The pages to play with, and the built site, in a real Chromium without a window, opened from the disk: what their tests share.

Skipped where there is no Selenium, no Chromium or no driver for it (Debian: python3-selenium chromium chromium-driver). axe looks at
the pages where ./tutorial site has installed it.
"""

import functools
import itertools
import os
import shutil
import unittest

import repository

ROOT = repository.ROOT
PLAY = ROOT / "docs" / "site" / "play"
WIDE, NARROW = (1200, 900), (390, 800)
OPENED = itertools.count()

AXE = next(ROOT.glob("build/site-env/lib/python3*/site-packages/axe_playwright_python/axe.min.js"), None)
AXE_RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ["violations"]}).then(({violations}) => done(violations.map((each) =>
  `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 80)).join(" | ")}`)));
"""

# What the keyboard has to reach: everything that can be pressed, chosen or written in; of radio buttons the chosen one.
REACHABLE = """
return [...document.querySelectorAll("a[href], button, select, input, textarea, summary, [tabindex='0']")].filter((node) =>
  node.checkVisibility() && !node.disabled && (node.type !== "radio" || node.checked)).length;
"""
# Remembers what gets the focus, and whether that is seen.
FOLLOW_FOCUS = """
window.focused = new Map();
addEventListener("focusin", ({target}) => window.focused.set(target, getComputedStyle(target).outlineStyle));
"""
FOCUSED = "return [...window.focused].map(([node, outline]) => [node.outerHTML.slice(0, 80), outline]);"
# The flag for Dawn, which Chromium has its WebGPU from: without it SwiftShader, not Dawn, zeroes local memory, each word in code of
# its own, and takes 4 s to compile a kernel with 32 KiB.
FLAGS = ("--headless=new", "--disable-dev-shm-usage", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
         "--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension")


@functools.cache
def browser():
    """The one browser of all tests. Raises SkipTest where there is none."""
    try:
        from selenium import webdriver
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        raise unittest.SkipTest("no Selenium for Python (package python3-selenium)") from None
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
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

    def wants(self, scheme, motion="reduce"):
        """What the reader's system asks pages for."""
        features = [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}]
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def resize(self, size):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == NARROW})
        self.drawn()

    def drawn(self):  # which on a slow machine takes its time
        self.browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def open(self, page, size=WIDE, scheme="light", motion="reduce"):
        self.wants(scheme, motion)
        self.resize(size)
        self.browser.get_log("browser")  # what others left there
        path, hash_, state = page.partition("#")
        # Another #part alone would load nothing.
        self.browser.get(f"{(self.folder / path).as_uri()}?{next(OPENED)}{hash_}{state}")
        self.wait(lambda: self.script("return !document.getElementById('code') || 'begun' in document.body.dataset"))

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
        return self.script("return document.querySelector(arguments[0]).textContent", selector)

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
        self.assertEqual(value, self.script("""const control = document.querySelector(arguments[0]);
            control.value = arguments[1];
            for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind, {bubbles: true}));
            return control.value""", selector, value))

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
        self.drawn()

    def quiet(self):
        """Nothing in the console that is more than information."""
        said = self.browser.get_log("browser")
        self.assertEqual([entry["message"] for entry in said if entry["level"] in ("WARNING", "SEVERE")], [])

    def presentable(self, page, *at_once):
        """On a desk and on a phone: nothing in the console, nothing wider than the window, and axe finds nothing, in light and dark and with
        all that is folded open; and what is seen at once, before one scrolls."""
        if page:  # else the one that is open
            self.open(page)
        for size in (WIDE, NARROW):
            with self.subTest(page=page, size=size):
                self.resize(size)
                self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), size[0])
                for selector in at_once:
                    box = self.script("""const {top, bottom} = document.querySelector(arguments[0]).getBoundingClientRect();
                        return [top, bottom]""", selector)
                    self.assertTrue(0 <= box[0] < box[1] <= size[1], f"{selector}: {box}")
        self.quiet()
        if AXE is None:
            self.skipTest("no axe (./tutorial site installs it)")
        self.unfold()
        self.script(AXE.read_text(encoding="utf-8"))
        for size, scheme in ((NARROW, "light"), (WIDE, "dark")):
            with self.subTest(page=page, size=size, scheme=scheme):
                self.resize(size)
                self.wants(scheme)
                self.assertEqual(self.browser.execute_async_script(AXE_RUN), [])
        self.browser.get_log("browser")  # axe asks for files that a page from the disk does not get
