"""Training: tensors on a tape over the operations of dlkernels, and the network on top. PyTorch's names and semantics.

Its files, in reading order:

tensor.py      a Tensor, its tape, backward            functional.py  the table's operations on Tensors; shapes
modules.py     layers with their weights
"""

from . import functional, modules
from .tensor import Tensor, apply, no_grad, record

__all__ = ["Tensor", "apply", "functional", "modules", "no_grad", "record"]
