"""Tables that `pdsim new` cannot draft an experiment from: what is said, with its remedy."""

import numpy as np
from bad_input.case import Case, Edited
from bad_input.recordings import of_table


def table(**columns):
    rows = np.stack(list(columns.values()), axis=1)
    return ",".join(columns) + "\n" + "\n".join(",".join(map(str, row)) for row in rows)


LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def urdf(inertial=LINK, joint="revolute", parent="a"):
    return f'''<robot name="r"><link name="a"/><link name="b">{inertial}</link><joint name="j" type="{joint}">
<parent link="{parent}"/><child link="b"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
</joint></robot>'''


STEPS = np.arange(100)
NOISE = np.random.default_rng(0).normal(size=100)
GOOD = {"t": STEPS / 100, "a": np.sin(STEPS / 9), "b": np.cos(STEPS / 9)}
# What is in the file, the arguments, and what the message must hold.
BAD = [
    ("", [], ["bad.csv", "empty"]),
    ("t,a,b\n", [], ["bad.csv", "no row below"]),
    ("t,a,b\n1,2,3\n", [], ["bad.csv", "1 rows", "20 or more are needed"]),
    ("x,y\nred,blue\n", [], ["bad.csv", "no column holds numbers"]),
    (table(a=GOOD["a"], b=GOOD["b"]), [], ["bad.csv", "a, b", "--time COLUMN:s", "--rate 500"]),
    (table(t=STEPS * 0.3, a=GOOD["a"], b=GOOD["b"]), [], ["'t'", "0.3", "--time t:ms"]),
    (table(**GOOD), ["--time", "stamp"], ["bad.csv", "'stamp'", "known: a, b, t"]),
    (table(**GOOD), ["--time", "t:kg"], ["--time t:kg", "cannot be converted", "ms"]),
    (table(**GOOD), ["--time", "t:blink"], ["--time t:blink", "not known"]),
    (table(t=-GOOD["t"], a=GOOD["a"], b=GOOD["b"]), [], ["bad.csv", "backwards"]),
    (table(t=GOOD["t"], a=GOOD["a"]), [], ["bad.csv", "q0, q1", "candidates: a", "--channel q0="]),
    (table(**GOOD, c=GOOD["a"]), [], ["q0, q1", "candidates: a, b, c", "--channel q1="]),
    (table(**GOOD), ["--channel", "q2=a"], ["--channel q2=", "no such channel", "q0"]),
    (table(**GOOD), ["--channel", "q0=c"], ["bad.csv", "'c'", "known: a, b, t"]),
    (table(**GOOD), ["--channel", "q0=a:kg"], ["--channel q0=a:kg", "cannot be converted"]),
    (table(**GOOD), ["--input", "torque_1=9"], ["torque_2", "or 0 where nothing acts"]),
    (table(**GOOD), ["--input", "torque_1=tau", "--input", "torque_2=0"], ["'tau'", "bad.csv"]),
    (
        table(t=STEPS / 10, a=10 * np.sin(STEPS / 10), b=10 * np.cos(STEPS / 10)),
        [],
        ["bad.csv", "'a'", "from -", "--channel q0=a:deg or --channel q0=a:rad"],
    ),
    (table(t=GOOD["t"], a=0 * STEPS + 1.0, b=0 * STEPS), [], ["bad.csv", "nothing moves"]),
    (table(**{k: v[:30] for k, v in GOOD.items()}), [], ["bad.csv", "record for longer"]),
    (table(**GOOD), ["--output", "mine.txt"], ["mine.txt", "mine.yaml"]),
    (table(**GOOD), ["--system", "double_pendulm"], ["double_pendulm", "--model"]),
    (table(**GOOD), ["--rate", "-5"], ["--rate", "'-5'", "above 0"]),
    ("t,a,b\n" + "\0" * 500, [], ["bad.csv"]),
    (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), [], ["bad.csv"]),
    (table(**GOOD), ["--model", "robot.urdf"], ["robot.urdf: no such file", "--model"]),
    (table(**GOOD), ["--system", "quadrotor"], ["quadrotor", "write one by hand"]),
    (
        table(**GOOD),
        ["--system", "oscillator"],
        ["which columns are x", "candidates: a, b", "--channel x="],
    ),
    (
        table(**GOOD),
        ["--absolute", "--relative"],
        ["--relative: not allowed with argument --absolute"],
    ),
    (table(**GOOD), ["--zero", "left"], ["--zero: invalid choice: 'left'"]),
    (table(**GOOD), ["--rate", "nan"], ["--rate", "'nan'", "above 0"]),
    (table(**GOOD), ["--output", "data"], ["data"]),
    (
        table(**GOOD).replace("0.0,", "start,", 1),
        [],
        ["bad.csv", "no column is called time", "column 't'", "first 'start' in row 1"],
    ),
    (
        table(**GOOD).replace("t,a,b", "t,a,a"),
        [],
        ["bad.csv", "q0, q1", "2 columns are called 'a'"],
    ),
    (
        table(**GOOD) + "\n1.0,red,0.5",
        [],
        ["q0, q1", "candidates: b", "column 'a'", "first 'red' in row 101"],
    ),
    (
        table(t=0 * STEPS, a=GOOD["a"], b=GOOD["b"]),
        [],
        ["'t'", "100 rows have the same time", "--rate"],
    ),
    (
        table(**GOOD),
        ["--rate", "100", "--time", "t:s"],
        ["--time: not allowed with argument --rate"],
    ),
    (table(**GOOD), ["--rate", "fast"], ["--rate", "'fast'", "above 0"]),
    (table(**GOOD), ["--channel", "q0"], ["--channel: NAME=COLUMN", "'q0'"]),
    (
        table(**GOOD),
        ["--channel", "q0=a", "--channel", "q0=b"],
        ["--channel q0=…: is given 2 times"],
    ),
    (
        table(**GOOD),
        ["--channel", "q0=a", "--channel", "q1=a"],
        ["--channel q1=a", "q0's already"],
    ),
    (
        table(t=GOOD["t"], a=1e-4 * NOISE, b=1e-4 * NOISE[::-1]),
        [],
        ["bad.csv", "nothing moves", "leave this file out"],
    ),
    (
        table(**GOOD, tau_1=STEPS * np.nan, tau_2=STEPS * np.nan),
        [],
        ["bad.csv", "'tau_1'", "called like a torque", "fill it", "take it out of the table"],
    ),
    (
        table(**GOOD).replace("t,a,b\n", "t,a,b\ns,rad,rad\n"),
        [],
        ["bad.csv", "no column holds numbers in every row", "'s' in row 1", "line of units"],
    ),
    (table(**GOOD).replace(".", ","), [], ["bad.csv", "6 cells", "3 columns", 'decimal: ","']),
    (table(t=GOOD["t"], a=GOOD["a"], b=STEPS * np.nan), [], ["bad.csv", "column 'b' is empty"]),
    (
        table(t=GOOD["t"], a=np.where(STEPS == 50, np.inf, GOOD["a"]), b=GOOD["b"]),
        [],
        ["bad.csv", "'a' is infinite in 1 of 100 rows", "row 51"],
    ),
    (
        table(t=np.r_[STEPS[:60], STEPS[20:60]] / 100, a=GOOD["a"], b=GOOD["b"]),
        [],
        ["bad.csv", "backwards", "from row 60 to row 61", "sort them"],
    ),
    (table(**GOOD).encode("utf-16"), [], ["bad.csv", "UTF-16", "UTF-8"]),
    (table(**GOOD) + "\n1.0,2.0,3.0,4.0", [], ["bad.csv", "row 101 has 4 cells"]),
    (table(**GOOD), ["--output", "bad.csv/mine.yaml"], ["bad.csv/mine.yaml", "cannot be written"]),
    (table(**GOOD), ["--output", "there.yaml"], ["there.yaml: is there already", "--overwrite"]),
]


def new(number, text, arguments, told):
    system = [] if {"--system", "--model"} & set(arguments) else ["--system", "double_pendulum"]
    output = [] if "--output" in arguments else ["--output", "mine.yaml"]
    command = ("new", "bad.csv", *system, *output, *arguments)
    name = " ".join(("new", str(number), *arguments))
    return Case(name, command, tuple(told), {"bad.csv": text, "there.yaml": "my work"})


# A line each.
# fmt: off
CASES = [new(number, *bad) for number, bad in enumerate(BAD)] + [
    Case("new: one table of two is bad", ("new", "a.csv", "b.csv", "--system", "double_pendulum", "--output", "mine.yaml"), ("b.csv",), {"a.csv": table(**GOOD), "b.csv": "t,a,c\n" + "1,2,3\n" * 30}),
    Case("new: other names in the second table", ("new", "a.csv", "b.csv", "--system", "double_pendulum", "--output", "mine.yaml"), ("b.csv: no column of numbers is called 't'", "a.csv has one", "leave this one out"), {"a.csv": table(**GOOD), "b.csv": table(s=GOOD["t"], a=GOOD["a"], b=GOOD["b"])}),
    Case("new: a table twice", ("new", "a.csv", "a.csv", "--system", "double_pendulum", "--output", "mine.yaml"), ("a.csv: this file is named twice",), {"a.csv": table(**GOOD)}),
    Case("new: a table under two names", ("new", "a.csv", "b.csv", "--system", "double_pendulum", "--output", "mine.yaml"), ("b.csv: holds the same as a.csv", "leave one out"), {"a.csv": table(**GOOD), "b.csv": table(**GOOD)}),
    Case("new: what is no NetCDF file", ("new", "a.nc", "--system", "double_pendulum", "--output", "mine.yaml"), ("a.nc: not a readable NetCDF file",), {"a.nc": table(**GOOD)}),
    Case("new: a pattern that meets no file", ("new", "*.parquet", "--system", "double_pendulum", "--output", "mine.yaml"), ("*.parquet: no such file",)),
    *(
        Case(f"new: {name}", ("new", "a.csv", "--model", model, "--output", "mine.yaml"), words, {"a.csv": table(**GOOD), **files})
        for name, model, files, words in (
            ("a folder for a robot", "data", {}, ("is a folder", "is a folder, not a regular file", "MJCF (.xml) or URDF (.urdf)")),
            ("a robot that is a table", "a.csv", {}, ("ends in .urdf", "xacro robot.urdf.xacro")),
            ("a robot that is text", "r.urdf", {"r.urdf": "arm"}, ("MuJoCo cannot read",)),
            ("a robot without a joint", "r.urdf", {"r.urdf": urdf(joint="fixed")}, ("no joint that moves", "revolute")),
            ("a robot of no mass", "r.urdf", {"r.urdf": urdf(inertial="")}, ("'b'", "<inertial>")),
            ("a joint from nowhere", "r.urdf", {"r.urdf": urdf(parent="c")}, ("parent or child missing",)),
            ("more columns than joints", "r.urdf", {"r.urdf": urdf()}, ("a.csv", "which columns are j", "--channel j=")),
        )
    ),
    Case("new: a folder for a table", ("new", "data", "--system", "double_pendulum", "--output", "mine.yaml"), ("data: is a folder", "name the tables in it")),
    *(
        Case(f"new: {output} to write", ("new", "a.csv", "--system", "double_pendulum", f"--output={output}"), (f"{output}: experiment: ", *words), {"a.csv": table(**GOOD)})
        for output, words in (
            ("a;b.yaml", ("a name holds letters, digits and _ . - only", "'a;b'", "rename the file")),
            ("a b.yaml", ("a name holds letters", "'a b'")),
            ("-x.yaml", ("a name holds letters", "'-x'")),
            ("demo.yaml", ("'demo' is the name of", "rename your file")),
        )
    ),
    *(
        Case(f"{verb}: a table called {name}", command, (name, f"holds {part}", "rename it"), {name: table(**GOOD), "mine.yaml": of_table(files={"run": name})})
        for name, part in (("a{b}.csv", "braces {…}"), ("<b>x.csv", "a name in <…>"))
        for verb, command in (
            ("new", ("new", name.replace("{b}", "{{b}}"), "--system", "double_pendulum", "--output", "other.yaml")),
            ("check", ("check", "mine.yaml")),
            ("fit", ("fit", "mine.yaml", "--dry-run")),
        )
    ),
    Case("check: a file whose name no experiment has", ("check", "a b.yaml"), ("a b.yaml: experiment: a name holds letters", "rename the file"), {"a b.yaml": Edited("demo")}),
]
