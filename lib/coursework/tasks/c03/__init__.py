"""Tasks of chapter 03, Loops on all cores: numba parallel."""

from .chunk import CHUNK
from .cut import CUT
from .finish import FINISH
from .first import FIRST
from .gate import GATE
from .largest import LARGEST
from .layers import LAYERS
from .loops import LOOPS
from .pays import PAYS
from .predict import PREDICT
from .roof import ROOF
from .sizes import SIZES
from .softmax import SOFTMAX
from .table import TABLE
from .twice import TWICE

TASKS = (FIRST, PAYS, LOOPS, TWICE, PREDICT, LAYERS, LARGEST, SOFTMAX, ROOF, FINISH, CHUNK, GATE, SIZES, TABLE, CUT)
