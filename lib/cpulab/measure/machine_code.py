"""What the compiler for NVIDIA GPUs makes of a GPU rung, as it was recorded: the same on every machine, at once.

    view = machine_code(rung, "sm_80")       # a `simt.xray.Compiled`: registers, spills, instruction mix, main loop
    view.origin                              # "recorded on 22 November 2026"

The record, benchmarks/results/compiled.json, is made by ``python benchmarks/run.py compiled``. Tests compare it with
the compiler; a kernel of your own goes to ``simt.xray.compiled``.
"""

import datetime
import functools

from .records import recorded

RECORD = "compiled"
ARCHITECTURES = ("sm_75", "sm_80", "sm_90")


def machine_code(rung, arch="sm_80", kernel=0, live=False):
    """The `simt.xray.Compiled` of a rung's kernel, for float32 (the kernel's first signature).

    rung: a GPU row of `dlkernels.implementations`, or anything with ``name`` and ``kernels``. kernel: which of its
    kernels.
    live: True asks the compiler, which takes a second or so; it must be installed (`make gpu`).
    Raises LookupError for what was not recorded.
    """
    from simt.xray import Compiled, compiled

    code, signatures = rung.kernels[kernel]
    if live:
        return compiled(code, signatures[0], arch)
    views, origin = _views()
    kept = views.get((rung.name, kernel, signatures[0], arch))
    if kept is None:
        raise LookupError(
            f"kernel {kernel} of {rung.name} was not recorded for {arch} with {signatures[0]}; "
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
