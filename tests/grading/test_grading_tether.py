"""A sandbox ends with its grader, also one that is killed at the very moment in which the sandbox starts."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from coursework.grading import sandbox

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such tie")

GRADER = """
import os, subprocess, sys
from coursework.grading.sandbox import Limits, Sandbox
box = Sandbox({mode!r}, Limits()).__enter__()
subprocess.Popen(box.argv("-c", "import time; time.sleep(600)"), env=box.environment(), start_new_session=True)
print(box.folder, flush=True)
{then}
"""


@pytest.mark.parametrize("mode", ["bwrap", "rlimit"])
@pytest.mark.parametrize("then", ["os._exit(9)", "import time; time.sleep(1.5); os._exit(9)"], ids=["at once", "later"])
def test_nothing_outlives_a_killed_grader(mode, then):
    if mode == "bwrap" and sandbox.why_no_bwrap():
        pytest.skip(sandbox.why_no_bwrap())
    done = subprocess.run(
        [sys.executable, "-c", GRADER.format(mode=mode, then=then)], stdout=subprocess.PIPE, text=True, timeout=600
    )
    folder = done.stdout.strip()
    assert folder
    end = time.monotonic() + 120
    while (left := _with(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    assert left == []
    sandbox.sweep()
    assert not os.path.exists(folder)


def _with(folder):
    return [p.info["cmdline"] for p in psutil.process_iter(["cmdline"]) if folder in " ".join(p.info["cmdline"] or ())]
