"""The section `recording`, and recordings themselves, with one thing wrong."""

import gzip
import json

import numpy as np
from bad_input.case import GONE, Case, Edited, checked

CAMERA = ("recording", "camera")
TRAIN, TEST = ("recording", "train", 0), ("recording", "test", 0)
POPULATION = {
    "parameters": {"link_1": ["com_y_1", "length"], "link_2": ["com_y_2"]},
    "mean": [1.5, 2.0], "covariance": [[0.01, 0.0], [0.0, 0.01]], "run_count": 6,
}  # fmt: skip
TABLE = {
    "source": "table", "files": ["run.csv"], "time": {"column": "t", "unit": "s"},
    "channels": {"q0": {"column": "a", "unit": "rad"}, "q1": {"column": "b", "unit": "rad"}},
    "train": [{"run": "run", "frames": [0, 200]}],
}  # fmt: skip
TIME = np.arange(300) * 0.005
GOOD = {"t": TIME, "a": np.sin(3 * TIME), "b": np.cos(4 * TIME)}


def population(**changes):
    return POPULATION | changes


def of_table(**changes):
    """The demo on a table; a key that is None is left out."""
    recording = {key: value for key, value in (TABLE | changes).items() if value is not None}
    likelihood = {"noise": {"q0": 0.1, "q1": 0.1}, "window_count": 199}
    return Edited(
        "demo",
        {
            ("recording",): recording, ("prediction",): None, ("reference",): None,
            ("detailed",): [], ("landscape",): None, ("likelihood",): likelihood,
        },
    )  # fmt: skip


def table(name, *words, **changes):
    """An experiment on a table that `pdsim check` must refuse."""
    files = {"mine.yaml": of_table(**changes)}
    return Case(f"table: {name}", ("check", "mine.yaml"), ("mine.yaml", *words), files)


def csv(**columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def at(column, row, value):
    """The good table with one entry changed."""
    columns = {name: list(values) for name, values in GOOD.items()}
    columns[column][row] = value
    return csv(**columns)


def read(name, text, *words, **changes):
    """A table that `pdsim preprocess` must refuse."""
    files = {"mine.yaml": of_table(**changes), "run.csv": text}
    command = ("preprocess", "mine.yaml", "--output", "t.nc")
    where = () if words[0].startswith(("recording", "frames")) else ("run.csv",)
    return Case(f"file: {name}", command, (*where, *words), files)


def markers(name, text, *words):
    """A run of the camera's format that `pdsim preprocess` must refuse."""
    files = {"mine.yaml": Edited("demo")} | {f"raw/{i}.csv": text for i in range(6)}
    files["raw/truth.json"] = json.dumps({str(run): {} for run in range(6)})
    command = ("preprocess", "mine.yaml", "--raw", "raw", "--output", "t.nc")
    return Case(f"markers: {name}", command, ("raw/0.csv", *words), files)


def six(value, frames=440):
    return "\n".join([",".join([str(value)] * 6)] * frames) + "\n"


def swinging():
    """Pixels of two links that swing."""
    time = np.arange(440) / 100
    elbow = np.stack([300 * np.cos(np.sin(3 * time)), 300 * np.sin(np.sin(3 * time))], axis=1)
    tip = elbow + np.stack([400 * np.cos(np.sin(4 * time)), 400 * np.sin(np.sin(4 * time))], axis=1)
    rows = np.hstack([np.zeros((440, 2)), elbow, tip]).round().astype(int)
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def noted(**notes):
    """The good table with a column that is not used, empty but in some rows: row_7="text"."""
    lines = csv(**GOOD, note=[""] * 300).splitlines()
    for row, note in notes.items():
        lines[int(row.removeprefix("row_"))] += note
    return "\n".join(lines) + "\n"


def lost(line, text):
    """Pixels of two links that swing, with another text in one line, counted from 1."""
    lines = swinging().splitlines()
    lines[line - 1] = text
    return "\n".join(lines) + "\n"


RANDOM = np.random.default_rng(0)
RATE = {"time": None, "rate_hz": 200}
Q0, Q1 = TABLE["channels"]["q0"], TABLE["channels"]["q1"]
OTHER_RUNS = {"raw/truth.json": json.dumps({"9": {}})}
NO_TRUTH = {"raw/truth.json": "{"}

# A line each.
# fmt: off
CASES = [
    Case("markers: a truth of other runs", ("preprocess", "{demo}", "--raw", "raw", "--output", "t.nc"), ("raw/truth.json: has no run 0; record them again",), {f"raw/{i}.csv": swinging() for i in range(6)} | OTHER_RUNS),
    Case("markers: a truth that is cut short", ("preprocess", "{demo}", "--raw", "raw", "--output", "t.nc"), ("raw/truth.json: cannot be read", "record the runs again"), {f"raw/{i}.csv": swinging() for i in range(6)} | NO_TRUTH),
    checked("an unknown source", "demo", ("recording", "source"), "webcam", "recording", "source", "'camera'"),
    checked("no source", "demo", ("recording", "source"), GONE, "recording", "source"),
    checked("no training window", "demo", ("recording", "train"), [], "recording.train: ", "at least 1"),
    checked("a window without frames", "demo", (*TRAIN, "frames"), GONE, "recording.train.0.frames: this key is missing"),
    checked("a window of an unknown key", "demo", (*TRAIN, "frame"), [0, 100], "recording.train.0.frame: no such key", "'frames'"),
    checked("frames backwards", "demo", (*TRAIN, "frames"), [420, 20], "recording.train.0", "frames 420:20"),
    checked("frames below zero", "demo", (*TRAIN, "frames"), [-20, 400], "recording.train.0", "frames -20:400 must start at 0"),
    checked("three frames", "demo", (*TRAIN, "frames"), [0, 100, 200], "recording.train.0.frames"),
    checked("one frame", "demo", (*TRAIN, "frames"), [0], "recording.train.0.frames"),
    checked("nineteen frames", "demo", (*TRAIN, "frames"), [0, 19], "recording.train.0", "hold 20 or more"),
    checked("a run below zero", "demo", (*TRAIN, "run"), -1, "recording.train.0.run: "),
    checked("runs that end before they begin", "demo", (*TEST, "through"), 0, "recording.test.0", "through (0) must not be below run (1)"),
    checked("ten million runs", "demo", (*TEST, "through"), 10**7, "recording.test.0", "more than 10,000 runs"),
    checked("a window named as a path", "demo", (*TEST, "name"), "a/b", "recording.test.0.name: a name holds letters"),
    checked("a rate of nothing", "demo", ("recording", "rate_hz"), 0, "recording.rate_hz: ", "greater than 0"),
    checked("a rate of 1e12", "demo", ("recording", "rate_hz"), 1e12, "recording.rate_hz"),
    checked("a rate of base sixty", "demo", ("recording", "rate_hz"), "1:40", "recording.rate_hz: ", "'1:40'"),
    checked("a filter as long as its order", "demo", ("recording", "smoothing"), {"frames": 3, "order": 3}, "recording.smoothing", "frames (3) must be odd and larger than order (3)"),
    checked("a filter longer than the windows", "demo", ("recording", "smoothing", "frames"), 401, "windows must be longer than smoothing.frames (401)"),
    checked("no camera", "demo", CAMERA, GONE, "recording.camera: this key is missing"),
    checked("no truth", "demo", (*CAMERA, "parameters"), GONE, "recording.camera.parameters: this key is missing"),
    checked("a truth below zero", "demo", (*CAMERA, "parameters", "mass_1"), -1.0, "recording.camera.parameters.mass_1", "negative"),
    checked("a pendulum without mass", "demo", (*CAMERA, "parameters"), {"mass_1": 0, "mass_2": 0, "inertia_1": 0, "inertia_2": 0, "com_y_1": 1.5, "length": 1.5, "com_y_2": 2.0}, "recording.camera.parameters"),
    checked("a recording of ten frames", "demo", (*CAMERA, "frame_count"), 10, "recording.camera.frame_count: "),
    checked("a recording of 1e10 frames", "demo", (*CAMERA, "frame_count"), 10**10, "recording.camera.frame_count: "),
    checked("an image of one pixel", "demo", (*CAMERA, "pixels_per_metre"), 1e-6, "recording.camera.pixels_per_metre"),
    checked("an image of 1e300 pixels", "demo", (*CAMERA, "pixels_per_metre"), 1e300, "recording.camera.pixels_per_metre"),
    checked("a second link of nothing", "demo", (*CAMERA, "link_2_length"), 0, "recording.camera.link_2_length: "),
    checked("a drift below zero", "demo", (*CAMERA, "pivot_drift"), -1, "recording.camera.pivot_drift: "),
    checked("a jitter below zero", "demo", (*CAMERA, "jitter"), -0.5, "recording.camera.jitter: "),
    checked("a seed below zero", "demo", (*CAMERA, "seed"), -1, "recording.camera.seed: "),
    checked("no run of the camera", "demo", (*CAMERA, "runs"), [], "recording.camera.runs: "),
    checked("a start of three angles", "demo", (*CAMERA, "runs", 0, "q"), [1, 2, 3], "recording.camera.runs.0.q"),
    checked("a start that is text", "demo", (*CAMERA, "runs", 0, "q"), ["up", 0], "recording.camera.runs.0.q.0: ", "'up'"),
    checked("a run of other links, misspelt", "demo", (*CAMERA, "runs", 0, "parameters"), {"lenght": 1.0}, "recording.camera.runs.0.parameters.lenght", "'length'"),
    checked("a population of one row", "demo", (*CAMERA, "population"), population(covariance=[[0.01, 0.0]]), "recording.camera.population", "covariance"),
    checked("a population of a long mean", "demo", (*CAMERA, "population"), population(mean=[1, 2, 3]), "recording.camera.population", "mean"),
    checked("a population of no covariance", "demo", (*CAMERA, "population"), population(covariance=[[0.01, 0.1], [0.1, 0.01]]), "recording.camera.population", "covariance"),
    checked("a population of seed -1", "demo", (*CAMERA, "population"), population(seed=-1), "recording.camera.population.seed: "),
    checked("a population of no run", "demo", (*CAMERA, "population"), population(run_count=0), "recording.camera.population.run_count: "),
    checked("a prefix of more than all frames", "demo", ("prediction", "prefix"), 401, "prediction.prefix", "400 frames"),
    checked("a run that IBM has not", "ibm_calibrated", (*TRAIN, "run"), 25, "recording: run 25 does not exist: there are 0 to 20"),
    checked("an input of no name", "cart_pole", ("recording", "runs", 0, "inputs"), {"push": [1.0]}, "recording.runs.0.inputs", "push"),
    checked("a start of no name", "cart_pole", ("recording", "runs", 0, "start"), {"angel": 0.5}, "recording.runs.0.start.angel", "'angle'"),
    checked("noise of no channel", "cart_pole", ("recording", "noise"), {"x": 0.001, "y": 0.1}, "recording.noise", "y"),
    checked("noise of nothing", "cart_pole", ("recording", "noise", "x"), 0, "recording.noise.x: ", "greater than 0"),
    checked("a truth of no name", "cart_pole", ("recording", "parameters", "mass"), 1.0, "recording.parameters.mass: ", "mass_"),
    # Tables, by what their section says.
    table("no file", "recording.files", files=[]),
    table("a file twice", "recording.files", "twice", files={"a": "run.csv", "b": "run.csv"}),
    table("files of one name", "recording.files", "run_a", files=["x/run.csv", "y/run.csv"]),
    table("a file named as a command", "recording.files", "a name holds letters", files=["$(touch x).csv"]),
    table("a file that is a number", "recording.files", files=7),
    table("no time", "recording", "needs time", time=None),
    table("time twice", "time is given twice", rate_hz=200),
    table("time in radians", "recording.time: ", "'rad' cannot be converted to 's'", time={"column": "t", "unit": "rad"}),
    table("time in fortnights", "recording.time: ", "'fortnight' is not known", time={"column": "t", "unit": "fortnight"}),
    table("a rate of 1e12", "recording.rate_hz: ", "1000000", time=None, rate_hz=1e12),
    table("an unknown channel", "recording.channels.qq1", "'q1'", channels=TABLE["channels"] | {"qq1": {"column": "b", "unit": "rad"}}),
    table("a channel in millimetres", "recording.channels.q1.unit", "'mm'", channels=TABLE["channels"] | {"q1": {"column": "b", "unit": "mm"}}),
    table("a channel without a unit", "recording.channels.q1.unit: this key is missing", channels=TABLE["channels"] | {"q1": {"column": "b"}}),
    table("a channel less and more", "recording.channels.q1", "minus and plus", channels=TABLE["channels"] | {"q1": {"column": "b", "unit": "rad", "minus": "q0", "plus": "q0"}}),
    table("a channel less itself", "recording.channels", "itself", channels=TABLE["channels"] | {"q1": {"column": "b", "unit": "rad", "minus": "q1"}}),
    table("a channel less nothing known", "recording.channels", "'q9' is not among", channels=TABLE["channels"] | {"q1": {"column": "b", "unit": "rad", "minus": "q9"}}),
    table("a sign of two", "recording.channels.q1.sign: ", channels=TABLE["channels"] | {"q1": {"column": "b", "unit": "rad", "sign": 2}}),
    table("no channel", "recording.channels: ", channels={}),
    table("a torque where nothing acts", "recording.inputs", "torque_1", inputs={"torque_1": {"column": "u", "unit": "N m"}}),
    table("a window of no run", "there is no run 'rum'", "'run'", train=[{"run": "rum"}]),
    table("a window in frames and seconds", "frames and seconds", train=[{"run": "run", "frames": [0, 100], "seconds": [0, 1]}]),
    table("seconds backwards", "end after it", train=[{"run": "run", "seconds": [2, 1]}]),
    table("a window of ten frames", "a window needs 20", train=[{"run": "run", "frames": [0, 10]}]),
    table("a test that is trained on", "in test, but 100 of its frames", test=[{"run": "run", "frames": [100, 300]}]),
    table("a test given twice", "test and test_share", test=[{"run": "run", "frames": [200, 300]}], test_share=0.5),
    table("a share of all", "recording.test_share: ", test_share=1.0),
    table("a decimal sign of its own", "recording.csv.decimal: ", csv={"decimal": ";"}),
    table("a truth of no parameter", "recording.truth.mass: ", "mass_2", truth={"mass": 1.0}),
    table("resampling at no rate", "recording.resample.rate_hz: this key is missing", resample={"method": "linear"}),
    table("an unknown resampling", "recording.resample.method: ", resample={"rate_hz": 100, "method": "spline"}),
    # Tables, by what is in them.
    Case("file: it is not there", ("preprocess", "mine.yaml", "--output", "t.nc"), ("run.csv", "no such file", "PDSIM_DATA_DIR"), {"mine.yaml": of_table()}),
    Case("file: it is a folder", ("preprocess", "mine.yaml", "--output", "t.nc"), ("run.csv", "is a folder"), {"mine.yaml": of_table(), "run.csv/a": ""}),
    read("nothing in it", "", "empty"),
    read("names alone", "t,a,b\n", "no row"),
    read("another column", csv(t=TIME, a=GOOD["a"], c=GOOD["b"]), "no column 'b'; there are: t, a, c"),
    read("a word", at("a", 100, "lost"), "'a'", "'lost' in row 101"),
    read("infinity", at("a", 50, "inf"), "infinite in 1 of 300", "row 51"),
    read("1e300", at("b", 299, "1e300"), "beyond", "row 300"),
    read("a sensor that never moves", csv(**GOOD | {"b": 0 * TIME + 0.3}), "channel q1 is 0.3 rad in every frame 0:200 of run run", "never changes", "choose other windows"),
    Case("file: a sensor that never moves, looked at first", ("check", "--data", "mine.yaml"), ("run.csv: channel q0 is -1 rad in every frame", "recording.channels"), {"mine.yaml": of_table(), "run.csv": csv(**GOOD | {"a": 0 * TIME - 1})}),
    read("no time", at("t", 0, ""), "no time in 1 of 300", "row 1"),
    read("time that stands", csv(**GOOD | {"t": 0 * TIME}), "all 300 rows have the same time"),
    read("time backwards", csv(**GOOD | {"t": -TIME}), "backwards"),
    read("time that stutters", csv(**GOOD | {"t": np.repeat(TIME[::2], 2)}), "the time stamps are not regular", "resample: {rate_hz: 201, method: linear}"),
    read("times of all kinds", csv(**GOOD | {"t": np.cumsum(1 + np.arange(300) % 7)}), "the time stamps are not regular", "resample: {rate_hz: "),
    read("too few rows", csv(**{name: column[:100] for name, column in GOOD.items()}), "frames 0:200 go beyond its 100 frames"),
    read("rows of all lengths", csv(**GOOD) + "1,2,3,4,5\n", "row 301"),
    read("a NUL", csv(**GOOD).encode()[:500] + b"\0\0\0" + csv(**GOOD).encode()[500:], "is a binary file"),
    read("Latin-1", "t,a,b\nä,1,2\n".encode("latin-1"), "not utf-8", "csv: {encoding: latin-1}"),
    read("a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is a binary file"),
    read("an unknown encoding", csv(**GOOD), "recording.csv.encoding: there is no encoding 'klingon'", csv={"encoding": "klingon"}),
    read("NetCDF by name alone", csv(**GOOD), "not a readable NetCDF file", files=["run.csv.nc"])._replace(files={"mine.yaml": of_table(files=["run.csv.nc"], train=[{"run": "run.csv", "frames": [0, 200]}]), "run.csv.nc": csv(**GOOD)}),
    # The camera's runs of markers.
    markers("five numbers in a line", "1,2,3,4,5\n" * 440, "440 lines of 5 columns", "six"),
    markers("words", "a,b,c,d,e,f\n" * 440, "cannot be read as comma-separated numbers"),
    markers("all markers on one point", six(100), "0.csv"),
    markers("1e300", six(1e300), "0.csv"),
    markers("minus one", six(-1), "0.csv"),
    markers("not a number", six("nan"), "0.csv"),
    markers("too short", six(100, 30), "0.csv"),
    markers("nothing", "", "0.csv"),
    Case("markers: no folder", ("preprocess", "{demo}", "--raw", "raw", "--output", "t.nc"), ("raw",)),
    Case("markers: an empty folder", ("preprocess", "{demo}", "--raw", "raw", "--output", "t.nc"), ("raw/0.csv",), {"raw/readme": "x"}),
    Case("record: a folder of others", ("record", "{demo}", "--output", "mine"), ("mine: there is something else already", "name another folder"), {"mine/work.txt": "mine"}),
    Case("record: a file is there", ("record", "{demo}", "--output", "mine"), ("mine",), {"mine": "text"}),
    Case("record: nothing to record", ("record", "mine.yaml", "--output", "o"), ("recording.source", "ibm", "nothing to record"), {"mine.yaml": Edited("ibm_calibrated")}),
    # Rows that would go lost.
    read("a quote that opens and closes 100 rows later", noted(row_100='"', row_200='"'), 'a quote (") opens in row 100 and closes in row 200', "go lost", "take the quote out"),
    read("such a quote, and no stamps", noted(row_100='"', row_200='"'), 'a quote (") opens in row 100 and closes in row 200', **RATE),
    read("a quote that closes in the next row", noted(row_100='"', row_101='"'), 'a quote (") opens in row 100 and closes in row 101', **RATE),
    read("a quote that is never closed", noted(row_100='"'), 'a quote (") opens in row 100 and is never closed', **RATE),
    read("a quote in the last row", noted(row_300='"'), 'a quote (") opens in row 300 and is never closed', **RATE),
    read("a quote in a used column", at("a", 9, '"0.1'), 'a quote (") opens in row 10 and is never closed'),
    read("a byte-order mark in the middle", at("a", 9, "\ufeff0.1"), "column 'a' holds text", "row 10"),
    read("a NUL after many rows", csv(**GOOD) * 20 + "\0", "line 6021 holds a NUL"),
    # Files that are no tables, or too large ones.
    read("a compressed table", gzip.compress(csv(**GOOD).encode()), "is compressed (gzip); unpack it"),
    read("a spreadsheet", b"PK\x03\x04" + bytes(500), "is a ZIP archive or a spreadsheet", "save the sheet as CSV"),
    read("Parquet by another name", b"PAR1" + bytes(500), "is a Parquet file", "ends in .parquet"),
    read("HDF5 by another name", b"\x89HDF\r\n" + bytes(500), "is an HDF5 or NetCDF file", "ends in .nc"),
    read("ten thousand columns and one", "t,a,b," + ",".join(f"c{i}" for i in range(9_998)) + "\n0,0,0\n", "has 10,001 columns, and at most 10,000 are read", "write a table of those that the experiment uses"),
    # Columns that are two things.
    table("a column as two channels", "recording.channels.q0 and recording.channels.q1 both take column 'a'", "name another column", channels={"q0": Q0, "q1": Q0}),
    table("a column in two units", "recording.channels.dq0 and recording.channels.q0 both take column 'a'", channels={"q0": Q0, "q1": Q1, "dq0": {"column": "a", "unit": "rad/s"}}),
    table("a column as time and channel", "recording.time and recording.channels.q0 both take column 'a'", time={"column": "a"}),
    table("a column as clock and channel", "recording.time and recording.channels.q1 both take column 'b'", clock="b"),
    Case("table: a column as channel and input", ("check", "mine.yaml"), ("mine.yaml: recording.channels.q0 and recording.inputs.torque_1 both take column 'pos_meas1'",), {"mine.yaml": Edited("pendubot", {("recording", "inputs", "torque_1", "column"): "pos_meas1"})}),
    # Numbers that no sensor saw of a motion.
    read("random numbers", csv(t=TIME, a=RANDOM.normal(size=300), b=RANDOM.normal(size=300)), "column 'a', column 'b': the numbers are random from row to row", "name other columns"),
    read("random angles of a circle", csv(t=TIME, a=RANDOM.uniform(0, 6.28, 300), b=RANDOM.uniform(-3.14, 3.14, 300)), "random from row to row"),
    Case("file: random numbers, looked at first", ("check", "--data", "mine.yaml"), ("run.csv: ", "random from row to row"), {"mine.yaml": of_table(), "run.csv": csv(t=TIME, a=RANDOM.normal(size=300), b=RANDOM.normal(size=300))}),
    markers("1e300 in one line", lost(9, "0,0,1e300,0,300,0"), "column 3, elbow down, holds 1e+300 in line 9", "record it again"),
    markers("random pixels", "\n".join(",".join(map(str, row)) for row in RANDOM.integers(0, 1000, (440, 6))), "link 1, link 2: the numbers are random", "record it again"),
    markers("a line that is commented out", lost(9, "#0,0,1,2,3,4"), "cannot be read as comma-separated numbers"),
    markers("an empty line", lost(9, ""), "line 9 is empty", "the time around it would close up"),
    Case("simulated: a recording of other columns", ("preprocess", "mine.yaml", "--raw", "raw", "--output", "t.nc"), ("raw/0.csv: its first line is not x,angle,", "no recording of cart_pole", "record it again"), {"mine.yaml": Edited("cart_pole"), **{f"raw/{i}.csv": "a,b\n" + "0,0\n" * 300 for i in (0, 1)}, **OTHER_RUNS}),
    *(Case(f"table: called {name!r}", ("check", "mine.yaml"), (shown, "rename it"), {"mine.yaml": of_table(files={"run": name}), name: csv(**GOOD)}) for name, shown in [("{b}.csv", "holds braces {…}"), ("x${y} z.csv", "holds braces {…}"), ("<b>x.csv", "holds a name in <…>"), ("a\nb.csv", "holds a line break")]),
    *(Case(f"{verb}: an experiment in the folder {folder!r}", (verb, f"{folder}/mine.yaml".replace("{", "{{").replace("}", "}}")), ("the experiment file", shown, "rename it"), {f"{folder}/mine.yaml": Edited("demo")}) for verb in ("check", "fit") for folder, shown in [("{b}", "holds braces {…}"), ("<b>", "holds a name in <…>"), ("a\nb", "holds a line break")]),
    Case("fit: a table called '<b>x.csv'", ("fit", "mine.yaml"), ("mine.yaml: recording of run run: the path ", "holds a name in <…>"), {"mine.yaml": of_table(files={"run": "<b>x.csv"}), "<b>x.csv": csv(**GOOD)}),
    *(Case(f"fit: results in {folder!r}", ("fit", "{demo}", "--results", folder.replace("{", "{{").replace("}", "}}")), (shown,)) for folder, shown in [("x{y}", "holds no {, }"), ("x{y", "holds no {, }"), ("x\\y", "holds no {, }"), ("x\ny", "holds a line break"), ("x<y>", "holds a name in <…>"), ("~nobody_here/x", "nobody's home folder")]),
]
