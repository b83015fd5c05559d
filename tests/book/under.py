"""Run pages of the book on a machine that its authors did not have: each must run to its end without an error or a
warning.

    python tests/book/under.py [--clock SEED] [--cores N] [--busy N] [--set NAME=VALUE ...] [page ...]

--clock: every time that is measured is multiplied by a random factor of 1/5 to 5 (hostile/sitecustomize.py). --cores:
only so many. --busy: so many other programs run meanwhile. --set: a variable, as NUMBA_CPU_NAME=nehalem or
OPENBLAS_CORETYPE=Haswell. What came out of the pages' statements on times is counted; `run` returns it.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "_ext"))


def notebook(page):
    """The cells of a page, as the book's build reads them."""
    from myst_nb.core.config import NbParserConfig
    from myst_nb.core.read import create_nb_reader
    from myst_parser.config.main import MdParserConfig

    path = ROOT / page
    reader = create_nb_reader(str(path), MdParserConfig(), NbParserConfig(), path.read_text(encoding="utf-8"))
    return reader.read(path.read_text(encoding="utf-8"))


def run(page, timeout=600):
    """(what is wrong, as sentences; the outcomes of its statements on times) of a page, run in this process's
    environment."""
    from claims import marks
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    cells, wrong, outcomes = notebook(page), [], []
    try:
        folder = str((ROOT / page).parent)
        NotebookClient(
            cells, timeout=timeout, resources={"metadata": {"path": folder}}, kernel_name="python3"
        ).execute()
    except CellExecutionError as error:
        wrong.append(f"{page}: a cell failed: " + "\n".join(str(error).splitlines()[-25:]))
    for cell in cells.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                wrong.append(f"{page}: a warning: {output.text[:600]}")
            outcomes += marks("".join(output.get("data", {}).get("text/html", "")))
    return wrong, outcomes


@contextlib.contextmanager
def conditions(clock=None, cores=None, busy=0, variables=None):
    """While the block runs, processes that begin find such a machine. Nothing that is measured is kept for others."""
    before, allowed = dict(os.environ), os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    spinning = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(busy)]
    with tempfile.TemporaryDirectory() as folder:
        as_in_the_book = {"DLKERNELS_MEASURED": "first", "DLKERNELS_QUIET": "1"}
        os.environ.update({"XDG_CACHE_HOME": folder} | as_in_the_book | (variables or {}))
        if clock is not None:
            path = os.pathsep.join([str(HERE / "hostile"), *filter(None, [os.environ.get("PYTHONPATH")])])
            os.environ.update({"CPULAB_HOSTILE": str(clock), "PYTHONPATH": path})
        try:
            if cores:
                os.sched_setaffinity(0, sorted(allowed)[:cores])
            yield
        finally:
            for one in spinning:
                one.kill()
                one.wait()
            if cores:
                os.sched_setaffinity(0, allowed)
            os.environ.clear()
            os.environ.update(before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", help="parts of their names (default: all)")
    parser.add_argument("--clock", metavar="SEED")
    parser.add_argument("--cores", type=int)
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="variables")
    options = parser.parse_args()
    import clocks

    paths = [str(path.relative_to(ROOT)) for path in clocks.pages()]
    failed = 0
    with conditions(options.clock, options.cores, options.busy, dict(one.split("=", 1) for one in options.variables)):
        for page in [path for path in paths if not options.pages or any(part in path for part in options.pages)]:
            wrong, outcomes = run(page)
            failed += bool(wrong)
            counts = Counter(one["outcome"] for one in outcomes)
            print(f"{page}: {'FAILED' if wrong else 'runs'}; {dict(counts)}", flush=True)
            for one in outcomes:
                if one["outcome"] != "held":
                    print(
                        f"    {one['outcome']}: {one['says']}: {one['value']}, expected {one['low']} to {one['high']}"
                    )
            for sentence in wrong:
                print(sentence, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
