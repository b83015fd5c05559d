"""Check an answer against its task. The same code serves the student's notebook and the grader.

`check` and `check_budget` return an Outcome and never raise for what the answer does; the caller shows it.
"""

import time

import numpy as np

from . import diagnosis, parallel, scenes
from .answer import AnswerFailed, position
from .definition import (
    CompiledTask,
    FunctionTask,
    KernelTask,
    ParallelTask,
    PredictionTask,
    ScenarioTask,
    ThreadTask,
    hidden_cases,
    unwritten,
)
from .outcome import RIGHT, UNSOLVED, WRONG, Failed, Failure, Outcome  # noqa: F401 (for who imports them from here)

THREADS = (1, 2, 4)  # of a compiled parallel loop, as far as numba has them
SECRET = 1 << 32  # seeds from here on are secrets of a class, and not told


def check(task, answer, seed=None, hidden=False):
    """Check results. `answer` is an answer.Local or the grader's Remote; for predictions a dict name -> answer.

    `seed` seeds the random numbers of all cases; `hidden` adds the cases kept back for grading.
    """
    seed = task.seed if seed is None else seed
    begun = time.perf_counter()
    part = "prediction" if isinstance(task, PredictionTask) else "results"
    try:
        if isinstance(task, PredictionTask):
            checked, note = _predictions(task, answer)
        else:
            cases = task.cases + (hidden_cases(task) if hidden else ())
            checked, note = _CHECKS[type(task)](task, cases, answer, seed)
        status, failure = RIGHT, None
    except Failed as failed:
        status, failure, checked, note = failed.status, failed.failure, (), ""
    points = task.points if status == RIGHT else 0
    return Outcome(task.id, part, status, points, task.points, checked, note, failure, time.perf_counter() - begun)


def check_budget(task, answer, seed=None):
    """Check what the answer costs. Only a right answer can meet a budget: doing nothing is cheap."""
    budget, seed = task.budget, task.seed if seed is None else seed
    begun = time.perf_counter()
    try:
        checked = _budget(task, answer, seed)
        status, failure = RIGHT, None
    except Failed as failed:
        status, failure, checked = failed.status, failed.failure, ()
    points = budget.points if status == RIGHT else 0
    note = "Time was not looked at: these are counts, equal on every machine."
    return Outcome(
        task.id, "budget", status, points, budget.points, checked, note, failure, time.perf_counter() - begun
    )


def unsolved(task, part):
    """The outcome for an answer cell that is still as it was shipped."""
    worth = task.budget.points if part == "budget" else task.points
    headline = "Not answered yet" if part == "prediction" else "Not solved yet"
    return Outcome(task.id, part, UNSOLVED, 0, worth, failure=Failure("unsolved", headline))


def _arguments(case, seed, index):
    return case.make(np.random.default_rng([seed, index]))


def _kernels(task, cases, answer, seed):
    for index, case in enumerate(cases):
        arguments = _arguments(case, seed, index)
        after, report = _attempt(task, case, lambda a=arguments, c=case: answer.xray(c.grid, c.block, a))
        _no_findings(task, case, report, WRONG_ACCESS + task.tell_first)
        _compare(task, case, arguments, after)
        _no_findings(task, case, report)
    said = _said(task, cases, seed)
    return (*said, "No data race, no access outside an array."), "Memory traffic and speed were not looked at."


def _compiled(task, cases, answer, seed):
    for index, case in enumerate(cases):
        arguments = _arguments(case, seed, index)
        _, after = _attempt(task, case, lambda a=arguments: answer.compiled_call(a))
        _compare(task, case, arguments, after)
    return _said(task, cases, seed), "Temporary arrays and speed were not looked at."


def _threads():
    from numba import config

    return sorted({min(n, config.NUMBA_NUM_THREADS) for n in THREADS})


def _parallel(task, cases, answer, seed):
    """Compiles, watches, then compares: a race is told by its iterations, not by a number that came out by chance."""
    first = _arguments(cases[0], seed, 0)
    _attempt(task, cases[0], lambda: answer.compiled_call(first))
    case, how = task.watch.case or task.cases[0], task.watch
    watched = _arguments(case, seed, 2000)
    seen = _attempt(task, case, lambda: answer.watch(watched, how.threads, how.schedule, how.chunk))
    parallel.no_race(task, case, seen)
    for index, case in enumerate(cases):
        arguments = _arguments(case, seed, index)
        for threads in _threads():
            result, after = _attempt(task, case, lambda a=arguments, t=threads: answer.compiled_call(a, threads=t))
            _compare(task, case, arguments, after, result)
    said = (
        f"Compiled, with {' and '.join(map(str, _threads()))} threads.",
        "No two iterations touch the same element where one writes; nothing is carried from one to the next.",
    )
    return (*_said(task, cases, seed), *said), "Cache lines and speed were not looked at."


def _functions(task, cases, answer, seed):
    for index, case in enumerate(cases):
        arguments = _arguments(case, seed, index)
        result, _ = _attempt(task, case, lambda a=arguments: answer.call(a))
        slip = task.judge(arguments, result)
        if slip:
            facts = [
                ("called with", _short(arguments)),
                ("expected", slip.expected),
                ("got", slip.got or _short(result)),
            ]
            raise Failed(Failure(slip.kind, _headline(case), tuple(facts), slip.cause))
    return (_names(task, cases),), ""


def _scenarios(task, cases, answer, seed):
    threads = isinstance(task, ThreadTask)
    said, note = scenes.check(task, cases, answer, lambda case, i: _arguments(case, seed, i), _attempt, threads)
    return (_names(task, cases), *said), note


_CHECKS = {
    KernelTask: _kernels,
    CompiledTask: _compiled,
    ParallelTask: _parallel,
    FunctionTask: _functions,
    ScenarioTask: _scenarios,
    ThreadTask: _scenarios,
}


def _names(task, cases):
    """The cases in words: visible ones by name, those kept back by number, for who knows them can prepare for them."""
    kept_back = len(cases) - len(task.cases)
    more = f"; and {kept_back} more that are not shown" if kept_back else ""
    return "Cases: " + "; ".join(c.name for c in task.cases) + more + "."


def _said(task, cases, seed):
    seed = f"seed {seed}" if seed < SECRET else "the grader's own"
    return (
        _names(task, cases),
        f"Each element of the output against NumPy in float64, on random numbers ({seed}); inputs left unchanged.",
    )


def _attempt(task, case, run):
    """Run the answer; turn what it raises into a Failure."""
    try:
        return run()
    except AnswerFailed as error:
        if error.name == "NotImplementedError":
            raise Failed(Failure("unsolved", "Not solved yet"), UNSOLVED) from None
        facts = [("it said", error.text or error.name), ("at the line", error.line), ("happened in", error.place)]
        facts = [fact for fact in facts if fact[1]]
        kind = "raised-" + error.name
        general = scenes.RULES if isinstance(task, ScenarioTask) else {}
        cause = task.advice.get(kind) or general.get(error.name) or _CAUSES.get(error.name, "")
        raise Failed(Failure(kind, f"{_headline(case)} it stopped with {error.name}", tuple(facts), cause)) from None


_CAUSES = {
    "IndexError": "A thread used an index outside the array. Which threads have nothing to do?",
    "OutOfBounds": "A thread used an index outside the array. Which threads have nothing to do?",
    "NameError": "A name is used that is not defined there. Spelt differently somewhere?",
    "TypingError": "numba could not find out a type. Look at the line it names.",
    "NotAdmitted": "Kernels are written in the part of Python that numba compiles.",
    "TimeLimit": "It did not end. Does every loop come closer to its end each time round?",
    "MemoryError": "It asked for more memory than an answer needs.",
}


def _compare(task, case, arguments, after, result=None):
    out = None if task.out == "result" else task.out % len(arguments)
    for i, (x, y) in enumerate(zip(arguments, after, strict=True)):
        if i != out and isinstance(x, np.ndarray) and not np.array_equal(x, y, equal_nan=True):
            facts = (("first change", f"element {_index(np.argwhere(x != y)[0])} of argument {i + 1}"),)
            cause = "Inputs may only be read. Which of your stores writes to the wrong array?"
            raise Failed(Failure("input-changed", f"{_headline(case)} an input was changed", facts, cause))
    expected = np.asarray(task.spec(*arguments))
    got, before = (after[out], arguments[out]) if out is not None else _returned(case, result, expected)
    comparison = diagnosis.compare(got, np.atleast_1d(expected), before, task.rtol, task.atol)
    if comparison.bad:
        raise Failed(_mismatch(task, case, arguments, comparison))


def _returned(case, result, expected):
    """(what was returned, an array that equals none of it)."""
    if not isinstance(result, int | float | np.ndarray | np.generic) or np.shape(result) != expected.shape:
        kind = f"an array of shape {np.shape(result)}" if isinstance(result, np.ndarray) else repr(result)
        wanted = f"an array of shape {expected.shape}" if expected.shape else "a number"
        facts = (("expected", wanted), ("got", kind[:120]))
        raise Failed(Failure("type", f"{_headline(case)} the result is of another kind", facts, "What does it return?"))
    return np.atleast_1d(result), unwritten(*np.atleast_1d(expected).shape, dtype=np.float64)


def _mismatch(task, case, arguments, comparison):
    kind, cause = diagnosis.diagnose(task, case, comparison, arguments)
    first = comparison.first
    unwritten = comparison.state[first] == diagnosis.UNWRITTEN
    total = comparison.state.size
    where = f"element {_index(first)}; {comparison.bad} of {total} are wrong"
    facts = [("first wrong", where if total > 1 or task.out != "result" else "the number returned")]
    is_kernel = isinstance(task, KernelTask)
    if is_kernel:
        facts.append(("belongs to", _thread(task, case, first, comparison.state.shape)))
    facts.append(("expected", _number(comparison.expected[first])))
    got = "what was there before: nobody wrote it" if unwritten else _number(comparison.got[first])
    facts.append(("got", got))
    picture = {
        "state": comparison.state.ravel().tolist() if comparison.state.ndim != 2 else comparison.state.tolist(),
        "threads": diagnosis.threads_per_block(case) if is_kernel and comparison.state.ndim == 1 else 0,
    }
    return Failure(kind, f"{_headline(case)} wrong result", tuple(facts), cause, picture)


def _thread(task, case, index, shape):
    """Which thread of which block should have written the element, in words."""
    if task.writer:
        block, thread = task.writer(index, case)
        return f"block {block}, thread {thread}"
    linear = int(np.ravel_multi_index(index, shape))
    threads, blocks = diagnosis.threads_per_block(case), diagnosis.total(case.grid)
    turn, place = divmod(linear, threads * blocks)
    block, thread = divmod(place, threads)
    again = f", in round {turn + 1} of its loop" if turn else ""
    return f"block {block}, thread {thread} ({block} * {threads} + {thread} = {place}){again}"


def _budget(task, answer, seed):
    budget, case = task.budget, task.budget.case or task.cases[-1]
    arguments = _arguments(case, seed, 1000)
    if isinstance(task, KernelTask):
        after, report = _attempt(task, case, lambda: answer.xray(case.grid, case.block, arguments, budget.require))
        _no_findings(task, case, report, WRONG_ACCESS + task.tell_first)
        _compare(task, case, arguments, after)
        _no_findings(task, case, report)
        picture = report["picture"]
        over = [
            (e["measure"], e["counted"], e["allowed"], f", at `{e['text']}`" if e["text"] else "")
            for e in report["excess"]
        ]
    elif isinstance(task, ScenarioTask):
        over = [(*entry, "") for entry in scenes.budget(task, case, arguments, answer, _attempt)]
        picture = {}
    else:
        result, after = _attempt(task, case, lambda: answer.compiled_call(arguments))
        _compare(task, case, arguments, after, result)
        picture = {}
        cost, where = _cost(task, case, arguments, answer)
        over = [
            (name, cost[name], limit, where.get(name, ""))
            for name, limit in budget.require.items()
            if cost[name] > limit
        ]
    if over:
        said = [(_WORDS.get(n, n), f"{_number(v)}{where}; the budget is {_number(b)}") for n, v, b, where in over]
        facts = list(dict.fromkeys(said))[:3]  # a load and a store of one expression read the same
        raise Failed(
            Failure("over-budget", f"{_headline(case)} right, but over budget", tuple(facts), budget.over, picture)
        )
    return (f"Case: {case.name}. The result is right.", f"Within the budget: {budget.text}.")


def _cost(task, case, arguments, answer):
    """({name: count}, {name: where}) of what the budget limits."""
    names, how = set(task.budget.require), getattr(task, "watch", None)
    watched = names & parallel.COUNTS.keys() if how else set()
    cost, where = {}, {}
    if watched:
        seen = _attempt(
            task, case, lambda: answer.watch(arguments, how.threads, how.schedule, how.chunk, sorted(watched))
        )
        parallel.no_race(task, case, seen)
        cost, where = dict(seen["counts"]), {k: f" ({v})" for k, v in seen["examples"].items()}
    if names - watched:
        cost |= _attempt(task, case, lambda: answer.cost(arguments, sorted(names - watched)))
    return cost, where


_WORDS = parallel.COUNTS | {
    "sectors_per_request": "sectors per request",
    "bank_ways": "ways of the worst bank conflict",
    "bytes_loaded": "bytes loaded",
    "bytes_stored": "bytes stored",
    "arrays": "arrays allocated by numba",
    "numpy_bytes": "bytes allocated by NumPy",
    "scalar_share": "share of the arithmetic done one number at a time",
    "multiplies": "multiplications",
    "accesses_per_multiply": "memory accesses per vector multiply",
    "global_load_requests": "load requests to global memory",
    "shared_load_requests": "load requests to shared memory",
    "barriers": "barriers in a block",
}


# Findings that make any comparison of results pointless; races are told only where the result is right.
WRONG_ACCESS = ("out-of-bounds", "negative-index")


def _no_findings(task, case, report, kinds=None):
    for finding in report["findings"]:
        if kinds and (finding["kind"] not in kinds or finding["scope"] == "grid"):
            continue  # blocks that store the same elements: the wrong result says more
        facts = [("it said", finding["message"]), ("at", finding["text"]), ("happened in", _who(finding))]
        facts = [fact for fact in facts if fact[1]]
        cause = task.advice.get(finding["kind"], finding["cure"])
        said = f"{_headline(case)} {finding['kind'].replace('-', ' ')}"
        raise Failed(Failure(finding["kind"], said, tuple(facts), cause))


def _who(finding):
    """The threads of a finding, the first two of them, in words."""
    said = [f"block {position(t['block'])}, thread {position(t['thread'])}" for t in finding["threads"][:2]]
    more = len(finding["threads"]) - 2
    return " and ".join(said) + (f" and {more} more" if more > 0 else "")


def _predictions(task, given):
    for question in task.questions:
        said, truth = given[question.name], question.truth()
        if said is None or said is ...:
            raise Failed(Failure("unsolved", "Not answered yet", (("missing", question.name),)), UNSOLVED)
        if isinstance(said, bool) or not isinstance(said, int | float | str):
            raise Failed(Failure("not-a-number", f"{question.name} is not a number", (("got", _short(said)),)))
        if not _near(said, truth, question.tolerance):
            cause = question.slips.get(said, question.otherwise)
            facts = (("question", question.text), ("you said", _short(said)))
            raise Failed(Failure("prediction", f"{question.name}: not what the machine counts", facts, cause))
    asked = "; ".join(f"{q.name} = {q.truth()}" for q in task.questions)
    return (f"Counted by running it: {asked}.",), ""


def _near(said, truth, tolerance):
    if tolerance and isinstance(said, int | float) and isinstance(truth, int | float):
        return abs(said - truth) <= tolerance * abs(truth)
    return said == truth


def _headline(case):
    return f"Case {case.name!r}:"


def _index(index):
    return "[" + ", ".join(str(int(i)) for i in index) + "]"


def _number(value):
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)


def _short(value):
    text = repr(value) if not isinstance(value, tuple) else "(" + ", ".join(repr(v) for v in value) + ")"
    return text if len(text) <= 120 else text[:117] + "..."
