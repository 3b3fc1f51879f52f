"""One file per stage of the pipeline: what a workflow rule runs, and a person can run.

``modules`` names the code each stage rests on, for the reruns of the workflow.
"""


def modules(stage: str, *, system: str = "", method: str = "") -> tuple[str, ...]:
    """Return the modules whose import closure decides a stage's result.

    Systems and estimators are loaded by name, which an import closure cannot follow.
    """
    from pdsim import inference, systems

    roots = [f"pdsim.stages.{stage}"]
    if system:
        roots.append(systems.MODULES[system])
    if method:
        roots.append(inference.MODULES[method])
    return tuple(roots)
