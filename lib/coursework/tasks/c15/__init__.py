"""Tasks of chapter 15, Measuring and tuning: cost models, searches with few trials, benchmarks that cannot be cheated."""

from .faults import FAULTS
from .halving import HALVING
from .model import MODEL
from .roofline import ROOFLINE
from .tune import TUNE

TASKS = (MODEL, TUNE, HALVING, FAULTS, ROOFLINE)
