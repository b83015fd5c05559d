"""Which thread runs which iterations of a parallel loop.

static    numba's own division: each thread one block of neighbours
cyclic    chunks in turns: thread 0, 1, 0, 1 ...
dynamic   the next chunk goes to the thread that has done least (counted in loads and stores)
guided    as dynamic, with chunks that become smaller towards the end
"""

SCHEDULES = ("static", "cyclic", "dynamic", "guided")


def blocks(n, threads):
    """numba's division of n iterations: [(begin, end), ...], one for each thread that gets any.

    As even as possible; what is left over goes to the first threads, one iteration each.
    """
    size, rest = divmod(n, threads)
    ends = [(t + 1) * size + min(t + 1, rest) for t in range(threads)]
    return [(b, e) for b, e in zip([0, *ends], ends, strict=False) if e > b]


class Loop:
    """Runs the iterations of one parallel loop in the order and on the threads of a schedule."""

    def __init__(self, recorder, schedule, chunk):
        self.recorder, self.schedule, self.chunk = recorder, schedule, chunk

    def run(self, region, values):
        """Yield the loop's values, with the recorder told who runs them."""
        recorder, threads = self.recorder, self.recorder.threads
        work = [0] * threads
        region.iterations = [[] for _ in range(threads)]
        for begin, end, fixed in self._chunks(len(values)):
            thread = min(range(threads), key=lambda t: (work[t], t)) if fixed is None else fixed
            before = len(recorder.rows)
            for i in range(begin, end):
                recorder.thread, recorder.iteration = thread, i
                region.iterations[thread].append(values[i])
                yield values[i]
            work[thread] += len(recorder.rows) - before

    def _chunks(self, n):
        threads, chunk = self.recorder.threads, self.chunk or 1
        if self.schedule == "static" and not self.chunk:
            yield from ((b, e, t) for t, (b, e) in enumerate(blocks(n, threads)))
            return
        begin, turn = 0, 0
        while begin < n:
            size = max(chunk, (n - begin) // (2 * threads)) if self.schedule == "guided" else chunk
            end = min(begin + size, n)
            yield begin, end, turn % threads if self.schedule in ("static", "cyclic") else None
            begin, turn = end, turn + 1
