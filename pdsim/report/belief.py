"""Which run to believe, by the verdicts that stand, and in words why."""

from collections.abc import Sequence

import numpy as np

from pdsim.report.trust import DISTANCE, TrustLine
from pdsim.tables.layout import MIXED, number
from pdsim.tables.verdicts import COVERAGE, FAR, RELIABLE_K

YES, UNKNOWN, NO = "yes", "not known", "no"
_ORDER = (YES, UNKNOWN, NO)
# Runs that are named with what is against them.
_NAMED = 4


def answer(line: TrustLine) -> str:
    """Whether to believe a run: ``yes`` if all rules are content, ``no`` if one objects."""
    if all(verdict.good for verdict in line.verdicts):
        return YES
    return UNKNOWN if all(verdict.good is not False for verdict in line.verdicts) else NO


def ranked(lines: Sequence[TrustLine], reference: str | None = None) -> list[TrustLine]:
    """Runs in the order in which to believe them.

    Among equals the reference comes first and least squares, the yardstick of the others, last.
    """
    return sorted(
        lines,
        key=lambda line: (
            _ORDER.index(answer(line)),
            sum(verdict.good is False for verdict in line.verdicts),
            line.identity.method == "least_squares",
            line.identity.run != reference,
        ),
    )


def said(line: TrustLine) -> str:
    """The verdicts on a run, with their numbers."""
    return ", ".join(f"{v.word} ({v.value})" if v.value else v.word for v in line.verdicts)


def mixed_reference(lines: Sequence[TrustLine], reference: str | None) -> TrustLine | None:
    """The reference, if its R-hat was measured and says that it has mixed; else None."""
    for line in lines:
        if line.identity.run == reference and line.worst("r_hat") <= MIXED:
            return line
    return None


def checks_of_draws(line: TrustLine, reference: TrustLine | None) -> list[str]:
    """What vouches for a run's draws, of what was measured, in words.

    Args:
        reference: that has mixed, or None.
    """
    found = []
    r_hat, k, apart = line.worst("r_hat"), line.worst("pareto_k"), line.value(DISTANCE)
    if r_hat <= MIXED:
        found.append(f"its chains have mixed (R-hat {number(r_hat, 3)})")
    if k <= RELIABLE_K:
        found.append(f"no few of its draws outweigh the others (Pareto k {number(k, 2)})")
    if reference is not None and reference.identity != line.identity and apart <= FAR:
        found.append(
            f"its draws are {number(apart, 2)} deviations from those of the reference, "
            f"{reference.label}"
        )
    return found


def belief(lines: Sequence[TrustLine], reference: str | None) -> list[str]:
    """Say which run to believe and why, and what is to be said of the others.

    Args:
        lines: of all runs that there are rules for.
        reference: name of the run that distances are taken to.
    """
    if not lines:
        return [
            "No run infers its noise or was checked on predictions from a prefix, so nothing tells "
            "which one to believe."
        ]
    yardstick = mixed_reference(lines, reference)
    best, *others = ranked(lines, reference)
    checks = checks_of_draws(best, yardstick)
    state = answer(best)
    if state == NO:
        good = [f"{v.word} {v.value}".strip() for v in best.verdicts if v.good]
        all_the_same = f", although it is {_listed(good)}" if good else ""
        return [
            f"No run is to be believed; least is said against {best.label}: "
            f"{_against(best)}{all_the_same}."
        ]
    if state == UNKNOWN:
        known = f", although {_listed(checks)}" if checks else ""
        return [f"Whether to believe {best.label} is not known: it is {said(best)}{known}."]
    covers = (
        f"its 90 % band covers {number(best.value(COVERAGE), 3)} of what was held out"
        if not np.isnan(best.value(COVERAGE))
        else ""
    )
    if checks:
        told = [f"{best.label}: {_listed([*checks, *filter(None, [covers])])}."]
    else:
        told = [
            f"{best.label}, in what it predicts: {covers}. Nothing that was measured tells whether "
            "its draws are a posterior."
        ]
    passed = [_with_distance(line, yardstick) for line in others if answer(line) == YES]
    if passed:
        told.append(f"The rules have nothing against {_listed(passed)} either.")
    refused = [f"{line.label} ({_against(line)})" for line in others if answer(line) == NO]
    if len(refused) > _NAMED:
        refused = [*refused[: _NAMED - 1], f"{len(refused) - _NAMED + 1} more, below"]
    if refused:
        told.append(f"{'They' if passed else 'The rules'} object to {_listed(refused, '; ')}.")
    return told


def _against(line: TrustLine) -> str:
    """What the rules object to."""
    return ", ".join(f"{v.word} {v.value}".strip() for v in line.verdicts if v.good is False)


def _with_distance(line: TrustLine, reference: TrustLine | None) -> str:
    apart = line.value(DISTANCE)
    if reference is None or reference.identity == line.identity or np.isnan(apart):
        return line.label
    return f"{line.label} ({number(apart, 2)} deviations from the reference)"


def _listed(words: Sequence[str], separator: str = ", ") -> str:
    """Words in a row, with “and” before the last."""
    if len(words) < 2:
        return "".join(words)
    return f"{separator.join(words[:-1])} and {words[-1]}"
