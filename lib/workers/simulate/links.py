"""What a message and a collective cost: alpha-beta links, rings, trees, and groups that span several nodes.

A message of m bytes takes alpha + m / beta: a latency, and bytes over a bandwidth (Hockney 1994). The closed forms are
those of Thakur and others 2005, "Optimization of Collective Communication Operations in MPICH"; `ring_ends` runs a
ring step by step, so that workers may begin at different times.

A node is an island: its GPUs are joined by NVLink, and each has a network port of its own, a **rail**. A collective of
a group that spans nodes goes inside, between, inside: each GPU carries its part of the bytes over its own rail.
"""

from dataclasses import dataclass
from math import ceil, log2

import numpy as np


@dataclass(frozen=True)
class Link:
    """alpha: seconds for a message without bytes; beta: bytes/s one way, for each GPU; efficiency: the part of beta
    that bytes get, protocol apart; source: where the figures come from."""

    name: str
    alpha: float
    beta: float
    efficiency: float = 1.0
    source: str = ""

    def seconds(self, nbytes):
        """Of one message."""
        return self.alpha + nbytes / (self.beta * self.efficiency)


def ring_all_reduce(n, nbytes, link):
    """2 (n - 1) steps, each with a part of nbytes / n."""
    return 2 * (n - 1) * link.seconds(nbytes / n) if n > 1 else 0.0


def ring_all_gather(n, nbytes, link):
    """n - 1 steps. nbytes: of the whole result. Reduce-scatter takes as long, with nbytes of what is reduced."""
    return (n - 1) * link.seconds(nbytes / n) if n > 1 else 0.0


ring_reduce_scatter = ring_all_gather


def tree_all_reduce(n, nbytes, link):
    """To a root and back along a binary tree, all bytes in each of 2 ceil(log2 n) steps."""
    return 2 * ceil(log2(n)) * link.seconds(nbytes) if n > 1 else 0.0


def pipelined_tree_all_reduce(n, nbytes, link):
    """The same in many small pieces, and two trees at once, as NCCL does (Sanders and others 2009): bytes as in a ring,
    latency of a tree."""
    return 2 * ceil(log2(n)) * link.alpha + 2 * nbytes * (n - 1) / n / (link.beta * link.efficiency) if n > 1 else 0.0


def all_to_all(n, nbytes, link):
    """Each worker sends a part of nbytes / n to each other one."""
    return ring_all_gather(n, nbytes, link)


def ring_ends(begins, nbytes, link):
    """When each worker of a ring has the sum, if worker i begins at begins[i]: a float64 array of that length.

    A worker's next step begins when it and the worker before it have ended theirs.
    """
    now = np.array(begins, np.float64)
    for _ in range(2 * (len(now) - 1)):
        now = np.maximum(now, np.roll(now, 1)) + link.seconds(nbytes / len(now))
    return now


@dataclass(frozen=True)
class Group:
    """Workers that talk to each other: `inside` of them in each node, in `between` nodes. near, far: Links within and
    between nodes. rails: whether each GPU has a network port of its own, and the collective uses them all."""

    inside: int
    between: int
    near: Link
    far: Link
    rails: bool = True

    @property
    def size(self):
        return self.inside * self.between

    def all_reduce(self, nbytes):
        """Seconds for the sum of nbytes on each worker, at each worker."""
        if not self.rails and self.between > 1:
            return ring_all_reduce(self.size, nbytes, self.far)
        ring, tree = (
            f(self.between, nbytes / self.inside, self.far) for f in (ring_all_reduce, pipelined_tree_all_reduce)
        )
        return ring_all_reduce(self.inside, nbytes, self.near) + min(ring, tree)

    def all_gather(self, nbytes):
        """Seconds until each worker has nbytes, of which it had a part."""
        if not self.rails and self.between > 1:
            return ring_all_gather(self.size, nbytes, self.far)
        near = ring_all_gather(self.inside, nbytes, self.near)
        far = min(
            ring_all_gather(self.between, nbytes / self.inside, self.far),
            ceil(log2(self.between)) * self.far.alpha
            + nbytes / self.inside * (self.between - 1) / self.between / (self.far.beta * self.far.efficiency)
            if self.between > 1
            else 0.0,
        )
        return near + far

    reduce_scatter = all_gather

    def all_to_all(self, nbytes):
        """Seconds if each worker sends nbytes, a part to each of all. Both links work at the same time."""
        near = all_to_all(self.inside, nbytes / self.between, self.near)
        far = (self.between - 1) * self.inside * self.far.alpha if self.between > 1 else 0.0
        far += nbytes * (self.between - 1) / self.between / (self.far.beta * self.far.efficiency)
        return max(near, far)

    def send(self, nbytes):
        """Seconds for a message from one worker to the next."""
        return (self.far if self.between > 1 else self.near).seconds(nbytes) if self.size > 1 else 0.0
