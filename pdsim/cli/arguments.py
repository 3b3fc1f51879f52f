"""What the command line accepts: verbs, their options, and the help."""

import argparse

from pdsim import __version__, registry
from pdsim.cli.options import (
    add_believing,
    add_budget,
    add_cores,
    add_experiment,
    add_files,
    add_force,
    add_raw,
    add_run,
    add_simulating,
    named,
    path,
    positive,
    rate,
    seed,
    whole_number,
)

_EPILOG = """\
From tables to a report:

  pdsim new swing_1.csv swing_2.csv --system double_pendulum --output mine.yaml
  pdsim fit mine.yaml

The stages in their order, by hand, for one run of the config:

  pdsim record     config/experiments/demo.yaml --output raw
  pdsim preprocess config/experiments/demo.yaml --raw raw --output trajectories.nc
  pdsim infer      config/experiments/demo.yaml --run csvgd_multiple \\
                   --trajectories trajectories.nc --output posterior.nc
  pdsim simulate   config/experiments/demo.yaml --trajectories trajectories.nc \\
                   --posterior posterior.nc --output rollouts.nc
  pdsim evaluate   config/experiments/demo.yaml --run csvgd_multiple \\
                   --trajectories trajectories.nc --posterior posterior.nc \\
                   --rollouts rollouts.nc --output metrics.csv

All of them at once, in parallel and only what is missing:

  snakemake demo --profile workflow/profiles/workstation
  snakemake --profile workflow/profiles/workstation --config experiment=/path/to/mine.yaml

exit codes: 0 done, 1 a bug (with a stack trace), 2 something to mend (the message says what),
130 interrupted (fit: 143 by SIGTERM, 129 by SIGHUP)
"""

# Kinds of files a figure may need; of the first two there is one.
PLOT_FILES = ("trajectories", "learning_curve", "posterior", "rollouts", "prediction",
              "statistics", "trained", "calibration")  # fmt: skip


_EXPORT = """\
For domain randomisation:

  pdsim export results/panda_log/csvgd_marginal/seed0/posterior.nc --count 50 --output robots

The folder has draws.csv, a row per draw and a column per parameter, and, if the experiment's robot
is from a model file, robot_000.xml, robot_001.xml, …: that robot in MJCF with the numbers of each
draw. What has no place in MJCF, as a sensor's delay, is in the table alone.
"""

_DOCTOR = """\
Looks at Python, the versions of packages (known-bad ones are refused), cores, disk, NetCDF,
Snakemake and JAX's device, and holds a pendulum's motion and slopes, compiled and not, against
NumPy's. exit codes: 0 fit, 2 not fit (what is wrong is named, with the remedy).
"""

_CONTROL = """\
The stages of an experiment of kind control, by hand:

  E=config/experiments/quadrotor_circle.yaml
  pdsim control        $E --controller prmppi --budget smoke --output prmppi.nc
  pdsim control-table  $E --logs *.nc --folder tables
  pdsim control-plot   laps $E --file tables/laps.csv --stem laps
  pdsim control-plot   path $E --file prmppi.nc --stem path
  pdsim control-report $E --logs *.nc --figures *.png *.gif --output report.html

control-table needs the log of every controller of the experiment. A job of `control` that is
killed goes on, when it is run again, from the checkpoint beside its output.
"""


def _control_verbs(verb) -> None:
    """The verbs of experiments of kind ``control``."""
    p = verb("control", "Simulate one controller in closed loop, all vehicles at once.", _CONTROL)
    add_experiment(p)
    p.add_argument("--controller", required=True, help="its name in the experiment")
    p.add_argument("--budget", default="small", help="smoke, small (default) or full")
    p.add_argument(
        "--prior-from", type=path, metavar="FILE", help="posterior that prior_from asks for"
    )
    add_cores(p, "vehicles")
    add_files(p, "output")

    p = verb("control-table", "Logs of all controllers to their metrics and the table.", _CONTROL)
    add_experiment(p)
    p.add_argument("--logs", type=path, nargs="+", required=True, metavar="FILE")
    p.add_argument("--folder", type=path, required=True, help="where the tables go")

    p = verb("control-plot", "Draw paths, laps or a film of a control experiment.", _CONTROL)
    p.add_argument("figure", choices=("path", "laps", "film"))
    add_experiment(p)
    p.add_argument(
        "--file",
        type=path,
        required=True,
        help="one controller's log; of laps, the table laps.csv",
    )
    p.add_argument("--stem", type=path, required=True, help="output path without suffix")

    p = verb("control-report", "Write the HTML report of a control experiment.", _CONTROL)
    add_experiment(p)
    p.add_argument("--logs", type=path, nargs="+", required=True, metavar="FILE")
    p.add_argument("--figures", type=path, nargs="+", required=True, metavar="IMAGE")
    add_files(p, "output")


_NEW = """\
What a name or a range tells is guessed and shown; a flag says what it does not:

  pdsim new swing_1.csv swing_2.csv --system double_pendulum --output mine.yaml
  pdsim new log.csv --model robot.urdf --channel "elbow=Encoder 2:deg" --input shoulder=tau:"N m" \\
            --input elbow=0 --time stamp:ms --output mine.yaml
"""
_FIT = """\
  pdsim fit mine.yaml --budget quick

Results go to results/<name of the file> of the checkout, those of a budget other than paper to
results/<budget>/<name>. Ctrl-C or SIGTERM ends it and its jobs; the same command
goes on where it was.
"""


def _strangers_verbs(verb) -> None:
    """The way in: from tables to an experiment file, and from that to a report."""
    p = verb("new", "Draft an experiment file from tables, every choice with its reason.", _NEW)
    p.add_argument("files", type=path, nargs="+", metavar="FILE", help="tables, a run each")
    what = p.add_mutually_exclusive_group(required=True)
    what.add_argument("--system", help="double_pendulum, cart_pole or oscillator")
    what.add_argument("--model", type=path, metavar="FILE", help="a robot's MJCF or URDF file")
    add_files(p, "output")
    p.add_argument("--overwrite", action="store_true", help="replace an output that is there")
    p.add_argument("--title", help="of the report (default: the output's name)")
    clock = p.add_mutually_exclusive_group()
    clock.add_argument("--time", metavar="COLUMN[:UNIT]", help="column of the time stamps")
    clock.add_argument(
        "--rate", type=rate, metavar="HZ", help="of the rows, instead of time stamps"
    )
    for name, default in (("channel", ""), ("input", "; or a number, what acts all the time")):
        p.add_argument(
            f"--{name}", type=named, action="append", default=[], metavar="NAME=COLUMN[:UNIT]",
            help=f"column of the system's {name} NAME{default}",
        )  # fmt: skip
    between = p.add_mutually_exclusive_group()
    between.add_argument(
        "--absolute", action="store_true", default=None,
        help="angles of the table are against the vertical, not from link to link",
    )  # fmt: skip
    between.add_argument(
        "--relative", action="store_false", dest="absolute", help="they are from link to link"
    )
    p.add_argument(
        "--zero", choices=("hanging", "upright"), default="", help="where the first angle is 0"
    )
    p.add_argument(
        "--ignore", nargs="+", default=[], metavar="NAME", help="of --model: contacts, …"
    )

    p = verb("preflight", "Say what an experiment will cost and can find, before it is run.")
    add_simulating(p)
    add_budget(p)
    add_raw(p)
    p.add_argument(
        "--trajectories",
        type=path,
        metavar="FILE",
        help="that preprocess wrote (default: read the raw runs)",
    )
    p.add_argument(
        "--output",
        type=path,
        metavar="FILE",
        help="write it for the report, and judge nothing (JSON)",
    )
    add_force(p)

    p = verb("fit", "Run the whole pipeline for one experiment file, and say what came out.", _FIT)
    add_experiment(p)
    add_budget(p)
    p.add_argument(
        "--cores", type=positive, metavar="N", help="jobs at a time (default: all cores)"
    )
    p.add_argument(
        "--results", type=path, metavar="FOLDER", help="where results go (default: see below)"
    )
    p.add_argument("--dry-run", action="store_true", help="only show what would be done")
    p.add_argument(
        "--unlock", action="store_true", help="remove the lock that a killed run left behind"
    )


def parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    root = argparse.ArgumentParser(
        prog="pdsim",
        description="Probability distributions over simulator parameters, from recordings.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"pdsim {__version__}")
    root.add_argument("--quiet", action="store_true", help="only warnings and errors")
    verbs = root.add_subparsers(dest="verb", required=True, metavar="verb")

    def verb(name: str, text: str, epilog: str | None = None) -> argparse.ArgumentParser:
        return verbs.add_parser(
            name,
            help=text,
            description=text,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    _strangers_verbs(verb)

    p = verb("check", "Check experiment files, and print nothing if all is well.")
    p.add_argument("experiments", type=path, nargs="+", metavar="experiment")
    p.add_argument(
        "--data", action="store_true", help="read their recordings too, and say what they leave "
        "open; a step that errs by more than the sensors is a failure"
    )  # fmt: skip
    add_raw(p)

    p = verb("doctor", "Try what a computation rests on here; one line: fit or not.", _DOCTOR)
    p.add_argument(
        "--results",
        type=path,
        default="results",
        metavar="FOLDER",
        help="where results would go (default: results)",
    )

    p = verb("export", "Draws of a posterior as a table and as robots' files.", _EXPORT)
    p.add_argument("posterior", type=path, help="posterior.nc of a run")
    p.add_argument("--count", type=positive, default=20, help="how many draws (default 20)")
    p.add_argument("--seed", type=seed, default=0, help="of their choice (default 0)")
    p.add_argument("--output", type=path, required=True, metavar="FOLDER", help="a new one")
    add_force(p)

    p = verb(
        "model",
        "Print a robot's tree, every number of it by name, and a section simulator to start from.",
    )
    p.add_argument("file", type=path, help="MJCF (.xml) or URDF (.urdf)")
    p.add_argument(
        "--ignore", nargs="+", default=[], metavar="NAME", help="contacts, equality, tendons, …"
    )

    p = verb("schema", "Write the JSON schemas of the config files and the table of their keys.")
    p.add_argument("--folder", type=path, default="config", help="where (default: config)")

    p = verb("document", "Write the tables of the README and of docs/ from their CSV files.")
    p.add_argument("--root", type=path, default=".", help="of the checkout (default: here)")
    p.add_argument(
        "--results",
        type=path,
        metavar="FOLDER",
        help="copy the comparisons of the experiments there to docs/results first",
    )

    p = verb("download", "Fetch one IBM run from the public copy, and check it.")
    p.add_argument("--run", type=whole_number, required=True)
    add_files(p, "output")

    p = verb("record", "Record all runs with the experiment's synthetic camera into a folder.")
    add_experiment(p)
    p.add_argument("--output", type=path, required=True, metavar="FOLDER")

    p = verb("preprocess", "Raw runs to a trajectories file: channels, windows, start states.")
    add_experiment(p)
    add_raw(p)
    add_files(p, "output")

    p = verb("infer", "Trajectories to a posterior, with one estimator.")
    add_believing(p)
    add_run(p)
    add_budget(p)
    add_files(p, "trajectories", "output")
    add_force(p)
    add_cores(p, "particles and chains")
    p.add_argument(
        "--resume",
        choices=("auto", "require", "never"),
        default="auto",
        help="continue from the checkpoint beside the output: if it fits (auto, the default), or "
        "fail (require), or start afresh (never)",
    )

    p = verb("training-set", "Simulate parameters from the prior, for BayesSim to learn from.")
    add_believing(p)
    add_budget(p)
    add_files(p, "trajectories", "output")
    add_force(p)

    p = verb("statistics", "One input statistic of every simulated and recorded trajectory.")
    add_experiment(p)
    add_budget(p)
    p.add_argument("--name", required=True, help="downsampled, difference, summary or signature")
    add_files(p, "trajectories", "training-set", "output")
    add_force(p)

    p = verb("train", "Fit one density model to one input statistic.")
    add_experiment(p)
    add_run(p)
    add_budget(p)
    add_files(p, "statistics", "output")

    p = verb("condition", "A trained density and the recording to a posterior.")
    add_believing(p)
    add_run(p)
    add_budget(p)
    add_files(p, "trajectories", "statistics", "trained", "output")
    add_force(p)

    p = verb("simulate", "Roll out every posterior draw from every recorded start state.")
    add_simulating(p)
    add_files(p, "trajectories", "posterior", "output")
    add_force(p)

    p = verb("predict", "Predict held-out recordings after their first frames.")
    add_simulating(p)
    add_run(p, required=False)
    add_files(p, "trajectories", "posterior", "output")
    add_force(p)

    p = verb("evaluate", "Metrics of one posterior.")
    add_simulating(p)
    add_run(p)
    add_files(p, "trajectories", "posterior", "rollouts", "output")
    add_force(p)
    p.add_argument(
        "--reference", type=path, metavar="FILE", help="posterior file to measure distances to"
    )
    p.add_argument(
        "--prediction", type=path, metavar="FILE", help="where the config has that section"
    )

    p = verb("learning-curve", "Metrics of one posterior after more and more roll-outs.")
    add_simulating(p)
    add_run(p)
    add_files(p, "trajectories", "posterior", "output")
    add_force(p)

    p = verb(
        "gather", "Metrics of all runs, their learning curves, searches or ranks, into one file."
    )
    p.add_argument("parts", type=path, nargs="+", metavar="FILE")
    p.add_argument("--kind", choices=("metrics", "learning_curve", "tuning", "calibration"),
                   default="metrics")  # fmt: skip
    p.add_argument(
        "--output",
        type=path,
        required=True,
        metavar="FILE",
        help="for tuning and calibration: without suffix",
    )

    p = verb("table", "Metrics to the tables, each as CSV, Markdown and LaTeX.")
    add_experiment(p)
    add_files(p, "metrics")
    p.add_argument(
        "--rollouts", type=positive, help="cut at so many roll-outs; needs learning curves"
    )
    where = p.add_mutually_exclusive_group(required=True)
    where.add_argument("--folder", type=path, help="where the tables go")
    where.add_argument(
        "--table-3", type=path, metavar="STEM", help="BayesSim's table alone, without suffix"
    )

    p = verb("tune", "Search an estimator's settings on the training recordings alone.")
    add_believing(p)
    p.add_argument("--run", required=True, help="name of a run that has something to search")
    add_files(p, "trajectories", "output")
    add_force(p)

    p = verb("calibrate", "Rank true parameters among an estimator's draws, over many data sets.")
    add_believing(p)
    p.add_argument("--run", required=True, help="name of a run with single or marginal shooting")
    add_files(p, "trajectories", "output")
    add_force(p)

    p = verb("plot", "Draw a figure as PDF and PNG.")
    p.add_argument("figure", choices=registry.NAMES["figures"], metavar="figure",
                   help=", ".join(registry.NAMES["figures"]))  # fmt: skip
    add_simulating(p)
    p.add_argument("--run", help="name of a run, for a figure of one run")
    for name in PLOT_FILES:
        option = f"--{name.replace('_', '-')}"
        p.add_argument(option, type=path, nargs="+", metavar="FILE", default=[])
    p.add_argument("--stem", type=path, required=True, help="output path without suffix")
    add_force(p)

    _control_verbs(verb)

    p = verb("report", "Write the HTML report of an experiment.")
    add_experiment(p)
    add_files(p, "metrics", "trajectories", "preflight", "output")
    add_force(p)
    p.add_argument("--posteriors", type=path, nargs="+", required=True, metavar="FILE")
    p.add_argument("--figures", type=path, nargs="+", required=True, metavar="PNG")
    return root
