"""The gradient of a Program, as a Program: the chain rule on steps, and what of forward to keep for it.

Backward needs numbers of forward: the input of an activation, the factors of a product. It may read them, if forward
wrote them (two accesses for each number), or compute them again from the inputs, in registers (one read for each
input). Which is cheaper is counted in bytes; min-cut is the general method (PyTorch's partitioner), and graphs as small
as ours are searched.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np

from .graph import LEAVES, Builder, Program, needed, part

MOST_KEPT = 2  # values that forward writes for backward; more were never the cheapest in a chain


@dataclass(frozen=True)
class Backward:
    """program: its leaves are given by `leaves`, numbers of steps of forward, GRAD, or MINUS_ONE.
    kept: steps that forward writes, too. outputs: {leaf of forward: number of the output, or GRAD: what arrives}."""

    program: Program
    leaves: tuple
    kept: tuple
    outputs: dict

    def __hash__(self):
        return hash((self.program, self.leaves))


GRAD, MINUS_ONE = -1, -2


@functools.lru_cache(maxsize=512)
def backward_of(program, wanted=None, kept=None):
    """The Backward of a Program with one output, with respect to its inputs `wanted` (numbers of steps; None: all).

    kept: steps of forward that are kept, instead of those that cost the fewest bytes.
    """
    steps = program.steps
    if len(program.outputs) != 1:
        raise ValueError(f"the program has {len(program.outputs)} outputs; expected one, as gradients are of one.")
    wanted = [k for k, s in enumerate(steps) if s.op == "input"] if wanted is None else sorted(wanted)
    last, form = program.outputs[0]
    build = Builder()
    build.steps += steps  # forward's steps keep their numbers: they are computed again, or given
    build.known = {step: k for k, step in enumerate(steps) if step.op not in LEAVES}
    names = {build.put("input", (), steps[last].dtype, form): GRAD}
    arrived = {last: len(steps)}
    for k in reversed(range(len(steps))):
        if k in arrived and steps[k].op not in LEAVES:
            for i, grad in _rule(build, names, steps, k, arrived[k]):
                if steps[i].op != "number":
                    dtype = steps[i].dtype
                    arrived[i] = build.put("add", (arrived[i], grad), dtype) if i in arrived else grad
    outputs, direct = [], {}
    for k in wanted:
        grad = arrived.get(k)
        if grad is None:
            continue
        if names.get(grad) == GRAD and form == steps[k].form == "full":
            direct[k] = GRAD
        else:
            if (grad, steps[k].form) not in outputs:  # terms of a sum share their gradient
                outputs.append((grad, steps[k].form))
            direct[k] = outputs.index((grad, steps[k].form))
    forward_steps = range(len(steps))
    used = [k for k in needed(build.steps, [k for k, _ in outputs], forward_steps) if k in forward_steps]
    if kept is None:
        kept = _cheapest(steps, used, last if form == "full" else None)
    stop = {*kept, *([last] if form == "full" else [])}
    found, leaves = part(build.steps, outputs, stop)
    leaves = tuple(names.get(k, k) for k in leaves)
    return Backward(found, leaves, tuple(k for k in kept if k in leaves), direct)


def _rule(build, names, steps, k, grad):
    """(input, its gradient) of step k, given that of its result."""
    step = steps[k]
    put = functools.partial(build.put, dtype=step.dtype)
    match step.op:
        case "add":
            return [(i, grad) for i in step.inputs]
        case "sub":
            minus = build.put("number", (), step.dtype)
            names[minus] = MINUS_ONE
            return [(step.inputs[0], grad), (step.inputs[1], put("mul", (grad, minus)))]
        case "mul":
            a, b = step.inputs
            return [(a, put("mul", (grad, b))), (b, put("mul", (grad, a)))]
        case "dropout":
            return [(step.inputs[0], put("dropout", (grad, *step.inputs[1:])))]
        case "cast":
            source = step.inputs[0]
            return [(source, build.put("cast", (grad,), steps[source].dtype))]
        case "relu":  # the result is positive where its input is, and is kept anyway
            return [(step.inputs[0], put("relu_backward", (grad, k, step.inputs[1])))]
        case activation:
            return [(step.inputs[0], put(f"{activation}_backward", (grad, *step.inputs)))]


def _cheapest(steps, used, last):
    """The steps of forward to keep, so that `used` can be had with the fewest bytes. The result `last` is there."""
    candidates = [k for k in needed(steps, used) if steps[k].op not in LEAVES and k != last]
    return min(
        (keep for count in range(MOST_KEPT + 1) for keep in itertools.combinations(candidates, count)),
        key=lambda keep: (_cost(steps, used, keep, last), len(keep)),
    )


def _cost(steps, used, keep, last):
    """Bytes for each element."""
    size = [np.dtype(step.dtype).itemsize for step in steps]
    read = needed(steps, used, {*keep, last})
    full = [k for k in read if steps[k].op == "input" and steps[k].form == "full"]
    inputs = sum(size[k] for k in full) + (size[last] if last in read else 0)
    return inputs + 2 * sum(size[k] for k in keep)
