"""A Jupyter kernel inside the sandbox, driven by nbval's classes.

nbval's `RunningKernel` speaks with a kernel over TCP, waits the whole timeout for a dead one, throws the reply away
and keeps any amount of output. Here: sockets in the work folder (the sandbox has no network), a dead kernel is
noticed at once, the reply is kept, and output beyond the limit ends the kernel.
"""

import secrets
import time
from collections import deque
from queue import Empty

import zmq
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from nbval.kernel import RunningKernel

from .sandbox import stop
from .waiting import Deadline

_STEP = 0.25  # seconds between looks at the process
_MAX_MESSAGE = 4 << 20
_MAX_QUEUE = 200
_CONNECT = 20  # milliseconds between tries, while the kernel's sockets are not there yet
# As `-m ipykernel_launcher`, which takes the work folder out of the path while it imports. Two modules would be
# imported for nothing: numba asks for coverage, a sixth of what its import takes, and a kernel for a debugger.
_KERNEL = (
    "import runpy, sys; sys.modules.update(dict.fromkeys(('coverage', 'debugpy'))); "
    "runpy.run_module('ipykernel_launcher', run_name='__main__')"
)


class KernelGone(RuntimeError):
    """The kernel died, or was ended because it broke a limit. `name` is the kind, for feedback."""

    def __init__(self, name, text):
        super().__init__(text)
        self.name, self.text = name, text


class SandboxKernel(RunningKernel):
    """An IPython kernel in `sandbox`. Raises KernelGone where nbval would wait."""

    def __init__(self, sandbox, startup_timeout=60):
        self.sandbox = sandbox
        self.reply, self._iopub, self._output = None, deque(), 0
        self.exiting = False  # the notebook asked its kernel to end
        file = str(sandbox.folder / "kernel.json")
        write_connection_file(file, ip=str(sandbox.folder / "ipc"), transport="ipc", key=secrets.token_hex().encode())
        sandbox.own(file)
        self._context = zmq.Context()
        self._context.sockopts.update(
            {zmq.MAXMSGSIZE: _MAX_MESSAGE, zmq.RCVHWM: _MAX_QUEUE, zmq.LINGER: 0, zmq.RECONNECT_IVL: _CONNECT}
        )
        self.process = sandbox.start("-c", _KERNEL, "-f", file, "--IPKernelApp.log_level=50")
        self.kc = BlockingKernelClient(connection_file=file, context=self._context)
        self.kc.load_connection_file()
        self.kc.start_channels(hb=False)
        # a message of more than _MAX_MESSAGE never arrives: the socket hangs up, and connects again
        self._hung_up = self.kc.iopub_channel.socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
        self._await_ready(startup_timeout)

    def _await_ready(self, seconds):
        """Until it answers, and what it prints is heard, for the sockets connect one after another."""
        until, heard = time.monotonic() + seconds, False
        while not heard:
            message = self.kc.kernel_info()
            try:
                self.await_reply(message, max(_STEP, until - time.monotonic()))
                self.await_idle(message, _STEP)
                heard = True
            except Empty:
                if time.monotonic() > until:
                    self.stop()
                    raise KernelGone("KernelDied", f"the kernel did not start within {seconds:g} seconds") from None

    def await_reply(self, msg_id, timeout=None):
        """Wait for the reply to `msg_id`, putting aside what the kernel prints meanwhile."""
        deadline = Deadline(timeout or 60, self.sandbox)
        self._output = 0
        while True:
            try:
                message = self.kc.get_shell_msg(timeout=min(_STEP, max(0.01, deadline.left())))
            except Empty:
                self._drain()
                self._look()
                self._no_giant()
                if deadline.left() <= 0:
                    raise
                continue
            if message["parent_header"].get("msg_id") == msg_id:
                self.reply = message["content"]
                payload = self.reply.get("payload") or ()
                self.exiting |= any(isinstance(p, dict) and p.get("source") == "ask_exit" for p in payload)
                if not self.exiting:
                    self._no_giant()
                return

    def get_message(self, stream, timeout=None):
        """nbval's loop reads outputs through this."""
        if stream != "iopub":
            return super().get_message(stream, timeout)
        if not self._iopub:
            self._iopub.append(self.kc.get_iopub_msg(timeout=timeout))
        message = self._iopub.popleft()
        self._count(message)
        return message

    def _drain(self):
        while True:
            try:
                message = self.kc.get_iopub_msg(timeout=0.001)
            except Empty:
                return
            self._iopub.append(message)
            self._count(message)

    def _count(self, message):
        """Every message counts, whatever it is called, with all that hangs on it."""
        self._output += len(str(message["content"])) + len(str(message["metadata"]))
        self._output += sum(memoryview(buffer).nbytes for buffer in message["buffers"])
        if self._output > self.sandbox.limits.output:
            self._too_much()

    def _no_giant(self):
        if self._hung_up.poll(0):
            time.sleep(_STEP)  # a process that ends hangs up, too, a moment before it is gone
            self._look()
            self._too_much()

    def _too_much(self):
        self.stop()
        raise KernelGone("OutputLimit", f"it printed or sent more than {self.sandbox.limits.output >> 20} MB")

    def _look(self):
        if not self.is_alive():
            self.stop()
            why = self.sandbox.why_ended() or ("KernelDied", "the process ended while this ran (a crash, or an exit)")
            raise KernelGone(*why)

    def is_alive(self):
        return self.process is not None and self.process.poll() is None

    def interrupt(self):
        self.kc.control_channel.send(self.kc.session.msg("interrupt_request"))

    def stop(self):
        """End the kernel at once; may be called again."""
        if self.process is not None:
            self._iopub.clear()
            self.kc.stop_channels()
            stop(self.process)
            self._context.destroy(linger=0)
            self.process = None
