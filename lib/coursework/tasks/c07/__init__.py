"""Tasks of chapter 07, Vector add and element-wise kernels."""

from .add import ADD
from .axpy import AXPY
from .broadcast import BROADCAST
from .bug import BUG
from .bytes import BYTES
from .fails import FAILS
from .fused import FUSED
from .launch import LAUNCH
from .map import MAP
from .roofline import ROOFLINE
from .sectors import SECTORS
from .verdicts import VERDICTS
from .zip import ZIP

TASKS = (ZIP, LAUNCH, ADD, MAP, BROADCAST, SECTORS, AXPY, FUSED, BYTES, BUG, FAILS, VERDICTS, ROOFLINE)
