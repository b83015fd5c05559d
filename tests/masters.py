"""The answers of the master notebooks, as their checks get them."""

import itertools
from pathlib import Path

from coursework import build, definition
from coursework.answer import Local
from coursework.grading import servant
from coursework.kinds.function import FunctionTask
from coursework.kinds.scenario import ScenarioTask

ROOT = Path(__file__).resolve().parents[1]


def answer(task):
    """What a task's check cell hands over (for a prediction: its numbers), with nothing compiled yet."""
    path = next(p for p in build.masters(ROOT) if p.name.startswith(f"{task.chapter}_"))
    cells = [cell for cell in build.read(path).cells if cell.cell_type == "code"]
    function = next(name for name, part in definition.PARTS.items() if part == task.part)
    (last,) = (i for i, cell in enumerate(cells) if definition.graded_call(cell.source) == (function, task.id))
    own = [cell.source for cell in _of(task, cells[:last]) if build.is_answer(cell)]
    namespace, asked = servant.define(own, isinstance(task, ScenarioTask | FunctionTask)), []
    if isinstance(task, FunctionTask):  # it runs in the notebook, beside what its cells are given
        for cell in itertools.takewhile(lambda cell: not build.is_answer(cell), _of(task, cells)):
            exec(cell.source, given := {})
            namespace |= {name: value for name, value in given.items() if name not in namespace}
    namespace[function] = lambda _, *given, hidden=False, **said: asked.append((given, said))
    exec(build.remove_region(cells[last].source, build.HIDDEN), namespace)
    ((given, said),) = asked
    return Local(*given, claims=said) if given else said


def _of(task, cells):
    return [cell for cell in cells if cell.id.startswith(task.id)]
