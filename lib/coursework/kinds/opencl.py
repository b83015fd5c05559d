"""A kernel in OpenCL C: a text, read by ``opencl.read`` and run in the executor, as a CUDA kernel is. No OpenCL is
needed.

A task is as a KernelTask: a case's `grid` are work-groups, its `block` the work-items of one. `kernel` is the name that
the text must give it. The answer is a text; the cell shows the kernel's first lines:

    add = r\"\"\"
    __kernel void add(__global const float *a, __global const float *b, __global float *out, int n)
    {
        // YOUR CODE HERE
    }
    \"\"\"

`check("16-add", add)`. Messages speak OpenCL's words, with the lines of the text.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from ..answer import AnswerFailed
from ..definition import Task
from ..outcome import UNSOLVED, Failed, Failure
from .kernel import KernelTask

BLANK = "YOUR CODE HERE"
_RAW = ("at", "at the line")  # facts that are code


class _Text:
    """An answer that is a text, with what KernelTask asks of a kernel."""

    def __init__(self, answer, kernel):
        self._answer, self._kernel, self.claims = answer, kernel, answer.claims

    def xray(self, grid, block, arguments, require=None):
        return self._answer.opencl(self._kernel, grid, block, arguments, require)


@dataclass(frozen=True, kw_only=True)
class OpenCLTask(KernelTask):
    """`kernel`: its name in the text."""

    on_device: ClassVar[bool] = False
    is_text: ClassVar[bool] = True
    causes: ClassVar[dict] = Task.causes | {
        "ReadError": "The line is as you wrote it. What stands there that OpenCL C does not have, or that this "
        "course's reader does not take?",
        "TypeError": 'The answer is text: source = r"""...""".',
    }

    kernel: str

    def examine(self, answer, cases, seed):
        self._begun(answer)
        try:
            said, note, drawn = super().examine(_Text(answer, self.kernel), cases, seed)
        except Failed as failed:
            raise Failed(_reworded(failed.failure), failed.status) from None
        return said, note, _told(drawn)

    def overspent(self, answer, case, arguments):
        try:
            over, picture = super().overspent(_Text(answer, self.kernel), case, arguments)
        except Failed as failed:
            raise Failed(_reworded(failed.failure), failed.status) from None
        return over, _told(picture)

    def look(self, answer):
        what, drawn, found = super().look(_Text(answer, self.kernel))
        return _words(what), drawn, [_words(line) for line in found]

    def _begun(self, answer):
        """Raises Failed where the text is as it was handed out."""
        try:
            text = answer.value()
        except AnswerFailed:
            return  # which the run says
        if text is ... or (isinstance(text, str) and BLANK in text):
            raise Failed(Failure("blank", self.not_begun), UNSOLVED)

    def owner(self, case, index, shape):
        return _words(super().owner(case, index, shape))


def _words(text):
    from opencl.read.words import words

    return words(text)


def _reworded(failure):
    facts = tuple((label, text if label in _RAW else _words(text)) for label, text in failure.facts)
    told = {"headline": _words(failure.headline), "facts": facts, "cause": _words(failure.cause)}
    return replace(failure, **told, picture=_told(failure.picture))


def _told(picture):
    """A picture whose text, for those who do not see it, has OpenCL's words."""
    return picture | ({"alt": _words(picture["alt"])} if "alt" in picture else {})
