"""Tasks of chapter 10, Recurrent networks: cells, lengths, gradients, and the recurrences that need not wait."""

from .backward import BACKWARD
from .cell import CELL
from .chunks import CHUNKS
from .fails import FAILS
from .fused import FUSED
from .lengths import LENGTHS
from .linear import LINEAR
from .plan import PLAN
from .scan import SCAN
from .steps import STEPS_TASK
from .wavefront import WAVEFRONT

TASKS = (STEPS_TASK, CELL, LENGTHS, FUSED, LINEAR, FAILS, WAVEFRONT, CHUNKS, BACKWARD, SCAN, PLAN)
