"""Time, measured peaks, rooflines and the machine they belong to.

claim(says, value, low, high)   a statement that a clock decides: told as it came out, never an error
ratio(peer, ours)       how much faster, measured fairly on a noisy machine; faster_or_slower(ratio): in words
times({...})            several candidates at once; fastest({...}): the least of many single calls, for small effects
ThreadClock()           for fastest: the processor time of one thread, whatever else runs
peaks()                 FLOP/s and byte/s that this machine reaches at most
roofline([...])         the picture of both, with its table and its text alternative; roof_picture(): small, for
                        messages
Timeline()              which thread ran which piece of work, from when to when; draw_timelines() draws it
fastest_timeline(run, n) the same of the fastest of several runs of compiled code
line_map(array)         which cache line each element lies in, and who writes to it; line_picture() draws it
new_memory(shape)       an array in pages that nobody has touched; page_faults(): how many the system had to provide
bandwidth_ladder()      byte/s read from each level of memory; latency_ladder(): seconds for one load
strong_scaling(job)     the same job with 1, 2, ... threads, and the serial share that explains it; weak_scaling
hot_loop(function)      the innermost loop of a compiled function, as the processor's instructions
machine_code(rung)      what the compiler for NVIDIA GPUs makes of a kernel, as it was recorded
machine_card()          what was measured on; record(), recorded(): results kept with their provenance
recorded_transfers()    what a GPU took for a vector add with its copies, if one was recorded
experiment(name)        what a GPU took for one of the recorded experiments; ladder(), ladder_table(): for the rungs of
                        an operation; beside_the_clock(): what was counted of its rungs, with the recorded times;
                        overview(): of all
recorded_copy(numbers)  what a GPU took to copy so many numbers
Beside(name)            a recorded comparison with PyTorch: its means, its table

Its files, in reading order:

timing, claims   timing.py, claims.py, turns.py (one at a time), cores.py (a core each), peers.py (libraries at their
                 best)
the machine      machine.py (its card), peak_rates.py, bandwidth.py, latency.py, levels.py, pages.py, lines.py
what code is     assembly.py (hot loop), machine_code.py (GPU's compiler), scaling.py
time lines       timeline.py, timeline_clock.py, timeline_plot.py
records          records.py, beside.py (PyTorch), on_gpu.py, transfers.py
pictures         plot.py (roofline), roof_picture.py, line_picture.py, table.py
"""

from .assembly import HotLoop, hot_loop
from .bandwidth import bandwidth_ladder
from .beside import Beside
from .claims import claim
from .latency import latency_ladder
from .levels import Ladder, ladder_picture
from .line_picture import line_picture
from .lines import LineMap, empty_aligned, line_bytes, line_map
from .machine import MachineCard, machine_card
from .machine_code import machine_code
from .on_gpu import beside_the_clock, experiment, ladder, ladder_table, overview, recorded_copy
from .pages import new_memory, page_faults
from .peak_rates import STREAM, Peaks, peaks
from .plot import Point, Roof, alt_text, roofline, roofline_table, roofs
from .records import Recorded, provenance, record, recorded
from .roof_picture import roof_picture
from .scaling import StrongScaling, WeakScaling, amdahl, gustafson, serial_share, strong_scaling, weak_scaling
from .table import Table, faster_or_slower, with_unit
from .timeline import WAIT, Timeline, fastest_timeline
from .timeline_clock import nanoseconds, new_log, note
from .timeline_plot import draw_timelines
from .timing import Clock, Ratio, ThreadClock, Times, fastest, limit_threads, ratio, times
from .transfers import recorded_transfers

__all__ = [
    "STREAM",
    "WAIT",
    "Beside",
    "Clock",
    "HotLoop",
    "Ladder",
    "LineMap",
    "MachineCard",
    "Peaks",
    "Point",
    "Ratio",
    "Recorded",
    "Roof",
    "StrongScaling",
    "Table",
    "ThreadClock",
    "Timeline",
    "Times",
    "WeakScaling",
    "alt_text",
    "amdahl",
    "bandwidth_ladder",
    "beside_the_clock",
    "claim",
    "draw_timelines",
    "empty_aligned",
    "experiment",
    "faster_or_slower",
    "fastest",
    "fastest_timeline",
    "gustafson",
    "hot_loop",
    "ladder",
    "ladder_picture",
    "ladder_table",
    "latency_ladder",
    "limit_threads",
    "line_bytes",
    "line_map",
    "line_picture",
    "machine_card",
    "machine_code",
    "nanoseconds",
    "new_log",
    "new_memory",
    "note",
    "overview",
    "page_faults",
    "peaks",
    "provenance",
    "ratio",
    "record",
    "recorded",
    "recorded_copy",
    "recorded_transfers",
    "roof_picture",
    "roofline",
    "roofline_table",
    "roofs",
    "serial_share",
    "strong_scaling",
    "times",
    "weak_scaling",
    "with_unit",
]
