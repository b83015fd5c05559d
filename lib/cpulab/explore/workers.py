"""Stand-ins for Thread, ThreadPoolExecutor and Future."""

import concurrent.futures
import threading
from collections import deque

from .locks import Fixed, StandIn, _note, _run, is_under_way
from .scheduler import DONE, NEW, active


class Thread(metaclass=Fixed):
    """threading.Thread."""

    is_stand_in = True

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        run = active()
        self.__run, self.__target, self.__args, self.__kwargs = run, target, args, kwargs or {}
        inherited = run.running.daemon if daemon is None else daemon
        self.__task = run.spawn(None if name is None else str(name), inherited)
        threads_of(run)[self.__task.number] = self

    @property
    def name(self):
        return self.__task.name

    @name.setter
    def name(self, name):
        self.__task.name = str(name)

    @property
    def daemon(self):
        return self.__task.daemon

    @daemon.setter
    def daemon(self, daemon):
        self.__task.daemon = bool(daemon)

    @property
    def ident(self):
        return None if self.__task.state is NEW else 1000 + self.__task.number

    native_id = ident
    label = name

    def run(self):
        if self.__target is not None:
            self.__target(*self.__args, **self.__kwargs)

    def start(self):
        try:
            run, task = self.__run, self.__task
        except AttributeError:
            raise RuntimeError("thread.__init__() not called") from None
        if task.state is not NEW:
            raise RuntimeError("threads can only be started once")
        run.point()
        run.start(task, self.run)
        _note(run, f"starts {task.name}")

    def join(self, timeout=None):
        run, task = self.__run, self.__task
        if task.state is NEW:
            raise RuntimeError("cannot join thread before it is started")
        if task is run.running:
            raise RuntimeError("cannot join current thread")
        seconds = None if timeout is None else max(timeout, 0)
        run.wait(lambda: task.state is DONE, self, f"waits for {task.name} to end", seconds)

    def is_alive(self):
        self.__run.point()
        return is_under_way(self.__task)

    def __repr__(self):
        return f"<Thread {self.name}>"


def threads_of(run):
    """Task number -> Thread of a run."""
    if not hasattr(run, "thread_objects"):
        run.thread_objects = {}
    return run.thread_objects


class _Known(Thread):
    """The thread that runs the scenario, and workers of pools: made by the run, not by the program."""

    def __init__(self, task):
        self._Thread__run, self._Thread__task = active(), task


def current_thread():
    run = active()
    threads = threads_of(run)
    if run.running.number not in threads:
        threads[run.running.number] = _Known(run.running)
    return threads[run.running.number]


def main_thread():
    run = active()
    threads = threads_of(run)
    if 0 not in threads:
        threads[0] = _Known(run.tasks[0])
    return threads[0]


def get_ident():
    return 1000 + active().running.number


def active_count():
    return len(enumerate_threads())


def enumerate_threads():
    run = active()
    run.point()
    threads = threads_of(run)
    return [threads.setdefault(t.number, _Known(t)) for t in run.tasks if is_under_way(t)]


class Future(StandIn):
    """concurrent.futures.Future."""

    def __init__(self):
        super().__init__("future")
        self.__state, self.__value, self.__error, self.__calls = "pending", None, None, []

    def cancel(self):
        _run(self).point()
        if self.__state in ("running", "finished"):
            return False
        self.__state = "cancelled"
        self.__call_back()
        return True

    def cancelled(self):
        _run(self).point()
        return self.__state == "cancelled"

    def running(self):
        _run(self).point()
        return self.__state == "running"

    def done(self):
        _run(self).point()
        return self.is_over()

    @property
    def waits_for_a_worker(self):
        return self.__state == "pending"

    def is_over(self):
        """`done` without a point."""
        return self.__state in ("finished", "cancelled")

    def result(self, timeout=None):
        error = self.exception(timeout)
        if error is not None:
            raise error
        return self.__value

    def exception(self, timeout=None):
        run = _run(self)
        if not run.wait(self.is_over, self, f"waits for the result of {self.label}", timeout):
            raise concurrent.futures.TimeoutError
        if self.__state == "cancelled":
            raise concurrent.futures.CancelledError
        return self.__error

    def add_done_callback(self, function):
        _run(self).point()
        if self.is_over():
            function(self)
        else:
            self.__calls.append(function)

    def set_running_or_notify_cancel(self):
        if self.__state == "cancelled":
            return False
        self.__state = "running"
        return True

    def set_result(self, value):
        self.__value, self.__state = value, "finished"
        self.__call_back()

    def set_exception(self, error):
        self.__error, self.__state = error, "finished"
        self.__call_back()

    def __call_back(self):
        for function in self.__calls:
            function(self)


class ThreadPoolExecutor(StandIn):
    """concurrent.futures.ThreadPoolExecutor: starts a worker when work comes and none is idle."""

    def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        super().__init__("pool")
        self.__most, self.__prefix = max_workers or 4, thread_name_prefix
        self.__begin = (lambda: initializer(*initargs)) if initializer else None
        self.__work, self.__workers, self.__idle, self.__closed = deque(), [], 0, False

    def submit(self, function, /, *args, **kwargs):
        run = _run(self)
        run.point()
        if self.__closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = Future()
        self.__work.append((future, function, args, kwargs))
        _note(run, f"submits work to {self.label}")
        if self.__idle < len(self.__work) and len(self.__workers) < self.__most:
            name = f"{self.__prefix}_{len(self.__workers)}" if self.__prefix else None
            task = run.spawn(name, daemon=False)
            self.__workers.append(task)
            self.__idle += 1
            run.start(task, lambda: self.__serve(run, task))
        return future

    def __serve(self, run, task):
        if self.__begin:
            self.__begin()
        while True:
            task.daemon = not self.__work
            run.wait(lambda: self.__work or self.__closed, self, f"waits for work from {self.label}")
            if not self.__work:
                return
            task.daemon = False
            future, function, args, kwargs = self.__work.popleft()
            self.__idle -= 1
            if future.set_running_or_notify_cancel():
                try:
                    value = function(*args, **kwargs)
                except Exception as error:
                    future.set_exception(error)
                else:
                    future.set_result(value)
            run.point()
            self.__idle += 1

    def map(self, function, *iterables, timeout=None, chunksize=1):
        futures = [self.submit(function, *args) for args in zip(*iterables, strict=False)]

        def results():
            for future in futures:
                yield future.result(timeout)

        return results()

    def shutdown(self, wait=True, *, cancel_futures=False):
        run = _run(self)
        if run.stopping:
            return
        run.point()
        self.__closed = True
        if cancel_futures:
            left = list(self.__work)
            self.__work.clear()  # first: a cancel is a point, at which a worker may come for work
            for future, *_ in left:
                future.cancel()
        if wait:
            over = lambda: all(t.state is DONE for t in self.__workers)  # noqa: E731
            run.wait(over, self, f"waits for the workers of {self.label} to end")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.shutdown(wait=True)
        return False


def as_completed(futures, timeout=None):
    """concurrent.futures.as_completed, first come first served."""
    waiting = list(futures)
    while waiting:
        if not active().wait(lambda: any(f.is_over() for f in waiting), None, "waits for a future", timeout):
            raise concurrent.futures.TimeoutError
        for future in [f for f in waiting if f.is_over()]:
            waiting.remove(future)
            yield future


def wait(futures, timeout=None, return_when=concurrent.futures.ALL_COMPLETED):
    """concurrent.futures.wait."""
    futures = set(futures)

    def enough():
        over = [f for f in futures if f.is_over()]
        if return_when == concurrent.futures.FIRST_COMPLETED:
            return bool(over)
        failed = return_when == concurrent.futures.FIRST_EXCEPTION and any(f._Future__error for f in over)
        return failed or len(over) == len(futures)

    active().wait(enough, None, "waits for futures", timeout)
    done = {f for f in futures if f.is_over()}
    return concurrent.futures._base.DoneAndNotDoneFutures(done, futures - done)


LOCAL = threading.local  # each controlled thread is a real one, so the real thing works
