"""Checks of ParallelTask: what `threads.watch` saw, in words."""

from .outcome import Failed, Failure

COUNTS = {
    "false_sharing": "cache lines with false sharing",
    "line_transfers": "moves of a cache line to another core",
    "cache_lines": "cache lines touched",
    "loads": "elements loaded",
    "stores": "elements stored",
    "allocations": "arrays made inside",
    "temporaries": "temporary arrays",
    "imbalance": "work on the longest path / mean work",
}
_RACE = (
    "Two iterations use the same element and one of them writes it. They run at the same time on different threads: give "
    "each iteration (or each thread) an element of its own, and combine afterwards."
)
_CARRIED = (
    "Iterations run at the same time and in any order, so one cannot use what the one before it left behind. Compute the "
    "value anew in each iteration, or make it a reduction: name += ..."
)


def no_race(task, case, seen):
    """Raises Failed if `seen` (answer.watch) has a race, or a value that is carried from iteration to iteration."""
    where = f"Case {case.name!r}, watched with {task.watch.threads} threads:"
    if seen["carried"]:
        name = str(seen["carried"][0])
        facts = (("carried", f"{name} is used before the iteration has set it"),)
        raise Failed(Failure("carried-scalar", f"{where} {name} comes from another iteration", facts,
                             task.advice.get("carried-scalar", _CARRIED)))  # fmt: skip
    if seen["races"]:
        race = seen["races"][0]
        facts = tuple((str(a), str(b)) for a, b in race)
        more = len(seen["races"]) - 1
        facts += (("more", f"{more} more pairs of expressions race"),) if more else ()
        raise Failed(Failure("race", f"{where} data race", facts, task.advice.get("race", _RACE)))


def facts_of(race):
    """A Race as (label, text) pairs."""
    (i, j), (a, b) = race.iterations, race.kinds
    (m, n), (p, q) = race.lines, race.code
    return [
        ("element", f"{race.array}[{', '.join(map(str, race.index))}]"),
        ("iteration", f"{i} {a}s it, line {m}: `{p}`"),
        ("and iteration", f"{j} {b}s it, line {n}: `{q}`"),
    ]


def examples(report, names):
    """For each count of `names` that has one, a sentence that names a place."""
    found = {}
    if "false_sharing" in names or "line_transfers" in names:
        for name in ("false_sharing", "line_transfers"):
            if report.false_sharing:
                found[name] = str(report.false_sharing[0])
    if "imbalance" in names:
        outside = report.loads + report.stores - sum(report.work)
        found["imbalance"] = ", ".join(
            [f"thread {t}: {n} loads and stores" for t, n in enumerate(report.work)]
            + ([f"outside the parallel loop: {outside}"] if outside else [])
        )
    return found
