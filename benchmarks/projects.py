"""Other projects' own GPU tests on this package, without a GPU: what passes, what fails and why, what the x-ray says.

    PROJECTS=~/projects python benchmarks/run.py projects           recorded in results/projects.json; takes minutes
    PROJECTS=~/projects python benchmarks/run.py projects --quick   the first file of each; not recorded

PROJECTS is a folder with a checkout of each project, as git clone leaves it: numba-cuda, stumpy. Their code is read
where it lies and is no part of this repository. What they import besides (stumpy: scipy, and pandas before 3) may lie
on PYTHONPATH.

Every test runs under ``pytest --simt``. The first launch of a kernel with arguments of new types is x-rayed where it
has no more than 4096 threads: a test that then fails, or passes, does so with the results of the executor.
"""

import importlib.metadata
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from simt.xray import Unavailable

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parent / "lib"
THREADS, SECONDS = 4096, 60  # of a launch that is x-rayed, at most; for one test
WHOLE, OTHER = " (whole file)", "one of a kind"

#: why files of numba.cuda's own tests are left out -> which
LEFT_OUT = {
    "its compiler: code, caches, debug information, extensions": """
        analysis array_alignment array_reductions byteflow cache_hints caching casting compiler copy_propagate cuda_jit_no_types
        debug debuginfo debuginfo_types device_array_capture dispatcher errors extending extending_types fastmath flow_control
        inline inspect ir ir_utils launch_config_sensitive libdevice lineinfo make_function_to_jit_function numba_interop
        optimization overload retrieve_autoconverted_arrays serialize ssa tracing typeconv typeinfer warning""",
    "ufuncs: `vectorize` and `guvectorize` for a GPU": """
        enums gufunc gufunc_scalar gufunc_scheduling ufuncs vectorize vectorize_complex vectorize_decor vectorize_device
        vectorize_scalar_arg""",
    "other libraries, processes and GPUs": """
        cffi complex cuda_array_interface cupy_bfloat16_interop device_func ipc multigpu multiprocessing stream_api""",
    "kinds of numbers that kernels here do not have": "bfloat16 bfloat16_bindings const_string datetime fp8_bindings",
}

#: name -> where its GPU tests lie, which they are, what they are
PROJECTS = {
    "stumpy": {
        "tests": "tests",
        "files": "test_gpu_*.py",
        "left_out": {},
        "about": "patterns in time series",
        "page": "https://github.com/stumpy-dev/stumpy",
        "needs": ("pandas", "scipy"),
    },
    "numba-cuda": {
        "tests": "numba_cuda/numba/cuda/tests/cudapy",
        "files": "test_*.py",
        "left_out": {reason: names.split() for reason, names in LEFT_OUT.items()},
        "about": "numba.cuda itself",
        "page": "https://github.com/NVIDIA/numba-cuda",
        "needs": (),
    },
}

#: why a test did not pass: the first that is found in its message
CAUSES = {
    "took longer than a minute": "TookTooLong",
    "a process of their own, without this package in it": "CalledProcessError",
    "code for a GPU to look at": "inspect_|nothing is compiled for a GPU",
    "modules and names inside numba": r"No module named 'numba\.cuda|cannot import name|has no '|has no attribute "
    r"'CUDA_",
    "records: what they do besides reading a field": r"[Rr]ecord|a void cannot|ndarray cannot be indexed|ndarray "
    r"cannot be changed",
    "errors: which one comes, and what it says": r"MyError|ValueError: |ValueError$|not raised|index out of range' not",
    "functions of math that numba has for GPUs only": r"is not defined in a kernel",
}


def benchmark(quick=False):
    folder = os.environ.get("PROJECTS")
    if not folder:
        raise Unavailable("PROJECTS names no folder with checkouts of the projects.")
    rows = []
    for name, project in PROJECTS.items():
        checkout = Path(folder).expanduser() / name
        if (checkout / project["tests"]).is_dir():
            start = time.perf_counter()
            found = summary(watched(checkout, project, quick))
            seconds = round(time.perf_counter() - start)
            about = {key: project[key] for key in ("tests", "files", "left_out", "about", "page")}
            packages = {package: importlib.metadata.version(package) for package in project["needs"]}
            rows.append(
                {"name": name, **about, "commit": commit(checkout), "packages": packages, "seconds": seconds, **found}
            )
            print(
                f"{name}: {found['outcomes']}, {len(found['xrayed'])} kernels x-rayed, {len(found['findings'])} "
                "findings"
            )
    return {"threads": THREADS, "rows": rows}


def commit(checkout):
    """The commit that is checked out, and its day."""
    told = subprocess.run(
        ["git", "-C", checkout, "log", "-1", "--format=%H %cs"], capture_output=True, text=True, check=True
    )
    return dict(zip(("hash", "date"), told.stdout.split(), strict=True))


def watched(checkout, project, quick):
    """Run the tests of a project in another process; what `Watch` wrote down."""
    with tempfile.TemporaryDirectory() as folder:
        # a copy of the folder alone: beside the whole package, tests would import that instead of what is installed
        tests = Path(shutil.copytree(checkout / project["tests"], Path(folder) / "tests_of_project"))
        if (tests / "__init__.py").exists():
            (tests / "__init__.py").write_text("")
        left_out = {f"test_{name}.py" for names in project["left_out"].values() for name in names}
        files = [file for file in sorted(tests.glob(project["files"])) if file.name not in left_out]
        paths = [LIBRARY, HERE, checkout, *filter(None, [os.environ.get("PYTHONPATH")])]
        result = Path(folder) / "result.json"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "SIMT_WATCH": str(result)}
        plugins = ["-p", "no:cacheprovider", "-p", "simt.pytest_plugin", "-p", "projects"]
        options = ["--simt", "-q", "--tb=short", "--continue-on-collection-errors", "-c", os.devnull]
        subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, *options, f"--rootdir={folder}", *files[: 1 if quick else None]],
            env=environment,
            check=False,
            cwd=folder,
        )
        return json.loads(result.read_text(encoding="utf-8"))


def summary(told):
    """Counts by file and by cause; {"tests": {name: [outcome, message]}, "kernels": {...}} -> what is recorded."""
    outcomes, skips, causes, files = Counter(), Counter(), {}, {}
    for name, (outcome, message) in told["tests"].items():
        whole = name.endswith(WHOLE)
        kind = "not collected" if whole and outcome == "failed" else outcome
        outcomes[kind] += 1
        files.setdefault(name.removesuffix(WHOLE).partition("::")[0], Counter())[kind] += 1
        if outcome == "failed":
            of = causes.setdefault(cause(message), {"tests": 0, "files": 0})
            of["files" if whole else "tests"] += 1
        if outcome == "skipped":
            skips[re.sub(r"^Skipped: ", "", message)] += 1
    kernels = told["kernels"]
    return {
        "outcomes": dict(outcomes),
        "by_file": {name: dict(count) for name, count in sorted(files.items())},
        "causes": dict(sorted(causes.items(), key=lambda item: (item[0] == OTHER, -sum(item[1].values())))),
        "skips": dict(skips.most_common()),
        "failed": {name: m for name, (outcome, m) in told["tests"].items() if outcome == "failed"},
        "xrayed": sorted(kernels),
        "findings": [{"kernel": kernel, "finding": f} for kernel, found in kernels.items() for f in found],
    }


def cause(message):
    return next((name for name, pattern in CAUSES.items() if re.search(pattern, message)), OTHER)


# -- in the process of the tests ---------------------------------------------------------------------------------------


class TookTooLong(BaseException):
    """A test, longer than SECONDS. No Exception: what it runs may catch those."""


def pytest_configure(config):
    if os.environ.get("SIMT_WATCH"):
        config.pluginmanager.register(Watch(Path(os.environ["SIMT_WATCH"])), "watch")


class Watch:
    """A plugin of pytest that x-rays launches and writes down what became of each test."""

    def __init__(self, result):
        import simt.dispatcher

        self.result, self.tests, self.kernels = result, {}, {}
        self.seen, self.start = set(), simt.dispatcher.start
        simt.dispatcher.start = self.launch

    def launch(self, kernel, grid, block, arguments, shared_bytes):
        import math

        import numpy as np

        from simt.limits import dimensions
        from simt.xray import xray

        code = kernel.py_func.__code__
        types = tuple(str(getattr(x, "dtype", type(x))) for x in arguments)
        threads = math.prod(dimensions(grid, "grid")) * math.prod(dimensions(block, "block"))
        if threads > THREADS or (code, types) in self.seen:
            return self.start(kernel, grid, block, arguments, shared_bytes)
        self.seen.add((code, types))
        with np.errstate(all="ignore"):  # as a launch that is not x-rayed
            report = xray(kernel, grid, block, shared_bytes)(*arguments)
        place = f"{Path(code.co_filename).name} {code.co_qualname.replace('.<locals>', '')}"
        self.kernels.setdefault(place, []).extend(f"{f.kind}: {f.message} ({f.text})" for f in report.findings)

    def pytest_runtest_logreport(self, report):
        self.heard(report.nodeid, report.outcome, report)

    def pytest_collectreport(self, report):
        if report.failed:
            self.heard(report.nodeid + WHOLE, "failed", report)

    def heard(self, name, outcome, report):
        """The worst of what is said of a test counts."""
        rank = ("passed", "skipped", "failed")
        name = name.replace("tests_of_project/", "")
        known = self.tests.get(name)
        if not known or rank.index(outcome) > rank.index(known[0]):
            self.tests[name] = [outcome, said(report)]

    def pytest_runtest_call(self, item):
        def late(*_):
            raise TookTooLong(f"more than {SECONDS} s")

        signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)

    def pytest_runtest_teardown(self, item):
        signal.alarm(0)

    def pytest_runtest_logfinish(self):
        """After every test: a crash of the process loses none."""
        self.result.write_text(json.dumps({"tests": self.tests, "kernels": self.kernels}), encoding="utf-8")


def said(report):
    """The line that says why a test failed or was skipped."""
    text = report.longrepr
    if not text:
        return ""
    if isinstance(text, tuple):
        return text[2]
    crash = getattr(text, "reprcrash", None)
    lines = crash.message if crash else str(text)
    errors = [line[1:].strip() for line in lines.splitlines() if line.startswith("E ")]
    line = (errors or [line for line in lines.splitlines() if line.strip()] or [""])[-1 if errors else 0]
    line = re.sub(r"(CalledProcessError).*", r"\1", line)  # what follows is the code that the process was given
    return re.sub(r"(/[^\s'\"/]+)+/", "", line)[:300]  # the folders of this machine are nobody's business
