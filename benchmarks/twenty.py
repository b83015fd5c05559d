"""The twenty claims of chapter 17 on this machine: every experiment of twenty_claims/, once; two minutes, on a quiet
machine.

python benchmarks/run.py twenty           results/twenty_NAME.json, NAME: the kind of processor and its cores
python benchmarks/run.py twenty --quick   a first look, not recorded
"""

import math
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))


def stored_as(name):
    import os

    import llvmlite.binding

    return f"{name}_{llvmlite.binding.get_host_cpu_name()}_{os.cpu_count()}"


def benchmark(quick=False):
    import twenty_claims as claims

    rows = []
    for number in claims.NUMBERS:
        module, figures = claims.one(number), claims.measured(number, quick)
        for part in module.PARTS:
            value = figures[part.name]
            rows.append({"number": number, "claim": module.CLAIM, **described(part), "value": value})
            holds = "holds" if part.holds(value) else "does not hold"
            print(f"{number:2} {part.says}: {value:.3g} ({part.rule}) {holds}", flush=True)
    return rows


def described(part):
    """What JSON can hold of a part, without its figure; bounds that are not there are None."""
    kept = asdict(part)
    return {name: None if value in (math.inf, -math.inf) else value for name, value in kept.items()}
