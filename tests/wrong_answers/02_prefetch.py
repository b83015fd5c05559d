"""Answers to 02-prefetch."""

import queue
import threading

from answers import cut, edit, replace

END = object()


def with_marks(items, load, bound):
    """right"""
    ahead = queue.Queue(bound)

    def run():
        for item in items:
            try:
                ahead.put((load(item), None))
            except Exception as error:
                ahead.put((END, error))
                return
        ahead.put((END, None))

    threading.Thread(target=run, daemon=True).start()
    while True:
        batch, error = ahead.get()
        if error is not None:
            raise error
        if batch is END:
            return
        yield batch


def with_a_condition(items, load, bound):
    """right"""
    ready, changed, state = [], threading.Condition(), {"over": False, "error": None}

    def run():
        try:
            for item in items:
                batch = load(item)
                with changed:
                    changed.wait_for(lambda: len(ready) < bound)
                    ready.append(batch)
                    changed.notify_all()
        except Exception as error:
            state["error"] = error
        with changed:
            state["over"] = True
            changed.notify_all()

    loader = threading.Thread(target=run)
    loader.start()
    while True:
        with changed:
            changed.wait_for(lambda: ready or state["over"])
            if not ready:
                break
            batch = ready.pop(0)
            changed.notify_all()
        yield batch
    loader.join()
    if state["error"] is not None:
        raise state["error"]


def as_in_the_chapter(items, load, bound):
    """wrong raised-OSError: Catch it there and hand it over"""
    ahead = queue.Queue(maxsize=bound)

    def run():
        for item in items:
            ahead.put(load(item))
        ahead.put(END)

    threading.Thread(target=run, daemon=True).start()
    while (batch := ahead.get()) is not END:
        yield batch


no_end = edit(
    as_in_the_chapter,
    "wrong deadlock: How does the consumer learn that there are no more",
    cut("ahead.put(END)"),
    replace("while (batch := ahead.get()) is not END:\n    yield batch", "while True:\n    yield ahead.get()"),
)
none_is_the_end = edit(
    as_in_the_chapter,
    "wrong wrong-result: an object of your own",
    replace("ahead.put(END)", "ahead.put(None)"),
    replace("not END:", "not None:"),
)


def error_first(items, load, bound):
    """wrong wrong-result: thrown away"""
    ahead, failed = queue.Queue(maxsize=bound), []

    def run():
        try:
            for item in items:
                ahead.put(load(item))
        except OSError as error:
            failed.append(error)
        ahead.put(END)

    threading.Thread(target=run, daemon=True).start()
    while (batch := ahead.get()) is not END:
        if failed:
            raise failed[0]
        yield batch
    if failed:
        raise failed[0]


ends_quietly = edit(
    error_first,
    "wrong error-lost: shorter than it is",
    replace("ahead, failed = queue.Queue(maxsize=bound), []", "ahead = queue.Queue(maxsize=bound)"),
    replace("OSError as error", "OSError"),
    replace("failed.append(error)", "pass"),
    cut("if failed:\n    raise failed[0]", after="while (batch := ahead.get()) is not END:"),
    cut("if failed:\n    raise failed[0]", after="yield batch"),
)


def two_loaders(items, load, bound):
    """wrong wrong-result: another order"""
    ahead, left = queue.Queue(maxsize=bound), queue.Queue()
    for item in items:
        left.put(item)

    def run():
        while True:
            try:
                item = left.get_nowait()
            except queue.Empty:
                break
            try:
                ahead.put((True, load(item)))
            except Exception as error:
                ahead.put((False, error))
        ahead.put(END)

    for _ in range(2):
        threading.Thread(target=run, daemon=True).start()
    ended = 0
    while ended < 2:
        found = ahead.get()
        if found is END:
            ended += 1
        elif found[0]:
            yield found[1]
        else:
            raise found[1]


def without_bound(items, load, bound):
    """over budget over-budget: does `put` wait"""
    yield from with_marks(items, load, 0)


def one_more(items, load, bound):
    """over budget over-budget: How many can your queue hold"""
    yield from with_marks(items, load, bound + 1)


another_error_around_it = edit(
    with_marks,
    "wrong raised-RuntimeError: not another one around it",
    replace("(bound)", "(maxsize=bound)"),
    replace("raise error", 'raise RuntimeError("the loader failed") from error'),
)


class End:
    def __init__(self, error=None):
        self.error = error


def with_a_class_of_its_own(items, load, bound):
    """right"""
    box = queue.Queue(maxsize=bound)

    def loader():
        last = End()
        try:
            for item in items:
                box.put(load(item))
        except Exception as error:
            last = End(error)
        box.put(last)

    threading.Thread(target=loader, daemon=True).start()
    while not isinstance(batch := box.get(), End):
        yield batch
        del batch
    if batch.error:
        raise batch.error


def the_error_as_it_is(items, load, bound):
    """wrong batch-raised: an exception object too"""
    box = queue.Queue(maxsize=bound)

    def loader():
        try:
            for item in items:
                box.put(load(item))
        except Exception as error:
            box.put(error)
        else:
            box.put(END)

    threading.Thread(target=loader, daemon=True).start()
    while (batch := box.get()) is not END:
        if isinstance(batch, Exception):
            raise batch
        yield batch
