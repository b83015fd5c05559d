"""The answers of the master notebooks, as their checks get them."""

import functools
import itertools
import re
from pathlib import Path

import numpy as np

from coursework import build, definition
from coursework.answer import Local
from coursework.grading import servant
from coursework.kinds.function import FunctionTask
from coursework.kinds.scenario import ScenarioTask

ROOT = Path(__file__).resolve().parents[1]


@functools.cache
def cells(chapter):
    """{id: source} of the cells of a chapter's master."""
    (path,) = (path for path in build.masters(ROOT) if path.name.startswith(f"{chapter}_"))
    return {cell.id: cell.source for cell in build.read(path).cells}


def specification(task_id, name=r"out\w*"):
    """The code of a statement that says what is computed: the listing that stores into the output."""
    statement = cells(task_id.split("-")[0])[f"{task_id}-task"]
    blocks = re.findall(r"^```python\n(.*?)^```$", statement, re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if re.search(rf"{name}\[", block))
    return found


def cases_of(task):
    """(arguments, name) of the cases that are told, and of those that are kept back."""
    for number, case in enumerate((*task.cases, *definition.hidden_cases(task))):
        yield case.make(np.random.default_rng(number)), case.name


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
