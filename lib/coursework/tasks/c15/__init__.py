"""Tasks of chapter 15, Measuring and tuning."""

from .chain import CHAIN
from .profile import PROFILE

TASKS = (PROFILE, CHAIN)
