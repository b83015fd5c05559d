"""What the compiler makes of a kernel, for a real GPU architecture, on a machine without a GPU.

    view = compiled(kernel, "void(float32[::1], float32[::1])", "sm_90")
    print(view)                  # registers, spills, shared bytes, instruction mix, main loop
    view.occupancy(256)          # blocks of 256 threads that fit on one SM

numba-cuda compiles the kernel to LTO-IR, nvJitLink turns that into machine code and reports registers and
spills (the same numbers as ``ptxas -v``), nvdisasm prints the instructions. All three come with the ``gpu``
extra. Where it is not installed, `Unavailable` is raised, and its text says what to install.
"""

import contextlib
import importlib
import re
import shutil
import subprocess
import tempfile
import types
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path

from ..retargeting import retarget
from . import sass
from .occupancy import capability
from .occupancy import occupancy as _occupancy

_INSTALL = (
    "The compiled view needs numba-cuda with the CUDA 13 compiler packages and nvdisasm. "
    "Install them with `pip install 'dlkernels[gpu]'` (Linux or Windows; no GPU is needed)."
)


class Unavailable(RuntimeError):
    """The compiler packages are not installed here. The message says how to install them."""


@dataclass(frozen=True)
class Compiled:
    """One kernel compiled for one signature and architecture.

    registers: 32-bit registers per thread. spill_store_bytes, spill_load_bytes, stack_bytes: bytes per
    thread. shared_bytes: static shared memory per block. code: its instructions, `sass.Code` or (of a recorded view)
    `sass.CountedCode`: only what asks for them waits for nvdisasm. origin: "compiled here", or when it was recorded.
    """

    kernel: str
    signature: str
    arch: str
    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int
    shared_bytes: int
    code: sass.Code | sass.CountedCode = field(repr=False)
    origin: str = "compiled here"

    @property
    def mix(self):
        """`sass.Mix` of the whole kernel."""
        return self.code.mix

    @property
    def main_loop(self):
        """`sass.Mix` of the hottest loop; total 0 where there is no loop."""
        return self.code.main_loop

    @property
    def sass(self):
        """The listing of nvdisasm; of a recorded view, nothing."""
        return self.code.listing

    @property
    def spills(self):
        """True where values were moved to local memory because registers ran out."""
        return bool(self.spill_store_bytes or self.spill_load_bytes)

    def occupancy(self, threads, dynamic_shared_bytes=0):
        """Theoretical `Occupancy` at ``threads`` threads per block."""
        return _occupancy(self.arch, threads, self.registers, self.shared_bytes + dynamic_shared_bytes)

    def to_dict(self):
        return {
            "kernel": self.kernel,
            "signature": self.signature,
            "arch": self.arch,
            "registers": self.registers,
            "spill_store_bytes": self.spill_store_bytes,
            "spill_load_bytes": self.spill_load_bytes,
            "stack_bytes": self.stack_bytes,
            "shared_bytes": self.shared_bytes,
            "mix": self.mix.to_dict(),
            "main_loop": self.main_loop.to_dict(),
        }

    @classmethod
    def from_dict(cls, kept, origin):
        """A view from its `to_dict`, kept by whoever compiled it; ``origin`` says when."""
        mixes = {name: sass.Mix(kept[name]["total"], dict(kept[name]["counts"])) for name in ("mix", "main_loop")}
        plain = {f.name: kept[f.name] for f in fields(cls) if f.name in kept}
        return cls(**plain, code=sass.CountedCode(**mixes), origin=origin)

    def __str__(self):
        lines = [
            f"{self.kernel} compiled for {self.arch} ({self.origin})",
            f"  registers per thread  {self.registers}",
            f"  spilled bytes         {self.spill_store_bytes} stored, {self.spill_load_bytes} loaded",
            f"  stack bytes           {self.stack_bytes}",
            f"  static shared bytes   {self.shared_bytes}",
            "",
            f"  {'instructions':<20}{'whole kernel':>14}{'main loop':>12}",
            f"  {'total':<20}{self.mix.total:>14}{self.main_loop.total:>12}",
        ]
        for kind, count in self.mix.interesting():
            lines.append(f"  {kind:<20}{count:>14}{self.main_loop.counts.get(kind, 0):>12}")
        lines.append(f"  {'share of FFMA':<20}{self.mix.ffma_share:>14.0%}{self.main_loop.ffma_share:>12.0%}")
        return "\n".join(lines)


def compiled(kernel, signature, arch="sm_90", fastmath=False):
    """Compile ``kernel`` offline and return a `Compiled`.

    kernel: made by ``@cuda.jit`` of ``dlkernels.cuda`` or of numba, or a plain function.
    signature: as numba takes it, ``"void(float32[:, ::1], int32)"`` or a tuple of numba types, or a tuple of
        example arguments. Say ``::1`` for a contiguous last axis: the compiler then knows more.
    arch: ``"sm_75"``, ``"sm_80"``, ``"sm_90"``, ``(9, 0)`` ...
    """
    tools = _toolchain()
    cc = capability(arch)
    function = getattr(kernel, "py_func", kernel)
    if not callable(function):
        raise TypeError(f"kernel is a {type(kernel).__name__}; expected a function made by @cuda.jit.")
    parameters = _types(signature)
    codes = lto_ir(function, parameters, cc, fastmath)
    cubin, log = _link(tools.nvjitlink, codes, cc)
    return Compiled(
        kernel=function.__name__,
        signature=str(signature) if isinstance(signature, str) else f"({', '.join(map(str, parameters))})",
        arch=f"sm_{cc[0]}{cc[1]}",
        **_resources(log),
        code=sass.Code(partial(_disassemble, tools.nvdisasm, cubin)),
    )


def lto_ir(function, parameters, cc, fastmath=False):
    """What numba-cuda makes of a kernel before it is linked: several pieces of code. Its errors where it does not take it."""
    cuda = importlib.import_module("numba.cuda")
    target = retarget(function, cuda)
    with _pretend_device(cc):
        return cuda.compile_all(
            target, parameters, device=False, abi="numba", cc=cc, output="ltoir", fastmath=fastmath
        )[0]


def available():
    """True where `compiled` can work on this machine."""
    try:
        _toolchain()
    except Unavailable:
        return False
    return True


@dataclass(frozen=True)
class _Tools:
    cuda: object
    nvjitlink: object
    nvdisasm: str


def _toolchain():
    try:
        config = importlib.import_module("numba").config
        cuda = importlib.import_module("numba.cuda")
        nvjitlink = importlib.import_module("cuda.bindings.nvjitlink")
        pathfinder = importlib.import_module("cuda.pathfinder")
    except ImportError as error:
        raise Unavailable(f"{_INSTALL} (missing here: {error.name or error})") from error
    if config.ENABLE_CUDASIM:
        raise Unavailable("numba's simulator is in use in this process, and it compiles nothing.")
    for library in ("nvvm", "nvrtc", "nvJitLink"):
        try:
            pathfinder.load_nvidia_dynamic_lib(library)
        except pathfinder.DynamicLibNotFoundError as error:
            raise Unavailable(f"{_INSTALL} (missing here: the library {library})") from error
    nvdisasm = pathfinder.find_nvidia_binary_utility("nvdisasm") or shutil.which("nvdisasm")
    if nvdisasm is None:
        raise Unavailable(f"{_INSTALL} (missing here: nvdisasm)")
    return _Tools(cuda, nvjitlink, nvdisasm)


@contextlib.contextmanager
def _pretend_device(cc):
    """Numba asks the current device for the architecture of a device function, even where one is given."""
    dispatcher = importlib.import_module("numba.cuda.dispatcher")
    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: types.SimpleNamespace(compute_capability=cc)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


def _types(signature):
    """What compile_all takes: a signature string as it is, types as a tuple, example values by their type."""
    if isinstance(signature, str):
        return signature
    import numba

    if not isinstance(signature, tuple | list):
        return signature  # a numba signature object
    return tuple(a if isinstance(a, numba.types.Type) else numba.typeof(a) for a in signature)


def _link(nvjitlink, codes, cc):
    """Machine code (bytes) and the linker's log of resources."""
    try:
        return _linked(nvjitlink, codes, cc)
    except nvjitlink.nvJitLinkError:  # a barrier of the grid is a function of the device's runtime
        libraries = importlib.import_module("numba.cuda.cudadrv.libs")
        return _linked(nvjitlink, codes, cc, [libraries.get_cudalib("cudadevrt", static=True)])


def _linked(nvjitlink, codes, cc, libraries=()):
    options = [f"-arch=sm_{cc[0]}{cc[1]}", "-lto", "-verbose"]
    handle = nvjitlink.create(len(options), options)
    try:
        for number, code in enumerate(codes):
            data = getattr(code, "code", code)
            nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, data, len(data), f"part{number}")
        for library in libraries:
            nvjitlink.add_file(handle, nvjitlink.InputType.LIBRARY, library)
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    finally:
        nvjitlink.destroy(handle)
    return bytes(cubin), log.decode(errors="replace")


def _disassemble(nvdisasm, cubin):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        done = subprocess.run([nvdisasm, "-c", str(path)], capture_output=True, text=True, check=True)
    return done.stdout


def _resources(log):
    """Registers, spills, stack and shared bytes of the entry function, from the linker's log."""
    entry = log[log.rfind("Compiling entry function") :]
    registers = re.search(r"Used (\d+) registers", entry)
    if registers is None:
        raise RuntimeError(f"The linker's log names no registers; it says:\n{log.strip()}")
    matches = {
        name: re.search(pattern, entry)
        for name, pattern in {
            "stack_bytes": r"(\d+) bytes stack frame",
            "spill_store_bytes": r"(\d+) bytes spill stores",
            "spill_load_bytes": r"(\d+) bytes spill loads",
            "shared_bytes": r"(\d+) bytes smem",
        }.items()
    }
    return {"registers": int(registers[1]), **{n: int(m[1]) if m else 0 for n, m in matches.items()}}
