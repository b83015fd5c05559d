"""Tasks of chapter 14, Many workers: what they send, what they keep, and when they wait."""

from .budget import BUDGET
from .bytes import BYTES
from .chunk import CHUNK
from .experts import EXPERTS
from .halving import HALVING
from .loops import LOOPS
from .pipeline import PIPELINE
from .reshard import RESHARD
from .ring import RING
from .stale import STALE
from .tensor import TENSOR
from .zero import ZERO

TASKS = (CHUNK, RING, HALVING, BYTES, LOOPS, RESHARD, ZERO, TENSOR, PIPELINE, EXPERTS, STALE, BUDGET)
