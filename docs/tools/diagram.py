"""What docs/tools/figures.py draws with: boxes, rows of cells, arrows and brackets, on top of docs/tools/svg.py.

The colours mean the same in all figures: blue, green, purple and yellow tell threads or groups apart,
ink is the result, muted is what nobody is using, and orange is trouble. Words say it as well, always.
"""

import math

from svg import COLOURS, Picture, number

WIDTH = 800
MARGIN = 16


def _tint(colour, page):
    """A little of the colour on the page, both written #rrggbb."""
    parts = [[int(text[place : place + 2], 16) for place in (1, 3, 5)] for text in (colour, page)]
    return "#" + "".join(f"{round(0.18 * a + 0.82 * b):02x}" for a, b in zip(*parts))


def _box_rules(scheme):
    """box-ROLE, a tinted area with a border, and letters that keep clear of the lines under them."""
    rules = [
        f".box-{role} {{ fill: {_tint(colours[scheme], COLOURS['page'][scheme])}; stroke: {colours[scheme]}; }}"
        for role, colours in COLOURS.items()
    ]
    page, band, muted = (COLOURS[role][scheme] for role in ("page", "band", "muted"))
    rules.append(f".box-plain {{ fill: {page}; stroke: {muted}; }}")
    rules.append(f".clear {{ stroke: {band}; stroke-width: 5px; paint-order: stroke; }}")
    return rules


def _more_style():
    light = "\n".join([".note { font-size: 12px; }", *_box_rules(0)])
    dark = "\n".join("  " + rule for rule in _box_rules(1))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


class Diagram(Picture):
    """A figure of a lesson, as wide as a page, with its title on top."""

    more_style = _more_style()

    def __init__(self, height, title, description):
        super().__init__(WIDTH, height, title, description)
        self.text(MARGIN, 29, title, "fill-ink title")

    def notes(self, x, y, lines, colour="ink", anchor="start", step=17):
        """Lines of small text, the first with its foot at y."""
        for place, line in enumerate(lines):
            if line:
                self.text(x, y + step * place, line, f"fill-{colour} note", anchor)

    def code(self, x, y, words, colour="ink", anchor="start"):
        self.text(x, y, words, f"fill-{colour} note code", anchor)

    def band(self, x, y, width, height):
        """The ground of a part of the figure."""
        self._add("rect", "fill-band", {"x": x, "y": y, "width": width, "height": height, "rx": 6})

    def panel(self, x, y, width, height, name, words):
        """A part of the figure: the name of a strategy, and what it is in a few words."""
        self.band(x, y, width, height)
        self.text(x + 14, y + 25, name, "fill-ink code bold")
        # Letters of code fonts are all about 0.6 of their size wide.
        self.text(x + 14 + 8.2 * len(name) + 14, y + 25, words, "fill-muted")

    def box(self, x, y, width, height, colour, words="", css="note", dashes=None):
        """A tinted box with words in its middle."""
        shape = {"x": x, "y": y, "width": width, "height": height, "rx": 2}
        self._add("rect", f"box-{colour}", {**shape, "stroke-dasharray": dashes} if dashes else shape)
        if words:
            self.text(x + width / 2, y + height / 2 + 4.5, words, f"fill-ink {css}", "middle")

    def cells(self, x, y, width, height, contents, colours="plain", css="note"):
        """A row of boxes side by side. `colours`: one for all, or one for each."""
        if isinstance(colours, str):
            colours = [colours] * len(contents)
        for place, (words, colour) in enumerate(zip(contents, colours)):
            self.box(x + width * place, y, width, height, colour, str(words), css)

    def hatch(self, x, y, width, height, step=7):
        """An area that holds nothing: a border and slanted lines."""
        self._add("rect", "line-muted", {"x": x, "y": y, "width": width, "height": height})
        start = -height
        while start < width:
            # From (start, bottom) to (start + height, top), cut off at both sides.
            left, right = max(start, 0), min(start + height, width)
            self.line(x + left, y + height - (left - start), x + right, y + height - (right - start), "line-muted", 0.7)
            start += step

    def arrow(self, *points, colour="muted", width=1.5, dashes=None, both=False):
        """A line through the points with a head at its end, or at both ends."""
        size = 4 + 2.2 * width
        through = list(points)
        self._head(points[-2], points[-1], colour, size)
        through[-1] = self._before(points[-2], points[-1], size * 0.7)
        if both:
            self._head(points[1], points[0], colour, size)
            through[0] = self._before(points[1], points[0], size * 0.7)
        self.way(through, colour, width, dashes)

    def way(self, points, colour, width=1.5, dashes=None):
        """A line through the points, dashed or not."""
        through = " L".join(f"{number(x)},{number(y)}" for x, y in points)
        shape = {"d": f"M{through}", "stroke-width": width}
        self._add("path", f"line-{colour}", {**shape, "stroke-dasharray": dashes} if dashes else shape)

    @staticmethod
    def _before(start, end, distance):
        """The point on the way from start, so far before end."""
        length = math.dist(start, end)
        return tuple(e - (e - s) / length * distance for s, e in zip(start, end))

    def _head(self, start, end, colour, size):
        """A triangle with its tip at end."""
        x, y = self._before(start, end, size)
        dx, dy = (end[0] - x) * 0.45, (end[1] - y) * 0.45
        corners = [end, (x - dy, y + dx), (x + dy, y - dx)]
        outline = " L".join(f"{number(a)},{number(b)}" for a, b in corners)
        self._add("path", f"fill-{colour}", {"d": f"M{outline} Z"})

    def bracket(self, start, end, y, words, above=True, colour="muted", css=""):
        """A length from start to end, named above it or below it; `css` is for the name."""
        foot = 5 if above else -5
        self.path([(start, y + foot), (start, y), (end, y), (end, y + foot)], f"line-{colour}", 1.2)
        self.text((start + end) / 2, y - 5 if above else y + 15, words, f"fill-{colour} note {css}".strip(), "middle")

    def badge(self, x, y, place, colour="ink"):
        """A number in a disc: the place in an order."""
        self._add("circle", f"fill-{colour}", {"cx": x, "cy": y, "r": 9})
        self.text(x, y + 4.3, str(place), "fill-page note bold", "middle")

    def table(self, x, y, width, height, colour, shown=8):
        """A table of 256 counters, of which some cells are shown."""
        self.cells(x, y, width / shown, height, [""] * shown, colour)
