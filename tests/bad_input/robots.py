"""Robots' model files, and what experiments say of them, with one thing wrong."""

from bad_input.case import Case, Edited, checked

OPTIONS = ("simulator", "options")
PARAMETERS = ("simulator", "parameters")
BODY = """<mujoco><worldbody><body name="arm"><inertial pos="0 0 -1" mass="1" diaginertia="1 1 1"/>
<joint name="hinge" axis="0 1 0"/>{geom}</body>{more}</worldbody>{end}</mujoco>"""


def model(geom="", more="", end=""):
    return BODY.format(geom=geom, more=more, end=end)


def shown(name, content, *words, file="robot.xml", extra=()):
    return Case(f"model: {name}", ("model", file, *extra), (file, *words), {file: content})


TENDON = '<tendon><fixed name="rope"><joint joint="hinge" coef="1"/></fixed></tendon>'
OTHER = """<body name="other" pos="0 0 -3"><freejoint/><inertial pos="0 0 0" mass="1"
diaginertia="1 1 1"/>{geom}</body>"""
BALL = '<geom name="{name}" size="1"/>'

# A line each.
# fmt: off
CASES = [
    Case("model: not there", ("model", "none.xml"), ("none.xml: no such file; name a model in MJCF",)),
    Case("model: a folder", ("model", "data"), ("data: no such file; name a model in MJCF",)),
    shown("nothing", "", "cannot read this model"),
    shown("text", "a robot", "cannot read this model"),
    shown("a picture", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "cannot read this model"),
    shown("unclosed", "<mujoco><worldbody>", "cannot read this model"),
    shown("an unknown tag", "<mujoco><bodies/></mujoco>", "cannot read this model", "bodies"),
    shown("a mass below zero", model().replace('mass="1"', 'mass="-1"'), "cannot read this model"),
    shown("an impossible inertia", model().replace("1 1 1", "1 1 9"), "cannot read this model", "inertia"),
    shown("a mesh that is not there", model(end='<asset><mesh name="m" file="m.stl"/></asset>', geom='<geom type="mesh" mesh="m" mass="1"/>').replace('<inertial pos="0 0 -1" mass="1" diaginertia="1 1 1"/>', ""), "cannot read this model", "m.stl"),
    shown("a link that is not there", '<robot name="r"><link name="a"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>', "cannot read this model", file="robot.urdf"),
    shown("a tendon", model(end=TENDON), "rope are tendons", "options.ignore: [tendons]"),
    shown("a loop", model(more=OTHER.format(geom=""), end='<equality><connect name="pin" body1="arm" body2="other" anchor="0 0 0"/></equality>'), "pin close loops in the tree", "ignore: [equality]"),
    shown("contacts", model(geom=BALL.format(name="ball_1"), more=OTHER.format(geom=BALL.format(name="ball_2"))), "ball_1, ball_2 can touch", "ignore: [contacts]"),
    shown("water", model(end='<option density="1000"/>'), "density or viscosity", "ignore: [fluid]"),
    shown("something unknown ignored", model(), "nothing here is called 'contact'", extra=("--ignore", "contact")),
    checked("a model that is not there", "pendubot_urdf", (*OPTIONS, "model"), "models/pendubt.urdf", "simulator.options.model: models/pendubt.urdf: no such file", "PDSIM_DATA_DIR"),
    checked("no model", "pendubot_urdf", OPTIONS, {"actuation": "torque"}, "simulator.options: model: this key is missing"),
    checked("a model that is a number", "pendubot_urdf", (*OPTIONS, "model"), 7, "simulator.options: model: "),
    checked("an unknown actuation", "pendubot_urdf", (*OPTIONS, "actuation"), "force", "simulator.options: actuation: ", "'torque'"),
    checked("an unknown joint", "pendubot_urdf", (*OPTIONS, "joints"), ["joint3"], "simulator.options", "joint3", "joint2"),
    checked("something unknown ignored", "pendubot_urdf", (*OPTIONS, "ignore"), ["wheels"], "nothing here is called 'wheels'"),
    checked("an unknown option", "pendubot_urdf", (*OPTIONS, "actuaton"), "torque", "simulator.options: actuaton: no such key", "'actuation'"),
    checked("an unknown body to be consistent", "pendubot_urdf", (*OPTIONS, "consistent"), ["link3"], "simulator.options", "link3"),
    checked("an unknown joint observed", "pendubot_urdf", (*OPTIONS, "observe"), {"positions": ["joint9"]}, "simulator.options", "joint9"),
    checked("an unknown site observed", "pendubot_urdf", (*OPTIONS, "observe"), {"sites": ["tip"]}, "simulator.options", "tip"),
    checked("an unknown body observed", "pendubot_urdf", (*OPTIONS, "observe"), {"frames": {"hand": "link9"}}, "simulator.options", "link9"),
    checked("an unknown number", "pendubot_urdf", (*PARAMETERS, "com_1", "sets"), ["body/lnik1/com/z"], "simulator.parameters.com_1", "'body/link1/com/z'"),
    checked("a pattern like nothing", "pendubot_urdf", (*PARAMETERS, "armature", "sets"), ["joint/*/amature"], "simulator.parameters.armature.sets: no parameter of articulated is like"),
    checked("another unit", "pendubot_urdf", (*PARAMETERS, "com_1", "unit"), "mm", "simulator.parameters.com_1.unit", "'m' (got 'mm')"),
    checked("damping below zero", "pendubot_urdf", (*PARAMETERS, "dry_1", "lower"), -0.5, "simulator.parameters.dry_1.lower", "cannot be negative"),
    checked("an unknown fixed number", "pendubot_urdf", ("simulator", "fixed"), {"option/gravity": 9.81}, "simulator.fixed.option/gravity", "option/gravity/"),
    checked("a step of a loop", "pendubot_urdf", ("simulator", "integrator"), "midpoint", "simulator.integrator: no such integrator", "rk4"),
    checked("no torque", "pendubot_urdf", ("recording", "inputs"), {}, "recording.inputs", "torque_joint1"),
    checked("a torque of another name", "pendubot_urdf", ("recording", "inputs", "torque_1"), {"column": "tau_meas1", "unit": "N m"}, "recording.inputs.torque_1", "torque_joint1"),
    checked("a torque in kilograms", "pendubot_urdf", ("recording", "inputs", "torque_joint1", "unit"), "kg", "recording.inputs.torque_joint1.unit"),
    checked("a joint of another name", "pendubot_urdf", ("recording", "channels", "q0"), {"column": "pos_meas1", "unit": "rad"}, "recording.channels.q0", "joint1"),
    # Two experiments of one robot, and a robot in MuJoCo.
    checked("an earlier run that is not there", "panda_box_weights", ("simulator", "fixed_from", "run"), "csvgd", "simulator.fixed_from.run: ", "has no run 'csvgd'", "csvgd_multiple", beside=("panda_box_empty",)),
    checked("an earlier seed that is not there", "panda_box_weights", ("simulator", "fixed_from", "seed"), 3, "simulator.fixed_from.seed: ", "has seeds [0]", beside=("panda_box_empty",)),
    checked("an earlier experiment that is not there", "panda_box_weights", ("simulator", "fixed_from", "experiment"), "panda", "simulator.fixed_from.experiment: ", "panda.yaml: no such file"),
    checked("the worst draw", "panda_box_weights", ("simulator", "fixed_from", "draw"), "worst", "simulator.fixed_from.draw: ", "'best' or 'mean'"),
    checked("found there and given here", "panda_box_weights", ("simulator", "fixed", "body/box/com/x"), 0.1, "simulator.fixed_from: body/box/com/x was found there", "simulator.fixed", beside=("panda_box_empty",)),
    checked("a stand-in that is not there", "panda_box_empty", ("recording", "model"), "models/none.xml", "recording.model: models/none.xml: no such file"),
    checked("a controller of no joint", "panda_box_empty", ("recording", "controllers", "joint9"), {"at": 0.0, "kp": 1.0, "kd": 0.0}, "recording.controllers", "joint9"),
    checked("a gain below zero", "panda_box_empty", ("recording", "controllers", "joint1", "kd"), -1.0, "recording.controllers.joint1.kd: "),
    checked("a marker on no body", "panda_box_empty", ("recording", "frames"), {"box": {"body": "bax", "noise": 0.0005}}, "recording.frames", "bax"),
    checked("a move of no joint", "panda_box_empty", ("recording", "runs", 0, "moves", 0, "joint"), "joint8", "recording.runs.0", "joint8"),
    checked("a stand-in's unknown number", "panda_box_empty", ("recording", "parameters", "body/box/wheels"), 1.0, "recording.parameters.body/box/wheels"),
    checked("a state near nothing", "panda_box_empty", ("recording", "states", "near"), {"u1": {"value": 0.0, "deviation": 0.5}}, "recording.states.near"),
    Case("an earlier posterior that is missing", ("simulate", "panda_box_weights.yaml", "--trajectories", "a.nc", "--posterior", "p.nc", "--output", "r.nc"), ("--fixed-from is missing", "panda_box_empty"), {f"{name}.yaml": Edited(name) for name in ("panda_box_weights", "panda_box_empty")}),
    Case("an earlier posterior that nobody asked for", ("simulate", "{demo}", "--trajectories", "a.nc", "--posterior", "p.nc", "--output", "r.nc", "--fixed-from", "p.nc"), ("--fixed-from is given, but the experiment has no simulator.fixed_from",)),
]
