"""A small network on digits, for the tests of what goes around it; and, run as a program, one that is killed.

    python tests/training/trained.py FOLDER KILLS SEED

trains once undisturbed, then in processes that are ended by SIGKILL, and prints what came of it as JSON. A process says
of each thing it does (a piece of the file is written, the disk has it, it has its name, a step is done) that it did it,
and waits for leave to go on. So it is killed exactly there, and no clock has a say.
"""

import json
import os
import random
import signal
import sys
import traceback
from pathlib import Path

import numpy as np

from training import SGD, CosineAnnealing, GradScaler, Loader, checkpoints, data, fit, modules
from training import functional as F

PIECES = 8  # in which a checkpoint is written
STEPS = 5  # of an epoch


class Training:
    """What `fit` needs, made from the same seeds each time."""

    def __init__(self, batch_size=16, dropout=True, scaled=False, examples=STEPS * 16 - 7, lr=0.05):
        generator = np.random.default_rng(1)
        (x, y), self.test = data.digits()
        self.model = modules.Sequential(
            modules.Conv2d(1, 4, 3, padding=1, generator=generator),
            modules.ReLU(),
            modules.MaxPool2d(2),
            *([modules.Dropout(0.3, generator=np.random.default_rng(2))] if dropout else []),
            modules.Flatten(),
            modules.Linear(64, 10, generator=generator),
        )
        self.optimizer = SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.loader = Loader((x[:examples], y[:examples]), batch_size, seed=4)
        self.schedule = CosineAnnealing(self.optimizer, total=200, warmup=3)
        self.scaler = GradScaler(growth_interval=4) if scaled else None

    def fit(self, **options):
        options = {"schedule": self.schedule, "scaler": self.scaler, "show": None} | options
        return fit(self.model, F.cross_entropy, self.optimizer, self.loader, **options)

    @property
    def things(self):
        """All that has a state, by the names of `fit`."""
        things = {name: getattr(self, name) for name in ("model", "optimizer", "loader", "schedule")}
        generators = [part.generator for _, part in self.model.named_modules() if hasattr(part, "generator")]
        return things | {f"generator{k}": one for k, one in enumerate(generators)}

    @property
    def weights(self):
        return self.model.state_dict()


def same(one, other):
    """Whether two states are the same, bit for bit, in names, types and shapes."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other and type(one) is type(other)


# ---- the program that is killed --------------------------------------------------------------------------------------


class Told:
    """Says what was done, and waits."""

    def __init__(self, says, hears):
        self.says, self.hears = says, hears

    def __call__(self, letter):
        os.write(self.says, letter)
        if not os.read(self.hears, 1):
            os._exit(1)


class InPieces:
    """A file that is written in pieces, each told."""

    def __init__(self, file, told):
        self.file, self.told = file, told

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, content):
        size = -(-len(content) // PIECES)
        for begin in range(0, len(content), size):
            self.file.write(content[begin : begin + size])
            self.file.flush()
            self.told(b"w")


def child(path, told, epochs):
    """Train from the checkpoint on, and tell all."""

    def after(function, letter):
        def run(*arguments):
            result = function(*arguments)
            told(letter)
            return result

        return run

    checkpoints.open = lambda *arguments: InPieces(open(*arguments), told)  # noqa: SIM115 (its user closes it)
    checkpoints.os = type(
        "Os",
        (),
        {**vars(os), "fsync": after(os.fsync, b"f"), "replace": after(os.replace, b"r"), "link": after(os.link, b"l")},
    )
    Training().fit(epochs=epochs, checkpoint_path=path, every=1, keep=2, resume=True, hooks=[lambda _: told(b"s")])


def run(path, epochs, events=None):
    """A child, killed when it has told `events` times. Returns its last letter, or "" if it came to its end."""
    says, hears = os.pipe(), os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(says[0]), os.close(hears[1])
            child(path, Told(says[1], hears[0]), epochs)
            os._exit(0)
        finally:
            traceback.print_exc()
            os._exit(1)
    os.close(says[1]), os.close(hears[0])
    letter, count = b"", 0
    while True:
        letter = os.read(says[0], 1)
        count += 1
        if not letter or count == events:
            break
        os.write(hears[1], b"g")
    if letter:
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    if status != (signal.SIGKILL if letter else 0):
        raise RuntimeError(f"the child ended with status {status}")
    os.close(says[0]), os.close(hears[1])
    return letter.decode()


def main(folder, kills, seed):
    folder, kills, chance = Path(folder), int(kills), random.Random(int(seed))
    epochs = 1 + kills // 4
    whole, path = folder / "whole.safetensors", folder / "run.safetensors"
    if run(whole, epochs):
        raise RuntimeError("the undisturbed training did not end")
    letters, halves, steps = "", 0, [0]
    for _ in range(kills):
        letters += run(path, epochs, chance.randrange(1, 3 * PIECES))
        halves += any(folder.glob("run*.part"))
        for file in folder.glob("run*.safetensors"):  # each is whole, the one before it too
            training = Training()
            checkpoints.load(file, **training.things)
            if file == path:
                steps.append(training.schedule.steps)
    if run(path, epochs):
        raise RuntimeError("the last training did not end")
    ends = []
    for file in (path, whole):
        training = Training()
        checkpoints.load(file, **training.things)
        ends.append({name: checkpoints._state_of(thing) for name, thing in training.things.items()})
    equal = same(*ends)
    left = sorted(file.name for file in folder.iterdir())
    print(json.dumps({"letters": letters, "halves": halves, "steps": steps, "equal": equal, "left": left}))


if __name__ == "__main__":
    main(*sys.argv[1:])
