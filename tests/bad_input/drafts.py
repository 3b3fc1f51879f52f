"""Tables that `pdsim new` cannot draft an experiment from: what is said, with its remedy."""

import numpy as np
from bad_input.case import Case


def table(**columns):
    rows = np.stack(list(columns.values()), axis=1)
    return ",".join(columns) + "\n" + "\n".join(",".join(map(str, row)) for row in rows)


STEPS = np.arange(100)
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
    (table(**GOOD), ["--rate", "-5"], ["--rate -5", "above 0"]),
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
    (table(**GOOD), ["--rate", "nan"], ["--rate nan", "above 0"]),
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
    Case("new: a folder for a table", ("new", "data", "--system", "double_pendulum", "--output", "mine.yaml"), ("data",)),
]
