"""`pdsim document` writes below its root alone, and refuses tables that say two things."""

import pytest
import yaml

from pdsim.cli.main import main

MARKS = "before\n<!-- table: t -->\n<!-- end of table -->\nafter\n"
TABLE = {
    "document": "README.md",
    "name": "t",
    "parts": [{"csv": "a.csv", "columns": {"rmse": "R"}}],
}
ROWS = "run,rmse,rmse lowest,rmse highest\nSVGD,0.1,,\nCSVGD,0.2,,\n"


@pytest.fixture
def checkout(tmp_path):
    root = tmp_path / "checkout"
    (root / "docs/results").mkdir(parents=True)
    for folder in (root, tmp_path):
        (folder / "README.md").write_text(MARKS)
        (folder / "docs").mkdir(exist_ok=True)
        (folder / "docs/a.csv").write_text(ROWS)
    (root / "docs/results/a.csv").write_text(ROWS)
    (root / "out.md").symlink_to(tmp_path / "README.md")
    (root / "out").symlink_to(tmp_path)
    return root


def document(root, *tables):
    (root / "docs/results/tables.yaml").write_text(yaml.safe_dump({"tables": list(tables)}))
    return main(["document", "--root", str(root)])


def test_a_table_is_written_between_its_marks(checkout):
    assert document(checkout, TABLE) == 0
    assert "0.1" in (checkout / "README.md").read_text()
    # A way back into the folder leads nowhere else.
    assert document(checkout, TABLE | {"document": "docs/../README.md"}) == 0


@pytest.mark.parametrize(
    "name", ["../README.md", "/etc/hosts", "out.md", "out/README.md", "docs/../.."]
)
def test_a_document_outside_the_root_is_refused(checkout, capsys, name):
    before = (checkout.parent / "README.md").read_text()
    assert document(checkout, TABLE, TABLE | {"document": name, "name": "u"}) == 2
    error = capsys.readouterr().err
    assert f"tables.yaml: tables.1.document: {name!r} is outside {checkout}" in error
    assert (checkout.parent / "README.md").read_text() == before
    assert (checkout / "README.md").read_text() == MARKS


@pytest.mark.parametrize("name", ["../../../docs/a.csv", "../a.csv", "/etc/hosts", "link.csv"])
def test_a_file_outside_the_folder_of_results_is_refused(checkout, capsys, name):
    (checkout / "docs/results/link.csv").symlink_to(checkout.parent / "docs/a.csv")
    parts = [*TABLE["parts"], {"csv": name, "columns": {"rmse": "R"}}]
    assert document(checkout, TABLE | {"parts": parts}) == 2
    assert f"tables.yaml: tables.0.parts.1.csv: {name!r} is outside" in capsys.readouterr().err
    assert (checkout / "README.md").read_text() == MARKS


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ROWS + "SVGD,0.3,,\n", "a.csv: the row label 'SVGD' is there twice"),
        ("run,rmse,rmse\nSVGD,0.1,0.2\n", "a.csv: the column 'rmse' is there twice"),
        ("", "a.csv: not a table of results"),
        ("run,words\nSVGD,good\n", "a.csv: no column 'rmse'"),
    ],
)
def test_a_file_that_says_two_things_or_nothing_is_refused(checkout, capsys, text, told):
    (checkout / "docs/results/a.csv").write_text(text)
    assert document(checkout, TABLE) == 2
    assert told in capsys.readouterr().err


def test_two_tables_of_one_name_are_refused(checkout, capsys):
    assert document(checkout, TABLE, TABLE) == 2
    assert "tables.1.name: 't' is the name of tables.0" in capsys.readouterr().err
