"""A check judges what its cell makes now, not what a run of it has left behind."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from coursework import notebook

ANSWER = """from dlkernels import cuda
@cuda.jit
def adds(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (a[i] if i < a.size else 0) + (b[i] if i < b.size else 0)
"""


@pytest.fixture
def cells(tmp_path, monkeypatch, capsys):
    """run(cell, source) -> what was said; a notebook after its first cell."""
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(notebook, "_WATCHES", {})
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(colors="nocolor")

    def run(cell, source):
        shell.run_cell(source, cell_id=cell)
        return capsys.readouterr().out

    run("begin", 'from coursework.notebook import begin, budget, check\nbegin("07")')
    yield run
    InteractiveShell.clear_instance()


def test_a_cell_that_fails_or_lost_its_name_is_not_judged_by_what_it_made_before(cells):
    source = ANSWER
    cells("answer", source)
    assert "07-add: result right" in cells("check", 'check("07-add", adds)')
    cells("answer", source.replace("out):", "out)"))
    said = cells("check", 'check("07-add", adds)')
    assert "the last run of the cell that made adds ended with SyntaxError: expected ':' (line 3)" in said
    assert "right" not in said
    cells("answer", source.replace("adds", "add_all"))
    assert "no longer makes adds" in cells("check", 'check("07-add", adds)')
    assert "not checked" not in cells("check", 'check("07-add", add_all)')
    cells("answer", source)
    assert "not checked" not in cells("check", 'check("07-add", adds)')
    cells("answer", "1 / 0\n" + source)
    assert "ended with ZeroDivisionError: division by zero" in cells("check", 'check("07-add", adds)')


def test_what_a_cell_made_before_it_failed_is_new(cells):
    cells("answer", ANSWER)
    cells("answer", ANSWER + "\n1 / 0")
    assert "not checked" not in cells("check", 'check("07-add", adds)')


@pytest.mark.parametrize("again", ["%%time\n{}", "if True:\n  N = 3\n{}", "N = 3\n{}"])
def test_magics_branches_and_equal_constants_are_no_loss(cells, again):
    source = again.format(ANSWER)
    for _ in range(2):
        cells("answer", source)
        assert "not checked" not in cells("check", 'check("07-add", adds)')


def test_a_name_belongs_to_the_cell_that_made_it_last(cells):
    source = ANSWER
    cells("first", source)
    cells("mine", source)
    cells("first", "syntax error here")
    assert "not checked" not in cells("check", 'check("07-add", adds)')
