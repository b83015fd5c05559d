"""Tasks of chapter 01, Why parallel. Times come from clocks that the check controls, so that every verdict is exact."""

from .asm import ASM
from .bug import BUG
from .bus import BUS_TASK
from .claims import CLAIMS
from .fit import FIT
from .predict import PREDICT
from .protocols import PROTOCOLS
from .ratio import RATIO
from .roof import ROOF
from .workers import WORKERS

TASKS = (BUS_TASK, PREDICT, ASM, ROOF, BUG, PROTOCOLS, RATIO, FIT, WORKERS, CLAIMS)
