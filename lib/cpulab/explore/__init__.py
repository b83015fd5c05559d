"""Threads on a CPU, seen: every schedule that matters.

explore   runs ordinary `threading` code under many schedules and shows the one that breaks it
replay    runs one of them again
Program   a small program that is played under a schedule given step by step (given.py)
pause     a place where a thread can be interrupted, for code that the explorer does not look into
tell      a step of its own in the table, for what a check sees

Its files, in reading order:

a run         scheduler.py, policies.py (who goes on), tracing.py (points), sites.py (what is accessed)
stand-ins     locks.py, queues.py, workers.py, substitution.py (put in place of names), naming.py (what the program calls them)
the search    exploration.py (many runs), rounds.py (states that come again), given.py (a schedule given step by step)
for people    findings.py, report.py, picture.py
"""

from .exploration import Schedule, explore, replay
from .findings import Finding
from .given import Program
from .report import Report, Run
from .scheduler import pause, tell

__all__ = ["Finding", "Program", "Report", "Run", "Schedule", "explore", "pause", "replay", "tell"]
