"""Figures and the report of what the stages made."""

import pytest

from pdsim import registry
from pdsim.cli.main import main
from pdsim.preflight.findings import Preflight, write_preflight

LEARNED = tuple(
    f"bayessim_{variant}/seed0/density_model.nc"
    for variant in ("downsampled_mdn", "signature_mdrff_rbf")
)
PLOTS = {
    "density": ("--trajectories", "trajectories.nc", "--rollouts", "{run}/rollouts.nc"),
    "densities": (
        "--trajectories",
        "trajectories.nc",
        "--rollouts",
        "{run}/rollouts.nc",
        "nuts_single/seed0/rollouts.nc",
        "--posterior",
        "{run}/posterior.nc",
        "nuts_single/seed0/posterior.nc",
    ),
    "posteriors": (
        "--trajectories",
        "trajectories.nc",
        "--posterior",
        "{run}/posterior.nc",
        "nuts_single/seed0/posterior.nc",
    ),
    "learning_curve": (
        "--learning-curve",
        "learning_curve.csv",
        "--trajectories",
        "trajectories.nc",
    ),
    "posterior": ("--trajectories", "trajectories.nc", "--posterior", "{run}/posterior.nc"),
    "prediction": ("--trajectories", "trajectories.nc", "--prediction", "{run}/prediction.nc"),
    "pit": ("--trajectories", "trajectories.nc", "--prediction", "{run}/prediction.nc"),
    "windows": ("--trajectories", "trajectories.nc", "--posterior", "{run}/posterior.nc"),
    "convergence": ("--posterior", "{run}/posterior.nc", "svgd_single/seed0/posterior.nc"),
    "landscape": ("--trajectories", "trajectories.nc"),
    "statistics": (
        "--trajectories",
        "trajectories.nc",
        "--statistics",
        "downsampled.nc",
        "signature.nc",
    ),
    "training": ("--trained", *LEARNED),
    "calibration": ("--statistics", "downsampled.nc", "signature.nc", "--trained", *LEARNED),
}


FIGURES = {kind: registry.load("figures", kind).FIGURE for kind in PLOTS}


@pytest.fixture(scope="session")
def figures(tiny):
    def draw(kind, folder):
        arguments = ["--quiet", "plot", kind, str(tiny / "tiny.yaml")]
        of_run = ["--run", "csvgd_multiple"] if FIGURES[kind].of_each_run else []
        arguments += [*of_run, "--stem", str(folder / kind)]
        for word in PLOTS[kind]:
            word = word.format(run="csvgd_multiple/seed0")
            arguments.append(word if word.startswith("--") else str(tiny / word))
        assert main(arguments) == 0

    for kind in PLOTS:
        draw(kind, tiny)
    return draw


@pytest.mark.parametrize("kind", PLOTS)
def test_figures_are_drawn_and_are_the_same_bytes_again(tiny, figures, tmp_path, kind):
    figures(kind, tmp_path)
    for suffix in (".png", ".pdf"):
        content = (tmp_path / f"{kind}{suffix}").read_bytes()
        assert len(content) > 5000
        assert content == (tiny / f"{kind}{suffix}").read_bytes()


def test_the_report_is_one_file_with_everything(tiny, figures, tmp_path):
    report, preflight = tmp_path / "report.html", str(tmp_path / "preflight.json")
    write_preflight(preflight, Preflight(None, "nobody looked", {}))
    posteriors = sorted(map(str, tiny.glob("*/seed0/posterior.nc")))
    arguments = ["--quiet", "report", str(tiny / "tiny.yaml"), "--output", str(report)]
    arguments += ["--metrics", str(tiny / "metrics.csv"), "--preflight", preflight]
    arguments += ["--trajectories", str(tiny / "trajectories.nc"), "--posteriors", *posteriors]
    assert main([*arguments, "--figures", *(str(tiny / f"{kind}.png") for kind in PLOTS)]) == 0
    text = report.read_text()
    assert text.count("data:image/png;base64,") == len(PLOTS)
    assert 'src="http' not in text
    words = ("Synthetic double pendulum", "Errors with fitted start states", "link_2", "jax=")
    for word in (
        *words,
        "Table II",
        "Settings",
        "link_1, run 0 from frame 20",
        "too few draws of each chain to tell",
    ):
        assert word in text
