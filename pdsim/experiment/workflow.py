"""config/config.yaml: what the workflow runs, and where results go."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from pdsim.experiment.model import ExperimentConfig
from pdsim.runtime.errors import PdsimError
from pdsim.runtime.files import expanded
from pdsim.settings.messages import explain, read_yaml
from pdsim.settings.section import Name, Section

# Text of a path that Snakemake reads as something else → how that is called.
_UNREADABLE = {
    re.compile(r"\{.*\}", re.DOTALL): "braces {…}, which Snakemake reads as a wildcard",
    re.compile(r"<[a-z][a-z0-9_]*>"): "a name in <…>, which Snakemake reads as a variable",
    # Snakemake warns that it may take such a file for another.
    re.compile(r"[\n\r]"): "a line break",
    re.compile(r"[\ud800-\udfff]"): "bytes that are no UTF-8",
}
# Folders of results become patterns, which no lone brace goes through.
_UNFIT_FOLDER = re.compile(r"[{}\\]")


def check_path(path: str | Path, what: str) -> None:
    """Refuse a path that the workflow cannot work with, though the system has it.

    Args:
        what: the file or key that names the path, which begins the message.

    Raises:
        PdsimError: names the path, what is in the way, and the remedy.
    """
    for pattern, shown in _UNREADABLE.items():
        if pattern.search(str(path)):
            raise PdsimError(f"{what}: the path {str(path)!r} holds {shown}; rename it")


def check_paths(experiment: ExperimentConfig, path: str | Path) -> None:
    """Refuse an experiment whose file or recordings have paths that the workflow cannot work with.

    Args:
        path: of the experiment's file.
    """
    check_path(absolute_path(path), "the experiment file")
    if not hasattr(experiment.source, "make"):
        files = experiment.source.files(experiment.recording, str(experiment.folder))
        for run, file in files.items():
            check_path(file, f"{path}: recording of run {run}")


def absolute_path(path: str | Path) -> Path:
    """The path by which the workflow knows a file, however it is spelt.

    Of a file that is a link, the link: relative names in it are looked for beside the link.
    """
    path = expanded(path)
    return path.parent.resolve() / path.name


def _checked_folder(value: str) -> str:
    if not value.strip():
        raise ValueError("a folder has a name; leave the key out for the default")
    if value.startswith("-") or _UNFIT_FOLDER.search(value):
        raise ValueError("a folder's name does not begin with - and holds no {, } or \\")
    if ".." in Path(value).parts:
        raise ValueError("'..' is not allowed; write the folder's absolute path")
    try:
        check_path(value, "this folder")
        return str(expanded(value))
    except PdsimError as error:
        raise ValueError(str(error)) from None


Folder = Annotated[str, AfterValidator(_checked_folder)]


class WorkflowConfig(Section):
    """config/config.yaml: what the workflow runs, and where."""

    groups: dict[Name, tuple[Name, ...]] = Field(
        description="named targets, each a list of experiments in config/experiments"
    )
    experiment_dir: str = Field("config/experiments", description="folder of experiment files")
    experiment: str | None = Field(
        None, description="an experiment file anywhere; it alone is run then"
    )
    results: Folder = Field("results", description="folder of everything that is computed")
    budget: Name = Field("paper", description="budget of every inference job; quick or paper")
    control_budget: Name = Field(
        "small", description="budget of experiments of kind control: smoke, small or full"
    )
    ibm_dir: Folder | None = Field(
        None, description="folder of the IBM recordings; else PDSIM_IBM_DIR, else a download"
    )

    @model_validator(mode="after")
    def _check(self) -> "WorkflowConfig":
        if self.experiment is not None:
            name = Path(self.experiment).stem
            try:
                _OneName.model_validate({"name": name})
            except ValidationError as error:
                raise ValueError(
                    f"experiment: {_told(error)} (got {name!r}); rename the file"
                ) from None
            known = {name for group in self.groups.values() for name in group}
            here = Path(self.experiment_dir, f"{name}.yaml")
            if name in known and Path(self.experiment).resolve() != here.resolve():
                raise ValueError(
                    f"experiment: {name!r} is the name of {here} too, and results go to the "
                    "folder of that name; rename your file"
                )
        return self

    def chosen(self) -> dict[str, tuple[str, ...]]:
        """The named targets: the groups, or the one experiment that was asked for."""
        if self.experiment is None:
            return dict(self.groups)
        name = Path(self.experiment).stem
        return {name: (name,)}

    def files(self) -> dict[str, str]:
        """The file of each experiment that is chosen, by name."""
        if self.experiment is not None:
            # Absolute, so that no command takes it for an option, and one spelling of all.
            path = absolute_path(self.experiment)
            return {path.stem: str(path)}
        return {
            name: f"{self.experiment_dir}/{name}.yaml"
            for group in self.groups.values()
            for name in group
        }


def _told(error: ValidationError) -> str:
    return error.errors()[0]["msg"].removeprefix("Value error, ")


class _OneName(Section):
    name: Name


def workflow_config(values: dict[str, Any], source: str) -> WorkflowConfig:
    """Check the workflow's own config."""
    try:
        return WorkflowConfig.model_validate(values)
    except ValidationError as error:
        raise explain(error, source, WorkflowConfig) from None


def check_file(path: str) -> dict[str, Any]:
    """Return what a config file says, if Snakemake reads the same in it.

    Snakemake runs templates in a file that asks for them (``__use_yte__``), keeps the last of two
    keys of one name, and has the types of YAML 1.1, in which ``2020-01-01`` is a date and ``no`` is
    false.
    """
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise PdsimError(f"{path}: a map of keys to values is expected (got {values!r})")
    if "__use_yte__" in values:
        raise PdsimError(f"{path}: __use_yte__: templates are not run; remove this key")
    try:
        read = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError) as error:
        raise PdsimError(f"{path}: Snakemake cannot read it: {error}") from None
    for key, ours, theirs in _differences(values, read):
        raise PdsimError(
            f"{path}: {key}: Snakemake reads {theirs!r} here, and pdsim {ours!r}; put the value in "
            "quotes"
        )
    return values


def _differences(ours: Any, theirs: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield where two readings of one file differ: the key, and both values."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        # Keys that one reader tells apart may be one key of the other.
        for name, other in zip_longest(ours, theirs):
            below = f"{key}.{name}".lstrip(".")
            if repr(name) != repr(other):
                yield below, name, other
                return
            yield from _differences(ours[name], theirs[other], below)
    elif isinstance(ours, list) and isinstance(theirs, list):
        for i, (inner, value) in enumerate(zip(ours, theirs, strict=True)):
            yield from _differences(inner, value, f"{key}.{i}")
    elif repr(ours) != repr(theirs):
        yield key, ours, theirs
