"""14-budget: 512 GPUs for three networks."""

import math

import numpy as np

from ...checking import short
from ...definition import Budget, Case, Section, Slip
from ...golf import Golf
from ...kinds.function import FunctionTask
from .shared import THOUSANDS

GPUS, CARD = 512, "h100"
JOBS = {  # model of the simulator, sequences in a step, steps
    "large": ("gpt-175b", 1024, 1000),
    "middle": ("llama3-70b", 512, 1000),
    "small": ("llama3-8b", 512, 2000),
}
NAMES = "tensor", "pipeline", "data", "context", "zero", "microbatch", "interleave", "recompute"
WAYS = "none", "selective", "full"  # to recompute


def seconds(job, grid):
    """How long a job takes with a grid, a dict; simulate.Impossible where it cannot be."""
    from workers import simulate  # loaded with the first answer: no other check needs it

    model, batch, steps = JOBS[job]
    machines = simulate.cluster(CARD, gpus_of(grid))
    return (
        steps
        * simulate.step(
            simulate.models[model],
            simulate.Grid(**{name: int(n) if _whole(n) else n for name, n in grid.items()}),
            machines,
            batch=batch,
        ).time
    )


def gpus_of(grid):
    return math.prod(int(grid.get(name, 1)) for name in NAMES[:4])


def end_of(arguments, result):
    """Seconds until the last job has ended, rounded up."""
    return math.ceil(max(seconds(job, result[job]) for job in JOBS))


def _whole(n):
    return isinstance(n, int | np.integer) and not isinstance(n, bool)


def judge_budget(arguments, result):
    from workers import simulate

    (gpus,) = arguments
    expected = f"a grid for each of {', '.join(JOBS)}, with {gpus} GPUs at most in all"
    if not isinstance(result, dict) or set(result) != set(JOBS):
        return Slip("type", expected, "Return a dict with these three names; each has a grid, a dict.", short(result))
    for job, grid in result.items():
        if not isinstance(grid, dict) or not set(grid) <= set(NAMES):
            cause = f"A grid is a dict with some of {', '.join(NAMES)}."
            return Slip("grid", expected, cause, f"{job}: {short(grid)}")
        numbers = {name: grid.get(name, 1) for name in NAMES[:-1]}
        how = grid.get("recompute", WAYS[0])
        if not isinstance(how, str) or how not in WAYS:
            cause = f"recompute is one of {', '.join(map(repr, WAYS))}."
            return Slip("recompute", expected, cause, f"{job}: recompute = {short(how)}")
        wrong = next(
            (
                name
                for name, n in numbers.items()
                if not _whole(n) or n < (name != "zero") or (name == "zero" and n > 3)
            ),
            "",
        )
        if wrong:
            cause = f"{wrong} is a whole number, {'0 to 3' if wrong == 'zero' else 'at least 1'}."
            return Slip("number", expected, cause, f"{job}: {wrong} = {short(grid[wrong])}")
    many = {job: gpus_of(result[job]) for job in JOBS}
    said = ", ".join(f"{job} {n}" for job, n in many.items())
    over = [job for job, n in many.items() if n > gpus]
    if over or sum(many.values()) > gpus:
        cause = (
            "A job has tensor * pipeline * data * context GPUs, and the three run at the same time: their numbers are "
            "added."
        )
        return Slip("too-many", expected, cause, f"{said}: {sum(many.values())} GPUs")
    for job in JOBS:
        try:
            seconds(job, result[job])
        except (simulate.Impossible, ValueError) as error:
            return Slip("impossible", expected, f"The simulator says: {error}", f"{job}: {short(result[job])}")
    return None


BUDGET = FunctionTask(
    id="14-budget",
    section=Section("14.4", THOUSANDS, "The best grid"),
    title="512 GPUs for three networks",
    objective="Split GPUs among training runs, and choose the grid of each, with a simulator and a search",
    points=2,
    minutes=25,
    judge=judge_budget,
    cases=(Case("512 GPUs", lambda rng: (GPUS,)),),
    costs={"seconds": ("seconds until the last of the three has ended", end_of)},
    budget=Budget(
        points=1,
        text="all three have ended after 30,000 seconds at most",
        require={"seconds": 30_000},
        over="All three can run, but one of them takes too long. Which one, and which ends early and could do with "
        "fewer GPUs? Print the `parts` of its step: is it waiting for messages, or in the bubble of a pipeline?",
        golf=Golf(
            count="seconds",
            best=23231,
            tiers=(("gold", 1.0), ("silver", 1.1), ("bronze", 1.23)),
            lead="Not every number of GPUs serves a network well: which divide its layers and the batch? Search: the "
            "best grid for each number, of each network, and then all ways to split 512.",
        ),
    ),
    hints=(
        "How many operations are there in a step of each network, 6 for each parameter and token, times its steps? The "
        "GPUs might be split in that proportion, to begin with.",
        "`simulate.best(model, simulate.cluster('h100', gpus), batch=...)` gives the fastest grid for a number of "
        "GPUs. Which numbers have a good one?",
        "For each network make a table: numbers of GPUs, 8 to 504 in steps of 8, and the time of the best grid, where "
        "there is one. Then try all triples of numbers that add up to 512 or less, and keep the one whose slowest job "
        "is fastest.",
    ),
)
