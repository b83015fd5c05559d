"""Tasks of the second notebook of chapter 06: eight kernels to mend, one of them right.

Each kernel stands here as it is handed out; the build writes it into the answer cell.
"""

from .bins import BINS
from .dots import DOTS
from .largest import LARGEST
from .loss import LOSS
from .norms import NORMS
from .rises import RISES
from .smooth import SMOOTH
from .total import TOTAL

TASKS = (BINS, DOTS, SMOOTH, LOSS, LARGEST, NORMS, RISES, TOTAL)
