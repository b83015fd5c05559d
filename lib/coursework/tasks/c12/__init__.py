"""Tasks of chapter 12, Training: a loss, a tape, an optimiser, and what can go wrong beside the kernels."""

from .accumulate import ACCUMULATE
from .adam import ADAM
from .loops import LOOPS
from .loss import LOSS
from .memory import MEMORY
from .moments import MOMENTS
from .own import OWN
from .survive import SURVIVE
from .tape import TAPE
from .words import WORDS

TASKS = (TAPE, LOSS, LOOPS, MEMORY, ADAM, ACCUMULATE, SURVIVE, MOMENTS, WORDS, OWN)
