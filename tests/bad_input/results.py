"""Files of one stage given to another, broken, or of something else."""

from bad_input.case import Case, Edited

HEAD = "experiment,run,method,shooting,seed,metric,value,reason\n"
ROW = "demo,svgd_single,svgd,single,0,rmse,0.1,\n"


def infer(name, trajectories, *words, files=None):
    command = (
        "infer",
        "{demo}",
        "--run",
        "svgd_single",
        "--budget",
        "quick",
        "--trajectories",
        trajectories,
        "--output",
        "p.nc",
    )
    return Case(f"infer: {name}", command, words, files or {})


def simulate(
    name,
    *words,
    trajectories="good/trajectories.nc",
    posterior="good/posterior.nc",
    output="r.nc",
    files=None,
):
    command = (
        "simulate",
        "{demo}",
        "--trajectories",
        trajectories,
        "--posterior",
        posterior,
        "--output",
        output,
    )
    return Case(f"simulate: {name}", command, words, files or {})


def evaluate(
    name,
    *words,
    posterior="good/posterior.nc",
    rollouts="good/rolled.nc",
    run="svgd_single",
    extra=("--prediction", "good/predicted.nc"),
):
    command = (
        "evaluate",
        "{demo}",
        "--run",
        run,
        "--trajectories",
        "good/trajectories.nc",
        "--posterior",
        posterior,
        "--rollouts",
        rollouts,
        "--output",
        "m.csv",
        *extra,
    )
    return Case(f"evaluate: {name}", command, words)


def table(name, text, *words):
    return Case(
        f"metrics: {name}",
        ("table", "{demo}", "--metrics", "m.csv", "--folder", "t"),
        ("m.csv", *words),
        {"m.csv": text},
    )


def gather(name, text, *words, kind="metrics"):
    files = {"a.csv": text} if isinstance(text, str) else text
    return Case(
        f"gather: {name}", ("gather", *files, "--kind", kind, "--output", "all.csv"), words, files
    )


def export(name, posterior, *words, extra=(), files=None):
    return Case(
        f"export: {name}", ("export", posterior, "--output", "robots", *extra), words, files or {}
    )


# A line each.
# fmt: off
CASES = [
    infer("no trajectories", "none.nc", "none.nc: no such file"),
    infer("a folder", "data", "data: is a folder, not a regular file; name a NetCDF file"),
    infer("half a file", "good/half.nc", "half.nc: not a readable NetCDF file"),
    infer("text", "t.nc", "t.nc: not a readable NetCDF file", files={"t.nc": "text"}),
    infer("an empty file", "good/empty.nc", "empty.nc"),
    infer("a posterior", "good/posterior.nc", "posterior.nc"),
    infer("nothing observed", "good/blind.nc", "blind.nc"),
    infer("nothing to learn from", "good/untrained.nc", "untrained.nc", "no trajectory is for training"),
    infer("time backwards", "good/backwards.nc", "backwards.nc", "frame_time"),
    infer("time that stands", "good/standing.nc", "standing.nc", "frame_time"),
    infer("no frame time", "good/timeless.nc", "timeless.nc", "frame_time"),
    Case("infer: the folder of its output is a file", ("infer", "{demo}", "--run", "svgd_single", "--budget", "quick", "--trajectories", "good/trajectories.nc", "--output", "file/p.nc"), ("file",), {"file": "text"}),
    Case("infer: its output is a folder", ("infer", "{demo}", "--run", "svgd_single", "--budget", "quick", "--trajectories", "good/trajectories.nc", "--output", "here"), ("here: is a folder, not a regular file; name a file to write",), {"here/a": ""}),
    Case("infer: no checkpoint to go on from", ("infer", "{demo}", "--run", "svgd_single", "--budget", "quick", "--trajectories", "good/trajectories.nc", "--output", "p.nc", "--resume", "require"), ("checkpoint",)),
    Case("infer: a run of BayesSim", ("infer", "{demo}", "--run", "bayessim_summary_mdn", "--trajectories", "good/trajectories.nc", "--output", "p.nc"), ("no estimator's run is called 'bayessim_summary_mdn'",)),
    simulate("no posterior", "none.nc: no such file", posterior="none.nc"),
    simulate("trajectories for a posterior", "trajectories.nc", posterior="good/trajectories.nc"),
    simulate("a posterior of other parameters", "posterior.nc: was made with simulator.system \"oscillator\"", "double_pendulum"),
    simulate("draws that are no numbers", "nan.nc: no draw is finite", posterior="good/nan.nc"),
    simulate("a draw that is no number", "some_nan.nc: 1 of 5 draws are not finite and not marked as diverging", "--force", posterior="good/some_nan.nc"),
    simulate("a draw beyond its bounds", "outside.nc: 1 of 5 draws of link_1 are outside its bounds 0.5 to 5 m", "--force", posterior="good/outside.nc"),
    simulate("no draws", "none.nc: holds no draws", posterior="good/none.nc"),
    simulate("draws of an unknown kind", "kind.nc: sample_kind 'banana' is unknown", "particles, mcmc, iid, point", posterior="good/kind.nc"),
    simulate("settings that are no JSON", "config.nc: its attribute config is not the settings of a job", posterior="good/config.nc"),
    simulate("settings that are a list", "list.nc: its attribute config is not the settings of a job", posterior="good/list.nc"),
    simulate("no mark of what diverged", "no_diverging.nc: sample_stats.diverging: is missing", posterior="good/no_diverging.nc"),
    simulate("no method", "no_method.nc: is no posterior (it has no method)", posterior="good/no_method.nc"),
    simulate("a run that the experiment has not", "stranger.nc: is of run 'somebody'", "svgd_single", posterior="good/stranger.nc"),
    simulate("a run of another method", "other_method.nc: run csvgd_multiple was made with method svgd, and the experiment has csvgd", posterior="good/other_method.nc"),
    simulate("another gravity", "other_fixed.nc: was made with simulator.fixed.gravity 1.62, and the experiment has nothing", posterior="good/other_fixed.nc"),
    simulate("another step", "other_step.nc: was made with simulator.substeps 3, and the experiment has 1", posterior="good/other_step.nc"),
    simulate("other bounds", "other_bounds.nc: was made with simulator.parameters.link_1.upper 9.0, and the experiment has 5.0", posterior="good/other_bounds.nc"),
    simulate("other settings of the run", "other_settings.nc: was made with runs.settings.step_size 0.5, and the experiment has 0.03", posterior="good/other_settings.nc"),
    simulate("another noise", "other_noise.nc: was made with likelihood.noise_relative 0.5, and the experiment has 0.1", posterior="good/other_noise.nc"),
    simulate("a unit that is not the parameter's", "unit.nc: was made with simulator.parameters.link_1.unit \"cm\"", posterior="good/unit.nc"),
    simulate("trajectories of another rate", "slower.nc: was made with recording.rate_hz 50.0, and the experiment has 100.0", trajectories="good/slower.nc", posterior="good/right.nc"),
    simulate("trajectories in degrees", "degrees.nc: its channels are q0 [deg], q1 [deg]", "q0 [rad]", trajectories="good/degrees.nc", posterior="good/right.nc"),
    simulate("trajectories with a section that cannot be read", "unread.nc: its attribute recording is no section", trajectories="good/unread.nc", posterior="good/right.nc"),
    simulate("damaged trajectories", "flipped.nc: ", trajectories="good/flipped.nc", posterior="good/right.nc"),
    infer("damaged trajectories", "good/flipped.nc", "flipped.nc: "),
    infer("trajectories of another rate", "good/slower.nc", "slower.nc: was made with recording.rate_hz 50.0", "run pdsim preprocess"),
    Case("infer: trajectories of another recording", ("infer", "mine.yaml", "--run", "svgd_single", "--budget", "quick", "--trajectories", "good/trajectories.nc", "--output", "p.nc"), ("trajectories.nc: was made with recording.camera.jitter 0.5, and the experiment has 0.7",), {"mine.yaml": Edited("demo", {("recording", "camera", "jitter"): 0.7})}),
    Case("infer: trajectories of another system", ("infer", "mine.yaml", "--run", "svgd_marginal", "--budget", "quick", "--trajectories", "good/trajectories.nc", "--output", "p.nc"), ("trajectories.nc: was made with recording.",), {"mine.yaml": Edited("calibration_oscillator")}),
    evaluate("a posterior of another seed", "other_seed.nc: is of seed 7, and the command is for seed 0", posterior="good/other_seed.nc"),
    evaluate("roll-outs of another posterior", "rolled_other.nc: was made from another posterior than good/right.nc (run somebody", posterior="good/right.nc", rollouts="good/rolled_other.nc"),
    *(Case(f"evaluate: {wrong} for {option}", ("evaluate", "{demo}", "--run", "svgd_single", *(word for name, file in {"trajectories": "trajectories", "posterior": "right", "rollouts": "rolled", "prediction": "predicted", option: wrong}.items() for word in (f"--{name}", f"good/{file}.nc")), "--output", "m.csv"), (f"{wrong}.nc: is ", words, f"{kind} is wanted")) for option, wrong, words, kind in [
        ("rollouts", "trajectories", "a trajectories file of pdsim preprocess", "a roll-outs file"), ("rollouts", "right", "a posterior of pdsim infer", "a roll-outs file"), ("trajectories", "right", "a posterior of pdsim infer", "a trajectories file"), ("trajectories", "empty", "no file of pdsim preprocess", "a trajectories file"),
    ]),
    *(Case(f"plot {figure}: {wrong} for {option}", ("plot", figure, "{demo}", "--run", "svgd_single", f"--{option}", f"good/{wrong}.nc", "--stem", "s"), (f"{wrong}.nc: is ", words)) for figure, option, wrong, words in [
        ("posteriors", "posterior", "trajectories", "a trajectories file of pdsim preprocess"), ("density", "rollouts", "trajectories", "a trajectories file"), ("density", "trajectories", "right", "a posterior of pdsim infer"), ("pit", "prediction", "right", "a posterior"), ("sbc", "calibration", "right", "a posterior"), ("statistics", "statistics", "right", "a posterior"), ("training", "trained", "right", "a posterior"),
    ]),
    Case("plot density: roll-outs of other recordings", ("plot", "density", "{demo}", "--run", "svgd_single", "--trajectories", "good/trajectories.nc", "--rollouts", "good/rolled_few.nc", "--stem", "s"), ("rolled_few.nc: was made from other trajectories than good/trajectories.nc (trajectory: 2, and 6 are expected)",)),
    *(Case(f"plot: a posterior of {name}", ("plot", "posterior", "{demo}", "--run", "svgd_single", "--trajectories", "good/trajectories.nc", "--posterior", f"good/{name}.nc", "--stem", "s"), (f"{name}.nc: ", words)) for name, words in [("some_nan", "are not finite"), ("outside", "are outside its bounds"), ("nan", "no draw is finite")]),
    export("draws beyond their bounds", "good/outside.nc", "outside.nc: 1 of 5 draws of link_1 are outside its bounds"),
    export("draws that are no numbers", "good/nan.nc", "nan.nc: no draw is finite"),
    export("no mark of what diverged", "good/no_diverging.nc", "sample_stats.diverging: is missing"),
    export("draws of an unknown kind", "good/kind.nc", "sample_kind 'banana' is unknown"),
    export("settings that are no JSON", "good/config.nc", "its attribute config is not the settings of a job"),
    simulate("a posterior for trajectories", "posterior.nc", trajectories="good/posterior.nc"),
    simulate("half a posterior", "half.nc: not a readable NetCDF file", posterior="good/half.nc"),
    evaluate("no prediction", "has a section prediction: evaluate needs --prediction", extra=()),
    evaluate("another run's posterior", "is of run 'svgd_single', and the command is for 'csvgd_multiple'", run="csvgd_multiple"),
    evaluate("no such run", "no run is called 'me'", run="me"),
    evaluate("a posterior of other parameters", "posterior.nc"),
    evaluate("trajectories for a posterior", "trajectories.nc", posterior="good/trajectories.nc"),
    Case("train: a run that is not trained", ("train", "{demo}", "--run", "svgd_single", "--statistics", "s.nc", "--output", "d.nc"), ("svgd_single is an estimator's run, and not trained",), {}),
    Case("calibrate: nothing to calibrate", ("calibrate", "{demo}", "--run", "svgd_single", "--trajectories", "t.nc", "--output", "c.nc"), ("svgd_single: not to be calibrated",)),
    Case("predict: a posterior of other parameters", ("predict", "{demo}", "--trajectories", "good/trajectories.nc", "--posterior", "good/posterior.nc", "--output", "x.nc"), ("posterior.nc: was made with simulator.system",)),
    Case("predict: trajectories for a posterior", ("predict", "{demo}", "--trajectories", "good/trajectories.nc", "--posterior", "good/trajectories.nc", "--output", "x.nc"), ("trajectories.nc",)),
    table("nothing", "", ""),
    table("no rows", HEAD, "no"),
    table("another header", "a,b\n1,2\n", "experiment"),
    table("a word for a number", HEAD + ROW.replace("0.1", "good"), "value", "good"),
    table("a number twice", HEAD + ROW + ROW, "rmse", "twice"),
    table("a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ""),
    Case("metrics: not there", ("table", "{demo}", "--metrics", "none.csv", "--folder", "t"), ("none.csv: no such file",)),
    Case("metrics: a folder", ("table", "{demo}", "--metrics", "data", "--folder", "t"), ("data",)),
    gather("a file that is not there", {}, "none.csv: no such file")._replace(command=("gather", "none.csv", "--output", "all.csv")),
    gather("another header", "a,b\n1,2\n", "a.csv"),
    gather("the same rows twice", {"a.csv": HEAD + ROW, "b.csv": HEAD + ROW}, "rmse", "twice"),
    gather("a search of something else", "a,b\n1,2\n", "a.csv", kind="tuning"),
    gather("ranks that are text", "text", "a.csv", kind="calibration"),
    gather("a learning curve without roll-outs", HEAD + ROW, "a.csv", kind="learning_curve"),
    export("no posterior", "none.nc", "none.nc: no such file"),
    export("trajectories", "good/trajectories.nc", "trajectories.nc: is a trajectories file of pdsim preprocess, and a posterior is wanted"),
    export("text", "p.nc", "p.nc: not a readable NetCDF file", files={"p.nc": "text"}),
    export("draws that all diverge", "good/posterior.nc", "posterior.nc: no draw has a finite roll-out"),
    export("a folder that is there", "good/draws.nc", "robots: there is something else already", files={"robots/mine.txt": "mine"}),
    export("no draw asked for", "good/posterior.nc", "--count: a whole number from 1", extra=("--count", "0")),
    export("half a draw", "good/posterior.nc", "--count: a whole number from 1", "'0.5'", extra=("--count", "0.5")),
    export("a seed below 0", "good/posterior.nc", "--seed: a whole number from 0", extra=("--seed", "-1")),
    Case("preflight: trajectories of nothing", ("preflight", "{demo}", "--trajectories", "good/posterior.nc"), ("posterior.nc",)),
    Case("check --data: no raw runs", ("check", "--data", "--raw", "raw", "{demo}"), ("raw/0.csv",)),
    Case("check --data: raw runs that are a file", ("check", "--data", "--raw", "raw", "{demo}"), ("raw/0.csv",), {"raw": "text"}),
    Case("check --data: a file that is not there", ("check", "--data", "none.yaml"), ("none.yaml: cannot be read",)),
    Case("preflight: no raw runs", ("preflight", "{demo}", "--raw", "raw"), ("raw",)),
    Case("preflight: no such budget", ("preflight", "{demo}", "--budget", "huge", "--trajectories", "good/trajectories.nc"), ("no budget is called 'huge'", "quick, paper")),
    Case("plot: no trajectories", ("plot", "density", "{demo}", "--stem", "s"), ("--trajectories", "--rollouts")),
    Case("plot: a section that is missing", ("plot", "landscape", "mine.yaml", "--trajectories", "t", "--stem", "s"), ("mine.yaml",)),
    Case("plot: files that are not there", ("plot", "posteriors", "{demo}", "--trajectories", "t.nc", "--posterior", "p.nc", "--stem", "s"), ("t.nc",)),
]
