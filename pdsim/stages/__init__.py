"""One file per stage of the pipeline: what a workflow rule runs, and a person can run.

A stage reads files, calls the rooms and writes a file. It is a function of its slice of the config
(``pdsim.experiment.slices``), named input files and one output; no stage imports another.
"""

from pdsim import registry


def modules(
    stage: str,
    *,
    system: str = "",
    method: str = "",
    source: str = "",
    figure: str = "",
    earlier: bool = False,
) -> tuple[str, ...]:
    """Return the modules whose import closure decides a stage's result.

    What the config chooses by name is loaded by name, which an import closure cannot follow.
    Nothing is imported here: the workflow asks this for every job.

    Args:
        earlier: whether the job is given the posterior of an earlier experiment.
    """
    roots = [f"pdsim.stages.{stage}"]
    if earlier:
        roots.append("pdsim.earlier")
    chosen = {"systems": system, "inference": method, "recordings": source, "figures": figure}
    roots += [registry.module_name(room, name) for room, name in chosen.items() if name]
    scored = {
        "evaluate": registry.NAMES["metrics"],
        "learning_curve": registry.LEARNING_CURVE_METRICS,
        "table": registry.NAMES["metrics"],
        "report": registry.NAMES["metrics"],
    }
    roots += [registry.module_name("metrics", name) for name in scored.get(stage, ())]
    if stage == "report":
        # Their captions.
        roots += [registry.module_name("figures", name) for name in registry.NAMES["figures"]]
    return tuple(roots)
