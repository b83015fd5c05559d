"""Tasks of chapter 09, Convolution: windows that slide, what they share, and what is left to compute when it is
shared."""

from .cost import COST
from .fails import FAILS
from .halo import HALO
from .im2col import IM2COL
from .line import LINE
from .plane import PLANE
from .pool import POOL
from .roofline import ROOFLINE
from .sizes import SIZES
from .verdicts import VERDICTS
from .weight import WEIGHT
from .winograd import WINOGRAD

TASKS = (SIZES, LINE, PLANE, FAILS, COST, HALO, POOL, IM2COL, WEIGHT, VERDICTS, WINOGRAD, ROOFLINE)
