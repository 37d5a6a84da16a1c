"""SVG by hand: what docs/tools/plots.py draws with, and the colours of its pictures.

A picture carries its own style sheet and background, because a page shows it as an image and gives it
neither: light, and dark where the reader's browser asks for dark. Output depends on nothing but what
is drawn.
"""

from html import escape

# role: (on light, on dark). The hues are those of Okabe and Ito, which colour-blind readers can tell
# apart, made darker or lighter until they stand out from the background.
COLOURS = {
    "page": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "grid": ("#d8dee4", "#2a313a"),
    "band": ("#f3f5f7", "#161b22"),
    "blue": ("#0072b2", "#56b4e9"),
    "orange": ("#c04e00", "#ff9a4d"),
    "green": ("#00795a", "#2fc79c"),
    "purple": ("#a23b7c", "#e79ac8"),
    "yellow": ("#9a6b00", "#f0c24b"),
    "best": ("#d6006e", "#d6006e"),  # around a cell of a heat map, whose colours do not change either
}
# Cividis, which is made for colour-blind readers and grows steadily brighter; the same on both pages.
HEAT = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838")

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
TEXT_STYLE = f"""\
text {{ font-family: {FONT}; font-size: 13px; }}
.code {{ font-family: {CODE_FONT}; }}
.bold {{ font-weight: 600; }}
.small {{ font-size: 11px; }}
.title {{ font-size: 16px; font-weight: 600; }}
"""


def number(value):
    """A coordinate with at most two decimals, so that every Python writes the same."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _colour_rules(scheme):
    """fill-ROLE and line-ROLE of one scheme, 0 for light and 1 for dark."""
    rules = []
    for role, colours in COLOURS.items():
        rules.append(f".fill-{role} {{ fill: {colours[scheme]}; }}")
        rules.append(f".line-{role} {{ stroke: {colours[scheme]}; fill: none; }}")
    # Letters that lie on lines keep a margin of the page's colour.
    rules.append(f".halo {{ stroke: {COLOURS['page'][scheme]}; stroke-width: 3px; paint-order: stroke; }}")
    return rules


def style_sheet():
    """All classes: text, colours by role, and the fill of each step of a heat map."""
    heat = [f".heat-{step} {{ fill: {colour}; }}" for step, colour in enumerate(HEAT)]
    heat += [".on-dark { fill: #ffffff; }", ".on-bright { fill: #000000; }"]
    dark = "\n".join("  " + rule for rule in _colour_rules(1))
    light = "\n".join([*_colour_rules(0), *heat])
    return f"{TEXT_STYLE}{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


class Picture:
    """A drawing. Coordinates are pixels from the left and from the top; `css` is a list of classes."""

    def __init__(self, width, height, title, description):
        """`title` and `description` are what a screen reader says."""
        self.width, self.height = width, height
        self.head = f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n"
        self.parts = []
        self.rect(0, 0, width, height, "fill-page")

    def _add(self, name, css, attributes, content=None):
        words = "".join(
            f' {key}="{number(value) if isinstance(value, (int, float)) else escape(value)}"'
            for key, value in attributes.items()
        )
        end = "/>" if content is None else f">{content}</{name}>"
        self.parts.append(f'<{name} class="{css}"{words}{end}')

    def text(self, x, y, words, css="fill-ink", anchor="start"):
        """`anchor` is the part of the text that stands at x: start, middle or end."""
        where = {"x": x, "y": y}
        self._add("text", css, where if anchor == "start" else {**where, "text-anchor": anchor}, escape(words))

    def line(self, x1, y1, x2, y2, css="line-grid", width=1, dashes=None):
        shape = {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke-width": width}
        self._add("line", css, {**shape, "stroke-dasharray": dashes} if dashes else shape)

    def rect(self, x, y, width, height, css, stroke=None):
        shape = {"x": x, "y": y, "width": width, "height": height}
        self._add("rect", css, {**shape, "stroke-width": stroke} if stroke else shape)

    def path(self, points, css, width=1.5):
        """A line through the points."""
        through = " L".join(f"{number(x)},{number(y)}" for x, y in points)
        self._add("path", css, {"d": f"M{through}", "stroke-width": width, "stroke-linejoin": "round"})

    def mark(self, shape, x, y, css, size=5):
        """A circle, square, diamond, triangle, wedge (a triangle upside down) or cross around a point."""
        s, d, w = size * 0.9, size * 1.25, size * 1.1
        corners = {
            "square": [(-s, -s), (s, -s), (s, s), (-s, s)],
            "diamond": [(0, -d), (d, 0), (0, d), (-d, 0)],
            "triangle": [(0, -d), (w, w * 0.75), (-w, w * 0.75)],
            "wedge": [(0, d), (w, -w * 0.75), (-w, -w * 0.75)],
        }
        if shape == "circle":
            self._add("circle", css, {"cx": x, "cy": y, "r": size})
        elif shape == "cross":
            ends = f"M{number(x - s)},{number(y - s)} L{number(x + s)},{number(y + s)} "
            ends += f"M{number(x - s)},{number(y + s)} L{number(x + s)},{number(y - s)}"
            self._add("path", css.replace("fill-", "line-"), {"d": ends, "stroke-width": 2.5})
        else:
            outline = " L".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in corners[shape])
            self._add("path", css, {"d": f"M{outline} Z"})

    def to_text(self):
        """The file."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img">\n'
            f"{self.head}<style>\n{style_sheet()}</style>\n" + "\n".join(self.parts) + "\n</svg>\n"
        )
