"""Which type a plain word of YAML has, and numbers that YAML's readers do not agree on.

YAML 1.1, which PyYAML implements, reads ``1:40`` as 100, ``010`` as 8, ``yes`` as true and ``1e3``
as text. Here a number is what YAML 1.2 and every other language take for one, truth values are
true and false, and dates are text. What remains of the old spellings is refused.
"""

import re
from typing import Any

import yaml

# tag → the words that have it, and the characters that these begin with.
_TYPES = (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("merge", r"<<", "<"),
    ("int", r"[-+]?(0|[1-9][0-9]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for name, words, first in _TYPES:
        for character in first:
            entry = (f"tag:yaml.org,2002:{name}", re.compile(rf"({words})\Z"))
            found.setdefault(character, []).append(entry)
    return found


# In PyYAML's form, for its loaders and dumpers.
RESOLVERS = _resolvers()


# Spelling that some of YAML's readers take for a number → why it is refused.
_DISPUTED = (
    (r"[-+]?0[0-9_]+", "leading zeros make some readers take it for octal"),
    (r"[-+]?0[xX][0-9a-fA-F_]+", "hexadecimal numbers are not read"),
    (r"[-+]?0[bB][01_]+", "binary numbers are not read"),
    (r"[-+]?0[oO][0-7_]+", "octal numbers are not read"),
    (
        r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?",
        "some readers take it for a number of base 60, and none for a range",
    ),
    (r"[-+]?[0-9.][0-9_.]*_[0-9_.]*([eE][-+]?[0-9]+)?", "some readers drop the underscores"),
)


def disputed(word: str) -> str:
    """Why a plain word is refused, which some of YAML's readers take for a number; else empty."""
    return next((why for pattern, why in _DISPUTED if re.fullmatch(pattern, word)), "")


class Dumper(yaml.SafeDumper):
    """Writes YAML that ``read_yaml`` reads back: text that looks like a number is in quotes."""

    def analyze_scalar(self, scalar):
        analysis = super().analyze_scalar(scalar)
        if disputed(scalar):
            analysis.allow_flow_plain = analysis.allow_block_plain = False
        if analysis.multiline:
            # Line ends would be folded, which needs an indentation that depends on the place.
            analysis.allow_flow_plain = analysis.allow_block_plain = False
            analysis.allow_single_quoted = analysis.allow_block = False
        return analysis


Dumper.yaml_implicit_resolvers = RESOLVERS


def flow(value: Any) -> str:
    """A value in one line of YAML."""
    text = yaml.dump(
        value,
        Dumper=Dumper,
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
    )
    return text.strip().removesuffix("...").strip()
