"""The process that others are forked from: it has the course imported and its compiler used once, and runs nobody's code.

    python -m coursework.grading.forkserver 7

It gets orders on the socket with that number, one a packet (forked.py): JSON, and four open files: a pidfd of a process inside fresh
walls, the new process's input and output, and a pipe for how it ended. For each it forks twice: the first fork joins the walls
(enter.py) and waits for the second, which is born inside them, limits itself (confine.py) and becomes the servant or a
notebook's kernel. What an answer may do is what the walls allow; this process itself never sees one.
"""

import contextlib
import gc
import importlib
import json
import linecache
import os
import random
import runpy
import signal
import site
import socket
import stat
import sys
import tempfile

import numpy as np

from . import confine, enter, forked, sandbox, servant

FILES = 4
_KERNEL = """
@cuda.jit
def copy(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i]
"""
_COMPILED = """
@njit
def total(x):
    s = 0.0
    for i in range(x.size):
        s += x[i]
    return s
"""
# What a kernel imports, and a notebook of the course does.
_IMPORTED = (
    "ipykernel.kernelapp", "ipykernel.zmqshell", "IPython.core.completerlib", "IPython.core.debugger", "IPython.extensions.storemagic",
    "pydoc", "sqlite3", "tornado.platform.asyncio", "tornado.queues", "coursework.notebook",
)  # fmt: skip


def run_servant(folder):
    servant.main(folder)


def run_kernel(*arguments):
    sys.argv = ["-c", *arguments]
    runpy.run_module("ipykernel_launcher", run_name="__main__")


PROGRAMS = {"servant": run_servant, "kernel": run_kernel}


def warm():
    """Import what the programs need, compile and count something once: the first time takes longest."""
    for module in sandbox.UNWANTED:
        sys.modules[module] = None
    for module in _IMPORTED:
        importlib.import_module(module)
    ones = np.ones(3, np.float32)
    for text, request in (
        (_COMPILED, {"operation": "call", "name": "total", "arguments": [ones]}),
        (_KERNEL, {"operation": "xray", "name": "copy", "arguments": [ones, ones], "grid": 1, "block": 32, "require": {}}),
    ):  # fmt: skip
        servant.carry_out(request, servant.define([text.strip()]))
    linecache.clearcache()
    gc.collect()
    gc.freeze()  # what is there stays as it is, in pages that all forks share


def own_program():
    """Why the program that this process runs could be changed by a fork, which has the rights of its user; "" if it cannot.

    A file is reached through /proc/self/exe as it was opened here, where it may be written, and not as bubblewrap shows it.
    """
    program = "/proc/self/exe"
    about, user = os.stat(program), os.geteuid()
    by_its_user = user != 0 and (
        about.st_uid == user or os.access(program, os.W_OK)
    )  # root's forks become another user
    if by_its_user or about.st_mode & stat.S_IWOTH:
        return f"{sys.executable} may be changed by who runs it"
    return ""


def serve(number):
    """Fork for each order. Returns in the forks alone, with what each of them is to run, and ends when nobody orders any more."""
    if why := own_program():
        sys.exit(why)
    warm()
    orders = socket.socket(fileno=int(number))
    if len(os.listdir("/proc/self/task")) != 1:
        sys.exit("a process with several threads cannot be forked safely")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the first forks
    orders.send(forked.READY)
    while True:
        message, files, *_ = socket.recv_fds(orders, 1 << 16, FILES)
        if not message:
            os._exit(0)
        server, child, said = os.getpid(), None, "not all files came"
        if len(files) == FILES:
            try:
                child = os.fork()
            except OSError as error:  # the machine has no more processes, or memory
                said = str(error)
        if child == 0:
            orders.close()
            return _first(json.loads(message), server, *files)
        for file in files:
            os.close(file)
        orders.send(str(child or said).encode())


def _first(order, server, walls, stdin, stdout, status):
    """The fork that waits. It says on `status` how the other ended: its exit status, or a sentence."""
    with _telling(status):
        enter.die_with(server)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        if order["group"]:
            confine.join_group(order["group"])
        enter.join(walls, order["walls"])
        inner = os.fork()
    if inner == 0:
        with _telling(status):
            return _second(order, walls, stdin, stdout, status)
    with _telling(status):
        enter.without_capabilities()
    for file in (walls, stdin, stdout):
        os.close(file)
    os.write(status, str(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])).encode())
    os._exit(0)


def _second(order, walls, stdin, stdout, status):
    """The fork within the walls, before anything of a student's is there: returns what it is to run."""
    for number, file in enumerate((stdin, stdout)):
        os.dup2(file, number)
    os.setsid()
    os.environ.clear()
    os.environ.update(order["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    enter.give_up_rights()
    confine.limit(order["wish"])
    enter.without_capabilities()
    tempfile.tempdir = site.USER_BASE = site.USER_SITE = None  # as the new environment has them
    random.seed()
    np.random.seed()  # noqa: NPY002  notebooks use it
    program = PROGRAMS[order["program"]]
    for file in (walls, stdin, stdout, status):
        os.close(file)
    return program, order["arguments"]


@contextlib.contextmanager
def _telling(status):
    """What goes wrong is said on `status`, and ends the process."""
    try:
        yield
    except BaseException as error:
        os.write(status, f"{type(error).__name__}: {error}\n".encode()[:500])
        os._exit(1)


if __name__ == "__main__":
    del sys.path[0]  # the folder that this was started in; a kernel will have its own
    program, arguments = serve(sys.argv[1])
    program(*arguments)
