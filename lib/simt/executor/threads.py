"""CUDA threads and blocks while they run."""


class Dim3(tuple):
    """(x, y, z), with the three as attributes too."""

    x = property(lambda self: self[0])
    y = property(lambda self: self[1])
    z = property(lambda self: self[2])


class Thread:
    """One CUDA thread. ``number`` counts through the launch, ``lane`` through the warp."""

    __slots__ = (
        "answer", "asleep", "block", "copies", "epoch", "generator", "grid_epoch", "lane", "locals", "number",
        "request", "stand",
        "steps", "warp", "warp_epoch", "x", "y", "z",
    )  # fmt: skip

    def __init__(self, block, number, coordinates):
        self.block, self.number = block, number
        self.x, self.y, self.z, self.lane, self.warp = coordinates
        self.epoch = self.warp_epoch = self.grid_epoch = self.steps = 0
        self.answer = self.request = self.generator = self.locals = self.stand = None
        self.asleep = False
        self.copies = []  # on their way: see standins.py

    @property
    def place(self):
        return (self.x, self.y, self.z)


class Block:
    """One CUDA block: its place, its shared memory and its threads."""

    __slots__ = ("arrays", "init", "memory", "number", "returns", "threads", "x", "y", "z")

    def __init__(self, number, grid):
        self.number = number
        self.x, self.y, self.z = number % grid[0], number // grid[0] % grid[1], number // (grid[0] * grid[1])
        self.arrays, self.memory, self.init, self.threads = {}, None, None, ()
        self.returns = {}  # number of a thread that has ended -> the line of the `return` that it met

    @property
    def place(self):
        return (self.x, self.y, self.z)
