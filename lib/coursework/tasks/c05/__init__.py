"""Tasks of chapter 05, Kernels and threads: launches, indices, guards, the first layer, streams and occupancy."""

from .crossing import CROSSING
from .fails import FAILS
from .flip import FLIP
from .launch import LAUNCH
from .layer import LAYER
from .occupancy import OCCUPANCY
from .overlap import OVERLAP
from .place import PLACE
from .shift import SHIFT
from .stride import STRIDE
from .verdicts import VERDICTS

TASKS = (LAUNCH, SHIFT, PLACE, FLIP, STRIDE, LAYER, FAILS, VERDICTS, CROSSING, OVERLAP, OCCUPANCY)
