"""Tasks of chapter 06, GPU memory: sectors and banks, tiles, reductions, histograms, votes, races and memory order."""

from .banks import BANKS
from .bug import BUG
from .divergence import DIVERGENCE
from .fails import FAILS
from .fenced import FENCED
from .histogram import HISTOGRAM
from .keep import KEEP
from .lanes import LANES
from .order import ORDER
from .races import RACES
from .scan import SCAN
from .sectors import SECTORS
from .soa import SOA
from .spread import SPREAD
from .turn import TURN
from .work import WORK

TASKS = (
    SECTORS,
    BANKS,
    SOA,
    TURN,
    DIVERGENCE,
    SPREAD,
    LANES,
    BUG,
    HISTOGRAM,
    RACES,
    FAILS,
    KEEP,
    WORK,
    SCAN,
    ORDER,
    FENCED,
)
