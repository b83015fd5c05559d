"""Tasks of chapter 12, Training: a tape, what a step keeps in memory, and what can go wrong beside the kernels."""

from .accumulate import ACCUMULATE
from .loops import LOOPS
from .memory import MEMORY
from .survive import SURVIVE
from .tape import TAPE

TASKS = (TAPE, LOOPS, ACCUMULATE, SURVIVE, MEMORY)
