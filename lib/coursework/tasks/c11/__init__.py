"""Tasks of chapter 11, Attention: softmax in pieces, norms, tiles of keys that nobody reads in vain, and decoding."""

from .attention import ATTENTION
from .back import BACK
from .cache import DECODE
from .causal import CAUSAL
from .fails import FAILS
from .merge import MERGE
from .norm import NORM
from .roofline import ROOFLINE
from .rotary import ROTARY
from .scores import SCORES
from .softmax import SOFTMAX
from .split import SPLIT
from .verdicts import VERDICTS
from .window import WINDOW

TASKS = (
    SCORES,
    MERGE,
    SOFTMAX,
    NORM,
    ROTARY,
    FAILS,
    SPLIT,
    DECODE,
    WINDOW,
    ATTENTION,
    VERDICTS,
    CAUSAL,
    ROOFLINE,
    BACK,
)
