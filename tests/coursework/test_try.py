"""The first minutes: exercises/try.ipynb as a reader runs it, and what its check says of what they may write."""

import copy
import re

import pytest
from nbclient import NotebookClient

from coursework import build, first
from coursework.notebook import CheckFailed

ROOT = build.Path(__file__).parents[2]
TRY = ROOT / build.FIRST
LOAD, BARRIER = "    right = a[i + 1]\n", "    cuda.syncthreads()\n"


def said(cell):
    """The words of a cell's outputs, without those of a traceback."""
    shown = [o.get("data", {}).get("text/plain", o.get("text", "")) for o in cell.outputs]
    return re.sub(r"\s+", " ", " ".join(map(str, shown)))


def test_from_the_first_cell_to_a_mended_race():
    """All cells run as they are handed out, the check is red; with what the texts tell to write, the picture changes
    and it is green."""
    notebook = build.read(TRY)
    cells = {cell.id: cell for cell in notebook.cells}
    changed, mended = copy.deepcopy(cells["try-kernel"]), copy.deepcopy(cells["try-race"])
    assert "`x[8 * i]` in the place of `x[i]`" in cells["try-change"].source
    changed.source, mended.source = (
        changed.source.replace("= x[i]", "= x[8 * i]"),
        mended.source.replace(LOAD, LOAD + BARRIER),
    )
    again = copy.deepcopy(cells["try-check"])
    for n, cell in enumerate((changed, mended, again)):
        cell.id = f"again-{n}"
        notebook.cells.append(cell)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(TRY.parent)}}).execute()
    assert "1024" not in said(cells["try-kernel"])
    assert "4 sectors" in said(cells["try-kernel"])
    assert "32 sectors" in said(changed)
    assert said(cells["try-race"]) == "right: True "
    assert "[race]" in said(cells["try-xray"])
    assert "cuda.syncthreads()" in said(cells["try-xray"])
    assert "race" in said(cells["try-check"])
    assert "result right" in said(again)
    assert [o for o in again.outputs if o.output_type == "error"] == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{load}{store}", "race"),
        ("{barrier}{load}{store}", "race"),
        ("{load}{store}{barrier}", "race"),
        ("{load}    if i < 40:\n    {barrier}{store}", "barrier"),
        ("{load}{barrier}    a[i] = a[i] - right\n", "first wrong"),
        ("{load}{barrier}", "first wrong"),
    ],
)
def test_what_does_not_mend_it_is_told(body, message, tmp_path, capsys):
    head = "from dlkernels import cuda\n\n\n@cuda.jit\ndef steps(a):\n    i = cuda.grid(1)\n"
    path = tmp_path / "steps.py"
    path.write_text(head + body.format(load=LOAD, barrier=BARRIER, store="    a[i] = right - a[i]\n"))
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises(CheckFailed):
        first.check(namespace["steps"])
    assert message in capsys.readouterr().out
