"""The machine card: what a reader must know about a machine to judge a number measured on it.

No host name, user name or path is on it: a card may be published. What cannot be found out is "unknown".
"""

import contextlib
import platform
import shutil
import subprocess
from importlib import metadata
from pathlib import Path

import numba
import numpy as np
import psutil

from dlkernels.simd import instruction_set, vector_width

from .table import Table

UNKNOWN = "unknown"
PACKAGES = ("dlkernels", "numba", "llvmlite", "numpy", "torch", "numba-cuda", "cupy-cuda13x")
CPU_FOLDER = Path("/sys/devices/system/cpu/cpu0")


class MachineCard(dict):
    """A dict of labelled facts, and a dict of ``packages``; prints as a table."""

    def table(self):
        rows = [(label, value) for label, value in self.items() if label != "packages"]
        rows.append(("packages", ", ".join(map(" ".join, self["packages"].items()))))
        return Table(("", "this machine"), rows)

    def __str__(self):
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self):
        return self.table()._repr_html_()

    def in_short(self):
        """One line: ``AMD EPYC, 2 cores, AVX-512, Linux``."""
        system = self["system"].split(",")[0]
        return ", ".join([self["CPU"], self["cores"].split(",")[0], self["vectors"].split(",")[0], system])


def machine_card():
    """The `MachineCard` of this machine."""
    return MachineCard(
        {
            "CPU": _or_unknown(_cpu_model),
            "cores": _or_unknown(_cores),
            "vectors": f"{instruction_set()}, {vector_width(np.float32)} float32 in one",
            "caches": _or_unknown(lambda: _describe_caches(caches())),
            "memory": _or_unknown(lambda: f"{psutil.virtual_memory().total / 2**30:.0f} GiB"),
            "GPU": _or_unknown(_gpu),
            "system": _or_unknown(_system),
            "Python": f"{platform.python_version()} ({platform.python_implementation()})",
            "threads": f"numba {numba.get_num_threads()}, {threading_layer()}",
            "BLAS": _or_unknown(_blas),
            "packages": _versions(),
        }
    )


def _or_unknown(find):
    try:
        return find() or UNKNOWN
    except Exception:  # a card must never stop a benchmark, whatever a machine answers
        return UNKNOWN


def _cpu_model():
    system = platform.system()
    if system == "Darwin":
        return _sysctl("machdep.cpu.brand_string")
    if system == "Windows":
        import winreg

        key = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as processor:
            return winreg.QueryValueEx(processor, "ProcessorNameString")[0].strip()
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.lower().startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _cores():
    physical, logical = psutil.cpu_count(logical=False), psutil.cpu_count()
    cores = f"{physical or logical} cores" if (physical or logical) != 1 else "1 core"
    return f"{cores}, {logical} hardware threads" if physical and physical != logical else cores


def caches():
    """Data caches of the first core: a list of ``(level, bytes, cores that share it)``, nearest first.

    Empty where the system does not say (Windows).
    """
    if platform.system() == "Darwin":
        # Apple's performance cores come first and have the larger caches.
        levels = []
        for level, names in {1: ("l1dcachesize",), 2: ("l2cachesize",), 3: ("l3cachesize",)}.items():
            for name in names:
                size = _sysctl(f"hw.perflevel0.{name}") or _sysctl(f"hw.{name}")
                if size and int(size):
                    shared = _sysctl("hw.perflevel0.cpusperl2") if level == 2 else None
                    levels.append((level, int(size), int(shared or 1)))
        return levels
    levels = []
    for folder in sorted((CPU_FOLDER / "cache").glob("index*")):
        with contextlib.suppress(OSError, ValueError):
            if (folder / "type").read_text().strip() != "Instruction":
                level = int((folder / "level").read_text())
                size = _bytes((folder / "size").read_text().strip())
                levels.append((level, size, _count((folder / "shared_cpu_list").read_text().strip())))
    return sorted(levels)


def last_level_cache():
    """Bytes of the largest cache, or 32 MiB where the system does not say."""
    return max((size for _, size, _ in caches()), default=32 * 2**20)


def _describe_caches(levels):
    parts = []
    for level, size, shared in levels:
        text = f"{size // 2**20} MiB" if size >= 2**20 and size % 2**20 == 0 else f"{size // 2**10} KiB"
        parts.append(f"L{level}{'d' if level == 1 else ''} {text}" + (f" shared by {shared}" if shared > 1 else ""))
    return ", ".join(parts)


def _bytes(text):
    """``48K`` -> 49152."""
    factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(text[-1:], 1)
    return int(text.rstrip("KMG")) * factor


def _count(cpus):
    """How many CPUs a list like ``0-3,8`` names."""
    ends = [part.split("-") for part in cpus.split(",")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def _sysctl(name):
    return _output("sysctl", "-n", name)


def _output(*command):
    """What a command prints, or None where it is missing, fails or hangs."""
    if not shutil.which(command[0]):
        return None
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _gpu():
    """Name, memory and driver of each NVIDIA GPU; asks the driver's own tool, so nothing is initialised."""
    fields = "name,memory.total,compute_cap,driver_version"
    listing = _output("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader")
    if not listing:
        return "none found"
    described = []
    for line in listing.splitlines():
        name, memory, capability, driver = (part.strip() for part in line.split(","))
        described.append(f"{name}, {memory}, compute capability {capability}, driver {driver}")
    return "; ".join(described)


def _system():
    name, release = platform.system(), ".".join(platform.release().split(".")[:2])
    if name == "Darwin":
        name, release = "macOS", platform.mac_ver()[0]
    elif name == "Linux":
        with contextlib.suppress(OSError):
            release += f", {platform.freedesktop_os_release()['PRETTY_NAME']}"
    return f"{name} {release} ({platform.machine()})"


def threading_layer():
    """numba's threading layer: tbb, omp or workqueue; known only after the first parallel function ran."""
    try:
        return f"layer {numba.threading_layer()}"
    except ValueError:
        return "layer not started"


def _blas():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    kernels = blas_kernels()
    return f"{blas['name']} {blas['version']}" + (f", kernels for {kernels}" if kernels else "")


def blas_kernels():
    """For which processor the kernels of NumPy's BLAS were made that it chose when it started, or None.

    OpenBLAS chooses by what the processor can do, unless OPENBLAS_CORETYPE tells it otherwise (see peers.py).
    """
    with contextlib.suppress(ImportError):
        from threadpoolctl import threadpool_info

        for library in threadpool_info():
            if library["user_api"] == "blas" and library.get("architecture"):
                return library["architecture"]
    return None


def _versions():
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[package] = metadata.version(package)
    return versions
