"""Answers to 02-map."""


def with_extend(submit, function, items, chunk):
    """right"""

    def work(first, last):
        return [function(items[i]) for i in range(first, last)]

    futures = []
    for first in range(0, len(items), chunk):
        futures.append(submit(work, first, min(first + chunk, len(items))))
    out = []
    for future in futures:
        out.extend(future.result())
    return out


def by_index(submit, function, items, chunk):
    """right"""
    out = [None] * len(items)

    def work(first):
        for i in range(first, min(first + chunk, len(items))):
            out[i] = function(items[i])

    futures = [submit(work, first) for first in range(0, len(items), chunk)]
    for future in futures:
        future.result()
    return out


def as_they_end(submit, function, items, chunk):
    """wrong order: who ends first must not come first"""
    out = []

    def work(part):
        for x in part:
            out.append(function(x))

    futures = [submit(work, items[k : k + chunk]) for k in range(0, len(items), chunk)]
    for future in futures:
        future.result()
    return out


def one_after_another(submit, function, items, chunk):
    """wrong one-after-another: First submit everything"""
    out = []
    for k in range(0, len(items), chunk):
        future = submit(lambda part: [function(x) for x in part], items[k : k + chunk])
        out += future.result()
    return out


def late_binding(submit, function, items, chunk):
    """wrong wrong-result: sees the loop's variable"""
    futures = []
    for k in range(0, len(items), chunk):
        futures.append(submit(lambda: [function(x) for x in items[k : k + chunk]]))  # noqa: B023
    return [y for future in futures for y in future.result()]


def whole_chunks_only(submit, function, items, chunk):
    """wrong tail: may be shorter"""
    starts = [c * chunk for c in range(len(items) // chunk)]
    futures = [submit(lambda k: [function(x) for x in items[k : k + chunk]], k) for k in starts]
    return [y for future in futures for y in future.result()]


def part_for_item(submit, function, items, chunk):
    """wrong raised-TypeError: for each item of its part"""
    futures = [submit(function, items[k : k + chunk]) for k in range(0, len(items), chunk)]
    return [y for future in futures for y in future.result()]


def swallows(submit, function, items, chunk):
    """wrong error-lost: nobody heard of it"""

    def work(part):
        out = []
        for x in part:
            try:
                out.append(function(x))
            except ValueError:
                out.append(None)
        return out

    futures = [submit(work, items[k : k + chunk]) for k in range(0, len(items), chunk)]
    return [y for future in futures for y in future.result()]


def lazily(submit, function, items, chunk):
    """wrong at-home: do nothing until somebody takes their results"""
    futures = [submit(map, function, items[k : k + chunk]) for k in range(0, len(items), chunk)]
    return [x for future in futures for x in future.result()]


def one_job_too_many(submit, function, items, chunk):
    """wrong empty-job: without any item"""

    def work(part):
        return [function(x) for x in part]

    futures = [submit(work, items[k * chunk : (k + 1) * chunk]) for k in range(len(items) // chunk + 1)]
    return [x for future in futures for x in future.result()]


def lists_in_a_list(submit, function, items, chunk):
    """wrong nested: Join them into one list"""

    def work(part):
        return [function(x) for x in part]

    futures = [submit(work, items[k : k + chunk]) for k in range(0, len(items), chunk)]
    return [future.result() for future in futures]


def half_chunks(submit, function, items, chunk):
    """over budget over-budget: not the number of jobs"""
    size = max(1, chunk // 2)
    futures = [submit(lambda xs: [function(x) for x in xs], items[k : k + size]) for k in range(0, len(items), size)]
    return [y for f in futures for y in f.result()]


def one_job_for_all(submit, function, items, chunk):
    """wrong large-job: A job is one chunk"""
    return submit(lambda xs: [function(x) for x in xs], list(items)).result() if items else []


def one_job_and_others_for_show(submit, function, items, chunk):
    """wrong large-job: the other threads have nothing to do"""
    if not items:
        return []
    futures = [submit(lambda xs: [function(x) for x in xs], part) for part in (items[:-1], items[-1:])]
    return [y for f in futures for y in f.result()]
