"""The x-ray: what a kernel did to memory, counted exactly, and where it races. No GPU needed."""

from .compiler import Compiled, Unavailable, available, compiled
from .occupancy import Occupancy, occupancy

__all__ = ["Compiled", "Occupancy", "Unavailable", "available", "compiled", "occupancy"]
