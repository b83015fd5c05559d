"""Training: a network that learns, on the operations of dlkernels. PyTorch's names and semantics.

    from training import Adam, Tensor, functional as F, modules
    model = modules.Sequential(modules.Linear(64, 10, generator=np.random.default_rng(1)))
    optimizer = Adam(model.parameters(), lr=1e-3)
    loss = F.cross_entropy(model(Tensor(x)), labels)
    optimizer.zero_grad(); loss.backward(); optimizer.step()

Its files, in reading order:

tensor.py      a Tensor, its tape, backward              functional.py  the table's operations on Tensors; shapes
modules.py     layers with their weights                 memory.py      what the tape keeps; checkpointing
optimizers.py  SGD, Adam, AdamW, clipping                schedules.py   learning rates that change
data.py        data sets, batches                        loop.py        fit: the loop around all of it
precision.py   float16, and a scaled loss                checkpoints.py  a training's state in a file
arrays.py      host and device arrays alike, memory that is kept

fusion/        chains of element-wise operations as one loop or one kernel, with their gradients
smaller/       a trained network made smaller: fewer bits, fewer numbers, or a small network that learns from it
slow.py        a training step with six faults, which chapter 15 finds by profiles
"""

from . import checkpoints as checkpoints
from . import data as data
from . import functional as functional
from . import modules as modules
from .data import Loader
from .loop import History, accuracy, fit
from .memory import activation_bytes, checkpoint
from .optimizers import SGD, Adam, AdamW, clip_grad_norm_
from .precision import GradScaler, autocast
from .schedules import CosineAnnealing, StepLR
from .tensor import Tensor, apply, no_grad, record

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CosineAnnealing",
    "GradScaler",
    "History",
    "Loader",
    "StepLR",
    "Tensor",
    "accuracy",
    "activation_bytes",
    "apply",
    "autocast",
    "checkpoint",
    "checkpoints",
    "clip_grad_norm_",
    "data",
    "fit",
    "functional",
    "modules",
    "no_grad",
    "record",
]
