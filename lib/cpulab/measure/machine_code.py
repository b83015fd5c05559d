"""What the compiler for NVIDIA GPUs makes of a GPU rung: asked now where it is installed, else as it was recorded.

    view = machine_code(rung, "sm_80")       # a `simt.xray.Compiled`: registers, spills, instruction mix, main loop
    view.origin                              # "compiled here", or "recorded on 22 November 2026"

The record, benchmarks/results/compiled.json, is made by ``python benchmarks/run.py compiled``.
"""

import datetime
import functools

from .records import recorded

RECORD = "compiled"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


def machine_code(rung, arch="sm_80", kernel=0, live=None):
    """The `simt.xray.Compiled` of a rung's kernel, for float32 (the kernel's first signature).

    rung: a GPU row of `dlkernels.implementations`, or anything with ``name`` and ``kernels``. kernel: which of its kernels.
    live: False takes the record also where the compiler is installed; True asks for the compiler.
    """
    from simt.xray import available, compiled

    code, signatures = rung.kernels[kernel]
    if available() if live is None else live:
        return compiled(code, signatures[0], arch)
    return _from_record(rung.name, kernel, signatures[0], arch)


def _from_record(name, kernel, signature, arch):
    from simt.xray import Compiled

    views, origin = _views()
    kept = views.get((name, kernel, signature, arch))
    if kept is None:
        raise LookupError(
            f"kernel {kernel} of {name} was not recorded for {arch} with {signature}; "
            "`make gpu` installs the compiler, `python benchmarks/run.py compiled` records."
        )
    return Compiled.from_dict(kept, origin)


@functools.cache
def _views():
    """What is recorded, by (rung, number of its kernel, signature, architecture); and when that was."""
    record = recorded(RECORD)
    when = datetime.datetime.fromisoformat(record.provenance["date"])
    views = {(v["rung"], v["number"], v["signature"], v["arch"]): v for v in record.data["views"]}
    return views, f"recorded on {when.day} {when:%B %Y}"
