"""Robots' model files, and what experiments say of them, with one thing wrong."""

from bad_input.case import Case, Edited, checked

OPTIONS = ("simulator", "options")
PARAMETERS = ("simulator", "parameters")
BODY = """<mujoco><worldbody><body name="arm"><inertial pos="0 0 -1" mass="1" diaginertia="1 1 1"/>
<joint name="hinge" axis="0 1 0"/>{geom}</body>{more}</worldbody>{end}</mujoco>"""


def model(geom="", more="", end=""):
    return BODY.format(geom=geom, more=more, end=end)


def shown(name, content, *words, file="robot.xml", extra=(), said=True):
    words = (file, *words) if said else words
    return Case(f"model: {name}", ("model", file, *extra), words, {file: content})


TENDON = '<tendon><fixed name="rope"><joint joint="hinge" coef="1"/></fixed></tendon>'
OTHER = """<body name="other" pos="0 0 -3"><freejoint/><inertial pos="0 0 0" mass="1"
diaginertia="1 1 1"/>{geom}</body>"""
BALL = '<geom name="{name}" size="1"/>'
THIN = '<geom name="{name}" size="1" contype="0" conaffinity="0"/>'
MASSIVE = '<body><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
# Each body has two copies of the one before it.
ATTACHED = '<body name="b0"/>' + "".join(
    f'<body name="b{i + 1}"><attach body="b{i}" prefix="p"/><attach body="b{i}" prefix="q"/></body>'
    for i in range(30)
)
SWITCH = '<option><flag {flag}="disable"/></option>'
LINK = """<link name="{name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
<axis xyz="0 1 0"/>{more}</joint>"""
URDF = (
    '<robot name="r">' + LINK.format(name="a") + LINK.format(name="b") + "{links}"
    + JOINT.format(name="j", parent="a", child="b", more="") + "{joints}</robot>"
)  # fmt: skip

# A line each.
# fmt: off
CASES = [
    Case("model: not there", ("model", "none.xml"), ("none.xml: no such file; name a model in MJCF",)),
    Case("model: a folder", ("model", "data"), ("data: is a folder, not a regular file; name a robot's file",)),
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
    shown("UTF-16", model().encode("utf-16"), "it is UTF-16 text; save it as XML in UTF-8"),
    shown("zero bytes", model().encode() + bytes(9), "it is not text (it holds zero bytes)"),
    shown("a name in Latin-1", model().replace('name="arm"', 'name="épaule"').encode("latin-1"), "the name of a body is not UTF-8; save the file as UTF-8"),
    shown("a name without end", model().replace('name="arm"', f'name="{"n" * 500}"'), "the name of body nnn", "has 500 characters; shorten it to 128"),
    shown("damaged", "<mujoco>\n<worldbody>\n</mujoco>", "its XML is damaged at or after line 2 (mismatched element); mend that line"),
    shown("millions of copies", model(more=f'<replicate count="10000000">{MASSIVE}</replicate>'), "lower the count of <replicate count=\"10000000\">"),
    shown("copies of copies", model(more='<replicate count="99">' * 9 + MASSIVE + "</replicate>" * 9), "lower the count of <replicate count=\"99\">"),
    shown("millions of shapes", model(geom='<replicate count="1000000"><geom size="1"/></replicate>'), "makes more than 200,000 elements"),
    shown("a cable of many bodies", model(more='<composite type="cable" count="5000 1 1"/>'), "lower the count of <composite count=\"5000 1 1\">"),
    shown("thousands of bodies", model(more=MASSIVE * 1000), "makes more than 1,000 bodies", "leave out what does not move"),
    shown("bodies that attach themselves", model(more=ATTACHED), "makes more than 1,000 bodies"),
    shown("itself included", '<mujoco><include file="robot.xml"/></mujoco>', "robot.xml reads robot.xml, which reads robot.xml again"),
    shown("itself included by another name", '<mujoco><include file="./robot.xml"/></mujoco>', "which reads robot.xml again"),
    shown("itself attached", '<mujoco><asset><model name="m" file="robot.xml"/></asset></mujoco>', "which reads robot.xml again"),
    shown("a device included", '<mujoco><include file="/dev/zero"/></mujoco>', "/dev/zero: is a device, not a regular file", file="robot.xml", said=False),
    shown("a device for a mesh", model(end='<asset><mesh name="m" file="/dev/zero"/></asset>', more='<body><joint/><geom type="mesh" mesh="m"/></body>'), "/dev/zero: is a device, not a regular file", said=False),
    shown("a device for ground", model(end='<asset><hfield name="m" file="/dev/zero" size="1 1 1 1"/></asset>', more='<geom type="hfield" hfield="m"/>'), "/dev/zero: is a device, not a regular file", said=False),
    shown("names that differ by a slash", model(more=OTHER.format(geom="").replace("other", "a/m") + OTHER.format(geom="").replace("other", "a_m")), "body names 'a/m' and 'a_m' would both become a_m", "rename one of them"),
    shown("a joint called as a velocity", model(more=MASSIVE.replace("<joint", '<joint name="dhinge"')), "two positions, velocities or points are called 'dhinge'"),
    shown("damping of two coefficients", model().replace('axis="0 1 0"', 'axis="0 1 0" damping="1 2"'), "hinge have damping or stiffness with more than one coefficient", "options.ignore: [polynomials]"),
    shown("an actuator's armature", model(end='<actuator><motor name="m" joint="hinge" armature="1"/></actuator>'), "m have armature or damping of the actuator", "Write it at the joint", "options.ignore: [rotors]"),
    shown("a deformable body", model(more='<flexcomp type="grid" count="3 3 1" mass="1" radius=".01" spacing=".1 .1 .1" name="cloth" dim="2"/>'), "cloth are deformable bodies", "options.ignore: [flexes]"),
    shown("a pair of geoms that touch", model(geom=THIN.format(name="g"), more=OTHER.format(geom=THIN.format(name="h")), end='<contact><pair geom1="g" geom2="h"/></contact>'), "g, h can touch", "ignore: [contacts]"),
    shown("gravity switched off", model(end=SWITCH.format(flag="gravity")), '<flag gravity="disable"/> switches gravity off', 'write gravity="0 0 0" in <option>'),
    shown("springs switched off", model(end=SWITCH.format(flag="spring")).replace('axis="0 1 0"', 'axis="0 1 0" stiffness="1"'), '<flag spring="disable"/> switches springs off', "set stiffness to 0"),
    shown("dry friction switched off", model(end=SWITCH.format(flag="constraint")).replace('axis="0 1 0"', 'axis="0 1 0" frictionloss="1"'), '<flag constraint="disable"/> switches dry friction off'),
    shown("nothing that moves has mass", '<mujoco><worldbody><body name="a"><joint/></body></worldbody></mujoco>', "must be above 0", "'a'", "give each link that moves an <inertial>"),
    shown("a massless link between joints", '<mujoco><worldbody><body name="a"><joint/><body name="b"><joint/><geom size="1"/></body></body></worldbody></mujoco>', "must be above 0", "'a'"),
    shown("mass without inertia", model().replace("1 1 1", "0 0 0"), "must be above 0", "'arm'"),
    shown("a link without joint", URDF.format(links=LINK.format(name="c"), joints=""), "links 'a', 'c' are no joint's child", "join all but one", file="robot.urdf"),
    shown("a joint that follows another", URDF.format(links=LINK.format(name="c"), joints=JOINT.format(name="k", parent="b", child="c", more='<mimic joint="j"/>')), "k", "close loops in the tree", file="robot.urdf"),
    shown("links in a circle", URDF.format(links="", joints=JOINT.format(name="k", parent="b", child="a", more="")), "joints join links in a circle", file="robot.urdf"),
    shown("a floating joint below a link", URDF.format(links="", joints="").replace("continuous", "floating"), "a floating joint starts at the root", file="robot.urdf"),
    shown("what xacro has not filled in", URDF.format(links="", joints="").replace('mass value="1"', 'mass value="${m}"'), "bad format in attribute 'value'", "xacro robot.urdf.xacro > robot.urdf", file="robot.urdf"),
    checked("a body without mass to be consistent", "pendubot_urdf", (*OPTIONS, "consistent"), ["base"], "simulator.options.consistent: base has a mass of 0 kg"),
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
