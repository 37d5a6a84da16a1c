"""Sphinx's settings. The pages are those that stage.py has laid out: ./tutorial site does all of it."""

import pathlib
import sys

from pygments.lexers import CLexer
from pygments.token import Keyword, Name

SITE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(SITE.parent / "tools"))
from svg import COLOURS  # noqa: E402

project = "Histogram tutorials"
html_title = project
html_baseurl = ""  # where the site is published, with a slash at its end; docs/tools/generate.py tells README.md
extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton"]
copybutton_exclude = ".linenos"
myst_enable_extensions = ["attrs_block", "colon_fence"]
myst_heading_anchors = 6
exclude_patterns = ["_extra"]
smartquotes = False  # the pages stay as they are written
# No date and no host of anybody's is asked for: the same pages give the same site.
html_theme = "furo"
html_static_path = [str(SITE / "static")]
html_css_files = ["site.css"]
html_favicon = str(SITE / "static" / "favicon.svg")
html_js_files = ["book.js", "predict.js", ("first.js", {"defer": "defer"})]
html_copy_source = False
html_use_index = False
html_show_search_summary = False  # a page from the disk may read no other
html_show_copyright = False
# The dark page is that of the pictures.
html_theme_options = {"dark_css_variables": {"color-background-primary": COLOURS["page"][1]}}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
# `./tutorial site links` asks for the pages of others, too: a page that refuses programs is not gone.
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_report_timeouts_as_broken = False


def page_to_page(app, page, _template, context, _doctree):
    """From the first page one goes on through the chapters' sections; exercises and sources are in the contents."""
    sections = [name for name, about in app.env.metadata.items() if "section" in about]
    chapters = sorted({name.rpartition("/")[0] for name in sections})
    book = ["index"]
    for chapter in chapters:
        book += [f"{chapter}/index", *(name for name in app.env.toctree_includes[f"{chapter}/index"] if name in sections)]
    if page not in book:
        return
    place = book.index(page)
    for name, other in (("prev", book[place - 1] if place else None), ("next", book[place + 1] if place + 1 < len(book) else None)):
        context[name] = {"link": app.builder.get_relative_uri(page, other), "title": app.env.titles[other].astext()} if other else None


class OpenCLLexer(CLexer):
    """C, with the words of its own that OpenCL has."""

    WORDS = {"__kernel", "__global", "__local", "__private", "__constant", "uchar", "ushort", "uint", "ulong", "uchar4", "uint4", "uchar16"}

    def get_tokens_unprocessed(self, text, stack=("root",)):
        for index, token, value in super().get_tokens_unprocessed(text, stack):
            yield index, Keyword.Type if token in Name and value in self.WORDS else token, value


def laid_out(app, config):
    """What stage.py has laid out lies beside the pages, not beside this file."""
    config.html_extra_path = [str(app.srcdir / "_extra")]


def setup(app):
    app.connect("html-page-context", page_to_page)
    app.connect("config-inited", laid_out)
    app.add_lexer("c", OpenCLLexer)
