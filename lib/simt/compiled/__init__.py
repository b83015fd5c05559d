"""The compiled engine: a CUDA kernel as a function for the CPU, for real sizes. It follows MCUDA (Stratton, Stone, Hwu
2008).

A kernel goes through these passes, one file each:

lowering       the source, without ``cuda``: every barrier a statement of its own
               (expressions.py, calls.py; device_names.py: what each name of ``cuda`` becomes)
structure      no ``return``, ``break``, ``continue`` where code is to be cut
uniformity     which variables are the same for the whole block
interchange    long uniform loops go outside the loop over the threads
splitting      pieces that one loop over the threads can run, cut at barriers
replication    which variables each thread needs one of between two pieces
inference      their types, from numba's own type inference
generation     one function of loops over threads, compiled by numba
running        its blocks, shared out over CPU threads

A `Unit` (unit.py) takes one kernel through them. ``source/``, which the executor uses too, says what the kernel's names
mean. accesses, storage, casts, arithmetic, atomics and warp are what the generated function calls: numba intrinsics.
"""

from .launch import run, stages

__all__ = ["run", "stages"]
