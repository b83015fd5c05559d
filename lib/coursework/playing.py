"""Play a task's scenario with an answer, in this process: under chosen schedules, or with real threads.

What comes back is plain data (plain.py), so that it can cross the wall of the sandbox.
"""

import functools
import inspect
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from cpulab.explore import Finding, explore
from cpulab.explore.report import CHECK

from .events import Played
from .judging import judged, short
from .plain import NotPlain, plain

COURSE = Path(__file__).parent
MOST_ROWS = 200  # of the steps that led to a failure
PATIENCE = 10.0  # seconds for one run with real threads


def play(task, answer, arguments, seed=0):
    """The scenario of `task` with `answer` under its schedules.

    Returns {"result", "counts", "finding": {kind, headline, facts, cause, name} or None, "table", "schedules",
    "complete"}. `counts` holds the largest of each count over all schedules.
    """
    last, counts = {}, {}

    def judge(result):
        if isinstance(result, Played):
            for name, n in result.counts.items():
                counts[name] = max(counts.get(name, 0), n)
            result = result.result
        try:
            result = plain(result)
        except NotPlain as error:
            return Finding("type", "the result cannot be looked at", (("got", str(error)),))
        last["result"] = result
        slip = judged(task, arguments, result)
        if slip is None:
            return None
        return Finding(
            slip.kind,
            "wrong result",
            (("expected", slip.expected), ("got", slip.got or short(result))),
            slip.cause,
            until=slip.until,
        )

    # a partial, not a lambda: the explorer must see whose code it is
    scenario = functools.partial(task.scenario, answer, *arguments)
    report = explore(
        scenario, judge=judge, seed=seed, check_folders=[COURSE], given=_given(answer), **task.exploration()
    )
    told = [f for f in report.findings if f.kind != "busy-waiting" or not task.allow_busy_waiting]
    return {
        "result": last.get("result"),
        "counts": counts,
        "finding": asdict(told[0]) if told else None,
        "table": _rows(report.table) if told and task.threaded else [],
        "schedules": report.schedules,
        "complete": report.complete,
        "interruptions": report.run.interruptions,
    }


def _rows(table):
    """The last steps as plain data; none where all are the check's own."""
    if all(code == CHECK for _, _, _, code, _ in table.rows):
        return []
    return [list(row) for row in table.rows[-MOST_ROWS:]]


def _given(answer):
    """The lines of a program of the course's own that is played in the place of an answer."""
    found = []
    for part in answer.__mro__[:-1] if isinstance(answer, type) else (answer,):
        if str(getattr(sys.modules.get(getattr(part, "__module__", None)), "__file__", "")).startswith(str(COURSE)):
            lines, first_line = inspect.getsourcelines(part)
            found.append((inspect.getsourcefile(part), first_line, first_line + len(lines) - 1))
    return found


def stress(task, answer, arguments, times):
    """The scenario with real threads, `times` times in a row, switched as often as Python can.

    Returns {"results": [...], "hung": bool, "error": text or ""}; stops at the first run that fails or hangs.
    """
    before, out = sys.getswitchinterval(), {"results": [], "hung": False, "error": ""}
    hook, threading.excepthook = threading.excepthook, lambda told: out.update(error=_said(told.exc_value))
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(times):
            box = {}
            worker = threading.Thread(target=_real, args=(task, answer, arguments, box), daemon=True)
            worker.start()
            worker.join(PATIENCE)
            if worker.is_alive():
                out["hung"] = True
            elif "error" in box:
                out["error"] = box["error"]
            else:
                out["results"].append(box["result"])
            if out["hung"] or out["error"]:
                break
    finally:
        sys.setswitchinterval(before)
        threading.excepthook = hook
    return out


def _real(task, answer, arguments, box):
    try:
        result = task.scenario(answer, *arguments)
        box["result"] = plain(result.result if isinstance(result, Played) else result)
    except Exception as error:
        box["error"] = _said(error)


def _said(error):
    return f"{type(error).__name__}: {error}"[:300]
