"""What to do next, by what was found: one remedy for each finding, the gravest first."""

from collections.abc import Sequence

import numpy as np

from pdsim.preflight.findings import Findings
from pdsim.report.belief import checks_of_draws, mixed_reference
from pdsim.report.numbers import ParameterLine
from pdsim.report.trust import DISTANCE, TrustLine
from pdsim.tables.layout import MIXED, mixing, number
from pdsim.tables.verdicts import (
    COVERAGE,
    INTERVAL,
    NARROW,
    RIGHT_COVERAGE,
    WIDE,
    of_coverage,
    of_weights,
)

# So many remedies are told: who has seen to these looks again.
_MOST = 3
# Share of the draws within 1 % of a limit that asks for another one: five times a flat posterior's.
_AT_LIMIT = 0.05
# Parameters that a remedy names.
_NAMED = 4


def advice(
    best: TrustLine | None,
    lines: Sequence[TrustLine],
    reference: str | None,
    parameters: Sequence[ParameterLine],
    findings: Findings | None,
) -> list[str]:
    """Return what to do, each with the finding that asks for it; empty if none does.

    Args:
        best: the run to go by, or None.
        lines: of all runs.
        reference: name of the run that distances are taken to.
        parameters: of the best run.
        findings: of the pre-flight, or None.
    """
    told = _of_the_step(findings)
    if best is not None:
        told += _of_the_draws(best) + _of_the_bands(best)
        yardstick = mixed_reference(lines, reference)
        # Particles gather on limits where a posterior does not: draws that nothing vouches for
        # say nothing of limits, and their width says nothing of the recordings.
        own = yardstick is not None and yardstick.identity == best.identity
        if not spoilt(best) and (own or checks_of_draws(best, yardstick)):
            told += _of_the_limits(parameters) + _of_the_width(parameters)
    told += _of_the_recordings(findings)
    if best is not None:
        told += _of_the_reference(best, lines, reference) + _of_others(best, lines, reference)
        told += _of_few(best)
    told += _of_the_prior(findings)
    return told[:_MOST]


def advice_sentence(remedies: Sequence[str]) -> str:
    """The remedies in one sentence."""
    if not remedies:
        return (
            "Nothing that was measured asks for more data, other windows, other limits or a larger "
            "budget."
        )
    text = "; ".join(remedies)
    return f"{text[0].upper()}{text[1:]}."


def spoilt(line: TrustLine) -> bool:
    """Whether a rule objects to the draws themselves."""
    return any(v.good is False and v.word not in (NARROW, WIDE) for v in line.verdicts)


def _of_the_step(findings: Findings | None) -> list[str]:
    # Where most roll-outs are not finite, no step would make them so: that is told of the limits.
    if findings is None or findings.fine or np.isinf(findings.step):
        return []
    return [
        f"a finer step (substeps): its error is {findings.step:.2g} times the sensors' noise and "
        "passes for something that the recording says"
    ]


def _of_the_draws(best: TrustLine) -> list[str]:
    found = []
    if mixing(best.cells):
        r_hat = best.worst("r_hat")
        why = "R-hat is not known" if np.isnan(r_hat) else f"R-hat is {number(r_hat, 3)}"
        found.append(f"a larger budget for {best.label}: {why}, and {MIXED:g} or less is needed")
    if of_weights(best.cells):
        k = best.worst("pareto_k")
        why = "Pareto k is not known" if np.isnan(k) else f"Pareto k is {number(k, 2)}"
        found.append(
            f"a larger budget for {best.label}: {why}, so a few draws may outweigh all others"
        )
    for verdict in best.verdicts:
        if verdict.word.startswith("far from"):
            found.append(
                f"a larger budget for {best.label}: its draws are {verdict.value} deviations from "
                "the reference's"
            )
        if verdict.word.startswith("truth outside"):
            found.append(
                "more data sets (snakemake calibration): the truth is outside the 90 % region, "
                "which happens to a right posterior one time in ten"
            )
    return found


def _of_the_bands(best: TrustLine) -> list[str]:
    covered = best.value(COVERAGE)
    word = of_coverage(covered)
    if not word:
        return ["held-out recordings and a section prediction: nothing checks the bands so far"]
    if word == NARROW:
        return [
            "shorter windows (window_count), or a model with what is missing: the 90 % band covers "
            f"{number(covered, 3)}"
        ]
    if word == WIDE:
        return [f"more of the recording in train: the 90 % band covers {number(covered, 3)}"]
    return []


def _of_the_limits(parameters: Sequence[ParameterLine]) -> list[str]:
    found = []
    for one in parameters:
        lower, upper = one.limits.split(" … ")
        sides = [("upper", one.at_upper, upper)]
        # What may be nothing cannot be less.
        sides += [("lower", one.at_lower, lower)] if float(lower) != 0 else []
        found += [
            f"{100 * share:.0f} % of the draws are at the {side} limit of {one.name}, {limit}"
            for side, share, limit in sides
            if share > _AT_LIMIT
        ]
    return [f"wider limits: {', '.join(found[:_NAMED])}"] if found else []


def _of_the_width(parameters: Sequence[ParameterLine]) -> list[str]:
    open_ones = [one for one in parameters if not one.determined]
    if not open_ones:
        return []
    least = min(one.width for one in open_ones)
    names = [one.name for one in open_ones]
    listed = ", ".join(names[:_NAMED])
    listed += f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [
        f"more data, of another motion, where single parameters matter: {listed} keep{_s(names)} "
        f"{least:.0%} of the prior's width{' or more' if len(names) > 1 else ''}".replace("%", " %")
    ]


def _s(names: Sequence[str]) -> str:
    return "" if len(names) > 1 else "s"


def _of_the_recordings(findings: Findings | None) -> list[str]:
    if findings is None:
        return []
    found = []
    none = [text for text in findings.open if not text.startswith("little")]
    if none:
        found.append(
            f"another motion, or one of them fixed, as the recordings leave this open: {none[0]}"
        )
    return found


def _of_the_prior(findings: Findings | None) -> list[str]:
    """What cannot be simulated is left out of every posterior: it costs work, and comes last."""
    if findings is None or not findings.failed:
        return []
    return [f"narrower limits: {100 * findings.failed:.2g} % of the prior cannot be simulated"]


def _of_the_reference(
    best: TrustLine, lines: Sequence[TrustLine], reference: str | None
) -> list[str]:
    """A reference that says nothing because it has not mixed."""
    if best.identity.run == reference or not np.isfinite(best.value(DISTANCE)):
        return []
    return [
        f"a larger budget for the reference, {line.label}: it has not mixed, so it cannot tell "
        "whether the others are right"
        for line in lines
        if line.identity.run == reference and mixing(line.cells)
    ]


def _of_others(best: TrustLine, lines: Sequence[TrustLine], reference: str | None) -> list[str]:
    """Runs whose draws were not finished, where least squares, which has no posterior, is best."""
    if best.identity.method != "least_squares":
        return []
    names = [
        line.label
        for line in lines
        if line.identity.run not in (best.identity.run, reference)
        and (mixing(line.cells) or of_weights(line.cells))
    ]
    if not names:
        return []
    return [
        f"a larger budget for {', '.join(names)}: the work was too little for draws of the "
        "posterior, and those of least squares are a Gaussian around its best fit"
    ]


def _of_few(best: TrustLine) -> list[str]:
    """A coverage of which too few recordings tell whether it is right."""
    low, high = (best.value(key) for key in INTERVAL)
    least, most = RIGHT_COVERAGE
    if not high - low > most - least:
        return []
    return [
        f"more recordings held out: with others like these the band may cover {number(low, 2)} to "
        f"{number(high, 2)}"
    ]
