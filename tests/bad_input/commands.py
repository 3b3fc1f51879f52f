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
    line("infer", "{demo}", "--run", "a", "--seed", "-1", "--trajectories", "t", "--output", "o", told=["--seed: a whole number from 0 to 4294967295 is needed, not '-1'"]),
    line("infer", "{demo}", "--run", "a", "--seed", "ten", "--trajectories", "t", "--output", "o", told=["--seed: a whole number from 0", "'ten'"]),
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
    line("table", "{demo}", "--metrics", "m.csv", "--folder", "t", "--rollouts", "many", told=["--rollouts: a whole number from 1", "'many'"]),
    line("control-plot", "films", "{demo}", "--file", "a", "--stem", "s", told=["invalid choice: 'films'", "film"]),
    line("download", "--run", "77", "--output", "o", told=["0 to 20", "77"]),
    line("download", "--run", "-1", "--output", "o", told=["--run: a whole number from 0", "'-1'"]),
    line("download", "--run", "last", "--output", "o", told=["--run: a whole number from 0", "'last'"]),
    line("tune", "{demo}", "--run", "svgd_single", "--trajectories", "good/trajectories.nc", "--output", "o", told=["svgd_single", "tune"]),
    line("fit", "none.yaml", told=["none.yaml: no such file", "pdsim new"]),
    line("fit", "run.csv", told=["run.csv: is no experiment file", "pdsim new"], files={"run.csv": "t,a\n0,1\n"}),
    line("fit", "data", told=["data: is no experiment file", ".yaml"]),
    line("fit", "{demo}", "--results", "taken", told=["taken", "cannot be written", "--results FOLDER"], files={"taken": "my work"}),
    line("check", "run.yaml", told=["run.yaml", "a section is needed", "…"], files={"run.yaml": "t,a\n" + "0,1\n" * 500}),
    line("doctor", "mine.yaml", told=["unrecognized arguments: mine.yaml"]),
    line("fit", "{demo}", "--cores", "0", told=["--cores: a whole number from 1", "'0'"]),
    line("fit", "{demo}", "--cores", "all", told=["--cores: a whole number from 1", "'all'"]),
    line("fit", "{demo}", "--budget", "huge", told=["no budget is called 'huge'", "quick, paper"]),
    line("fit", "{demo}", "--results", "../out", "--cores", "-2", told=["--cores: a whole number from 1", "'-2'"]),
    line("fit", "a b.yaml", told=["'a b'", "a name holds letters"], files={"a b.yaml": Edited("demo")}),
    line("fit", "demo.yaml", told=["'demo'", "rename your file"], files={"demo.yaml": Edited("demo")}),
    line("fit", "mine.yaml", "--dry", told=["mine.yaml"], files={"mine.yaml": "title: a\n"}),
    line("new", "--system", "double_pendulum", "--output", "o.yaml", told=["FILE"]),
    line("new", "a.csv", "--output", "o.yaml", told=["--system --model"]),
    line("new", "a.csv", "--system", "double_pendulum", "--model", "r.urdf", "--output", "o.yaml", told=["not allowed with"]),
    line("new", "a.csv", "--system", "double_pendulum", told=["--output"]),
    line("new", "a.csv", "--system", "double_pendulum", "--channel", "q0", "--output", "o.yaml", told=["--channel: NAME=COLUMN or NAME=COLUMN:UNIT, not 'q0'"]),
    line("new", "a.csv", "--system", "double_pendulum", "--rate", "fast", "--output", "o.yaml", told=["--rate: a number of hertz above 0, up to 1e6, is needed, not 'fast'"]),
    line("new", "none.csv", "--system", "double_pendulum", "--output", "o.yaml", told=["none.csv"]),
    line("schema", "--folder", "file", told=["file"], files={"file": "text"}),
    line("document", "--root", "data", told=["data"]),
    line("doctor", "--results", told=["--results: expected one argument"]),
    line("model", told=["usage: pdsim model", "file"]),
    line("preflight", "none.yaml", told=["none.yaml: cannot be read"]),
    line("preprocess", "{demo}", "--output", "t.nc", told=["0.csv: no such file; make the runs with pdsim record, and name their folder as --raw"]),
    line("preflight", "{demo}", "--seed", "1", told=["unrecognized arguments: --seed"]),
    *(line(*command, told=["a path is needed, not ''", "name a file or folder"]) for command in [
        ("check", ""), ("check", "{demo}", "--data", "--raw", ""), ("fit", "", "--dry-run"), ("fit", "{demo}", "--results", ""),
        ("doctor", "--results", ""), ("document", "--results", ""), ("document", "--root", ""), ("schema", "--folder", ""),
        ("model", ""), ("gather", "a.csv", "--output", ""), ("gather", "", "--output", "o"), ("download", "--run", "1", "--output", ""),
        ("record", "{demo}", "--output", ""), ("preprocess", "{demo}", "--raw", "", "--output", "o"), ("preprocess", "{demo}", "--raw", "good/raw", "--output", ""),
        ("preflight", "{demo}", "--trajectories", ""), ("preflight", "{demo}", "--trajectories", "good/trajectories.nc", "--output", ""),
        ("infer", "{demo}", "--run", "svgd_single", "--trajectories", "", "--output", "o"), ("infer", "{demo}", "--run", "svgd_single", "--prior-from", "", "--trajectories", "t", "--output", "o"),
        ("simulate", "{demo}", "--trajectories", "t", "--posterior", "", "--output", "o"), ("simulate", "{demo}", "--fixed-from", "", "--trajectories", "t", "--posterior", "p", "--output", "o"),
        ("export", "", "--output", "o"), ("export", "good/draws.nc", "--output", ""), ("plot", "density", "{demo}", "--stem", ""), ("plot", "density", "{demo}", "--stem", "s", "--posterior", ""),
        ("table", "{demo}", "--metrics", "m.csv", "--folder", ""), ("table", "{demo}", "--metrics", "m.csv", "--table-3", ""),
        ("new", "a.csv", "--model", "", "--output", "o.yaml"), ("new", "", "--system", "oscillator", "--output", "o.yaml"), ("new", "a.csv", "--system", "oscillator", "--output", ""),
        ("control-plot", "path", "{demo}", "--file", "", "--stem", "s"), ("control-table", "{demo}", "--logs", "", "--folder", "f"), ("control-report", "{demo}", "--logs", "l", "--figures", "", "--output", "o"),
    ]),
    *(line(*command, told=[f"a whole number from {lowest}", repr(command[-1])]) for lowest, command in [
        (0, ("infer", "{demo}", "--run", "a", "--trajectories", "t", "--output", "o", "--seed", "010")), (0, ("infer", "{demo}", "--run", "a", "--trajectories", "t", "--output", "o", "--seed", "1_0")),
        (0, ("infer", "{demo}", "--run", "a", "--trajectories", "t", "--output", "o", "--seed", "٣")), (0, ("infer", "{demo}", "--run", "a", "--trajectories", "t", "--output", "o", "--seed", "9" * 5000)),
        (1, ("infer", "{demo}", "--run", "a", "--trajectories", "t", "--output", "o", "--cores", "٣")), (1, ("fit", "{demo}", "--cores", "٣")), (1, ("fit", "{demo}", "--cores", " 2")),
        (1, ("fit", "{demo}", "--cores", "1_0")), (1, ("fit", "{demo}", "--cores", "1" + "0" * 30)), (1, ("export", "good/draws.nc", "--output", "o", "--count", "1e3")), (1, ("export", "good/draws.nc", "--output", "o", "--count", "²")),
        (1, ("export", "good/draws.nc", "--output", "o", "--count", "0")), (0, ("download", "--output", "o", "--run", "01")), (1, ("table", "{demo}", "--metrics", "m.csv", "--folder", "t", "--rollouts", "-5")),
    ]),
    *(line("new", "a.csv", "--system", "oscillator", "--output", "o.yaml", "--rate", text, told=["--rate: a number of hertz above 0, up to 1e6, is needed", repr(text)]) for text in ["nan", "inf", "-1", "0", "1e300", "٣", "1_0", ""]),
    line("doctor", "--results", "taken/out", told=["not fit: disk"], files={"taken": "my work"}),
    *(Case(f"{command[0]}: its output is below a file", (*command, "--output", "taken/out"), ("taken/out: cannot be written: ", "name another output"), {"taken": "my work"}) for command in [
        ("record", "{demo}"), ("preprocess", "{demo}", "--raw", "none"), ("simulate", "{demo}", "--trajectories", "t", "--posterior", "p"), ("predict", "{demo}", "--trajectories", "t", "--posterior", "p"),
        ("calibrate", "{demo}", "--run", "svgd_single", "--trajectories", "t"), ("evaluate", "{demo}", "--run", "svgd_single", "--trajectories", "t", "--posterior", "p", "--rollouts", "r"), ("tune", "{demo}", "--run", "svgd_single", "--trajectories", "t"),
        ("preflight", "{demo}", "--trajectories", "t"), ("learning-curve", "{demo}", "--run", "svgd_single", "--trajectories", "t", "--posterior", "p"),
    ]),
    *(line("preflight", "{demo}", "--trajectories", "good/trajectories.nc", "--output", path, told=words) for path, words in [
        ("/dev/null", ["/dev/null: is a device, not a regular file"]), ("data", ["data: is a folder, not a regular file"]), ("a" * 300, ["aaa", "File name too long"]),
    ]),
]
