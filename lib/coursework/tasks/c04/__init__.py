"""Tasks of chapter 04, Memory. Everything is counted: cache lines, sets, fetches of a small model cache, vector
work."""

from .ahead import AHEAD
from .bug import BUG
from .channels import CHANNELS
from .first import FIRST
from .lab import LAB
from .lanes import LANES
from .lines import LINES
from .moved import MOVED
from .order import ORDER
from .pad import PAD
from .roofline import ROOFLINE
from .split import SPLIT
from .sums import SUMS

TASKS = (FIRST, LINES, CHANNELS, LANES, AHEAD, SUMS, MOVED, SPLIT, ORDER, PAD, ROOFLINE, BUG, LAB)
