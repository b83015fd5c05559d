"""Workers that are processes of this machine and send through shared memory.

    if __name__ == "__main__":
        processes.run(work, 4)                      # starts four processes, runs, ends them

    with processes.Workers(4) as workers:           # the same processes for several runs: starting them takes longest
        workers.run(work, 1.0)
        workers.run(work, 2.0)

Each pair of workers has a ring buffer for each direction, of at most 1 MiB. Who sends copies a part of the array into
it, who receives adds or copies it out of it, both at the same time, part by part, so parts stay in the caches. A
semaphore for each worker is rung when something has changed for it; a worker that finds nothing looks for some
microseconds, then sleeps on it.

**How a group ends.** A worker that raises, dies or does not come to an end within `timeout` ends the group: all its
processes, with one GroupError that names the worker and the cause. When all workers wait for one another, that is
found without a time limit. When the process that started the workers dies, they end themselves. The shared memory has
no name any more once all workers have it, so nothing of it can be left; the semaphores' names go when the workers are
closed, or by multiprocessing's resource tracker when this process was killed. What remains: whoever kills the whole
tree of processes with its tracker, by SIGKILL, within the second in which they start, leaves a segment (its name begins
with "psm_"); the semaphores' names ("sem.mp-") are left if that happens later.
"""

import concurrent.futures
import contextlib
import ctypes
import multiprocessing
import multiprocessing.connection
import os
import pickle
import platform
import signal
import sys
import threading
import time
import traceback
from collections import deque
from multiprocessing import shared_memory

import numpy as np

from .group import Group, GroupError, Transport, words_of

ORDERED = platform.machine().lower() in ("x86_64", "amd64")  # stores are seen in their order (see fenced.py)
LANES = 2  # a worker's two threads: that of its function, and that of `start_all_reduce`
LINE = 16  # words that share a cache line, and its neighbour
WORDS = 8  # bytes of a word
ALIGNED = 64  # bytes: messages and their parts begin at multiples
BUFFER = 1 << 20  # bytes of a ring buffer, at most
BUFFERS = 32 << 20  # bytes of all ring buffers, at most
SPIN = 300  # times that a worker looks before it sleeps, where each worker has a core
LOOK = 0.1  # seconds after which a sleeping worker or the parent looks around

# A worker's line, for each lane. The last two stand on the second lane's: pieces of work given, and done.
STATE, SOURCE, TARGETS, WAITS, BEGUN, ENDED = range(6)
COMPUTES, WAITING, FOR_HANDLE = range(3)
NONE, ANY = -1, -2  # instead of a source


class _Ended(BaseException):
    """Raised in workers whose group has ended."""


class _Layout:
    """Where things lie in the segment. Word 0 says that the group has ended."""

    def __init__(self, size):
        self.size, self.ordered = size, ORDERED
        channels = LANES * size * max(1, size - 1)
        self.capacity = min(BUFFER, BUFFERS // channels // 4096 * 4096)
        self.part = self.capacity // 4
        self.begin = (1 + LANES * size + 2 * LANES * size * size) * LINE * WORDS
        self.bytes = self.begin + LANES * size * size * self.capacity

    def worker(self, rank, lane):
        return (1 + lane * self.size + rank) * LINE

    def channel(self, source, to, lane):
        """(the word that counts bytes sent, the word that counts bytes received, the first byte of the buffer)."""
        number = (lane * self.size + source) * self.size + to
        line = 1 + LANES * self.size + 2 * number
        return line * LINE, (line + 1) * LINE, self.begin + number * self.capacity


class _Segment(shared_memory.SharedMemory):
    """Goes silently with the process, whoever still has a view of it."""

    def close(self):
        with contextlib.suppress(BufferError):
            super().close()


class _Memory:
    """The segment as words and as bytes, and the bells."""

    def __init__(self, segment, layout, bells):
        self.segment, self.layout, self.bells = segment, layout, bells
        if layout.ordered:
            self.words = segment.buf[: layout.begin].cast("q")
        else:
            from .fenced import Words

            self.words = Words(segment.buf[: layout.begin])
        self.bytes = np.frombuffer(segment.buf, np.uint8, layout.bytes)

    def bell(self, rank, lane):
        return self.bells[lane * self.layout.size + rank]

    def end(self):
        """Ends the group: all that wait or will wait raise."""
        self.words[0] = 1
        for bell in self.bells:
            bell.release()

    def close(self):
        self.words.release()
        self.bytes = None
        self.segment.close()

    # --- what the parent sees ---

    def empty(self, source, to, lane):
        sent, received, _ = self.layout.channel(source, to, lane)
        return self.words[sent] == self.words[received]

    def full(self, source, to, lane):
        sent, received, _ = self.layout.channel(source, to, lane)
        return self.words[sent] - self.words[received] == self.layout.capacity

    def said(self, rank, lane=0):
        """What a worker waits for, or None if it computes."""
        me, words, size = self.layout.worker(rank, lane), self.words, self.layout.size
        if words[me + STATE] == COMPUTES:
            return None
        if words[me + STATE] == FOR_HANDLE:
            return self.said(rank, lane + 1)
        targets = [str(to) for to in range(size) if words[me + TARGETS] >> to & 1]
        sends = f"sends to {', '.join(targets)}" if targets else ""
        source = words[me + SOURCE]
        receives = "" if source == NONE else f"receives from {'any' if source == ANY else source}"
        return " and ".join(filter(None, (sends, receives)))

    def stuck(self, rank, lane=0):
        """A number if a worker waits and there is nothing for it, the same as long as it waits; else None."""
        me, words, size = self.layout.worker(rank, lane), self.words, self.layout.size
        serial = words[me + WAITS]
        if words[me + STATE] == FOR_HANDLE:
            second = self.layout.worker(rank, lane + 1)
            return serial if words[second + ENDED] < words[me + SOURCE] else None
        if words[me + STATE] != WAITING:
            return None
        source = words[me + SOURCE]
        sources = {NONE: (), ANY: range(size)}.get(source, (source,))
        nothing = all(self.empty(source, rank, lane) for source in sources)
        full = all(self.full(rank, to, lane) for to in range(size) if words[me + TARGETS] >> to & 1)
        return serial if nothing and full else None

    def all_stuck(self, ranks):
        """None, or numbers that stay the same while all threads of these workers wait for one another."""
        numbers = []
        for rank in ranks:
            second = self.layout.worker(rank, 1)
            lanes = (0, 1) if self.words[second + BEGUN] > self.words[second + ENDED] else (0,)
            numbers += [self.stuck(rank, lane) for lane in lanes]
        return None if None in numbers else numbers


class _Channels(Transport):
    """One thread's end of all channels of a worker. All that is written is a multiple of `ALIGNED` long."""

    def __init__(self, memory, rank, lane=0):
        self.memory, self.rank, self.lane = memory, rank, lane
        self.words, self.bytes, self.layout = memory.words, memory.bytes, memory.layout
        self.me = self.layout.worker(rank, lane)
        self.bell = memory.bell(rank, lane)
        self.going = {}  # to -> what is not wholly in its buffer: [array of bytes, how many are]
        self.early = {}  # (source, tag) -> messages that came before what was asked for
        self.spin = SPIN if self.layout.size <= (os.cpu_count() or 1) else 0
        self.begun = 0

    # --- sending ---

    def post(self, array, to, tag, what):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        head = pickle.dumps((tag, what, array.dtype, array.shape), pickle.HIGHEST_PROTOCOL)
        words = np.zeros(_padded(WORDS + len(head)), np.uint8)
        words[:WORDS].view(np.int64)[0] = len(head)
        words[WORDS : WORDS + len(head)] = np.frombuffer(head, np.uint8)
        pieces = [[words, 0], [array.reshape(-1).view(np.uint8), 0]]
        self.going.setdefault(to, deque()).extend(pieces)
        self._push(to)
        return to, pieces[1]

    def finish(self, ticket):
        to, piece = ticket
        while any(piece is queued for queued in self.going[to]):
            if not self._push(to):
                self._wait(NONE)

    def _push(self, to):
        """Puts into the buffer what goes in: whether that was anything."""
        sent, received, begin = self.layout.channel(self.rank, to, self.lane)
        capacity, pieces, changed = self.layout.capacity, self.going.get(to), False
        while pieces:
            array, done = pieces[0]
            head = self.words[sent]
            offset, free = head % capacity, capacity - (head - self.words[received])
            length = min(free, capacity - offset, self.layout.part)
            length = min(length, array.size - done)
            if length == 0 and array.size > done:
                break
            offset += begin
            self.bytes[offset : offset + length] = array[done : done + length]
            pieces[0][1] += length
            if pieces[0][1] == array.size:
                pieces.popleft()
            if length:
                self._moved(sent, head + _padded(length), to)
                changed = True
        return changed

    def _push_all(self):
        changed = False
        for to, pieces in self.going.items():
            changed |= bool(pieces) and self._push(to)
        return changed

    # --- receiving ---

    def take(self, source, tag, what, into=None, combine=None):
        message = self._early(source, tag)
        if message is None:
            head = self._head(source)
            while head[0] != tag:  # a message of another sub-group, which will be asked for later
                self._keep(source, head)
                head = self._head(source)
        else:
            head, message = message
        _, theirs, dtype, shape = head
        self.check(source, what, theirs)
        if into is None:
            return self._body(source, head) if message is None else message
        self.fits(source, into, shape, dtype)
        flat = into.reshape(-1)
        parts = self._parts(source, into.nbytes) if message is None else [(0, message.reshape(-1).view(np.uint8))]
        for done, part in parts:
            target = flat[done // dtype.itemsize : (done + part.size) // dtype.itemsize]
            if combine is None:
                target[...] = part.view(dtype)
            else:
                combine(target, part.view(dtype), out=target)
        return into

    def take_any(self, sources, tag, what):
        while True:
            for source in sources:
                if self.early.get((source, tag)):
                    return source, self.take(source, tag, what)
            came = [source for source in sources if not self.memory.empty(source, self.rank, self.lane)]
            for source in came:
                self._keep(source, self._head(source))
            if not came and not self._push_all():
                self._wait(ANY)

    def _keep(self, source, head):
        self.early.setdefault((source, head[0]), deque()).append((head, self._body(source, head)))

    def _early(self, source, tag):
        messages = self.early.get((source, tag))
        return messages.popleft() if messages else None

    def _head(self, source):
        """(tag, what, dtype, shape) of the next message."""
        head = self._copied(source, ALIGNED)
        length = int(head[:WORDS].view(np.int64)[0])
        rest = self._copied(source, _padded(WORDS + length) - ALIGNED)
        return pickle.loads(np.concatenate([head, rest])[WORDS : WORDS + length])

    def _body(self, source, head):
        _, _, dtype, shape = head
        message = np.empty(shape, dtype)
        flat = message.reshape(-1).view(np.uint8)
        for done, part in self._parts(source, flat.size):
            flat[done : done + part.size] = part
        return message

    def _copied(self, source, count):
        array = np.empty(count, np.uint8)
        for done, part in self._parts(source, count):
            array[done : done + part.size] = part
        return array

    def _parts(self, source, count):
        """(first byte, the bytes as they lie in the buffer) of the next `count` bytes, part by part."""
        sent, received, begin = self.layout.channel(source, self.rank, self.lane)
        capacity, done = self.layout.capacity, 0
        while done < count:
            tail = self.words[received]
            offset, there = tail % capacity, self.words[sent] - tail
            if there:
                length = min(there, capacity - offset, count - done)
                yield done, self.bytes[begin + offset : begin + offset + length]
                done += length
                self._moved(received, tail + _padded(length), source)
                self._push_all()
            elif not self._push_all():
                self._wait(source)

    # --- waiting ---

    def _moved(self, word, count, peer):
        """Writes a counter and rings for the other worker. Takes back what was rung for this one, so that a bell's
        count stays small: who calls this looks again before it waits."""
        self.words[word] = count
        self.memory.bell(peer, self.lane).release()
        self.bell.acquire(False)

    def _wait(self, source):
        """Until somebody rings."""
        for _ in range(self.spin):
            if self.bell.acquire(False):
                return
        words, me = self.words, self.me
        words[me + SOURCE] = source
        words[me + TARGETS] = sum(1 << to for to, pieces in self.going.items() if pieces)
        words[me + WAITS] += 1
        words[me + STATE] = WAITING
        while not self.bell.acquire(True, LOOK):
            if words[0]:
                raise _Ended
        words[me + STATE] = COMPUTES
        if words[0]:
            raise _Ended

    # --- a second thread ---

    def second(self):
        return _Channels(self.memory, self.rank, self.lane + 1)

    def began(self):
        self.begun += 1
        self.words[self.layout.worker(self.rank, self.lane + 1) + BEGUN] = self.begun
        return self.begun

    def ended(self, number):
        self.words[self.me + ENDED] = number

    def waits(self, number, future):
        self.words[self.me + SOURCE] = number
        self.words[self.me + WAITS] += 1
        self.words[self.me + STATE] = FOR_HANDLE
        concurrent.futures.wait([future])
        self.words[self.me + STATE] = COMPUTES


def _padded(length):
    return -(-length // ALIGNED) * ALIGNED


# --- the workers' processes ---


def _worker(rank, layout, name, bells, connection, by_main):
    """What a worker's process does: calls what comes through `connection`, until that is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all: the parent ends the group
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if sys.platform == "linux" and by_main:  # also where the thread does not get the interpreter
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    memory = _Memory(_Segment(name), layout, bells)
    connection.send(("ready",))
    with contextlib.suppress(_Ended, EOFError, OSError):  # the group has ended, or the parent wants nothing more
        while True:
            work = connection.recv_bytes()
            connection.send_bytes(_answer(Group(rank, layout.size, _Channels(memory, rank)), work))


def _answer(group, work):
    """What a call gives: what goes back to the parent."""
    try:
        function, args, named = pickle.loads(work)
        result = function(group, *args, **named)
        group.close()
        try:
            return pickle.dumps(("returned", result), pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise TypeError(f"what it returned, a {type(result).__name__}, cannot be pickled: {error}") from error
    except _Ended:
        raise
    except BaseException as error:
        return pickle.dumps(_raised(error))


def _raised(error):
    known = error.rank if isinstance(error, GroupError) else None
    text = str(error) if isinstance(error, GroupError) else None
    return "raised", known, text, words_of(error), traceback.format_exc()


def _end_with_parent():
    multiprocessing.parent_process().join()
    os._exit(1)


class Workers:
    """`size` processes that wait for something to do. A context manager: at its end the processes end.

    `threads`: cores for each worker's kernels (NUMBA_NUM_THREADS and the same of BLAS), by default the machine's,
    divided among the workers, one at least.
    """

    def __init__(self, size, threads=None):
        if not 1 <= size <= 62:
            raise ValueError(f"size={size}: expected 1 to 62 workers")
        self.size, self._processes, self._connections, self._memory = size, [], [], None
        context = multiprocessing.get_context("spawn")
        layout = _Layout(size)
        bells = [context.Semaphore(0) for _ in range(LANES * size)]
        segment = _Segment(create=True, size=layout.bytes)
        try:
            self._memory = _Memory(segment, layout, bells)
            by_main = threading.current_thread() is threading.main_thread()
            vars(sys.modules["__main__"]).setdefault("__spec__", None)  # read by a spawn; IPython's %reset takes it
            with _environment(threads or max(1, (os.cpu_count() or 1) // size)):
                for rank in range(size):
                    parent_end, child_end = context.Pipe()
                    self._connections.append(parent_end)
                    arguments = (rank, layout, segment.name, bells, child_end, by_main)
                    process = context.Process(target=_worker, args=arguments, daemon=True, name=f"worker {rank}")
                    self._processes.append(process)
                    process.start()
                    child_end.close()
            self._answers("starts", 60)
        except BaseException:
            self.close()
            raise
        finally:
            segment.unlink()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, function, *args, timeout=None, **named):
        """Calls `function(group, *args, **named)` in each worker: the list of the results, in the order of ranks.

        `function` is one that the workers can import: of a module, not of a notebook. Arguments and results are
        pickled. `timeout`: seconds. Raises GroupError when a worker raises, dies, or is late, or when all wait for one
        another; then the workers have ended, and these can run nothing more.
        """
        if not self._processes:
            raise ValueError("these workers have ended: make new ones")
        if function.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
            raise ValueError(
                f"{function.__qualname__} is defined in a notebook or at a prompt, where the workers cannot import it: "
                "write it into a file, and import it from there"
            )
        try:
            work = pickle.dumps((function, args, named), pickle.HIGHEST_PROTOCOL)
            for rank, connection in enumerate(self._connections):
                try:
                    connection.send_bytes(work)
                except OSError:
                    raise self._died(rank) from None
            answers = self._answers("runs", timeout)
            for source in range(self.size):
                for to in range(self.size):
                    if not all(self._memory.empty(source, to, lane) for lane in range(LANES)):
                        words = f"worker {source} sent worker {to} a message that it has not received"
                        raise GroupError(words, source)
        except BaseException:
            self.close()
            raise
        return [answer[1] for answer in answers]

    def _answers(self, doing, timeout):
        """One message of each worker. Raises GroupError as `run` does."""
        late = None if timeout is None else time.monotonic() + timeout
        waiting, answers, before = dict(enumerate(self._connections)), [None] * self.size, None
        while waiting:
            doors = {connection: rank for rank, connection in waiting.items()}
            doors |= {self._processes[rank].sentinel: rank for rank in waiting}
            for door in multiprocessing.connection.wait(list(doors), LOOK):
                rank = doors[door]
                if rank not in waiting:
                    continue
                with contextlib.suppress(EOFError, OSError):
                    answers[rank] = self._connections[rank].recv() if self._connections[rank].poll() else None
                if answers[rank] is None:
                    raise self._died(rank)
                if answers[rank][0] == "raised":
                    raise self._told(rank, *answers[rank][1:])
                del waiting[rank]
            numbers = self._memory.all_stuck(waiting) if doing == "runs" else None
            if waiting and numbers and numbers == before:
                who = "; ".join(f"worker {rank} {self._memory.said(rank)}" for rank in waiting)
                gone = sorted(set(range(self.size)) - set(waiting))
                gone = f"; {gone} have returned" if gone else ""
                raise GroupError(f"all workers wait for one another (deadlock): {who}{gone}")
            before = numbers
            if waiting and late and time.monotonic() > late:
                said = {rank: self._memory.said(rank) for rank in waiting}
                guilty = [rank for rank in waiting if said[rank] is None] or list(waiting)
                who = "; ".join(f"worker {rank} {said[rank] or 'computes'}" for rank in waiting)
                raise GroupError(f"time is up after {timeout} s: {who}", guilty[0])
        return answers

    def _died(self, rank):
        process = self._processes[rank]
        process.join(5)
        code = process.exitcode
        how = f"exited with status {code}"
        if code is not None and code < 0:
            how = f"was killed by {signal.Signals(-code).name}"
        return GroupError(f"worker {rank} of {self.size} {how} before it returned", rank)

    def _told(self, rank, guilty, text, error, trace):
        told = GroupError(text or f"worker {rank} of {self.size} raised {error}", rank if guilty is None else guilty)
        told.add_note(trace)
        return told

    def close(self):
        """Ends the processes: at once those that wait or have nothing to do, by a signal those that go on."""
        for connection in self._connections:
            connection.close()
        if self._memory is not None:
            self._memory.end()
        until = time.monotonic() + 1
        for process in self._processes:
            if process.pid is not None:
                process.join(max(0, until - time.monotonic()))
        for process in self._processes:
            if process.pid is not None and process.is_alive():
                process.kill()
                process.join()
        if self._memory is not None:
            self._memory.close()
        self._processes, self._connections, self._memory = [], [], None


@contextlib.contextmanager
def _environment(threads):
    """The variables that say how many threads a library uses: read when a worker imports it."""
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run(function, size, *args, timeout=None, threads=None, **named):
    """`Workers(size).run(function, *args, **named)` with workers that end thereafter."""
    with Workers(size, threads) as workers:
        return workers.run(function, *args, timeout=timeout, **named)
