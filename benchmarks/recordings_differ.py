"""What of a pendulum differs from recording to recording, and do its markers sit on its axes?

    python benchmarks/recordings_differ.py        # an hour; goes on where it was cut
    python benchmarks/recordings_differ.py fast   # the rows that begin so

`csvgd` learns from three recordings of a motion at a time and predicts all others: with the markers
as they are read, with markers moved onto the joints' axes (``recording.marker_offsets``), and with
S1x, which holds the zero of the angles, of each recording's own too
(``likelihood.marginal.varying``). Reads the raw recordings, from the folder in ``PDSIM_IBM_DIR``;
writes ``results/benchmarks/recordings_differ.csv``, which was copied to ``docs/results``.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from fits import EXPERIMENT, finished, write
from training_recordings import COVERAGE, SETS, trial
from windows import SETTINGS

METHOD = "csvgd"
# Deviation of S1x over S1y between recordings: its median [rad].
BETWEEN = {"S1x": 2e-3}
SCORES = (
    "log_likelihood",
    "prefix_rmse_median",
    "prefix_crps",
    *COVERAGE,
    "prefix_coverage_50",
    "above_q0",
    "above_q1",
    "mean_S1x",
    "deviation_S1x",
    "mean_J2",
    "deviation_J2",
    "mean_length",
    "deviation_length",
    "pareto_k",
)


def varying(experiment, between):
    """The experiment with these deviations between recordings, and no others."""
    marginal = experiment.likelihood.marginal.model_copy(update={"varying": between})
    likelihood = experiment.likelihood.model_copy(update={"marginal": marginal})
    return experiment.model_copy(update={"likelihood": likelihood})


KINDS = {
    "as read": (False, {}),
    "on the axes": (True, {}),
    "on the axes, own zero": (True, BETWEEN),
}


def read(name, *, offsets):
    """Trajectories of an experiment's recordings, with markers moved or not."""
    from pdsim.config.experiment import load_experiment
    from pdsim.config.slices import slice_of
    from pdsim.recordings import ibm
    from pdsim.runtime.files import read_dataset
    from pdsim.stages.preprocess import preprocess

    folder = os.environ.get(ibm.FOLDER_VARIABLE)
    if not folder:
        sys.exit(f"name the folder of the raw recordings: {ibm.FOLDER_VARIABLE}")
    experiment = load_experiment(EXPERIMENT.format(name))
    recording = experiment.recording.model_copy(update={"marker_offsets": offsets})
    options = slice_of("preprocess", experiment.model_copy(update={"recording": recording}))
    with TemporaryDirectory() as made:
        path = str(Path(made) / "trajectories.nc")
        preprocess(options, raw=ibm.files(recording, folder), output=path)
        return read_dataset(path)


def main():
    """Make the table."""
    from pdsim.runtime import device

    device.configure()
    rows, begin = finished("recordings_differ"), "".join(sys.argv[1:])
    for motion in ("slow", "fast"):
        data = {moved: read(SETTINGS[motion], offsets=moved) for moved in (False, True)}
        for trained in SETS[motion]["three"]:
            for kind, (offsets, between) in KINDS.items():
                label = f"{motion}, {', '.join(map(str, trained))}, {kind}"
                if label.startswith(begin) and label not in rows:
                    rows[label] = trial(
                        SETTINGS[motion],
                        METHOD,
                        trained,
                        data[offsets],
                        lambda experiment, between=between: varying(experiment, between),
                        SCORES,
                    )
                    write("recordings_differ", rows)


if __name__ == "__main__":
    main()
