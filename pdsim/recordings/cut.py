"""A window of a run: whole turns taken off, velocities differenced, states and start estimated."""

from dataclasses import replace

import numpy as np

from pdsim.recordings.fitted import FittedStates, fit_positions
from pdsim.recordings.recording import Recording
from pdsim.recordings.smoothing import (
    Smoothing,
    finite_differences,
    smoothed_state,
    state_covariance,
    white_noise,
)
from pdsim.runtime.errors import PdsimError
from pdsim.systems.system import POSITIONS, System


def cut(
    run: Recording,
    first: int,
    last: int,
    system: System,
    smoothing: Smoothing,
    *,
    derive_velocities: bool,
    measured_states: bool = False,
    fitted: FittedStates | None = None,
    segment: str = "",
    sight: tuple[int, int] | None = None,
) -> Recording:
    """Take frames ``first:last`` of a run.

    Filters and differences see the frames around the window, so its ends are as good as its
    middle; only at the ends of the recording are they one-sided. Whole turns are taken off the
    angles, so that every window starts with them in [−π, π]: runs become comparable.

    Args:
        run: as its source returned it.
        derive_velocities: fill velocity channels with finite differences of the positions.
        measured_states: take states from the channels of the same names, and do not smooth. A
            source that knows the state at the window's start has said so: it is taken as it is.
        fitted: fit states to channels that are functions of them, and do not smooth channels.
        segment: the window's name.
        sight: frames that filters and differences may see, so that none of a training window sees
            held-out ones; None: all of the run.

    Raises:
        PdsimError: the states cannot be had from the channels.
    """
    if np.isfinite(run.states[first]).all():
        window = slice(first, last)
        return replace(
            run,
            observed=run.observed[window],
            input=run.input[window],
            states=run.states[window],
            start=run.states[first],
            first_frame=first,
            segment=segment,
        )
    places = [] if fitted else position_columns(system)
    margin = 2 * smoothing.frames
    least, most = (0, run.frames) if sight is None else sight
    low, high = max(first - margin, least), min(last + margin, most)
    window = slice(first - low, last - low)
    observed = run.observed[low:high].copy()
    for i, channel in enumerate(system.channels):
        if channel.kind == "angle":
            seen = run.observed[first:last, i]
            seen = seen[np.isfinite(seen)]
            if len(seen):
                observed[:, i] -= 2 * np.pi * np.round(seen[0] / (2 * np.pi))
    position = observed[:, [channel for channel, _ in places]]
    if not np.isfinite(position[window]).any(axis=0).all():
        raise PdsimError(
            f"{run.source}: in frames {first}:{last} of run {run.run} a position was not observed "
            "at all; choose another window"
        )
    filled = filled_gaps(position)
    derived = []
    if derive_velocities:
        for column, (_, rate) in enumerate(places):
            if rate is not None:
                observed[:, rate] = finite_differences(filled[:, column], run.frame_time)
                derived.append(system.channels[rate].name)
    if measured_states:
        names = [channel.name for channel in system.channels]
        columns = [names.index(quantity.name) for quantity in system.state]
        states = filled_gaps(observed[:, columns])
        covariance = np.diag(white_noise(run.observed[None][..., columns]) ** 2)
    else:
        if high - low < smoothing.frames:
            raise PdsimError(
                f"{run.source}: frames {first}:{last} of run {run.run} are fewer than "
                f"smoothing.frames ({smoothing.frames})"
            )
        noise = white_noise(run.observed[None])
        if fitted:
            acting = run.input[low:high]
            fit = fit_positions(observed, acting, noise, system, fitted, run.source)
            filled, white, lasting = fit
        else:
            white = np.diag(noise[[channel for channel, _ in places]] ** 2)
            lasting = np.zeros_like(white)
        states = smoothed_state(filled, run.frame_time, smoothing)
        covariance = state_covariance(white, window.start, len(filled), run.frame_time, smoothing)
        half = len(white)
        covariance[:half, :half] += lasting
    states = states[window]
    start = states[0]
    if fitted and fitted.rest and first == 0:
        start = np.append(filled[: fitted.rest].mean(axis=0), np.zeros(half))
        covariance = np.zeros_like(covariance)
        covariance[:half, :half] = white / fitted.rest + lasting
    return replace(
        run,
        observed=observed[window],
        input=run.input[first:last],
        states=states,
        start=start,
        start_covariance=covariance,
        first_frame=first,
        derived=tuple(derived),
        segment=segment,
    )


def position_columns(system: System) -> list[tuple[int, int | None]]:
    """Of each position among the channels: its column, and that of its velocity if observed.

    The state must be positions and then, in the same order, their velocities, and the positions
    must be observed; then states can be smoothed from what is observed.
    """
    names = [quantity.name for quantity in system.state]
    half = len(names) // 2
    kinds = [quantity.kind in POSITIONS for quantity in system.state]
    channels = {channel.name: i for i, channel in enumerate(system.channels)}
    if kinds != [True] * half + [False] * half or not all(n in channels for n in names[:half]):
        raise PdsimError(
            f"recording: states of {system.name} cannot be estimated from its channels; its state "
            f"is {', '.join(names)}, and positions among it must be observed"
        )
    return [
        (channels[name], channels.get(rate))
        for name, rate in zip(names[:half], names[half:], strict=True)
    ]


def filled_gaps(columns: np.ndarray) -> np.ndarray:
    """Fill what was not observed by interpolation over time; the ends are held."""
    if np.isfinite(columns).all():
        return columns
    frames = np.arange(len(columns))
    filled = np.empty_like(columns)
    for i, column in enumerate(columns.T):
        seen = np.isfinite(column)
        filled[:, i] = np.interp(frames, frames[seen], column[seen]) if seen.any() else np.nan
    return filled
