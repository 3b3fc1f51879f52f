import textwrap

import pytest

from pdsim import registry
from pdsim.runtime import provenance
from pdsim.runtime.provenance import code_fingerprint, fingerprint, import_closure
from pdsim.stages import modules


def test_closures_follow_the_layers():
    infer = import_closure(*modules("infer", system="double_pendulum", method="csvgd"))
    assert "pdsim.inference.stein" in infer  # csvgd is built on it
    assert "pdsim.systems.double_pendulum" in infer
    assert "pdsim.xla.sincos" in infer
    assert not any(name.startswith(("pdsim.figures", "pdsim.metrics")) for name in infer)
    svgd = import_closure(*modules("infer", system="double_pendulum", method="svgd"))
    assert "pdsim.inference.csvgd" not in svgd
    assert any(name.startswith("pdsim.figures") for name in import_closure(*modules("plot")))


def test_a_figure_depends_on_its_own_module_and_no_other_figure_s():
    density = import_closure(*modules("plot", figure="density"))
    assert "pdsim.figures.density" in density
    others = {f"pdsim.figures.{name}" for name in registry.NAMES["figures"]} - {
        "pdsim.figures.density"
    }
    assert others.isdisjoint(density)
    # The figure that shows many of them is built on it.
    assert "pdsim.figures.density" in import_closure(*modules("plot", figure="densities"))


def test_names_and_configs_are_in_no_closure():
    for stage in ("infer", "preprocess", "evaluate", "plot", "report"):
        closure = import_closure(*modules(stage, system="oscillator"))
        for left_out in provenance.LEFT_OUT:
            assert not any(m == left_out or m.startswith(f"{left_out}.") for m in closure)


def test_scores_depend_on_every_metric_and_a_source_s_code_on_its_reading():
    evaluate = import_closure(*modules("evaluate"))
    assert all(f"pdsim.metrics.{name}" in evaluate for name in registry.NAMES["metrics"])
    read = import_closure(*modules("preprocess", source="camera"))
    assert "pdsim.recordings.camera" in read
    assert "pdsim.recordings.ibm" not in read
    assert "pdsim.recordings.table" not in read


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in which b uses a, and c uses neither."""

    def write(name, text):
        path = tmp_path.joinpath(*name.split("/"))
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
        provenance._digest_and_imports.cache_clear()

    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    write("__init__.py", "")
    write("sub/__init__.py", "")
    write("sub/a.py", '"""Doc."""\ndef f(x):\n    "what f does"\n    return x  # plain\n')
    write("b.py", "from pdsim.sub.a import f\n")
    write("c.py", "import json\n")
    yield write
    provenance._digest_and_imports.cache_clear()


def test_comments_docstrings_and_layout_change_nothing(package):
    before = code_fingerprint("pdsim.b")
    package(
        "sub/a.py", '"""Another."""\n\ndef f( x ):\n    """Much\n    longer."""\n    return x\n'
    )
    assert code_fingerprint("pdsim.b") == before


def test_an_edit_changes_those_who_use_it(package):
    before = {name: code_fingerprint(f"pdsim.{name}") for name in "bc"}
    package("sub/a.py", "def f(x):\n    return x + 1\n")
    assert code_fingerprint("pdsim.b") != before["b"]
    assert code_fingerprint("pdsim.c") == before["c"]


def test_a_new_file_that_is_not_imported_changes_nothing(package):
    before = code_fingerprint("pdsim.b")
    package("d.py", "x = 1\n")
    assert code_fingerprint("pdsim.b") == before


def test_fingerprints_tell_parts_apart():
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint(b"x") != fingerprint("x")
