"""Many workers train one network: messages, collectives, and what is cut among the workers.

    from workers import threads

    def work(group):
        return group.all_reduce(np.full(4, group.rank, np.float32))

    threads.run(work, size=4)           # four times [6. 6. 6. 6.]

- `group`: one worker's view of its group: rank, size, send, receive and all collectives
- `collectives`: the collectives, written once on send and receive: to a root, tree, ring, halving, direct
- `threads`: workers that are threads of this process: for tests, pages and pictures
"""

from .group import Group, GroupError, bounds

__all__ = ["Group", "GroupError", "bounds"]
