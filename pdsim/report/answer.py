"""The report's summary in sentences: what was asked, what to believe, how far off, what next."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pdsim.preflight.findings import Findings
from pdsim.report.advice import advice, advice_sentence, spoilt
from pdsim.report.belief import belief
from pdsim.report.numbers import ParameterLine, QuantileLine
from pdsim.report.page import squared
from pdsim.report.together import TogetherLine
from pdsim.report.trust import ERRORS, TrustLine, by_recording
from pdsim.tables.layout import number

# Parameters that are named; of more, how many there are.
_NAMED = 6


class Stretch(NamedTuple):
    """Part of a recording.

    Attributes:
        run: the recording.
        seconds: its duration [s].
        held_out: whether it is kept from the estimation.
    """

    run: str
    seconds: float
    held_out: bool


class Told(NamedTuple):
    """A question and the sentences that answer it."""

    question: str
    text: str


def answers(
    *,
    system: str,
    names: Sequence[str],
    stretches: Sequence[Stretch],
    lines: Sequence[TrustLine],
    best: TrustLine | None,
    reference: str | None,
    unit: str,
    parameters: Sequence[ParameterLine],
    together: Sequence[TogetherLine],
    findings: Findings | None,
    combinations: Sequence[QuantileLine] = (),
) -> list[Told]:
    """Answer what a reader asks first.

    Args:
        system: its name.
        names: of the parameters that are sought.
        stretches: all that was learned from or held out.
        lines: verdicts on the runs, in any order.
        best: the run to go by, or None.
        reference: name of the run that distances are taken to.
        unit: of errors in position channels.
        parameters, together, combinations: of the best run; empty where there is none.
        findings: of the pre-flight, or None.
    """
    remedies = advice(best, lines, reference, parameters, findings)
    # What draws say that a rule objects to is not worth repeating.
    told = "" if best is None or spoilt(best) else found(parameters, together, combinations)
    return [
        Told("Asked", asked(system, names, stretches)),
        Told("To be believed", " ".join(belief(lines, reference))),
        *([Told("Found", told)] if told else []),
        Told("How far off", error(best, lines, unit, held_out=any(s.held_out for s in stretches))),
        Told("Next", advice_sentence(remedies)),
    ]


def asked(system: str, names: Sequence[str], stretches: Sequence[Stretch]) -> str:
    """Which parameters of which system from which recordings, and how much was held out."""
    some = ", ".join(names[:_NAMED])
    some += f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    sought = f"{_count(len(names), 'parameter')} of the system {system}: {some}."
    learned = [s for s in stretches if not s.held_out]
    kept = [s for s in stretches if s.held_out]
    text = f"{sought} Learned from {_recordings(learned)}"
    if not kept:
        return f"{text}; nothing was kept to check predictions on."
    others = not {s.run for s in learned} & {s.run for s in kept}
    where = " of which nothing was learned" if others else ", in part the same ones,"
    return f"{text}; {_recordings(kept)}{where} {'was' if len(kept) == 1 else 'were'} held out."


def _recordings(stretches: Sequence[Stretch]) -> str:
    runs = _count(len({s.run for s in stretches}), "recording")
    seconds = number(sum(s.seconds for s in stretches), 2)
    if len(stretches) == len({s.run for s in stretches}):
        return f"{runs} ({seconds} s)"
    return f"{len(stretches)} stretches of {runs} ({seconds} s)"


def _count(how_many: int, noun: str) -> str:
    return f"{how_many} {noun}{'s' * (how_many != 1)}"


def found(
    parameters: Sequence[ParameterLine],
    together: Sequence[TogetherLine],
    combinations: Sequence[QuantileLine] = (),
) -> str:
    """What the draws determine, and what not; of parameters, where the prior's draws are known."""
    parts = []
    if combinations:
        parts.append(f"What the motion determines: {_values(combinations)}.")
    if together:
        each = [
            f"{_value(line)}, {number(line.spread, 2)} of the prior's spread where its parameters "
            f"alone keep {number(line.alone, 2)} or more"
            for line in together
        ]
        parts.append(f"Known together: {'; '.join(each)}.")
    known = [one for one in parameters if one.determined and not np.isnan(one.width)]
    if known:
        best = sorted(known, key=lambda one: one.width)
        parts.append(f"Known alone, the best first: {_values(best)}.")
    left = [one for one in parameters if not one.determined]
    if left:
        parts.append(
            f"Not determined by themselves, with the share of the prior's width that is left: "
            f"{_shares(left)}."
        )
    return " ".join(parts)


def _value(line: ParameterLine | QuantileLine | TogetherLine) -> str:
    """A quantity with its median and its 90 % interval, three digits each if these tell them."""
    numbers = (line.median, line.low, line.high)
    short = [f"{float(text):.3g}" for text in numbers]
    median, low, high = short if len(set(short)) == len(short) else numbers
    return f"{line.name} = {median} ({low} to {high}) {squared(line.unit)}".removesuffix(" -")


def _values(lines: Sequence[ParameterLine] | Sequence[QuantileLine]) -> str:
    text = ", ".join(map(_value, lines[:_NAMED]))
    return text + (f" and {len(lines) - _NAMED} more" if len(lines) > _NAMED else "")


def _shares(parameters: Sequence[ParameterLine]) -> str:
    order = sorted(parameters, key=lambda one: one.width)
    text = ", ".join(f"{one.name} ({number(one.width, 2)})" for one in order[:_NAMED])
    return text + (f" and {len(order) - _NAMED} more" if len(order) > _NAMED else "")


def error(
    best: TrustLine | None, lines: Iterable[TrustLine], unit: str, *, held_out: bool = True
) -> str:
    """How far off the best run's predictions are, beside those of least squares."""
    if not held_out:
        return "Not known: no recording was kept from the estimation."
    shown = "" if unit == "-" else f" {unit}"
    if best is None:
        return "Not measured."
    for key in ERRORS:
        value = best.value(key)
        if np.isnan(value):
            continue
        of = "after the seen frames" if key == ERRORS[0] else "from estimated start states"
        text = f"{best.label} misses held-out recordings by {number(value, 2)}{shown} {of} (RMSE"
        text += " of the median prediction, the median over recordings"
        text += ", each quantity over its spread)" if unit == "-" else ")"
        fits = [line for line in lines if line.identity.method == "least_squares"]
        # One that sees what the others see comes first.
        fits.sort(key=lambda line: line.identity.shooting != "marginal")
        if fits and fits[0].identity != best.identity and not np.isnan(fits[0].value(key)):
            text += f"; least squares by {number(fits[0].value(key), 2)}{shown}"
            text += by_recording(best.cells, fits[0].cells)
        return f"{text}."
    return "Not measured."
