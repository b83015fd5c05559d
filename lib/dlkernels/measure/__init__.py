"""Time, measured peaks, rooflines and the machine they belong to.

ratio(peer, ours)       how much faster, measured fairly on a noisy machine
times({...})            several candidates at once
peaks()                 FLOP/s and byte/s that this machine reaches at most
roofline([...])         the picture of both, with its table and its text alternative
Timeline()              which thread ran which piece of work, from when to when, and its picture
strong_scaling(job)     the same job with 1, 2, ... threads, and the serial share that explains it; weak_scaling
machine_card()          what was measured on; record(), recorded(): results kept with their provenance
"""

from .limits import STREAM, Peaks, peaks
from .machine import MachineCard, machine_card
from .plot import Point, Roof, alt_text, roofline, roofline_table, roofs
from .records import Recorded, provenance, record, recorded
from .scaling import (
    StrongScaling,
    WeakScaling,
    amdahl,
    gustafson,
    serial_share,
    strong_scaling,
    weak_scaling,
)
from .table import Table, with_unit
from .timeline import WAIT, Timeline
from .timeline_clock import nanoseconds, new_log, note
from .timeline_plot import draw_timelines
from .timing import Clock, Ratio, Times, limit_threads, ratio, times

__all__ = [
    "STREAM",
    "WAIT",
    "Clock",
    "MachineCard",
    "Peaks",
    "Point",
    "Ratio",
    "Recorded",
    "Roof",
    "StrongScaling",
    "Table",
    "Timeline",
    "Times",
    "WeakScaling",
    "alt_text",
    "amdahl",
    "draw_timelines",
    "gustafson",
    "limit_threads",
    "machine_card",
    "nanoseconds",
    "new_log",
    "note",
    "peaks",
    "provenance",
    "ratio",
    "record",
    "recorded",
    "roofline",
    "roofline_table",
    "roofs",
    "serial_share",
    "strong_scaling",
    "times",
    "weak_scaling",
    "with_unit",
]
