"""Tasks of chapter 15, Measuring and tuning: profiles, cost models, searches with few trials, benchmarks, fusion."""

from .chain import CHAIN
from .faults import FAULTS
from .halving import HALVING
from .model import MODEL
from .profile import PROFILE
from .roofline import ROOFLINE
from .tune import TUNE

TASKS = (PROFILE, MODEL, TUNE, HALVING, FAULTS, ROOFLINE, CHAIN)
