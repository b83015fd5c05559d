"""Tasks of chapter 08, Tiled matmul: from three loops to tiles of tiles, with a budget that shrinks at each step."""

from .both import BOTH
from .bug import BUG
from .count import COUNT
from .fails import FAILS
from .four import FOUR
from .hasty import HASTY
from .ikj import IKJ
from .int8 import INT8
from .lane import LANE
from .listing import LISTING
from .naive import NAIVE
from .network import NETWORK
from .order import ORDER
from .register import REGISTER
from .strides import STRIDES
from .thin import THIN
from .tiled import TILED
from .verdicts import VERDICTS
from .waves import WAVES

TASKS = (
    COUNT,
    IKJ,
    NAIVE,
    TILED,
    BOTH,
    BUG,
    HASTY,
    VERDICTS,
    FAILS,
    REGISTER,
    FOUR,
    THIN,
    STRIDES,
    INT8,
    LANE,
    WAVES,
    ORDER,
    LISTING,
    NETWORK,
)
