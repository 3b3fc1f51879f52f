"""The tables of the README and of docs/: made of their files, and nothing typed."""

import re

import pytest

from pdsim.cli.main import main
from pdsim.report import documents
from pdsim.report.documents import TABLES, DocumentTable, build, collect, fill, render
from pdsim.runtime.errors import PdsimError
from pdsim.tables.layout import Cell, Column, Row, Table

RESULTS = """\
run,energy_score,energy_score lowest,energy_score highest,mmd,mmd lowest,mmd highest,r_hat
"SVGD, single shooting",0.25,0.2,0.3,-0.05,-0.06,-0.05,
"NUTS, single shooting",0.75,0.7,0.8,0.1,0.1,0.1,1.2
"NUTS, single shooting, published",1,,,2,,,
"""
MARKED = "# A\n\n<!-- table: it -->\nold\n<!-- end of table -->\n\nend\n"


@pytest.fixture
def checkout(tmp_path):
    """A checkout with one document and one table."""
    folder = (tmp_path / TABLES).parent
    folder.mkdir(parents=True)
    (folder / "one.csv").write_text(RESULTS)
    (tmp_path / TABLES).write_text(
        "tables: [{document: A.md, name: it, parts: [{csv: one.csv, "
        "columns: {energy_score: score, mmd: MMD}}]}]\n"
    )
    (tmp_path / "A.md").write_text(MARKED)
    return tmp_path


def entry(**changes):
    parts = [{"csv": "one.csv", "columns": {"energy_score": "score"}}]
    return DocumentTable.model_validate(
        {"document": "A.md", "name": "it", "parts": parts} | changes
    )


def test_the_documents_have_the_tables_that_their_files_give(root):
    """Run `pdsim document` after a change of docs/results."""
    made = render(root)
    assert root / "README.md" in made
    for path, text in made.items():
        assert path.read_text() == text, path


def test_every_mark_has_a_table_and_every_file_is_used(root):
    known = documents.read_documents(root)
    texts = {path: path.read_text() for path in (root / "README.md", *(root / "docs").glob("*.md"))}
    marks = [
        (path.relative_to(root).as_posix(), name)
        for path, text in texts.items()
        for name in re.findall("<!-- table: (.*) -->", text)
    ]
    assert sorted(marks) == sorted((table.document, table.name) for table in known.tables)
    used = {part.csv for table in known.tables for part in table.parts}
    used |= {
        name for text in texts.values() for name in re.findall(r"\(results/(.*?\.csv)\)", text)
    }
    assert used == {path.name for path in (root / TABLES).parent.glob("*.csv")}


def test_the_readme_has_no_number_of_a_result_outside_its_tables(root):
    text = (root / "README.md").read_text()
    text = re.sub(r"(?s)<!-- table: .*?<!-- end of table -->|```.*?```|\]\(.*?\)", "", text)
    assert re.findall(r"[-−]?\d+\.\d+", text) == ["3.11"]
    assert not re.findall(r"\d+ (?:s|min|minutes|mm|rad|m)\b", text)


def test_a_table_is_put_between_its_marks(checkout):
    assert main(["document", "--root", str(checkout)]) == 0
    text = (checkout / "A.md").read_text()
    assert text.splitlines()[2:8] == [
        "<!-- table: it -->",
        "| run | score | MMD |",
        "| --- | ---: | ---: |",
        "| SVGD, single shooting | **0.25 ± 0.05** | -0.05 ± 0.005 |",
        "| NUTS, single shooting (not mixed) | 0.75 ± 0.05 | 0.1 |",
        "<!-- end of table -->",
    ]
    assert text.endswith("\n\nend\n")


def test_results_are_copied_where_there_are_some(checkout, tmp_path):
    written = tmp_path / "results/one/tables/comparison.csv"
    assert collect(checkout, tmp_path / "results") == []
    written.parent.mkdir(parents=True)
    cells = {"energy_score": Cell.of([1.0, 3.0]), "mmd": Cell.of([0.5])}
    Table([Column(key, key) for key in cells], [Row("a", cells)], "run").write(
        written.with_suffix("")
    )
    assert collect(checkout, tmp_path / "results") == ["one.csv"]
    (text,) = render(checkout).values()
    assert "| a | 2 ± 1 | 0.5 |" in text


def test_results_of_another_kind_are_not_copied(checkout, tmp_path, caplog):
    """A study may bear an experiment's name: its file is not overwritten by the comparison."""
    written = tmp_path / "results/one/tables/comparison.csv"
    written.parent.mkdir(parents=True)
    Table([Column("rmse", "rmse")], [Row("a", {"rmse": Cell.of([1.0])})], "run").write(
        written.with_suffix("")
    )
    before = ((checkout / TABLES).parent / "one.csv").read_text()
    assert collect(checkout, tmp_path / "results") == []
    assert "comparison.csv: has no column energy_score; one.csv stays as it is" in caplog.text
    assert ((checkout / TABLES).parent / "one.csv").read_text() == before


def test_rows_and_files_stand_side_by_side(checkout):
    folder = (checkout / TABLES).parent
    (folder / "two.csv").write_text('run,crps\n"SVGD, single shooting",0.123456\n')
    table = build(
        entry(
            rows={"NUTS, single shooting": "nuts", "SVGD, single shooting": "svgd"},
            parts=[
                {"csv": "one.csv", "columns": {"energy_score": "score"}},
                {"csv": "two.csv", "columns": {"crps": "CRPS"}},
            ],
        ),
        folder,
    )
    assert table.markdown().splitlines()[2:] == [
        "| nuts (not mixed) | 0.75 ± 0.05 |  |",
        "| svgd | **0.25 ± 0.05** | 0.123 |",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rows": {"nobody": "x"}}, ["no file has a row", "nobody"]),
        ({"parts": [{"csv": "one.csv", "columns": {"crps": "x"}}]}, ["no column 'crps'", "mmd"]),
        ({"parts": [{"csv": "none.csv", "columns": {"a": "x"}}]}, ["none.csv"]),
    ],
)
def test_what_is_missing_is_named(checkout, changes, words):
    with pytest.raises(PdsimError) as error:
        build(entry(**changes), (checkout / TABLES).parent)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("text", ["none", MARKED + MARKED])
def test_marks_stand_once(text):
    with pytest.raises(PdsimError, match="needs once"):
        fill(text, "it", "", "A.md")
