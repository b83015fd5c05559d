"""What workers do in the tests: they are processes, which import it from here."""

import contextlib
import os
import signal
import threading
import time

import numpy as np

from workers import GroupError

ALGORITHMS = ("naive", "tree", "ring", "halving", "direct")
DTYPES = ("float32", "float64", "int32", "uint8", "complex64", "float16")


def given(rank, shape, dtype="float32", fractions=False):
    """Worker `rank`'s array: whole numbers, whose sums are exact in each order, or numbers whose sums are rounded."""
    random = np.random.default_rng([rank, *shape])
    return (random.normal(size=shape) * 100 if fractions else random.integers(0, 5, shape)).astype(dtype)


def ordered_sum(size, shape, dtype="float32", fractions=False):
    """((x0 + x1) + x2) + ..."""
    total = given(0, shape, dtype, fractions)
    for rank in range(1, size):
        total = total + given(rank, shape, dtype, fractions)
    return total


def everything(group, shape, dtype):
    """All collectives on one shape: {name: result}."""
    mine = given(group.rank, shape, dtype)
    found = {name: group.all_reduce(mine, algorithm=name) for name in ALGORITHMS}
    for name in ("ring", "direct"):
        found[f"parts {name}"] = group.reduce_scatter(mine, algorithm=name)
        found[f"whole {name}"] = group.all_gather(found[f"parts {name}"], algorithm=name)
    found["from last"] = group.broadcast(mine if group.rank == group.size - 1 else None, group.size - 1)
    found["from all"] = group.all_to_all([given(group.rank + to, shape, dtype) for to in range(group.size)])
    group.barrier()
    assert np.array_equal(mine, given(group.rank, shape, dtype)), "inputs stay as they are"
    return found


def check_everything(size, shape, dtype, results):
    total = ordered_sum(size, shape, dtype)
    cuts = [len(part) for part in np.array_split(total, size)]
    for rank, found in enumerate(results):
        for name in ALGORITHMS:
            same(found[name], total)
        for name in ("ring", "direct"):
            assert len(found[f"parts {name}"]) == cuts[rank]
            same(found[f"parts {name}"], np.array_split(total, size)[rank])
            same(found[f"whole {name}"], total)
        same(found["from last"], given(size - 1, shape, dtype))
        for source, one in enumerate(found["from all"]):
            same(one, given(source + rank, shape, dtype))


def same(found, expected):
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


def reduced(group, shape, algorithm, dtype="float32", fractions=True):
    """(the sum, bytes and messages that this worker sent)."""
    total = group.all_reduce(given(group.rank, shape, dtype, fractions), algorithm=algorithm)
    return total, group.bytes_sent, group.messages_sent


def operations(group):
    mine = given(group.rank, (11,), "float64", fractions=True)
    return {op: group.all_reduce(mine, op) for op in ("sum", "mean", "max", "min", "prod")}


def layouts(group):
    """Arrays of any strides, without axes, in place."""
    wide = given(group.rank, (6, 8))
    found = [
        group.all_reduce(wide[::2, ::-1].T),
        group.all_reduce(np.float32(group.rank)),
        group.all_gather(wide[:, 1::3], 1),
    ]
    inside = wide.copy()
    found.append(group.all_reduce(inside, out=inside))
    assert found[-1] is inside
    return found


def ragged(group):
    """Parts of several lengths, and arrays of several shapes."""
    mine = np.full((group.rank % 3, 2), group.rank)
    sent = [np.full((to, group.rank), group.rank, np.int16) for to in range(group.size)]
    return group.all_gather(mine), [one.shape for one in group.all_to_all(sent)]


def grid(group):
    """Two rows of workers: sums along rows and columns at the same time, and the last two the other way round."""
    row, column = group.split(group.rank // 2), group.split(group.rank % 2)
    mine = np.array([10**group.rank])
    found = [int(row.all_reduce(mine)[0]), int(column.all_reduce(mine)[0])]
    late = group.split(0 if group.rank >= 2 else None, key=-group.rank)
    found.append(late and (late.rank, late.all_gather(mine).tolist()))
    row.send(mine, 1 - row.rank)  # the sums of columns overtake it
    found.append(int(column.all_reduce(mine)[0]))
    found.append(int(row.receive(1 - row.rank)[0]))
    return found, group.bytes_sent, row.bytes_sent, column.bytes_sent


def overlapped(group, count, length):
    """Sums that go on beside others."""
    handles = [group.start_all_reduce(given(group.rank + k, (length,)), algorithm="direct") for k in range(count)]
    middle = group.all_reduce(given(group.rank, (length,)))
    return [*[handle.wait() for handle in handles], middle]


def from_any(group, count):
    """Worker 0 takes `count` messages of each of the others, in the order in which they come."""
    if group.rank:
        for number in range(count):
            group.send(np.array([group.rank, number]), 0)
        return None
    return [
        (source, array.tolist()) for source, array in (group.receive_any() for _ in range(count * (group.size - 1)))
    ]


def both_send(group, length):
    """Two neighbours send a lot at once, and receive after that."""
    other, mine = group.rank ^ 1, given(group.rank, (length,))
    sending = group.start_send(mine, other)
    got = group.receive(other)
    sending.wait()
    return got


def repeated(group, times, length):
    """Bits of the same sum again and again."""
    mine = given(group.rank, (length,), fractions=True)
    return len({group.all_reduce(mine, algorithm=name).tobytes() for _ in range(times) for name in ("ring",)})


def variable(group, name):
    return os.environ.get(name)


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def all_receive(group):
    group.receive((group.rank + 1) % group.size)


def one_forgets(group):
    if group.rank != 1:
        group.barrier()


def other_shape(group):
    group.all_reduce(np.zeros(3 + group.rank // 2, np.float32))


def other_dtype(group):
    group.all_reduce(np.zeros(3, np.float32 if group.rank else np.float64))


def other_order(group):
    if group.rank:
        group.all_reduce(np.zeros(1))
    group.barrier()


def not_received(group):
    if group.rank == 1:
        group.send(np.zeros(3), 0)


def raises(group):
    group.barrier()
    if group.rank == group.size - 1:
        raise ZeroDivisionError("no more")
    group.barrier()


def aside_raises(group):
    group.start_all_reduce(np.zeros(group.rank + 1)).wait()


def aside_raises_unheard(group):
    """Nobody waits for the first of two; the second must not take its messages."""
    group.start_all_reduce(np.zeros(3 + group.rank))
    group.start_all_reduce(np.zeros(3))


def goes_on_after_an_error(group):
    """What failed left messages, which nothing that follows may take."""
    with contextlib.suppress(GroupError):
        group.all_reduce(np.zeros(3 + group.rank))
    group.all_reduce(np.zeros(3))


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError


def raises_speechless(group):
    if group.rank == 1:
        raise Speechless
    group.barrier()


def exits(group):
    if group.rank == 1:
        os._exit(3)
    group.barrier()


def hangs(group):
    if group.rank == 1:
        time.sleep(600)
    group.barrier()


def unpicklable(group):
    return (lambda: 1) if group.rank else None


def works(group, steps=10**9, folder=None):
    """All-reduces, one after the other, of several lengths; tells its process."""
    if folder:
        with open(os.path.join(folder, f"{group.rank}.part"), "w") as file:
            file.write(str(os.getpid()))
        os.replace(file.name, os.path.join(folder, str(group.rank)))
    for step in range(steps):
        length = (1, 1000, 300_000)[step % 3]
        handle = group.start_all_reduce(given(group.rank, (7,)))
        group.all_reduce(given(group.rank, (length,)), algorithm=ALGORITHMS[step % 5])
        handle.wait()
    return steps


def computes_for_ever(group, folder):
    """A loop that waits for nobody."""
    works(group, 1, folder)
    while True:
        pass


# ---- what is killed and goes on --------------------------------------------------------------------------------------

PARTS, WIDTH = 4, 24


def learns(group, folder, steps, every, attempt=0, kills=()):
    """A network of two matrices in NumPy alone, with momentum, that begins at the last checkpoint in `folder`: a new
    process has it in a second. kills: for each attempt (rank, seconds after the beginning). Returns (the step that it
    began at, weights, momentum)."""
    from workers import checkpoints
    from workers.elastic import tree_mean

    weights, momentum = np.random.default_rng(0).standard_normal((2, 2, WIDTH, WIDTH), np.float32)
    momentum[...], began = 0, 0

    def pieces(cut):
        found = {}
        for name, array in (("weights", weights), ("momentum", momentum)):
            part = cut(array.size)
            found[name] = checkpoints.Piece(array.reshape(-1)[part], (array.size,), (part.start,))
        return found

    if os.path.exists(os.path.join(folder, checkpoints.INDEX)):
        began = checkpoints.load(folder, group, pieces(lambda size: slice(0, size)))["step"]
    if attempt < len(kills) and kills[attempt][0] == group.rank:
        timer = threading.Timer(kills[attempt][1], os.kill, (os.getpid(), signal.SIGKILL))
        timer.daemon = True
        timer.start()
    step = began

    def gradient(k):
        x = np.random.default_rng([step, k]).standard_normal((32, WIDTH), np.float32)
        hidden = np.maximum(x @ weights[0], 0)
        back = (hidden @ weights[1] - x) / x.size
        return np.stack([x.T @ ((back @ weights[1].T) * (hidden > 0)), hidden.T @ back])

    for step in range(began, steps):
        momentum[...] = np.float32(0.9) * momentum + tree_mean(group, gradient, PARTS)
        weights[...] -= np.float32(0.05) * momentum
        if (step + 1) % every == 0:
            checkpoints.save(folder, group, pieces(group.part), step=step + 1)
    return began, weights, momentum
