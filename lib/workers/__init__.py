"""Many workers train one network: messages, collectives, and what is cut among the workers.

    from workers import threads

    def work(group):
        return group.all_reduce(np.full(4, group.rank, np.float32))

    threads.run(work, size=4)           # four times [6. 6. 6. 6.]

Its files, in reading order:

group.py        one worker's view of its group: rank, size, send, receive and all collectives
collectives.py  the collectives, written once on send and receive: naive, tree, ring, halving, direct
threads.py      workers that are threads of this process: for tests, pages and pictures
processes.py    workers that are processes and send through shared memory
fenced.py       its counters on processors that reorder stores
mpi.py          workers that MPI starts, on one machine or many (an extra: mpi4py)

data.py         data parallel: each has the whole network and a part of the batch
autograd.py     collectives on the tape             zero.py         what ZeRO cuts: states, gradients, weights
tensor.py       layers cut among workers            context.py      long sequences cut among workers: ring attention
experts.py      a mixture of experts                grid.py         several of these at once
pipeline.py     layers one behind the other         schedules.py    in which order a pipeline works
staleness.py    asynchronous updates, bounded       local_sgd.py    averages now and then
checkpoints.py  a training's state in parts         elastic.py      going on from it when workers have died
examples.py     what the pages' workers run         coarse.py       trainings as tasks of Dask (an extra)

simulate/       a step on machines that nobody here has, by counting
"""

from .group import Group, GroupError, bounds

__all__ = ["Group", "GroupError", "bounds"]
