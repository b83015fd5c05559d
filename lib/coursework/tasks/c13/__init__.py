"""Tasks of chapter 13, Fewer bytes: codes of few bits, and matrices with few numbers."""

from .affine import AFFINE
from .breaks import BREAKS
from .bytes import BYTES
from .channel import CHANNEL
from .frontier import FRONTIER
from .int8 import INT8
from .merge import MERGE
from .pack import PACK
from .rows import ROWS
from .through import THROUGH
from .verdicts import VERDICTS

TASKS = (AFFINE, CHANNEL, BREAKS, THROUGH, INT8, VERDICTS, BYTES, ROWS, MERGE, PACK, FRONTIER)
