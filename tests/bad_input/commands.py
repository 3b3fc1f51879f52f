"""Command lines with one thing wrong, which say how they are meant."""

from bad_input.case import Case, Edited


def line(*command, told=(), files=None):
    return Case(" ".join(("pdsim", *command)), command, tuple(told), files or {})


DEMO = {"mine.yaml": Edited("demo")}

# A line each.
# fmt: off
CASES = [
    line(told=["usage: pdsim", "required"]),
    line("infr", told=["invalid choice: 'infr'", "infer"]),
    line("check", told=["usage: pdsim check", "experiment"]),
    line("--budget", "quick", told=["usage: pdsim"]),
    line("infer", "{demo}", told=["--run", "--trajectories", "--output"]),
    line("infer", "{demo}", "--run", "a", "--seed", "-1", "--trajectories", "t", "--output", "o", told=["--seed: a whole number from 0 to 4294967295, not '-1'"]),
    line("infer", "{demo}", "--run", "a", "--seed", "ten", "--trajectories", "t", "--output", "o", told=["--seed: a whole number", "'ten'"]),
    line("infer", "{demo}", "--run", "svdg_single", "--trajectories", "t", "--output", "o", told=["no estimator's run is called 'svdg_single'", "'svgd_single'"]),
    line("infer", "{demo}", "--run", "svgd_single", "--trajectories", "t", "--output", "o", "--resume", "maybe", told=["--resume: invalid choice: 'maybe'", "auto"]),
    line("infer", "{demo}", "--run", "svgd_single", "--budget", "huge", "--trajectories", "t", "--output", "o", told=["no budget is called 'huge'", "quick, paper"]),
    line("plot", "densty", "{demo}", "--stem", "s", told=["invalid choice: 'densty'", "density"]),
    line("plot", "density", "{demo}", told=["--stem"]),
    line("statistics", "{demo}", "--name", "mean", "--trajectories", "good/trajectories.nc", "--training-set", "s.nc", "--output", "o", told=["bayessim: this section is missing"]),
    line("training-set", "{demo}", "--trajectories", "t.nc", "--output", "o", told=["bayessim: this section is missing"]),
    line("gather", "--output", "o", told=["FILE"]),
    line("gather", "a.csv", "--kind", "all", "--output", "o", told=["--kind: invalid choice: 'all'"]),
    line("table", "{demo}", "--metrics", "m.csv", told=["--folder --table-3"]),
    line("table", "{demo}", "--metrics", "m.csv", "--folder", "t", "--table-3", "s", told=["not allowed with"]),
    line("table", "{demo}", "--metrics", "m.csv", "--folder", "t", "--rollouts", "many", told=["--rollouts: invalid int value: 'many'"]),
    line("control-plot", "films", "{demo}", "--file", "a", "--stem", "s", told=["invalid choice: 'films'", "film"]),
    line("download", "--run", "77", "--output", "o", told=["0 to 20", "77"]),
    line("download", "--run", "-1", "--output", "o", told=["0 to 20", "-1"]),
    line("download", "--run", "last", "--output", "o", told=["--run: invalid int value: 'last'"]),
    line("tune", "{demo}", "--run", "svgd_single", "--trajectories", "good/trajectories.nc", "--output", "o", told=["svgd_single", "tune"]),
    line("fit", "none.yaml", told=["none.yaml: no such file", "pdsim new"]),
    line("fit", "run.csv", told=["run.csv: is no experiment file", "pdsim new"], files={"run.csv": "t,a\n0,1\n"}),
    line("fit", "data", told=["data: is no experiment file", ".yaml"]),
    line("fit", "{demo}", "--results", "taken", told=["taken", "cannot be written", "--results FOLDER"], files={"taken": "my work"}),
    line("check", "run.yaml", told=["run.yaml", "a section is needed", "…"], files={"run.yaml": "t,a\n" + "0,1\n" * 500}),
    line("doctor", "mine.yaml", told=["unrecognized arguments: mine.yaml"]),
    line("fit", "{demo}", "--cores", "0", told=["--cores 0: one or more are needed"]),
    line("fit", "{demo}", "--cores", "all", told=["--cores: invalid int value: 'all'"]),
    line("fit", "{demo}", "--budget", "huge", told=["no budget is called 'huge'", "quick, paper"]),
    line("fit", "{demo}", "--results", "../out", "--cores", "-2", told=["--cores -2: one or more are needed"]),
    line("fit", "a b.yaml", told=["'a b'", "a name holds letters"], files={"a b.yaml": Edited("demo")}),
    line("fit", "demo.yaml", told=["'demo'", "rename your file"], files={"demo.yaml": Edited("demo")}),
    line("fit", "mine.yaml", "--dry", told=["mine.yaml"], files={"mine.yaml": "title: a\n"}),
    line("new", "--system", "double_pendulum", "--output", "o.yaml", told=["FILE"]),
    line("new", "a.csv", "--output", "o.yaml", told=["--system --model"]),
    line("new", "a.csv", "--system", "double_pendulum", "--model", "r.urdf", "--output", "o.yaml", told=["not allowed with"]),
    line("new", "a.csv", "--system", "double_pendulum", told=["--output"]),
    line("new", "a.csv", "--system", "double_pendulum", "--channel", "q0", "--output", "o.yaml", told=["--channel: NAME=COLUMN or NAME=COLUMN:UNIT, not 'q0'"]),
    line("new", "a.csv", "--system", "double_pendulum", "--rate", "fast", "--output", "o.yaml", told=["--rate: invalid float value: 'fast'"]),
    line("new", "none.csv", "--system", "double_pendulum", "--output", "o.yaml", told=["none.csv"]),
    line("schema", "--folder", "file", told=["file"], files={"file": "text"}),
    line("document", "--root", "data", told=["data"]),
    line("doctor", "--results", told=["--results: expected one argument"]),
    line("model", told=["usage: pdsim model", "file"]),
    line("preflight", "none.yaml", told=["none.yaml: cannot be read"]),
    line("preprocess", "{demo}", "--output", "t.nc", told=["0.csv: no such file; make the runs with pdsim record, and name their folder as --raw"]),
    line("preflight", "{demo}", "--seed", "1", told=["unrecognized arguments: --seed"]),
]
