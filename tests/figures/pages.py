"""Reports of small results, for tests that read them and for those that open them."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
from figures.conftest import ESTIMATORS, SECTIONS, VARIANTS

from pdsim.experiment.slices import Report
from pdsim.preflight.findings import Cost, Findings, Preflight, write_preflight
from pdsim.stages.report import write_report

PREFLIGHT = Preflight(
    Findings(0.02, {"link_1": 0.1, "link_2": 0.3}, (), 0.0),
    "",
    {"svgd_single": Cost(12345, 0.1, 0.4)},
)
PICTURES = (
    "figures/convergence.png",
    "figures/bayessim_densities.png",
    "csvgd_gradient/seed0/density.png",
    "figures/loop_motion.gif",
)


def write_page(files, folder: Path, preflight: Preflight = PREFLIGHT, **changes) -> Path:
    """Write the report of some files (``figures.conftest``), a key of the config at a time."""
    runs = [
        SimpleNamespace(identity=identity, method=identity.method, settings={"a": 1}, chosen="")
        for identity in ESTIMATORS
    ]
    values = {
        "title": "Two <links>",
        "description": "",
        "notes": ("Friction & <wear>.",),
        "simulator": SECTIONS["simulator"],
        "runs": runs,
        "seeds": (0,),
        "reference": None,
        "exchangeable": (),
        "combinations": {},
        "paper_table": True,
    } | changes
    assert {*values, "unit"} == set(Report.model_fields)
    for path in PICTURES:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        plt.imsave(folder / path, np.linspace(0, 1, 1600 * 300).reshape(300, 1600))
    write_preflight(str(folder / "preflight.json"), preflight)
    write_report(
        SimpleNamespace(**values, unit="rad"),
        metrics=files.metrics,
        trajectories=files.trajectories,
        preflight=str(folder / "preflight.json"),
        posteriors=[files.posterior[identity] for identity in (*ESTIMATORS, *VARIANTS)],
        figures=[str(folder / path) for path in PICTURES],
        output=str(folder / "report.html"),
    )
    return folder / "report.html"
