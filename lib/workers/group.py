"""One worker's view of a group of workers.

A `Group` knows its `rank`, the `size` of the group, and a transport that carries arrays between two workers. All else
is built on that: the collectives (`collectives`) are the same code over threads, processes and MPI. The names are
MPI's and PyTorch's (MPI: A Message-Passing Interface Standard, 4.1, chapters 3 and 6; `torch.distributed`).

All workers of a group call the same operations in the same order. Each message carries what its sender was doing, so
that a worker that does something else, or has an array of another shape, is told so instead of getting wrong numbers.
"""

import concurrent.futures
import numbers

import numpy as np

from . import collectives
from .collectives import bounds


class GroupError(RuntimeError):
    """The group has ended before its work was done. `rank` is the worker at fault, None where none is."""

    def __init__(self, message, rank=None):
        super().__init__(message)
        self.rank = rank


def words_of(error):
    """What an error says of itself, also one whose own words fail."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception as other:
        return f"{type(error).__name__}, whose words cannot be had ({type(other).__name__})"


class Transport:
    """What a backend gives: it carries arrays between two workers. Messages of one pair and tag arrive in their order.

    - `post(array, to, tag, what)`: begins to send, and never waits for the receiver; returns a ticket. The array stays
      as it is until the ticket is finished.
    - `finish(ticket)`: returns when the array may change again.
    - `take(source, tag, what, into=None, combine=None)`: the next message from `source`, as a new array; or written
      into `into`, a C-contiguous array of its shape and dtype; or `combine(into, message, out=into)` of both.
    - `take_any(sources, tag, what)`: (source, message) of one of them, as a new array.
    - `second()`: a transport for a second thread of this worker, whose messages do not meet those of the first.
    - `began()` gives the number of a piece of work for that thread, `ended(number)` says there that it is done,
      `waits(number, future)` returns here when it is.
    """

    rank = 0
    _aside = _pool = _last = _failed = None

    def aside(self):
        """The transport of this worker's second thread."""
        if self._aside is None:
            self._aside, self._pool = self.second(), concurrent.futures.ThreadPoolExecutor(1)
        return self._aside

    def start(self, work, *arguments):
        """Has the second thread call `work`, after what it was given before."""
        transport, number = self.aside(), self.began()

        def call():
            try:
                self.usable()
                return work(*arguments)
            except BaseException as error:
                self._failed = error
                raise
            finally:
                transport.ended(number)

        self._last = Handle(self, number, self._pool.submit(call))
        return self._last

    def close(self):
        """Returns when the second thread has ended. Raises the first error of its work, whether waited for or not."""
        if self._last:
            try:
                self._last.wait()
            finally:
                self._pool.shutdown()

    def check(self, source, ours, theirs):
        """Refuses a message that was sent while doing something else."""
        if ours != theirs:
            self._failed = GroupError(
                f"worker {self.rank} is in {ours} and took a message of worker {source}, which is in {theirs}. All "
                "workers of a group call the same operations in the same order, with arrays of one shape and dtype",
                self.rank,
            )
            raise self._failed

    def fits(self, source, into, shape, dtype):
        """Refuses a message that is not of the shape and dtype of `into`."""
        if into.dtype != dtype or into.size != int(np.prod(shape, dtype=np.int64)):
            self._failed = GroupError(
                f"worker {self.rank} wants {into.dtype} {into.shape} of worker {source}, which sent {dtype} {shape}",
                self.rank,
            )
            raise self._failed

    def usable(self):
        """Raises what failed before: messages of it are still under way, and what follows would take them."""
        if self._failed:
            raise self._failed

    def deliver(self, source, message, into, combine):
        """The message, or `into`, which it is copied to, or combined with."""
        if into is None:
            return message
        self.fits(source, into, message.shape, message.dtype)
        message = message.reshape(into.shape)
        if combine is None:
            into[...] = message
        else:
            combine(into, message, out=into)
        return into


class Group:
    """One worker's view of its group.

    `rank` is this worker's number, 0 to `size` - 1. `bytes_sent` and `messages_sent` count what this worker sent to
    others of the group, in the group and in its sub-groups. `transport`, `members` (rank in the transport of each of
    the group) and `tag` are the backend's affair.
    """

    def __init__(self, rank, size, transport, members=None, tag=(), parent=None):
        self.rank, self.size = rank, size
        self.bytes_sent = self.messages_sent = 0
        self._transport, self._tag, self._parent = transport, tag, parent
        self._members = list(range(size)) if members is None else members
        self._splits = 0

    def __repr__(self):
        return f"<worker {self.rank} of {self.size}>"

    # --- two workers ---

    def send(self, array, to, what="send"):
        """Sends a copy of `array` (any shape, dtype and strides) to worker `to`. May wait until `to` receives: whether
        it does depends on the backend and the length, so no program may depend on it."""
        self._transport.finish(self._post(array, to, what))

    def start_send(self, array, to, what="send"):
        """Begins to send and returns at once a handle; `array` stays as it is until its `wait()` returns."""
        return Sending(self._transport, self._post(array, to, what))

    def receive(self, source, what="send", into=None, combine=None):
        """The next array from worker `source`, with its shape and dtype. With `into`, a C-contiguous array, the
        message is written there; with `combine`, a ufunc of two arguments, `combine(into, message)` is."""
        self._named(source, "source")
        self._transport.usable()
        if into is not None and not into.flags.c_contiguous:
            raise ValueError(f"into is not C-contiguous, its strides are {into.strides}: expected an array that is")
        return self._transport.take(self._members[source], self._tag, what, into, combine)

    def receive_any(self, what="send"):
        """(source, array) of a message that is there, or of the first that comes. Which one it is depends on time, so
        a program with this need not repeat its results."""
        others = [member for rank, member in enumerate(self._members) if rank != self.rank]
        if not others:
            raise ValueError("receive_any: this group has one worker, and nobody to receive from")
        self._transport.usable()
        member, array = self._transport.take_any(others, self._tag, what)
        return self._members.index(member), array

    def exchange(self, array, to, source, what="send", into=None, combine=None):
        """Sends to `to` and receives from `source` at once (MPI's Sendrecv): a ring of workers that all do this never
        waits for ever. Arguments and result as in `send` and `receive`."""
        ticket = self._post(array, to, what)
        got = self.receive(source, what, into, combine)
        self._transport.finish(ticket)
        return got

    def _post(self, array, to, what):
        self._named(to, "to")
        self._transport.usable()
        array = np.asarray(array)
        if array.dtype.hasobject:
            raise TypeError(f"workers send arrays of numbers, and this one has dtype {array.dtype}")
        group = self
        while group is not None:
            group.bytes_sent += array.nbytes
            group.messages_sent += 1
            group = group._parent
        return self._transport.post(array, self._members[to], self._tag, what)

    def _named(self, peer, name):
        if not 0 <= peer < self.size or peer == self.rank:
            raise ValueError(
                f"{name}={peer}: worker {self.rank} of {self.size} sends to and receives from the others, "
                f"which have the ranks 0 to {self.size - 1} without {self.rank}"
            )

    # --- all workers ---

    def all_reduce(self, array, op="sum", algorithm="ring", out=None):
        """All workers' arrays, combined element by element, on all workers: a new array of the shape and dtype of
        `array`, or `out`, a C-contiguous array, which may be `array` itself. `op`: sum, mean, max, min or prod.
        `algorithm`: a key of `collectives.ALL_REDUCE`, where each says what it sends and in which order it sums."""
        return collectives.all_reduce(self, array, op, algorithm, out)

    def reduce_scatter(self, array, op="sum", algorithm="ring"):
        """This worker's part of the combined arrays: of axis 0, from `bounds(len(array), size)[rank]` on.
        `algorithm`: ring or direct."""
        return collectives.reduce_scatter(self, array, op, algorithm)

    def all_gather(self, part, axis=0, algorithm="ring"):
        """All workers' parts, joined along `axis` in the order of ranks, on all workers. Parts may differ in length
        along `axis`."""
        return collectives.all_gather(self, part, axis, algorithm)

    def broadcast(self, array=None, root=0):
        """Worker `root`'s array on all workers. The others' `array` is not read and may be None."""
        return collectives.broadcast(self, array, root)

    def all_to_all(self, arrays):
        """Sends `arrays[r]` to worker r, for all r: `size` arrays of any shapes (an array whose first axis has the
        length `size` will do). Gives the list of what the workers sent here, in the order of ranks."""
        return collectives.all_to_all(self, arrays)

    def barrier(self):
        """Returns when all workers have called it."""
        collectives.barrier(self)

    def part(self, length):
        """The slice of `length` elements that is this worker's, as `reduce_scatter` cuts."""
        cuts = bounds(length, self.size)
        return slice(cuts[self.rank], cuts[self.rank + 1])

    # --- other groups ---

    def split(self, color, key=None):
        """The sub-group of all workers that gave the same `color` (an integer from 0 on; None: in no group, and the
        result is None), in the order of `key` (an integer), then of rank. All workers of the group call it. A grid of
        r rows and c columns is two splits: `split(rank // c)` and `split(rank % c)`."""
        if color is not None and not (isinstance(color, numbers.Integral) and 0 <= color < 2**63):
            raise ValueError(f"color={color}: colors are integers from 0 on, or None")
        pair = np.array([[-1 if color is None else color, self.rank if key is None else key]], np.int64)
        table = collectives.all_gather(self, pair, what="split")
        self._splits += 1
        if color is None:
            return None
        ranks = sorted((int(k), r) for r, (c, k) in enumerate(table) if c == color)
        ranks = [r for _, r in ranks]
        tag = (*self._tag, self._splits, color)
        members = [self._members[r] for r in ranks]
        return Group(ranks.index(self.rank), len(ranks), self._transport, members, tag, self)

    def start_all_reduce(self, array, op="sum", algorithm="ring", out=None):
        """Begins an `all_reduce` in a thread of its own and returns at once a handle, whose `wait()` gives the result.
        `array` stays as it is until then. Those begun on one group run one after the other, in the order in which
        they were begun, which is the same on all workers."""
        transport = self._transport.aside()
        group = Group(self.rank, self.size, transport, self._members, self._tag, self)
        return self._transport.start(group.all_reduce, array, op, algorithm, out)

    def close(self):
        """Returns when what `start_all_reduce` began is done. Backends call it when a worker has returned."""
        self._transport.close()


class Sending:
    """A message under way: `wait()` returns when its array may change again."""

    def __init__(self, transport, ticket):
        self._transport, self._ticket = transport, ticket

    def wait(self):
        self._transport.finish(self._ticket)


class Handle:
    """An `all_reduce` under way: `wait()` gives its result, `done()` says whether it is there."""

    def __init__(self, transport, number, future):
        self._transport, self._number, self._future = transport, number, future

    def done(self):
        return self._future.done()

    def then(self, call):
        """Has `call()` called when the result is there, in the thread that made it."""
        self._future.add_done_callback(lambda _: call())

    def wait(self):
        self._transport.waits(self._number, self._future)
        return self._future.result()
