"""What the figures of docs/tools/plots.py look like on a page: their colours, and the head of an SVG file.

A page shows a figure as an image and gives it no style sheet, so each carries its own: light, and dark where the
reader's browser asks for dark.
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
    "best": ("#d6006e", "#d6006e"),
}
LIGHT = {role: light for role, (light, _) in COLOURS.items()}

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
CODE_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"
HALO = "halo"  # how the id of a text begins that lies on lines: it keeps a margin of the page's colour


def _style_sheet():
    """The reader's fonts; and each light colour, which stands in the drawing itself, becomes the dark one of its role."""
    rules = [f"text {{ font-family: {FONT} !important; }}", f"text[style*='Mono'] {{ font-family: {CODE_FONT} !important; }}",
             f"[id^='{HALO}'] text {{ stroke: {LIGHT['page']}; stroke-width: 3px; paint-order: stroke; }}",
             "@media (prefers-color-scheme: dark) {", f"  [id^='{HALO}'] text {{ stroke: {COLOURS['page'][1]}; }}"]
    rules += [f"  [style*='{paint}: {light}'] {{ {paint}: {dark} !important; }}"
              for light, dark in COLOURS.values() if light != dark for paint in ("fill", "stroke")]
    return "\n".join([*rules, "}"])


def head(width, height, title, description):
    """The beginning of a file; `title` and `description` are what a screen reader says."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">\n'
            f"<title>{escape(title)}</title>\n<desc>{escape(description)}</desc>\n<style>\n{_style_sheet()}\n</style>\n")
