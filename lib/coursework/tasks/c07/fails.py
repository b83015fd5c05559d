"""07-fails: Find inputs on which four kernels fail."""

import math
from dataclasses import replace

from dlkernels import cuda

from ...definition import Case, Section, unwritten
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Numbers, Whole
from .add import ADD
from .shared import add_arguments, silu


# The statement shows the kernels `first` to `fourth`; a test compares.
@cuda.jit
def first(a, b, out):
    i = cuda.grid(1)
    if cuda.blockIdx.x < cuda.gridDim.x - 1 or i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def second(a, b, out):
    i = cuda.grid(1)
    if cuda.threadIdx.x < out.size - 128 * cuda.blockIdx.x:
        out[i] = a[i] + b[i]


@cuda.jit
def third(a, b, out):
    for i in range(cuda.threadIdx.x, out.size, cuda.blockDim.x):
        out[i] = a[i] + b[i]


@cuda.jit
def fourth(x, out):
    i = cuda.grid(1)
    if i < out.size:
        e = math.exp(x[i])
        out[i] = x[i] * e / (1 + e)


@cuda.jit
def _guarded(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def _silu(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] / (1 + math.exp(-x[i]))


SILU = replace(ADD, id="07-silu", spec=lambda x, out: silu(x), rtol=2e-5, cases=(), suspects=())


def a_launch(n, blocks, threads):
    """The case of an add that a student chose."""
    said = f"{blocks} block{'s' if blocks > 1 else ''} of {threads}"
    return Case(f"n = {n} in {said}", add_arguments(n), grid=blocks, block=threads)


def a_list(x):
    """The case of a SiLU of numbers that a student chose."""
    words = ", ".join(f"{v:g}" for v in x[:4]) + (", ..." if len(x) > 4 else "")
    return Case(f"x = [{words}] in 1 block of 64", lambda rng: (x, unwritten(len(x))), grid=1, block=64)


LAUNCHES = {
    "judge": replace(ADD, id="07-sum", cases=()),
    "right": _guarded,
    "fields": {"n": Whole(1, 2048), "blocks": Whole(1, 16), "threads": Whole(1, 256)},
    "case": a_launch,
    "rules": ((lambda n, blocks, threads: blocks * threads >= n, "a thread for each element: blocks * threads >= n"),),
}

FAILS = CounterexampleTask(
    id="07-fails",
    section=Section("7", "07_vector_add", "The same job on a GPU"),
    title="Find inputs on which four kernels fail",
    objective="Find a launch or an input that shows what is wrong with a kernel",
    points=4,
    minutes=15,
    flaws=(
        Flaw(
            name="first",
            wrong=first,
            lead="Every block but the last works without a guard. When has a thread of such a block no element?",
            **LAUNCHES,
        ),
        Flaw(
            name="second",
            wrong=second,
            lead=(
                "What is 128 meant to be? Choose a launch in which it is something else, and work out for the first "
                "and the last thread of each block whether the guard lets it through, and whether it should."
            ),
            **LAUNCHES,
        ),
        Flaw(
            name="third",
            wrong=third,
            lead="The numbers are right, and always will be. Which thread stores out[0]? Is it the only one?",
            **LAUNCHES,
        ),
        Flaw(
            name="fourth",
            judge=SILU,
            wrong=fourth,
            right=_silu,
            fields={"x": Numbers(1, 64, -1000, 1000)},
            case=a_list,
            lead="The largest float32 is about 3.4e38. Which value on the way becomes larger than that, and from which "
            "x on?",
        ),
    ),
    hints=(
        "Take the condition of each kernel, and write down when it should be true. For which thread do the two differ?",
        "first: more threads than one block needs. second: no block of 128. third: the x-ray looks at who stores, not "
        "only at what. fourth: a size does not matter, a value does.",
        "first: let a block that is not the last one have nothing to do. second: two blocks or more, of 64 threads "
        "say, and go through block 2 by hand. third: what do two blocks do? fourth: try math.exp on numbers that grow, "
        "in float32.",
    ),
)
