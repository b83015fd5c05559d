"""The player in a real browser: keys, buttons, two on one page, no script errors. Skipped without Chromium."""

import re
import shutil
import subprocess

import numpy as np
import pytest
from numba import float32

from dlkernels import cuda
from simt.xray import xray

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium here")


@cuda.jit
def halves(x):
    s = cuda.shared.array(8, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 4
    while step > 0:
        if t < step:
            s[t] += s[t + step]
        cuda.syncthreads()
        step //= 2
    x[t] = s[0]


SCRIPT = """
<script>
const out = [];
window.onerror = (m) => out.push("error " + m);
const figures = document.querySelectorAll(".xray-player");
const read = (f) => f.querySelector("[data-caption]").textContent.split(":")[0] + " | " +
  [...f.querySelectorAll("[data-cell] text")].map((t) => t.textContent).join(",");
const press = (f, key) => f.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const [a, b] = figures;
out.push(read(a));
press(a, "ArrowRight"); out.push(read(a));
press(a, "End"); out.push(read(a));
press(a, "ArrowRight"); out.push(read(a));
press(a, "ArrowLeft"); out.push(read(a));
press(a, "Home"); out.push(read(a));
a.querySelector("[data-do=next]").click(); out.push(read(a));
a.querySelector("input").value = 3; a.querySelector("input").dispatchEvent(new Event("input")); out.push(read(a));
press(a, " "); out.push(a.querySelector("[data-do=play]").textContent);
press(a, " "); out.push(a.querySelector("[data-do=play]").textContent);
out.push("other " + read(b));
out.push("hidden " + a.querySelector("[data-controls]").hidden);
document.body.textContent = "RESULT" + out.join(";") + "END";
</script>
"""


def test_keys_buttons_and_two_on_a_page(tmp_path):
    x = np.arange(8, dtype=np.float32)
    replay = xray(halves, 1, 8, snapshots=True)(x).replay()
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{replay._repr_html_()}{replay._repr_html_()}{SCRIPT}", "utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = re.search("RESULT(.*)END", done.stdout, re.S)
    assert found, done.stderr[-500:]
    # 0..7, then pairs 4 apart are added: 4 6 8 10, then 2 apart: 12 16, then 28. The last step is the end.
    start, first, second, third = ("0,1,2,3,4,5,6,7", "4,6,8,10,4,5,6,7", "12,16,8,10,4,5,6,7", "28,16,8,10,4,5,6,7")
    assert found[1].split(";") == [
        f"1 of 5 | {start}",
        f"2 of 5 | {first}",
        f"5 of 5 | {third}",
        f"5 of 5 | {third}",
        f"4 of 5 | {third}",
        f"1 of 5 | {start}",
        f"2 of 5 | {first}",
        f"4 of 5 | {third}",
        "Stop",
        "Play",
        f"other 1 of 5 | {start}",
        "hidden false",
    ]
    assert second in replay.text.replace(" ", ",")
