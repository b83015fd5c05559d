"""What test_mpi.py has mpiexec start: `python under_mpi.py FILE` runs a list of programs, and rank 0 pickles what they
give."""

import pickle
import sys

import functions
from methods import all_of_them

SHAPES = ((0,), (1,), (5,), (3, 2), (17, 1, 3), (50_001,))
PROGRAMS = [
    *((functions.everything, shape, dtype) for shape in SHAPES for dtype in ("float32", "complex64")),
    *((functions.reduced, (1 << 18,), algorithm) for algorithm in functions.ALGORITHMS),
    (functions.operations,),
    (functions.layouts,),
    (functions.ragged,),
    (functions.overlapped, 3, 100_000),
    (functions.repeated, 5, 777),
]
ON_PAIRS = [(functions.both_send, 1 << 18)]
ON_FOUR = [(functions.grid,)]
METHODS = [(all_of_them,)]


def programs(size):
    return PROGRAMS + ON_PAIRS * (size % 2 == 0) + ON_FOUR * (size == 4) + METHODS * (size == 2)


def all_programs(group):
    return [program(group, *args) for program, *args in programs(group.size)], functions.from_any(group, 5)


if __name__ == "__main__":
    from workers import mpi  # finds MPI's library under mpiexec

    if sys.argv[1] == "raises":
        mpi.run(functions.raises)
    results = mpi.run(all_programs)
    if results is not None:
        with open(sys.argv[1], "wb") as file:
            pickle.dump(results, file)
