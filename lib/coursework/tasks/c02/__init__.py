"""Tasks of chapter 02, Threads in Python. All but the predictions are graded by running them under many schedules."""

from .buffer import BUFFER
from .buffers import BUFFERS
from .bug import BUG
from .fails import FAILS
from .gil import GIL
from .graph import GRAPH
from .hang import HANG
from .lock import LOCK
from .lose import LOSE
from .map import MAP
from .mean import MEAN
from .places import PLACES
from .predict import PREDICT
from .prefetch import PREFETCH
from .races import RACES
from .shards import SHARDS
from .starve import STARVE
from .tally import TALLY
from .waits import WAITS

TASKS = (
    *(GIL, MEAN, LOSE, LOCK, RACES, PREDICT, TALLY, MAP, GRAPH, HANG, STARVE, WAITS, FAILS, PLACES),
    *(BUFFER, BUFFERS, BUG, PREFETCH, SHARDS),
)
