"""Run benchmarks and record their results: ``make bench``.

    python benchmarks/run.py                  all
    python benchmarks/run.py vector           one
    python benchmarks/run.py vector --quick   a first look in seconds; records nothing
    python benchmarks/run.py --stale          make records: of gallery, compiled and proofs, the rows whose kernels
                                              changed

A benchmark is a module beside this file with a function ``benchmark(quick)`` that prints as it goes and returns
what JSON can hold. The result goes to results/NAME.json, with machine, date and versions; a benchmark that fails
leaves the old file as it was. Variables that slow a peer down are taken out of the environment first.
"""

import argparse
import importlib
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import cpulab
from cpulab.measure import machine_card, peers, record, recorded
from simt.xray import Unavailable

BY_KERNEL = "gallery", "compiled", "proofs"  # a row for each kernel; proofs ask the gallery for blocks
HERE = Path(__file__).resolve().parent


def benchmarks():
    """Names of the modules that define ``benchmark(quick)``, found without importing any."""
    files = sorted(HERE.glob("*.py"))
    return [file.stem for file in files if "\ndef benchmark(quick" in file.read_text(encoding="utf-8")]


def main(arguments=None):
    there = benchmarks()
    parser = argparse.ArgumentParser(description="Run benchmarks and record their results.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of: {', '.join(there)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, shorter; records nothing")
    parser.add_argument(
        "--stale", action="store_true", help="make again only what was recorded of kernels that changed"
    )
    options = parser.parse_args(arguments)
    if options.stale:
        options.names = options.names or list(BY_KERNEL)
    measured = Path(cpulab.__file__).resolve().parents[1]
    if measured != HERE.parent / "lib":
        parser.error(
            f"the library of another copy would be measured, {measured}, not that beside this file. Set "
            f"PYTHONPATH={HERE.parent / 'lib'}, or install this copy: pip install -e ."
        )
    unknown = sorted(set(options.names) - set(there))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(there)}")
    if peers.handicaps():  # libraries read them when they are loaded
        return subprocess.call([sys.executable, *sys.argv], env=peers.environment())
    os.environ.setdefault("DLKERNELS_MEASURED", "first")  # what a user has after some calls, from the first on
    print(machine_card(), "\n")
    failed = [name for name in options.names or there if not run(name, options.quick, options.stale)]
    if failed:
        print(f"Failed: {', '.join(failed)}. The other results are recorded.", file=sys.stderr)
    return 1 if failed else 0


def run(name, quick, stale=False):
    """Run one benchmark and record it; False where it raised. What needs a compiler that is not here is left out."""
    start = time.perf_counter()
    try:
        module = importlib.import_module(name)
        data = module.benchmark(quick, kept=recorded(name).data) if stale else module.benchmark(quick)
        if stale and data == recorded(name).data:
            print(f"{name}: all of it is of what is there.\n")
            return True
        if not quick:
            name = module.stored_as(name) if hasattr(module, "stored_as") else name
            print(f"Recorded in {record(name, data, command='make bench').name}.")
    except Unavailable as missing:
        print(f"{name}: left out, what is recorded stays. {missing}\n")
        return True
    except Exception:
        traceback.print_exc()
        return False
    print(f"{name}: {time.perf_counter() - start:.0f} s\n")
    return True


if __name__ == "__main__":
    sys.exit(main())
