"""What an entry of a figure says: what it needs, its caption, and how it is drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pdsim.inference.identity import Identity
from pdsim.inference.runs import BudgetConfig

if TYPE_CHECKING:
    from pdsim.experiment.model import ExperimentConfig


class Request(NamedTuple):
    """What a drawing is given.

    Attributes:
        sections: sections of the experiment's config, those the figure asks for.
        identity: of the run, for a figure of one run; else None.
        files: kind → files, those the figure asks for; one of "trajectories", "learning_curve".
        stem: output path without suffix.
    """

    sections: Mapping[str, Any]
    identity: Identity | None
    files: Mapping[str, Sequence[str]]
    stem: str

    @property
    def title(self) -> str:
        """The experiment's title, with the run's label where there is one."""
        title = str(self.sections["title"])
        return f"{title}: {self.identity.label}" if self.identity else title


def whose(attributes: Mapping[Any, Any]) -> Identity:
    """Read the identity of a run from the attributes of its posterior file."""
    return Identity(*(str(attributes[name]) for name in Identity._fields))


@dataclass(frozen=True)
class Figure:
    """An entry of ``pdsim.registry``'s figures: the module's ``FIGURE``.

    Attributes:
        needs: kinds of files: "trajectories", "posterior", "rollouts", "prediction",
            "learning_curve", "statistics", "trained", "calibration". Of a figure of one run, the
            second to fourth
            are that run's.
        sections: of the experiment's config; always with "title".
        caption: how to read it, for the report.
        draw: writes ``<stem>.<suffix>`` for each of ``suffixes``.
        suffixes: of the files; the first is shown in the report, "png" or "gif".
        of_each_run: drawn for each run by itself.
        members: whose posteriors and roll-outs an experiment's figure shows: "estimators" or
            "variants" (of BayesSim), with their first seed.
        applies: whether it is part of the report of an experiment at a budget; for a figure of each
            run, asked for each.
    """

    needs: tuple[str, ...]
    sections: tuple[str, ...]
    caption: str
    draw: Callable[[Request], None]
    suffixes: tuple[str, ...] = ("png", "pdf")
    of_each_run: bool = False
    members: str = "estimators"
    # The identity is None for a figure of the whole experiment; entries know which they are.
    applies: Callable[["ExperimentConfig", BudgetConfig, Any], bool] = (
        lambda experiment, budget, identity: True
    )


def detailed(
    experiment: "ExperimentConfig", budget: BudgetConfig, identity: Identity | None
) -> bool:
    """Whether the report shows a run in detail: ``applies`` of figures of each run."""
    del budget
    return identity is not None and experiment.shows(identity)


def predicted(
    experiment: "ExperimentConfig", budget: BudgetConfig, identity: Identity | None
) -> bool:
    """Whether a run is shown in detail and predicts from a prefix."""
    return experiment.prediction is not None and detailed(experiment, budget, identity)


def trains(
    experiment: "ExperimentConfig", budget: BudgetConfig, identity: Identity | None = None
) -> bool:
    """Whether BayesSim's variants are trained: ``applies`` of their figures."""
    del identity
    return experiment.bayessim is not None and budget.bayessim
