"""What can go wrong with a kernel, as exceptions that name the line, the thread and the block."""


class KernelError(RuntimeError):
    """A kernel did something wrong, or asks for something that no GPU could do.

    reason: the sentence without the place. file, line, column: where in the kernel's source (None if unknown).
    text: the source expression. kernel: its name. thread, block: (x, y, z), None before the launch. who: both in words.
    """

    def __init__(self, reason, *, site=None, kernel="", thread=None, block=None, who=""):
        self.reason = reason
        self.kernel = kernel
        self.file = site.file if site else None
        self.line = site.line if site else None
        self.column = site.column if site else None
        self.text = site.text if site else ""
        self.thread, self.block, self.who = thread, block, who
        super().__init__(self._message())

    def _message(self):
        where = []
        if self.kernel:
            where.append(f"kernel {self.kernel}")
        if self.line is not None:
            where.append(f"line {self.line}")
        if self.who:
            where.append(self.who)
        message = f"{', '.join(where)}: {self.reason}" if where else self.reason
        if self.line is not None:
            # Jupyter keeps cells in files whose names say nothing to their author
            cell = "ipykernel_" in self.file or self.file.startswith("<ipython")
            where = f"notebook cell, line {self.line}" if cell else f"{self.file}:{self.line}"
            message += f"\n  {where}\n    {self.text.strip()}"
        return message

    def _render_traceback_(self):
        """What Jupyter shows: the message names the kernel's line; the frames between are the executor's."""
        return [f"{type(self).__name__}: {self}"]


def raised_in_kernel(kind):
    """The class of the error that stands for an exception of another class: both of them, where Python allows that,
    so that ``except ValueError`` has what a kernel raises."""
    try:
        return type("KernelError", (KernelError, kind), {"__module__": __name__})
    except TypeError:
        return KernelError


class OutOfBounds(KernelError, IndexError):
    """An index outside the array. A GPU would read or write someone else's memory, mostly without a word."""


class NotOnAGpu(KernelError, TypeError):
    """The kernel uses Python that cannot be compiled for a GPU. Raised at the launch, before any thread runs."""


class Deadlock(KernelError):
    """Threads wait for one another and can never go on: a divergent barrier or warp operation."""


class TooManyIterations(KernelError):
    """The kernel ran more loop iterations than it was given: most likely a loop that never ends."""


class SourceNotFound(KernelError):
    """The kernel's Python source cannot be read, so the executor cannot follow it."""


class Unsupported(KernelError):
    """The compiled engine cannot take this kernel; the executor can. Raised before anything ran.

    construct: what it cannot take. line: where (None if it is not one place).
    """

    def __init__(self, construct, *, site=None, kernel=""):
        self.construct = construct
        super().__init__(f"the compiled engine does not take {construct}", site=site, kernel=kernel)


class EngineFault(Unsupported):
    """The compiled engine's compiler failed on a kernel, which it should have taken or refused: the fault is the
    engine's."""


class NotFollowed(KernelError):
    """Threads take different ways round a barrier in a manner that the compiled engine cannot follow; the executor
    can."""


class LaunchError(RuntimeError):
    """The launch itself is not possible. ``code`` is the name of the CUDA driver's error where it has one."""

    def __init__(self, reason, code=""):
        self.code = code
        super().__init__(f"{code}: {reason}" if code else reason)

    def _render_traceback_(self):
        return [f"{type(self).__name__}: {self}"]
