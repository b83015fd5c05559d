"""Time, measured peaks, rooflines and the machine they belong to.

ratio(peer, ours)       how much faster, measured fairly on a noisy machine
times({...})            several candidates at once
peaks()                 FLOP/s and byte/s that this machine reaches at most
roofline([...])         the picture of both, with its table and its text alternative
machine_card()          what was measured on; record(), recorded(): results kept with their provenance
"""

from .limits import STREAM, Peaks, peaks
from .machine import MachineCard, machine_card
from .plot import Point, Roof, alt_text, roofline, roofline_table, roofs
from .records import Recorded, provenance, record, recorded
from .table import Table, with_unit
from .timing import Clock, Ratio, Times, limit_threads, ratio, times

__all__ = [
    "STREAM",
    "Clock",
    "MachineCard",
    "Peaks",
    "Point",
    "Ratio",
    "Recorded",
    "Roof",
    "Table",
    "Times",
    "alt_text",
    "limit_threads",
    "machine_card",
    "peaks",
    "provenance",
    "ratio",
    "record",
    "recorded",
    "roofline",
    "roofline_table",
    "roofs",
    "times",
    "with_unit",
]
