"""What the pages on OpenCL show where a device is there, for readers who have none.

    python benchmarks/run.py opencl_pages           recorded in results/opencl_pages.json
    python benchmarks/run.py opencl_pages --quick   printed, not recorded

The code cells of each page run one after the other; of each function behind `@live`, what it prints is kept by its
name.
"""

import contextlib
import io
import re
from pathlib import Path

import opencl
from simt.xray import Unavailable

PAGES = ("16_opencl", "16_kernels")
CHAPTERS = Path(__file__).resolve().parent.parent / "chapters"
CELL = re.compile(r"^```\{code-cell\} ipython3\n((?::[^\n]*\n)*)(.*?)^```$", re.MULTILINE | re.DOTALL)


def cells(page):
    """The source of each code cell of a page."""
    return [found[1] for found in CELL.findall((CHAPTERS / f"{page}.md").read_text(encoding="utf-8"))]


def benchmark(quick=False):
    """{name of a function behind `@live`: what it printed}"""
    if not opencl.available():
        raise Unavailable("no OpenCL device is here: make opencl")
    shown = {}

    def live(function):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            function()
        if function.__name__ in shown:
            raise ValueError(f"two functions are called {function.__name__}; expected a name for each")
        shown[function.__name__] = printed.getvalue()
        print(f"{function.__name__}:\n{printed.getvalue()}")

    for page in PAGES:
        names = {"__name__": page}
        for cell in cells(page):
            names["live"] = live
            exec(re.sub(r"^def live\(", "def _live(", cell, flags=re.MULTILINE), names)
    return shown
