"""Element-wise operations fused: what a chain of them computes, in one pass over memory instead of one for each.

    from training import fusion, functional as F

    @fusion.fused
    def tail(x, bias, residual):
        return F.dropout(F.gelu(x + bias), 0.1, seed=7) + residual

    with fusion.launches() as made:
        loss = tail(x, bias, residual).sum()      # one loop on the CPU, one kernel on a GPU
        loss.backward()                           # and one for all gradients
    print(made[0].source)

Inside a fused function an operation is not run but noted. Where its numbers are needed, by an operation that is not
element-wise or as the result, all that was noted for it becomes one function: a graph, a source text, a compiled
kernel. Kernels are kept by the graph's structure; numbers (a slope, a seed) are their arguments.

Its files, in reading order:

graph.py      operations as data, bytes       gradient.py   the backward graph; keep or compute again, by bytes
generate.py   a graph as source text          run.py        compiled, kept, launched, counted
lazy.py       tensors that wait: `fused`
"""

from .gradient import backward_of
from .graph import Program, Step, alone
from .lazy import cast, fused
from .run import Launch, launches, source

__all__ = ["Launch", "Program", "Step", "alone", "backward_of", "cast", "fused", "launches", "source"]
