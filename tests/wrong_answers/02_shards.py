"""Answers to 02-shards."""

import queue
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from answers import cut, edit, replace

END = object()


def _loaders(shards, bound, stop):
    """(queues, threads) that have begun; each puts ("batch" | "end" | "error", thing)."""
    queues = [queue.Queue(maxsize=bound) for _ in shards]

    def run(shard, ahead):
        try:
            for batch in shard:
                ahead.put(("batch", batch))
                if stop.is_set():
                    return
            ahead.put(("end", None))
        except Exception as error:
            ahead.put(("error", error))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(shards, queues, strict=True)]
    for thread in threads:
        thread.start()
    return queues, threads


def _in_turns(queues):
    waiting = deque(queues)
    while waiting:
        ahead = waiting.popleft()
        kind, thing = ahead.get()
        if kind == "error":
            raise thing
        if kind == "batch":
            waiting.append(ahead)
            yield thing


def _end(queues, threads):
    for ahead in queues:
        while not ahead.empty():
            ahead.get()
    for thread in threads:
        thread.join()


def a_pool_for_each(shards, bound):
    """right"""
    pools = [ThreadPoolExecutor(1) for _ in shards]
    ready = [
        deque(pool.submit(next, shard, END) for _ in range(bound)) for pool, shard in zip(pools, shards, strict=True)
    ]
    waiting = deque(range(len(shards)))
    try:
        while waiting:
            k = waiting.popleft()
            batch = ready[k].popleft().result()
            if batch is END:
                continue
            ready[k].append(pools[k].submit(next, shards[k], END))
            waiting.append(k)
            yield batch
    finally:
        for pool in pools:
            pool.shutdown(cancel_futures=True)


def semaphores(shards, bound):
    """right"""
    over = threading.Event()
    ahead = [queue.Queue() for _ in shards]
    room = [threading.Semaphore(bound) for _ in shards]

    def run(k):
        try:
            while True:
                room[k].acquire()
                if over.is_set():
                    return
                batch = next(shards[k], END)
                ahead[k].put((batch, None))
                if batch is END:
                    return
        except Exception as error:
            ahead[k].put((END, error))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(shards))]
    for thread in threads:
        thread.start()
    waiting = list(range(len(shards)))
    try:
        while waiting:
            k = waiting.pop(0)
            batch, error = ahead[k].get()
            room[k].release()
            if error is not None:
                raise error
            if batch is not END:
                waiting.append(k)
                yield batch
    finally:
        over.set()
        for free in room:
            free.release()
        for thread in threads:
            thread.join()


def leaves_them(shards, bound):
    """wrong deadlock: nobody takes any more"""
    stop = threading.Event()
    queues, _ = _loaders(shards, bound, stop)
    yield from _in_turns(queues)


def only_tells_them(shards, bound):
    """wrong left-behind: it must learn that it is over"""
    stop = threading.Event()
    queues, _ = _loaders(shards, bound, stop)
    try:
        yield from _in_turns(queues)
    finally:
        stop.set()


def loaders_in_turns(shards, bound):
    """right"""
    stop = threading.Event()
    queues, threads = _loaders(shards, bound, stop)
    try:
        yield from _in_turns(queues)
    finally:
        stop.set()
        _end(queues, threads)


joins_at_once = edit(
    loaders_in_turns,
    "wrong deadlock: make room before you wait",
    replace("_end(queues, threads)", "for thread in threads:\n    thread.join()"),
)
no_sign = edit(loaders_in_turns, "wrong deadlock: make room before you wait", cut("stop.set()"))


def only_at_the_end(shards, bound):
    """wrong deadlock: after an early stop, a loader in `put`"""
    stop = threading.Event()
    queues, threads = _loaders(shards, bound, stop)
    yield from _in_turns(queues)
    stop.set()
    _end(queues, threads)


shard_after_shard = edit(
    loaders_in_turns,
    "wrong wrong-result: Shards take turns",
    replace("yield from _in_turns(queues)", "for ahead in queues:\n    yield from _in_turns([ahead])"),
)


def whoever_is_first(shards, bound):
    """wrong wrong-result: whoever is faster"""
    stop, common = threading.Event(), queue.Queue(maxsize=bound)

    def run(shard):
        try:
            for batch in shard:
                common.put(("batch", batch))
                if stop.is_set():
                    return
            common.put(("end", None))
        except Exception as error:
            common.put(("error", error))

    threads = [threading.Thread(target=run, args=(shard,)) for shard in shards]
    for thread in threads:
        thread.start()
    left = len(shards)
    try:
        while left:
            kind, thing = common.get()
            if kind == "error":
                raise thing
            if kind == "batch":
                yield thing
            left -= kind == "end"
    finally:
        stop.set()
        _end([common] * len(shards), threads)


def stops_with_the_shortest(shards, bound):
    """wrong wrong-result: a shard that has no more is left out"""
    stop = threading.Event()
    queues, threads = _loaders(shards, bound, stop)
    try:
        while True:
            for ahead in queues:
                kind, thing = ahead.get()
                if kind == "error":
                    raise thing
                if kind == "end":
                    return
                yield thing
    finally:
        stop.set()
        _end(queues, threads)


def error_taken_for_the_end(shards, bound):
    """wrong error-lost: Hand the error over"""
    stop, queues = threading.Event(), [queue.Queue(maxsize=bound) for _ in shards]

    def run(shard, ahead):
        try:
            for batch in shard:
                ahead.put(("batch", batch))
                if stop.is_set():
                    return
        except Exception:
            pass
        ahead.put(("end", None))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(shards, queues, strict=True)]
    for thread in threads:
        thread.start()
    try:
        yield from _in_turns(queues)
    finally:
        stop.set()
        _end(queues, threads)


def error_stays(shards, bound):
    """wrong raised-OSError: Catch it there"""
    stop, queues = threading.Event(), [queue.Queue(maxsize=bound) for _ in shards]

    def run(shard, ahead):
        for batch in shard:
            ahead.put(("batch", batch))
            if stop.is_set():
                return
        ahead.put(("end", None))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(shards, queues, strict=True)]
    for thread in threads:
        thread.start()
    try:
        yield from _in_turns(queues)
    finally:
        stop.set()
        _end(queues, threads)


without_a_bound = edit(
    loaders_in_turns,
    "wrong over-bound: What makes a loader wait",
    replace("(shards, bound, stop)", "(shards, 0, stop)"),
)


def one_pool_for_all(shards, bound):
    """wrong two-at-once: one thread may be in it"""
    with ThreadPoolExecutor(4) as pool:
        ready = [deque(pool.submit(next, shard, END) for _ in range(bound + 1)) for shard in shards]
        waiting = deque(range(len(shards)))
        while waiting:
            k = waiting.popleft()
            batch = ready[k].popleft().result()
            if batch is not END:
                ready[k].append(pool.submit(next, shards[k], END))
                waiting.append(k)
                yield batch


def the_error_as_it_is(shards, bound):
    """wrong batch-raised: an exception object too"""
    stop, queues = threading.Event(), [queue.Queue(maxsize=bound) for _ in shards]

    def run(shard, ahead):
        try:
            for batch in shard:
                ahead.put(("batch", batch))
                if stop.is_set():
                    return
            ahead.put(("end", None))
        except Exception as error:
            ahead.put(("batch", error))

    threads = [threading.Thread(target=run, args=pair) for pair in zip(shards, queues, strict=True)]
    for thread in threads:
        thread.start()
    try:
        for batch in _in_turns(queues):
            if isinstance(batch, Exception):
                raise batch
            yield batch
    finally:
        stop.set()
        _end(queues, threads)
