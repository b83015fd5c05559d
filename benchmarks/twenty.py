"""The twenty claims of chapter 17 on this machine: every experiment of claims/, once; two minutes, on a quiet machine.

python benchmarks/run.py twenty           results/twenty_NAME.json, NAME: the kind of processor and its cores
python benchmarks/run.py twenty --quick   a first look, not recorded
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


def stored_as(name):
    import os

    import llvmlite.binding

    return f"{name}_{llvmlite.binding.get_host_cpu_name()}_{os.cpu_count()}"


def benchmark(quick=False):
    import claims

    found = {}
    for number in claims.NUMBERS:
        found[str(number)] = figures = claims.measured(number, quick)
        for part in claims.claim(number).PARTS:
            value = figures[part.name]
            print(
                f"{number:2} {part.says}: {value:.3g} ({part.rule}) {'holds' if part.holds(value) else 'does not hold'}",
                flush=True,
            )
    return found
