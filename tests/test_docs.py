"""The README and docs/: commands that can be given as they stand, links that lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser

from pdsim import registry
from pdsim.cli.arguments import parser
from pdsim.experiment.load import load_any

DOCS = Path(__file__).parents[1] / "docs"
NAMES = ("README.md", *(f"docs/{path.name}" for path in sorted(DOCS.glob("*.md"))))
FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
TARGETS = ("bayessim", "tune", "calibration")


def commands(text, program):
    """The commands of a program in a document, each a list of words; True where it is whole.

    A command in a line of text may be a verb alone, which is there to be named.
    """
    for language, block in FENCED.findall(text):
        for line in block.replace("\\\n", " ").splitlines() if language == "sh" else ():
            words = shlex.split(line, comments=True)
            if words[:1] == [program]:
                yield words[1:], True
    for span in re.findall(r"`([^`]+)`", FENCED.sub("", text)):
        words = shlex.split(" ".join(span.split())) if span.startswith(f"{program} ") else []
        if words:
            yield words[1:], False


@pytest.mark.parametrize("name", NAMES)
def test_commands_of_pdsim_are_accepted(root, name):
    accepted = parser()
    verbs = accepted._subparsers._group_actions[0].choices
    for words, whole in commands((root / name).read_text(), "pdsim"):
        if words[0] not in verbs and words != ["--help"]:
            pytest.fail(f"{name}: pdsim {words[0]}")
        if "--help" in words or not (whole or any(w.endswith((".yaml", ".nc")) for w in words)):
            continue
        try:
            accepted.parse_args(words)
        except SystemExit:
            pytest.fail(f"{name}: pdsim {shlex.join(words)}")


@pytest.mark.parametrize("name", NAMES)
def test_commands_of_snakemake_have_targets(root, name):
    groups = yaml.safe_load((root / "config/config.yaml").read_text())["groups"]
    settings = {"budget", "control_budget", "experiment", "ibm_dir", "results"}
    for words, _ in commands((root / name).read_text(), "snakemake"):
        given = get_argument_parser().parse_args(words)
        shown = f"{name}: snakemake {shlex.join(words)}"
        for target in given.targets or ():
            known = target in groups or target in TARGETS or target.startswith("<")
            assert known or is_result(root, target), shown
        assert {pair.split("=")[0] for pair in given.config or ()} <= settings, shown
        for profile in given.profile or ():
            assert profile.startswith("<") or (root / profile / "config.yaml").is_file(), shown


def is_result(root, path):
    """Whether a path below results is a figure or a posterior of a run that a shipped one has."""
    first, experiment, run, seed, file = path.split("/")
    setup = load_any(root / f"config/experiments/{experiment}.yaml")
    stem, suffix = file.split(".")
    assert (first, seed) == ("results", "seed0")
    assert setup.identity(run)
    return (stem in registry.NAMES["figures"]) == (suffix == "png")


@pytest.mark.parametrize("name", NAMES)
def test_targets_of_make_are_there(root, name):
    makefile = (root / "Makefile").read_text()
    for words, _ in commands((root / name).read_text(), "make"):
        for target in words:
            assert re.search(rf"^[\w ]*\b{target}\b[\w ]*:", makefile, re.M), f"{name}: {target}"


def anchors(text):
    """What a document's headings are called in links."""
    headings = re.findall(r"^#+ +(.*)$", FENCED.sub("", text), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", (*NAMES, "CHANGELOG.md", "config/README.md", "data/README.md"))
def test_links_and_images_lead_somewhere(root, name):
    text = (root / name).read_text()
    plain = FENCED.sub("", text)
    links = re.findall(r"\]\(([^()\s]+)\)", plain) + re.findall(r'(?:src|href)="([^"]+)"', plain)
    for link in links:
        if link.startswith(("https://", "http://")):
            continue
        path, _, anchor = link.partition("#")
        target = (root / name).parent / path if path else root / name
        assert target.exists(), f"{name}: {link}"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{name}: {link}"


def test_there_are_commands_to_look_at(root):
    assert sum(len(list(commands((root / n).read_text(), "pdsim"))) for n in NAMES) > 15
