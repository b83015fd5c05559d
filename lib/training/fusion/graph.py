"""A group of element-wise operations as data: what it reads, computes and writes.

A Program has steps in an order in which each comes after its inputs. All that steps compute has one shape, seen as a
matrix of `rows` x `columns` (the last dimension). An input is "full", a "row" (a bias: one number for each column) or a
"column" (one for each row); an output may be summed up to such a row or column.
"""

from dataclasses import dataclass, replace

import numpy as np

FORMS = ("full", "row", "column")
LEAVES = ("input", "number")


@dataclass(frozen=True)
class Step:
    """op: "input", "number", or an operation (generate.EXPRESSIONS) of the steps with the numbers `inputs`."""

    op: str
    inputs: tuple = ()
    dtype: str = "float32"
    form: str = "full"


@dataclass(frozen=True)
class Program:
    """steps, and outputs: (number of a step, "full", or "row" or "column" where it is summed up to that)."""

    steps: tuple
    outputs: tuple

    @property
    def operations(self):
        return [step for step in self.steps if step.op not in LEAVES]

    @property
    def broadcasts(self):
        """Whether anything in it is a row or a column: else the shape does not matter."""
        return any(s.op == "input" and s.form != "full" for s in self.steps) or any(
            f != "full" for _, f in self.outputs
        )

    def bytes(self, rows, columns):
        """What it has to move: each input read once, each output written once."""
        size = {"full": rows * columns, "row": columns, "column": rows}
        read = [(s.form, s.dtype) for s in self.steps if s.op == "input"]
        written = [(form, self.steps[k].dtype) for k, form in self.outputs]
        return sum(size[form] * np.dtype(dtype).itemsize for form, dtype in read + written)

    def __str__(self):
        lines = []
        for k, step in enumerate(self.steps):
            of = f" {step.form}" if step.op == "input" else "".join(f" v{i}" for i in step.inputs)
            lines.append(f"v{k} = {step.op}{of}  ({step.dtype})")
        return "\n".join([*lines, "result: " + ", ".join(f"v{k} {form}" for k, form in self.outputs)])


class Builder:
    """Steps, one after the other; the same step is there once."""

    def __init__(self):
        self.steps, self.known = [], {}

    def put(self, op, inputs=(), dtype="float32", form="full"):
        """The step's number."""
        step = Step(op, tuple(inputs), dtype, form)
        if op in LEAVES:  # two inputs of one kind are not the same input
            self.steps.append(step)
            return len(self.steps) - 1
        if step not in self.known:
            self.steps.append(step)
            self.known[step] = len(self.steps) - 1
        return self.known[step]


def needed(steps, wanted, stop=()):
    """The steps that the wanted ones are computed from, in order; those in `stop` count as given."""
    found, todo = set(), list(wanted)
    while todo:
        k = todo.pop()
        if k not in found:
            found.add(k)
            todo += () if k in stop else steps[k].inputs
    return sorted(found)


def part(steps, outputs, stop=()):
    """(Program, the number in `steps` of each of its leaves): what computes `outputs`, with `stop` for inputs."""
    chosen = needed(steps, [k for k, _ in outputs], stop)
    number = {k: n for n, k in enumerate(chosen)}
    taken = [
        Step("input", (), steps[k].dtype)
        if k in stop and steps[k].op not in LEAVES
        else replace(steps[k], inputs=tuple(number[i] for i in steps[k].inputs))
        for k in chosen
    ]
    leaves = [k for k, step in zip(chosen, taken, strict=True) if step.op in LEAVES]
    return Program(tuple(taken), tuple((number[k], form) for k, form in outputs)), leaves


def alone(program):
    """Its operations one by one, as Programs: what is run, and moved, without fusion. Sums are passes of their own."""
    every = set(range(len(program.steps)))
    found = [
        part(program.steps, [(k, "full")], every - {k})[0]
        for k, step in enumerate(program.steps)
        if step.op not in LEAVES
    ]
    return found + [part(program.steps, [(k, form)], every)[0] for k, form in program.outputs if form != "full"]
