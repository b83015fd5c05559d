"""Workers that are threads of this process, which send through mailboxes in memory.

Kernels of the library may be called from several workers at once: one of them has the team (`dlkernels.team`), the
others work alone. A `parallel=True` function of your own may not where numba's threading layer is workqueue.

They share Python's interpreter, so they are no faster than one worker: they are for tests, pages and pictures. What
`processes` only meets as a time that runs out is known here for certain: when all workers wait, the group ends with a
message that says who waits for whom.
"""

import collections
import threading

import numpy as np

from .group import Group, GroupError, Transport, words_of


def run(function, size, *args, capacity=None, timeout=None, **named):
    """Calls `function(group, *args, **named)` in `size` threads: the list of their results, in the order of ranks.

    `capacity`: how many messages a sender may be ahead of a receiver before `send` waits (None: any number; 0: `send`
    waits until the message is taken). `timeout`: seconds after which the group ends. Raises GroupError, which names
    the worker and what it raised, when a worker fails, when all wait for one another, or when time is up; threads that
    compute for ever are left behind, since no thread can be ended from outside.
    """
    if size < 1:
        raise ValueError(f"size={size}: a group has at least one worker")
    post = _Post(size, capacity)
    results = [None] * size

    def work(rank):
        try:
            group = Group(rank, size, _Mailbox(post, rank))
            results[rank] = function(group, *args, **named)
            group.close()
        except _Ended:
            pass
        except GroupError as error:
            post.fail(error.rank, str(error), error)
        except BaseException as error:
            post.fail(rank, f"worker {rank} of {size} raised {words_of(error)}", error)
        post.returned(rank)

    threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in range(size)]
    try:
        for thread in threads:
            thread.start()
        with post.changed:
            if not post.changed.wait_for(lambda: len(post.done) == size, timeout):
                late = sorted(set(range(size)) - post.done)
                post.fail(late[0], f"time is up after {timeout} s: workers {late} of {size} have not returned")
            left = [key for key, box in post.boxes.items() if box]
            if left and not post.failure:
                source, to, *_ = left[0]
                post.fail(source, f"worker {source} sent worker {to} a message that it has not received")
    except BaseException as error:  # Ctrl-C: who sends or receives from now on ends
        post.fail(None, f"the group was ended by {words_of(error)}", error)
        raise
    if post.failure:
        rank, message, error = post.failure
        raise GroupError(message, rank) from error
    for thread in threads:
        thread.join()
    return results


class _Ended(BaseException):
    """Raised in workers whose group has ended. No `except Exception` of a worker's function holds it back."""


class _Post:
    """The messages under way among all workers. `running` counts threads that are not waiting: at 0 nothing will ever
    change."""

    def __init__(self, size, capacity):
        self.size, self.capacity = size, capacity
        self.changed = threading.Condition()
        self.boxes = collections.defaultdict(collections.deque)
        self.sent, self.taken = collections.Counter(), collections.Counter()
        self.running, self.done, self.failure = size, set(), None
        self.waiting = {}  # what is waited for -> (rank, said)

    def fail(self, rank, message, error=None):
        with self.changed:
            if self.failure is None:
                self.failure = rank, message, error
            self.changed.notify_all()

    def returned(self, rank):
        with self.changed:
            self.done.add(rank)
            self.stops()
            self.changed.notify_all()

    def wait(self, key, rank, said, ready):
        """Until `ready()`. Whoever makes it so calls `wake(key)`. Called with the lock held."""
        if not ready() and self.failure is None:
            self.waiting[key] = rank, said
            self.stops()
            self.changed.wait_for(lambda: key not in self.waiting or self.failure)
        if self.failure:
            raise _Ended

    def wake(self, key):
        if self.waiting.pop(key, None):
            self.running += 1
            self.changed.notify_all()

    def stops(self):
        self.running -= 1
        if self.running == 0 and self.waiting:
            who = "; ".join(f"worker {rank} {said}" for rank, said in sorted(self.waiting.values()))
            gone = f"; {sorted(self.done)} have returned" if self.done else ""
            self.fail(None, f"all workers wait for one another (deadlock): {who}{gone}")


class _Mailbox(Transport):
    """One worker's end."""

    def __init__(self, post, rank, lane=0):
        self.shared, self.rank, self.lane = post, rank, lane
        self.begun, self.ready = 0, set()

    def post(self, array, to, tag, what):
        key = (self.rank, to, self.lane, tag)
        with self.shared.changed:
            if self.shared.failure:
                raise _Ended
            self.shared.boxes[key].append((what, np.array(array, order="C", copy=True)))
            self.shared.sent[key] += 1
            self.shared.wake(("message", key))
            self.shared.wake(("any", to, self.lane, tag))
            return key, self.shared.sent[key]

    def finish(self, ticket):
        key, number = ticket
        shared = self.shared
        if shared.capacity is None:
            return
        with shared.changed:
            said = f"sends to {key[1]}"
            shared.wait(("room", key), self.rank, said, lambda: number - shared.taken[key] <= shared.capacity)

    def take(self, source, tag, what, into=None, combine=None):
        key = (source, self.rank, self.lane, tag)
        shared = self.shared
        with shared.changed:
            shared.wait(("message", key), self.rank, f"receives from {source}", lambda: shared.boxes[key])
            theirs, message = shared.boxes[key].popleft()
            shared.taken[key] += 1
            shared.wake(("room", key))
        self.check(source, what, theirs)
        return self.deliver(source, message, into, combine)

    def take_any(self, sources, tag, what):
        shared = self.shared

        def there():
            return [source for source in sources if shared.boxes[source, self.rank, self.lane, tag]]

        with shared.changed:
            shared.wait(("any", self.rank, self.lane, tag), self.rank, "receives from any", there)
            source = there()[0]
        return source, self.take(source, tag, what)

    def second(self):
        return _Mailbox(self.shared, self.rank, self.lane + 1)

    def began(self):
        with self.shared.changed:
            self.shared.running += 1
            self.begun += 1
            return self.begun

    def ended(self, number):
        with self.shared.changed:
            self.ready.add(number)
            self.shared.wake(("handle", self.rank, number))
            self.shared.stops()

    def waits(self, number, future):
        with self.shared.changed:
            ready = self.aside().ready
            self.shared.wait(
                ("handle", self.rank, number), self.rank, "waits for its all_reduce", lambda: number in ready
            )
