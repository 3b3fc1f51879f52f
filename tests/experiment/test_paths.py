"""A file has one path in the workflow, however it is spelt, and a path that works is let through."""

import os
from pathlib import Path

import pytest

from pdsim.cli import fit
from pdsim.cli.arguments import parser
from pdsim.experiment.workflow import absolute_path, check_path, workflow_config

GROUPS = {"groups": {}}


@pytest.mark.parametrize(
    "path", ["a b", "ünïcode", "it's", '"', "$x", "$(x)", "`x`", ";", "*", "?", "[0]", "(", "%s",
             "#", " #", ": ", "&", "<", ">", "<A>", "a{", "}b", "\t", "\\", "-x", "~", "!", "|"],
)  # fmt: skip
def test_names_that_the_workflow_can_use_are_let_through(path):
    check_path(f"/folder/{path}/mine.csv", "mine.yaml")


def test_every_spelling_of_an_experiment_is_one_path(tmp_path, monkeypatch):
    folder, other, link = tmp_path / "x", tmp_path / "y", tmp_path / "link"
    folder.mkdir()
    other.mkdir()
    (folder / "mine.yaml").touch()
    link.symlink_to(folder)
    monkeypatch.chdir(other)
    monkeypatch.setenv("HOME", str(tmp_path))
    spellings = ["../x/mine.yaml", str(folder / "mine.yaml"), "../link/mine.yaml", "~/x/mine.yaml"]
    expected = {"mine": str(folder.resolve() / "mine.yaml")}
    for spelling in spellings:
        settings = workflow_config(GROUPS | {"experiment": spelling}, "config.yaml")
        assert settings.files() == expected
    # A link to a file keeps its name and its place, where the file's relative names begin.
    (other / "other.yaml").symlink_to(folder / "mine.yaml")
    assert absolute_path("other.yaml") == other.resolve() / "other.yaml"


@pytest.mark.parametrize("folder", ["a: b", "a #b", "a'b", '"', "1e3", "ü\\t😀", "- a", "!x"])
def test_snakemake_reads_the_paths_that_fit_gives(tmp_path, monkeypatch, folder):
    from snakemake.cli import parse_config

    (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / folder)
    a = parser().parse_args(["fit", "mine.yaml", "--budget", "1e3", "--results", f"../{folder}/r"])
    words = fit._command(a, Path("r"))
    assert parse_config(words[words.index("--config") + 1 :]) == {
        "experiment": str(tmp_path / folder / "mine.yaml"),
        "budget": "1e3",
        "results": str(tmp_path / folder / "r"),
    }


def test_folders_of_the_environment_are_spelt_one_way(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    for spelling in ("data", "../" + os.path.relpath("data", ".."), str(tmp_path / "data")):
        monkeypatch.setenv("PDSIM_DATA_DIR", spelling)
        assert fit._environment()["PDSIM_DATA_DIR"] == str((tmp_path / "data").resolve())
