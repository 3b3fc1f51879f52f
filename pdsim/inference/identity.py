"""Whose posterior it is: the run, its estimator and its likelihood."""

from typing import NamedTuple


class Identity(NamedTuple):
    """Whose posterior it is.

    Attributes:
        run: its name, that of its folder.
        method: the estimator.
        shooting: "single", "multiple" or "marginal"; "none" for estimators without a likelihood.
    """

    run: str
    method: str
    shooting: str

    @property
    def label(self) -> str:
        """What legends and titles call it."""
        if self.run == default_name(self.method, self.shooting):
            return f"{self.method.upper().replace('_', ' ')}, {self.shooting} shooting"
        if self.method == "bayessim":
            _, statistic, density = self.run.split("_", 2)
            return f"BayesSim, {statistic} {density.replace('_', ' ')}"
        return self.run.replace("_", " ")


def default_name(method: str, shooting: str) -> str:
    """Name of a run that the config gives none."""
    return f"{method}_{shooting}"
