"""Threads on a CPU, seen: every schedule that matters.

explore   runs ordinary `threading` code under many schedules and shows the one that breaks it
replay    runs one of them again
pause     a place where a thread can be interrupted, for code that the explorer does not look into

scheduler.py one run     policies.py who goes on    exploration.py the search      locks.py, queues.py, workers.py stand-ins
tracing.py points        sites.py what is accessed  substitution.py names          findings.py, report.py, picture.py
"""

from .exploration import Schedule, explore, replay
from .findings import Finding
from .report import Report, Run
from .scheduler import pause

__all__ = ["Finding", "Report", "Run", "Schedule", "explore", "pause", "replay"]
