"""The documentation as a site: `make site`. Sources are the Markdown files of the checkout."""

import argparse

from docutils import nodes
from docutils.parsers.rst import Directive

from pdsim import __version__
from pdsim.cli.arguments import parser

project = "pdsim"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    "README.md", "CHANGELOG.md", "docs/*.md", "config/README.md", "data/README.md",
    "benchmarks/README.md",
]  # fmt: skip
# Links to a heading are checked down to the third level.
myst_heading_anchors = 3
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
html_theme = "furo"
html_title = "pdsim"


class Commands(Directive):
    """The help of every verb of the command line."""

    def run(self):
        root = parser()
        found = [_section("pdsim", root)]
        (verbs,) = (a for a in root._actions if isinstance(a, argparse._SubParsersAction))
        return found + [_section(f"pdsim {name}", verb) for name, verb in verbs.choices.items()]


def _section(title: str, command: argparse.ArgumentParser) -> nodes.section:
    text = command.format_help()
    help_text = nodes.literal_block(text, text, language="text")
    return nodes.section("", nodes.title(text=title), help_text, ids=[nodes.make_id(title)])


def setup(app):
    """Give Sphinx the directive."""
    app.add_directive("commands", Commands)
