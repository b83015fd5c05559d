"""Tasks of chapter 16, OpenCL: a queue and its events, NDRanges, local memory, sub-groups; kernels in OpenCL C."""

from .bins import BINS_TASK
from .events import EVENTS
from .halo import HALO
from .ndrange import NDRANGE
from .race import RACE
from .ragged import RAGGED
from .rows import ROWS
from .sums import SUMS
from .tiled import TILED

TASKS = (NDRANGE, RAGGED, EVENTS, SUMS, HALO, BINS_TASK, RACE, ROWS, TILED)
