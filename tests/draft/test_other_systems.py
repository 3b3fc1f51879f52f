"""Drafts for systems that are no double pendulum."""

import numpy as np
import pytest
import yaml
from scipy.integrate import solve_ivp

from pdsim.cli.main import main

TIME = np.arange(0.0, 8.0, 0.01)


def write(path, **columns):
    rows = np.stack(list(columns.values()), axis=1)
    text = "\n".join(",".join(f"{value:.7g}" for value in row) for row in rows)
    path.write_text(f"{','.join(columns)}\n{text}\n")


def drafted(folder, system, *more):
    output = folder / "mine.yaml"
    tables = [str(path) for path in sorted(folder.glob("*.csv"))]
    assert main(["new", *tables, "--system", system, "--output", str(output), *more]) == 0
    assert main(["check", str(output)]) == 0
    return yaml.safe_load(output.read_text())


def test_an_oscillator_that_nothing_pushes(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for name, start in (("a", 0.3), ("b", -0.2)):
        x = start * np.exp(-0.15 * TIME) * np.cos(np.sqrt(20 - 0.15**2) * TIME)
        write(tmp_path / f"{name}.csv", t=TIME, x=x + 1e-4 * rng.normal(size=len(TIME)))
    values = drafted(tmp_path, "oscillator")
    assert values["recording"]["inputs"] == {"force": {"constant": 0.0, "unit": "N"}}
    assert "force: 0 in N, no column is called like one" in capsys.readouterr().out
    sought, fixed = values["simulator"]["parameters"], values["simulator"]["fixed"]
    # Of mass, damping and stiffness the motion tells two ratios.
    assert len({"mass", "damping", "stiffness"} & set(sought)) == 2
    assert fixed["gain"] == 1.0

    def centre(name):
        entry = sought.get(name)
        return np.sqrt(entry["lower"] * entry["upper"]) if entry else fixed[name]

    assert centre("stiffness") / centre("mass") == pytest.approx(20.0, rel=0.1)
    assert centre("damping") / centre("mass") == pytest.approx(0.3, rel=0.3)


def test_a_cart_with_a_pole_whose_angle_is_counted_from_upright(tmp_path):
    p = {"S": 0.9, "H": 0.04, "J": 0.015, "G": 0.04 * 9.81, "f1": 0.3, "f2": 2e-3}

    def push(t):
        return 1.5 * np.sin(2.1 * t) + np.sin(3.7 * t)

    def rates(t, z):
        _, angle, dx, rate = z
        mass = np.array([[p["S"], p["H"] * np.cos(angle)], [p["H"] * np.cos(angle), p["J"]]])
        right = [
            p["H"] * np.sin(angle) * rate**2 + push(t) - p["f1"] * dx,
            -p["G"] * np.sin(angle) - p["f2"] * rate,
        ]
        return [dx, rate, *np.linalg.solve(mass, right)]

    rng = np.random.default_rng(1)
    for name, start in (("a", 0.8), ("b", -0.5)):
        z = solve_ivp(rates, (0, 8), [0, start, 0, 0], t_eval=TIME, rtol=1e-8, atol=1e-9).y
        noise = 2e-4 * rng.normal(size=(2, len(TIME)))
        write(tmp_path / f"{name}.csv", t=TIME, cart_pos=z[0] + noise[0],
              pole_angle=z[1] + noise[1] + np.pi, force=push(TIME))  # fmt: skip
    values = drafted(tmp_path, "cart_pole")
    channels = values["recording"]["channels"]
    assert channels["x"] == {"column": "cart_pos", "unit": "m"}
    assert channels["angle"]["offset"] == pytest.approx(np.pi)
    assert values["recording"]["inputs"]["force"]["column"] == "force"
    assert values["simulator"]["fixed"]["gravity"] == 9.81
    assert {"mass_cart", "friction_cart"} <= set(values["simulator"]["parameters"])
