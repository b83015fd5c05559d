"""Processes in a sandbox that begin with the course imported: forks of a process that has (forkserver.py).

Importing the course, its compiler and a kernel, and a compiler's first steps, take a quarter of a submission's processor time. A forked
process stands behind the same walls as one that is started: bubblewrap builds them around a process that only waits, and the fork
enters them before it gets anything of a student's.
"""

import atexit
import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading

import psutil

from .walls import LIBRARY

READY = b"ready"
_SECONDS = 120  # for the server to import, and for walls to stand
_WAITS = "/bin/cat"  # what stands inside the walls until they are taken down: says what it hears


class ForkServer:
    """One for the life of this process, which it does not outlive. Raises OSError where it cannot begin."""

    def __init__(self, environment):
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-m", "coursework.grading.forkserver", str(theirs.fileno())]
        with theirs:
            self.process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=environment | {"PYTHONPATH": str(LIBRARY), "HOME": "/"},
                start_new_session=True,
            )
        self._orders.settimeout(_SECONDS)
        atexit.register(self.stop)
        try:
            if self._answer() != READY:
                raise OSError("the process that others are forked from said something strange")
        except OSError:
            self.stop()
            raise

    def order(self, files, **order):
        """Have a process forked; returns the number of the one that waits for it. OSError where there can be none."""
        socket.send_fds(self._orders, [json.dumps(order).encode()], files)
        answer = self._answer().decode()
        if not answer.isdecimal():
            raise OSError(answer)
        return int(answer)

    def _answer(self):
        try:
            answer = self._orders.recv(100)
        except TimeoutError:
            self.stop()  # an answer that comes later would be taken for another's
            raise
        if not answer:
            raise OSError("the process that others are forked from ended")
        return answer

    def stop(self):
        atexit.unregister(self.stop)
        self._orders.close()
        self.process.kill()
        self.process.wait()


class Forked:
    """A process in walls of its own, as subprocess.Popen is one. `program`: of forkserver.PROGRAMS; `walls`: the command line that
    runs what follows it within them."""

    def __init__(self, server, program, arguments, *, walls, wish, group, environment):
        self.returncode, self.failure, self._said, self._asked = None, "", b"", threading.Lock()
        self._holder, entrance, inside = _build(walls, environment)
        self.pid = self._holder.pid
        (their_in, my_in), (my_out, their_out), (my_status, their_status) = (os.pipe() for _ in range(3))
        self.stdin, self.stdout = os.fdopen(my_in, "wb"), os.fdopen(my_out, "rb")
        self._status = os.fdopen(my_status, "rb", 0)
        try:
            self._waiting = server.order(
                [entrance, their_in, their_out, their_status],
                program=program, arguments=arguments, wish=wish, group=group, walls=inside, environment=environment,
            )  # fmt: skip
        except OSError:
            self.kill()
            self._holder.wait()
            raise
        finally:
            for file in (entrance, their_in, their_out, their_status):
                os.close(file)

    @property
    def pids(self):
        """The processes that all others of these walls descend from."""
        return self.pid, self._waiting

    def poll(self):
        """The exit status, or None while it runs. Negative: the number of the signal that ended it."""
        with self._asked:  # also by who watches it
            while self.returncode is None and select.select([self._status], [], [], 0)[0]:
                said = self._status.read(1000)
                self._said += said
                if not said:
                    text = self._said.decode(errors="replace")
                    known = re.fullmatch(r"-?\d+", text)
                    self.failure = "" if known else text.strip()
                    self.returncode = int(text) if known else 1 if text else -signal.SIGKILL
                    self.kill()
        return self.returncode

    def wait(self):
        while self.poll() is None:
            select.select([self._status], [], [])
        self._status.close()
        self._holder.wait()
        return self.returncode

    def kill(self):
        """Take down the walls: all processes within them end."""
        self._holder.kill()
        for pipe in (self._holder.stdin, self._holder.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


def _build(walls, environment):
    """(bubblewrap, a pidfd of the process that waits inside its walls, the number of that process)"""
    holder = subprocess.Popen(
        [*walls, _WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
        bufsize=0,
    )
    try:
        holder.stdin.write(b"\n")
        if not select.select([holder.stdout], [], [], _SECONDS)[0] or holder.stdout.read(1) != b"\n":
            raise OSError("the walls do not stand")
        (inside,) = [p.pid for p in psutil.Process(holder.pid).children(recursive=True) if not p.children()]
        return holder, os.pidfd_open(inside), inside
    except (OSError, ValueError, psutil.Error) as error:
        holder.kill()
        holder.wait()
        raise OSError(f"no walls could be built for a process: {error}") from None
