"""The host's side of OpenCL: a device that was chosen and tried, programs, checked launches, buffers, events, images.

    here = device()                                   # a GPU's OpenCL, or PoCL, or whatever compiles and runs
    program = here.program("add.cl", real="float")    # a file of kernels/, or a Path, with its macros
    x, out = here.array(np.arange(1000, dtype=np.float32)), here.empty(1000, np.float32)
    event = program.add(1024, 64, x, x, out, 1000)    # NDRange, work-group, arguments
    out.get(), milliseconds(event)

pyopencl does the work; what stands here says in words what a driver says in numbers, and checks what it does not: the
types of arguments, and an NDRange that work-groups do not divide. Specification: Khronos, The OpenCL Specification,
version 3.0, chapters 3 to 5.
"""

import contextlib
import functools
import math
import os
import re
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

KERNELS = Path(__file__).resolve().parent / "kernels"
INSTALL = "make opencl"
KINDS = ("gpu", "accelerator", "cpu")  # in this order they are tried
TRIAL = "__kernel void trial(__global float *x) { x[get_global_id(0)] += 1.0f; }"

#: what a scalar argument is handed over as
SCALARS = {
    "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32,
    "long": np.int64, "ulong": np.uint64, "float": np.float32, "double": np.float64,
}  # fmt: skip


class Unavailable(ImportError):
    """No OpenCL device that compiles and runs a kernel; the message has the command that installs one."""


class BuildError(Exception):
    """A program that does not compile: its message shows each error with its line."""


# ---- choosing --------------------------------------------------------------------------------------------------------


def _driver():
    """The module pyopencl; `Unavailable` where it is not installed."""
    try:
        import pyopencl
        import pyopencl.array
    except ImportError as error:
        raise Unavailable(f"pyopencl is not installed ({error}). Install it, and a device: {INSTALL}") from None
    return pyopencl


@functools.cache
def device(kind=None):
    """The `Device` that all of the library uses: of those that compile and run a small kernel the first GPU, else
    another accelerator, else a CPU; of several platforms the newest.

    kind: "gpu", "accelerator" or "cpu", for one of these only; None: what the variable DLKERNELS_OPENCL says, else
    any. Raises `Unavailable` where there is none, ValueError for another kind.
    """
    kind = kind or os.environ.get("DLKERNELS_OPENCL") or None
    if kind not in (None, *KINDS):
        raise ValueError(f"kind is {kind!r}; expected {', '.join(map(repr, KINDS))}, or None for any.")
    cl, failed = _driver(), []
    for candidate in sorted(_devices(cl, kind), key=lambda candidate: _rank(cl, candidate)):
        try:
            return _tried(cl, candidate)
        except (cl.Error, BuildError, ArithmeticError) as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            failed.append(f"  {candidate.name.strip()} of {candidate.platform.version.strip()}: {reason[0]}")
    told = "\n".join(["None of these compiled and ran a small kernel:", *failed]) if failed else "No device was found."
    raise Unavailable(f"OpenCL has no {kind or 'usable'} device here. {told}\nPoCL, which runs on CPUs: {INSTALL}")


def available():
    """Whether `device` finds one."""
    try:
        return bool(device())
    except Unavailable:
        return False


def _devices(cl, kind):
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # the loader found none
        return []
    found = []
    for platform in platforms:
        with contextlib.suppress(cl.Error):  # a platform without devices
            found += platform.get_devices()
    return [device for device in found if kind in (None, kind_of(cl, device))]


def kind_of(cl, device):
    """ "gpu", "accelerator" or "cpu"."""
    of = cl.device_type
    return "gpu" if device.type & of.GPU else "accelerator" if device.type & of.ACCELERATOR else "cpu"


def _rank(cl, device):
    """Where a device stands in the queue of those to try."""
    numbers = [int(number) for number in re.findall(r"\d+", device.platform.version)]
    return KINDS.index(kind_of(cl, device)), [-number for number in numbers[:4]]


def _tried(cl, device):
    """The device, after it compiled and ran a kernel; what the driver raises, or ArithmeticError for a wrong result."""
    there = Device(cl, device)
    x = there.array(np.arange(3, dtype=np.float32))
    there.program(TRIAL).trial(3, 1, x).wait()
    if x.get().tolist() != [1, 2, 3]:
        raise ArithmeticError(f"a small kernel gave {x.get().tolist()}; expected [1, 2, 3].")
    return there


# ---- a device and what belongs to it ---------------------------------------------------------------------------------


class Device:
    """A device, with its context and a queue in order that keeps times. cl: pyopencl, for all that is not here."""

    def __init__(self, cl, device):
        self.cl, self.device = cl, device
        self.context = cl.Context([device])
        self.default = self.queue()
        self.name, self.version = device.name.strip(), device.platform.version.strip()
        self.kind, self.units = kind_of(cl, device), device.max_compute_units
        self.local_bytes, self.largest_group = device.local_mem_size, device.max_work_group_size
        self.has_double = bool(device.double_fp_config)
        self.has_sub_groups = "cl_khr_subgroups" in device.extensions.split()
        self.programs, self.lock = {}, threading.Lock()

    def __repr__(self):
        return f"{self.name} ({self.kind}), {self.version}"

    def queue(self, out_of_order=False):
        """A new queue. out_of_order: commands wait for nothing but the events they are given as `after`."""
        of = self.cl.command_queue_properties
        return self.cl.CommandQueue(
            self.context, self.device, of.PROFILING_ENABLE | (of.OUT_OF_ORDER_EXEC_MODE_ENABLE if out_of_order else 0)
        )

    def program(self, *sources, **macros):
        """The `Program` of these sources, one after the other; built once for each set of macros.

        sources: names of files in kernels/, Paths, or OpenCL C itself (a string with a line break or a brace).
        macros: what the preprocessor replaces, real="float". Raises `BuildError`, FileNotFoundError.
        """
        texts = tuple(map(named, sources))
        key = texts, tuple(sorted(macros.items()))
        with self.lock:
            if key not in self.programs:
                self.programs[key] = Program(self, texts, macros)
            return self.programs[key]

    def array(self, x):
        """A copy of a NumPy array in the device's memory (a pyopencl.array.Array: .shape, .dtype, .get())."""
        return self.cl.array.to_device(self.default, np.ascontiguousarray(x))

    def empty(self, shape, dtype=np.float32):
        """An array in the device's memory whose numbers are not set."""
        return self.cl.array.empty(self.default, shape, dtype)

    def local(self, count, dtype=np.float32):
        """Local memory for a kernel's `__local` argument: so many elements for each work-group."""
        return self.cl.LocalMemory(max(1, count) * np.dtype(dtype).itemsize)

    def image(self, x):
        """A picture (height, width) of float32 as a read-only image2d_t of one channel: read_imagef(...).x."""
        if x.ndim != 2 or x.dtype != np.float32:
            raise ValueError(f"x is {x.dtype} of shape {x.shape}; expected float32 of shape (height, width).")
        of = self.cl.channel_order.R, self.cl.channel_type.FLOAT
        flags = self.cl.mem_flags.READ_ONLY | self.cl.mem_flags.COPY_HOST_PTR
        return self.cl.create_image(
            self.context, flags, self.cl.ImageFormat(*of), shape=x.shape[::-1], hostbuf=np.ascontiguousarray(x)
        )

    def sampler(self, linear=False, edge="clamp"):
        """How an image is read: linear between pixels or the nearest; edge: "clamp" to the last pixel, or "zero"."""
        modes = {"clamp": self.cl.addressing_mode.CLAMP_TO_EDGE, "zero": self.cl.addressing_mode.CLAMP}
        if edge not in modes:
            raise ValueError(f"edge is {edge!r}; expected 'clamp' or 'zero'.")
        filters = self.cl.filter_mode
        return self.cl.Sampler(self.context, False, modes[edge], filters.LINEAR if linear else filters.NEAREST)


def milliseconds(event):
    """How long a command ran on the device, by the device's clock; waits for its end."""
    event.wait()
    return (event.profile.end - event.profile.start) / 1e6


# ---- programs --------------------------------------------------------------------------------------------------------


def named(source):
    """(name for messages, text) of a source."""
    if isinstance(source, str) and ("{" in source or "\n" in source):
        return "program.cl", source
    path = Path(source) if isinstance(source, Path) else KERNELS / source
    if not path.is_file():
        there = ", ".join(sorted(file.name for file in KERNELS.glob("*.cl")))
        raise FileNotFoundError(f"There is no {path}; expected OpenCL C, a Path, or one of {there}.")
    return path.name, path.read_text(encoding="utf-8")


class Program:
    """Kernels that were compiled for a device: each is an attribute, a `Kernel`."""

    def __init__(self, device, texts, macros):
        cl = device.cl
        self.device, self.texts = device, texts
        several = "\n".join(f'#line 1 "{name}"\n{text}' for name, text in texts)
        source = several if len(texts) > 1 else texts[0][1]
        newer = "CL3.0" if "OpenCL 3" in device.version else "CL2.0"
        standard = [f"-cl-std={newer}"] if "sub_group_" in source else []
        options = ["-cl-kernel-arg-info", *standard, *(f"-D {name}={value}" for name, value in macros.items())]
        with warnings.catch_warnings(), _quiet():
            warnings.simplefilter("ignore", cl.CompilerWarning)
            try:
                self.built = cl.Program(device.context, source).build(options)
            except cl.RuntimeError as error:
                raise BuildError(explained(str(error), texts)) from None
        self.kernels = {kernel.function_name: Kernel(device, kernel) for kernel in self.built.all_kernels()}

    def __getattr__(self, name):
        if name in self.__dict__.get("kernels", {}):
            return self.kernels[name]
        raise AttributeError(
            f"The program has no kernel {name!r}; it has {', '.join(self.__dict__.get('kernels', {}))}."
        )


@contextlib.contextmanager
def _quiet():
    """Without what a driver's compiler writes to the process's stderr: the log has it, too."""
    try:
        kept = os.dup(2)
    except OSError:  # a process without stderr
        yield
        return
    with tempfile.TemporaryFile() as nowhere:
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


MESSAGE = re.compile(r"([\w.<>-]*):?(\d+):(\d+)(?::\d+:\d+)?: (?:(?:fatal )?error: )?(.+)")


def explained(log, texts):
    """The errors of a compiler's log, each with its line of the source and a caret; the log itself where none is
    found."""
    lines, told = {name: text.splitlines() for name, text in texts}, []
    for line in log.splitlines():
        found = MESSAGE.search(line) if "error:" in line else None
        if not found:
            continue
        name = found[1] if found[1] in lines else texts[-1][0]
        row, column = int(found[2]), int(found[3])
        shown = lines[name][row - 1] if 0 < row <= len(lines[name]) else ""
        told.append(f"{name}, line {row}: {found[4]}\n    {shown}\n    {' ' * (column - 1)}^")
    names = " and ".join(name for name, _ in texts)
    return "\n".join([f"{names} does not compile.", *(told or [log.strip()])])


# ---- launches --------------------------------------------------------------------------------------------------------


class Kernel:
    """A kernel; a call puts it into a queue and returns its event."""

    def __init__(self, device, kernel):
        self.device, self.kernel, self.name = device, kernel, kernel.function_name
        info = device.cl.kernel_arg_info
        self.parameters = [
            tuple(kernel.get_arg_info(k, wanted) for wanted in (info.NAME, info.TYPE_NAME, info.ADDRESS_QUALIFIER))
            for k in range(kernel.num_args)
        ]
        self.lock = threading.Lock()  # its arguments are a state

    def __call__(self, work_items, group, *arguments, queue=None, after=()):
        """Run it for each point of an NDRange.

        work_items, group: extents of the NDRange and of a work-group, numbers or tuples. arguments: device arrays,
        images, samplers, `Device.local`, numbers. queue: None for the device's own. after: events to wait for.
        Raises TypeError or ValueError for what does not fit the kernel's parameters.
        """
        if len(arguments) != len(self.parameters):
            wanted = ", ".join(f"{kind} {name}" for name, kind, _ in self.parameters)
            raise TypeError(f"{self.name} got {len(arguments)} arguments; expected {len(self.parameters)}: {wanted}.")
        work_items, group = self._ndrange(work_items, group)
        passed = [self._argument(*pair) for pair in zip(self.parameters, arguments, strict=True)]
        with self.lock:
            return self.kernel(queue or self.device.default, work_items, group, *passed, wait_for=list(after))

    def _ndrange(self, work_items, group):
        work_items, group = (extents if isinstance(extents, tuple) else (extents,) for extents in (work_items, group))
        if len(work_items) != len(group) or not 1 <= len(group) <= 3 or min(*work_items, *group) < 1:
            raise ValueError(
                f"The NDRange of {self.name} is {work_items} and its work-group {group}; expected as many extents of "
                "both, one to three, each at least 1."
            )
        rounded = tuple(-(-n // g) * g for n, g in zip(work_items, group, strict=True))
        if rounded != work_items:
            raise ValueError(
                f"The NDRange of {self.name}, {work_items}, is not divided by its work-group, {group}. Round it up to "
                f"{rounded}, and let the kernel leave out the work-items beyond its data."
            )
        most = self.kernel.get_work_group_info(
            self.device.cl.kernel_work_group_info.WORK_GROUP_SIZE, self.device.device
        )
        if math.prod(group) > most:
            raise ValueError(
                f"A work-group of {self.name} has {math.prod(group)} work-items, {group}; {self.device.name} runs at "
                f"most {most} of this kernel."
            )
        return work_items, group

    def _argument(self, parameter, x):
        """An argument as the driver takes it."""
        cl, (name, kind, space) = self.device.cl, parameter
        label = f"Argument {name} of {self.name}"
        if kind.startswith(("image", "sampler")):
            of = cl.Sampler if kind.startswith("sampler") else cl.Image
            if not isinstance(x, of):
                raise TypeError(f"{label} is {_told(x)}; expected a {kind}: device.{of.__name__.lower()}(...).")
            return x
        if not kind.endswith("*"):
            return self._scalar(label, kind, x)
        if space == cl.kernel_arg_address_qualifier.LOCAL:
            if not isinstance(x, cl.LocalMemory):
                raise TypeError(f"{label} is {_told(x)}; expected local memory: device.local(elements, dtype).")
            return x
        if not isinstance(x, cl.array.Array):
            raise TypeError(f"{label} is {_told(x)}; expected an array on the device: device.array(x).")
        wanted = SCALARS.get(re.sub(r"\d*\*$", "", kind))
        if wanted is not None and x.dtype != wanted:
            raise TypeError(f"{label} has dtype {x.dtype}; expected {np.dtype(wanted)}, for {kind}.")
        if not x.flags.c_contiguous or x.offset:
            raise ValueError(
                f"{label} has strides {x.strides} and begins {x.offset} bytes after its memory; expected a contiguous "
                "array from the beginning, as x.copy() makes it."
            )
        if x.context != self.device.context:
            raise ValueError(f"{label} lies on another device; expected one of {self.device.name}.")
        return x.data

    def _scalar(self, label, kind, x):
        if kind not in SCALARS:  # a struct, by value
            if not isinstance(x, np.void):
                raise TypeError(f"{label} is {_told(x)}; expected a {kind}: an element of a structured NumPy array.")
            return x
        of = np.dtype(SCALARS[kind])
        if isinstance(x, bool | np.bool):
            x = int(x)
        if not isinstance(x, int | float | np.integer | np.floating) or (of.kind in "iu" and x != int(x)):
            raise TypeError(f"{label} is {_told(x)}; expected a number, for {kind}.")
        if of.kind in "iu" and not np.iinfo(of).min <= x <= np.iinfo(of).max:
            raise ValueError(f"{label} is {x}; expected from {np.iinfo(of).min} to {np.iinfo(of).max}, for {kind}.")
        return of.type(x)


def _told(x):
    """A thing in words, for a message."""
    if isinstance(x, np.ndarray):
        return f"a NumPy array of shape {x.shape}"
    return f"{type(x).__name__} {x!r}" if isinstance(x, int | float | str) else type(x).__name__
