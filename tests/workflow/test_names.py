"""Names and folders that a shell would read as commands: refused, or taken as they are."""

import shutil

import pytest

pytestmark = pytest.mark.slow

TOUCH = "$(touch x)"


@pytest.fixture(autouse=True)
def nothing_executed(project):
    yield
    made = [path for path in project.folder.rglob("x") if "__pycache__" not in path.parts]
    assert made == []


@pytest.mark.parametrize("name", ["a;touch x", TOUCH, "-x", "a b"])
def test_an_experiment_file_without_a_valid_name_is_refused(project, tmp_path, name):
    """A file's name cannot carry a command into a shell."""
    path = tmp_path / f"{name}.yaml"
    shutil.copy(project.folder / "config/experiments/tiny.yaml", path)
    result = project.snakemake("--config", f"experiment={path}", check=False)
    assert result.returncode != 0
    text = result.stdout + result.stderr
    assert "experiment: " in text
    assert "a name holds letters, digits" in text
    assert "Traceback" not in text
    assert "Job stats" not in text


@pytest.mark.parametrize(
    "lines",
    [
        f'groups: {{tiny: [tiny]}}\nbudget: "{TOUCH}"\n',
        f'groups: {{tiny: ["{TOUCH}"]}}\nbudget: quick\n',
        f'groups: {{"{TOUCH}": [tiny]}}\nbudget: quick\n',
        "__use_yte__: true\ngroups: {tiny: [tiny]}\nbudget: quick\n?open('x', 'w'): made\n",
    ],
    ids=["budget", "experiment", "group", "template"],
)
def test_the_workflow_s_config_is_checked_before_it_is_read(project, lines):
    """Snakemake's own templates and names of groups cannot carry a command either."""
    config = project.folder / "config/config.yaml"
    before = config.read_text()
    config.write_text(lines)
    try:
        result = project.snakemake(check=False)
    finally:
        config.write_text(before)
    assert result.returncode != 0
    text = result.stdout + result.stderr
    assert "config/config.yaml: " in text
    assert "a name holds letters, digits" in text or "templates are not run" in text
    assert "Traceback" not in text
    assert "Job stats" not in text


def test_an_experiment_called_like_a_rule_is_refused_by_name(project, tmp_path):
    """An experiment's group and a rule of one name would be taken for each other."""
    shutil.copy(project.folder / "config/experiments/tiny.yaml", tmp_path / "infer.yaml")
    result = project.snakemake("--config", f"experiment={tmp_path}/infer.yaml", check=False)
    assert result.returncode != 0
    assert "infer: this is the name of a rule" in result.stdout + result.stderr


def test_a_budget_on_the_command_line_is_no_command(project):
    """What is overridden on the command line is checked as what stands in a file."""
    result = project.snakemake("tiny", "--config", f"budget={TOUCH}", check=False)
    assert result.returncode != 0
    assert "a name holds letters, digits" in result.stdout + result.stderr


def test_a_folder_of_recordings_is_no_command(project, ibm_dir):
    """A folder may be called so; it is read, and nothing else."""
    settings = project.folder / "config/touching.yaml"
    settings.write_text(
        f'groups: {{real: [ibm_calibrated]}}\nbudget: quick\nibm_dir: "{TOUCH}"\n'
        "results: results/touching\n"
    )
    target = "results/touching/quick/ibm_calibrated/trajectories.nc"
    arguments = (target, "--configfile", "config/touching.yaml")
    result = project.snakemake(*arguments, check=False)
    assert result.returncode != 0
    assert f"{TOUCH}/" in result.stdout + result.stderr
    folder = project.folder / TOUCH
    folder.symlink_to(ibm_dir)
    try:
        project.snakemake(*arguments)
        assert (project.folder / target).exists()
    finally:
        folder.unlink()
        settings.unlink()
