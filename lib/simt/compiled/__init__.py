"""The compiled engine: a CUDA kernel as a function for the CPU, for real sizes. It follows MCUDA (Stratton, Stone, Hwu
2008).

A kernel goes through these passes, one file each:

lowering.py     the source, without ``cuda``: every barrier a statement of its own
                (expressions.py, calls.py; device_names.py: what each name of ``cuda`` becomes; unset.py before it:
                variables that only some ways set)
structure.py    no ``return``, ``break``, ``continue`` where code is to be cut
uniformity.py   which variables are the same for the whole block
interchange.py  long uniform loops go outside the loop over the threads
splitting.py    pieces that one loop over the threads can run, cut at barriers
replication.py  which variables each thread needs one of between two pieces
inference.py    their types, from numba's own type inference
generation.py   one function of loops over threads, compiled by numba
running.py      its blocks, shared out over CPU threads

A `Unit` (unit.py) takes one kernel through them. ``source/``, which the executor uses too, says what the kernel's names
mean. Beside the passes:

what it generates  core.py (the small language), namespace.py (names and what they stand for), devices.py (device
                   functions), reading.py (all of it made readable)
what that calls    numba intrinsics: accesses.py, storage.py (shared and own arrays), blockmemory.py, arithmetic.py,
                   casts.py, atomics.py, warp.py, words.py (LLVM types), vectorise.py (how numba's LLVM is changed)
a launch           launch.py, rounds.py (every loop ends), meetings.py and together.py (barriers of the grid)
counting           census.py (a launch, counted), counted.py (what its kernel knows besides), counting.py, tallying.py
                   (sectors, bank passes), visits.py, slots.py, watching.py (what an access tells); shadow.py (races),
                   suspects.py (what it found)
"""

from .launch import run, stages

__all__ = ["run", "stages"]
