"""What `cpulab.watch` saw of a parallel loop, as plain data that can cross the wall of the sandbox."""

from cpulab.watch import watch

MOST_RACES = 20


def of(function, arguments, threads, schedule, chunk, wanted, outside):
    """{"races": [...], "carried": [...], "counts": {...}, "examples": {...}, "alone": why it runs on one thread, or "",
    "most": the fraction of its loops' loads and stores that one thread has, "unset": an element that is read before
    anything was stored in it, in words, or "", "started": how many parallel loops were run, "result", "after": what was
    returned, and the arguments afterwards} of one call; `wanted`: names of counts."""
    report = watch(function, threads, schedule, chunk)(*arguments)
    return {
        "races": [facts_of(race) for race in report.races[:MOST_RACES]],
        "carried": list(report.carried),
        "counts": report.counts(),
        "examples": examples(report, wanted),
        "alone": alone(function, report, outside),
        "most": max(report.work) / (sum(report.work) or 1),
        "unset": unset(report.recorder),
        "started": len(report.recorder.regions),
        "result": report.result,
        "after": report.arguments,
    }


def alone(function, report, outside):
    """Why the function runs on one thread only, in words; "" where it does not. `outside`: see `Watch`."""
    if not function.targetoptions.get("parallel"):
        return "@njit without parallel=True: prange is a plain range there"
    if not report.recorder.regions:
        return "no loop over prange(...) was run"
    total, most = report.loads + report.stores, max(report.work)
    if total - sum(report.work) > outside * total:
        return f"{total - sum(report.work)} of {total} loads and stores stand outside the loop over prange(...)"
    if sum(report.work) == most > 0 and sum(map(bool, report.iterations)) > 1:
        return (
            f"all {most} loads and stores of the loop are thread {report.work.index(most)}'s: the others have nothing "
            "to do"
        )
    return ""


def unset(recorder):
    """The first load of an element of an np.empty in which nothing was stored, in words."""
    if not recorder.unset:
        return ""
    root, index = recorder.unset[0]
    where = recorder.places[index] if index >= 0 else None
    return f"line {where.line} reads `{where.text}`" if where and where.text else f"an element of {root.name} is read"


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
    places = {}
    if "false_sharing" in names or "line_transfers" in names:
        for name in ("false_sharing", "line_transfers"):
            if report.false_sharing:
                places[name] = str(report.false_sharing[0])
    if "imbalance" in names:
        outside = report.loads + report.stores - sum(report.work)
        places["imbalance"] = ", ".join(
            [f"thread {t}: {n} loads and stores" for t, n in enumerate(report.work)]
            + ([f"outside the parallel loop: {outside}"] if outside else [])
        )
    return places
