"""One file per stage of the pipeline: what a workflow rule runs, and a person can run.

``modules`` names the code each stage rests on, for the reruns of the workflow.
"""


def modules(stage: str, *, system: str = "", method: str = "") -> tuple[str, ...]:
    """Return the modules whose import closure decides a stage's result.

    Systems and estimators are loaded by name, which an import closure cannot follow; a name is
    that of its module. Nothing is imported here: the workflow asks this for every job.
    """
    roots = [f"pdsim.stages.{stage}"]
    if system:
        roots.append(f"pdsim.systems.{system}")
    if method:
        roots.append(f"pdsim.inference.{method}")
    return tuple(roots)
