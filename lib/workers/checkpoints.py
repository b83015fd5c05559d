"""Sharded checkpoints: each worker writes its part, and another number of workers reads what it needs of them.

    save_optimizer(folder, group, optimizer, step=100)
    step = load_optimizer(folder, group, optimizer)["step"]      # on any number of workers

A `Piece` says of an array which part of a larger one it is. A worker that loads finds the overlaps of its pieces with
those in the files, whoever wrote them, and reads these bytes only. PyTorch's torch.distributed.checkpoint does so.
Each piece has a checksum, and is held against it where all of it is read, as by the number of workers that wrote it.

Each worker's file is written as training.checkpoints does it, whole or not at all. The checkpoint becomes valid in one
moment, when worker 0 has all files on the disk and replaces `checkpoint.json`, which names them; files that it names no
more are deleted then. A training that dies on the way has its last checkpoint.
"""

import contextlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training import checkpoints as whole
from training.arrays import filled

INDEX = "checkpoint.json"


@dataclass
class Piece:
    """array: the part that begins at `begin` (a number for each dimension) of an array of this shape."""

    array: np.ndarray
    shape: tuple
    begin: tuple

    def box(self):
        return [(b, b + n) for b, n in zip(self.begin, self.array.shape, strict=True)]


def state_pieces(optimizer, group, name="state"):
    """{name: Piece} of an optimizer whose parameters are this worker's parts of flat arrays: ZeroOptimizer's shards, or
    those of fully_shard. Weights and moments, which begin as zeros."""
    pieces = {}
    for k, arrays in enumerate(_arrays(optimizer)):
        size = arrays["weight"].size
        sizes = group.all_gather(np.array([size]))
        shape, begin = (int(sizes.sum()),), (int(sizes[: group.rank].sum()),)
        pieces |= {f"{name}.{k}.{kind}": Piece(array, shape, begin) for kind, array in arrays.items()}
    return pieces


def common_pieces(optimizer, group=None, name="state"):
    """{name: Piece} of an optimizer of which all workers have the whole, as in data parallel: with a group this
    worker's part of each array, for `save`; without, all of it, for `load`."""
    pieces = {}
    for k, arrays in enumerate(_arrays(optimizer)):
        for kind, array in arrays.items():
            flat = array.reshape(-1)  # a view: what is loaded is written into the array
            part = group.part(flat.size) if group else slice(0, flat.size)
            pieces[f"{name}.{k}.{kind}"] = Piece(flat[part], flat.shape, (part.start,))
    return pieces


def _arrays(optimizer):
    """Of each parameter {"weight", the names of its moments: array}. Moments that are not there yet are made."""
    inner = getattr(optimizer, "inner", optimizer)
    for p, state in zip(inner.parameters, inner.state, strict=True):
        for moment in inner.moments:
            if state.get(moment) is None:
                state[moment] = filled(p.data, 0)
        yield {"weight": p.data} | {moment: state[moment] for moment in inner.moments}


def save_optimizer(folder, group, optimizer, common=False, **values):
    """`save` of the weights and the state of an optimizer whose parameters are cut among the workers (zero.py). common:
    of one that all workers have alike, as in data parallel; each then writes a part of it."""
    inner = getattr(optimizer, "inner", optimizer)
    values |= {"steps of the optimizer": [state["step"] for state in inner.state]}
    save(folder, group, (common_pieces if common else state_pieces)(optimizer, group), **values)


def load_optimizer(folder, group, optimizer, common=False):
    """Go on from `save_optimizer`, by another number of workers or the same. Returns the values."""
    values = load(folder, group, common_pieces(optimizer) if common else state_pieces(optimizer, group))
    inner = getattr(optimizer, "inner", optimizer)
    for p, state, step in zip(inner.parameters, inner.state, values.pop("steps of the optimizer"), strict=True):
        state["step"], p.version = step, p.version + 1
    for bucket in getattr(optimizer, "buckets", ()):  # weights of which the worker has all
        bucket.gather(group)
    return values


def save(folder, group, pieces, **values):
    """Write all workers' pieces, and values that JSON has (worker 0's). All workers call it.

    pieces: {name: Piece}; the same part may be several workers' (a norm that all have): it is written by each.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    number = int(group.broadcast(np.array(_number(folder) + 1 if group.rank == 0 else 0)))
    layout = {name: [list(p.shape), list(p.begin), _checksum(p.shape, p.begin, p.array)] for name, p in pieces.items()}
    file = f"{number}-{group.rank}-of-{group.size}.safetensors"
    whole.save(folder / file, pieces=_State({name: piece.array for name, piece in pieces.items()}), layout=layout)
    group.barrier()  # all files are on the disk
    if group.rank == 0:
        files = [f"{number}-{rank}-of-{group.size}.safetensors" for rank in range(group.size)]
        draft = folder / f"{INDEX}.{os.getpid()}.part"
        index = {"number": number, "files": files, "values": values, whole.CHECKSUM: _checksum_of_values(values)}
        draft.write_text(json.dumps(index))
        with open(draft, "rb+") as opened:
            os.fsync(opened.fileno())
        os.replace(draft, folder / INDEX)
        for old in (
            *folder.glob("*.safetensors*"),
            *folder.glob(f"{INDEX}.*.part"),
        ):  # older ones, drafts of the killed
            if old.name not in files:
                old.unlink()
    group.barrier()


def load(folder, group, pieces):
    """Write into the arrays of `pieces` what the checkpoint in `folder` has of them. Returns the values.

    FileNotFoundError where there is none, ValueError where it is damaged, lacks a part of a piece, or has it in
    another shape or dtype: nothing is written into any array then. No worker waits for another; `group` is the one
    that will go on.
    """
    folder = Path(folder)
    index = _index(folder)
    found = {name: np.empty_like(piece.array) for name, piece in pieces.items()}
    covered = {name: np.zeros(piece.array.shape, bool) for name, piece in pieces.items()}
    for file in index["files"]:
        opened, layout = _opened(folder / file)
        with opened:
            for name in pieces.keys() & layout.keys():
                shape, begin, *checksum = layout[name]
                piece = pieces[name]
                with _damaged(folder / file):
                    there = opened.get_slice(f"pieces.{name}")
                if tuple(shape) != tuple(piece.shape):
                    raise ValueError(f"{name} is of shape {tuple(shape)} in {folder / file}; expected {piece.shape}.")
                overlap = _overlap(piece.box(), [(b, b + n) for b, n in zip(begin, there.get_shape(), strict=True)])
                if overlap:
                    target = tuple(slice(b - o, e - o) for (b, e), o in zip(overlap, piece.begin, strict=True))
                    source = tuple(slice(b - o, e - o) for (b, e), o in zip(overlap, begin, strict=True))
                    part = there[source]
                    if part.dtype != piece.array.dtype:
                        raise ValueError(f"{name} is {part.dtype} in {folder / file}; expected {piece.array.dtype}.")
                    if checksum and part.shape == tuple(there.get_shape()):
                        if checksum != [_checksum(shape, begin, part)]:
                            raise ValueError(f"{folder / file} is damaged: bytes of {name} were changed.")
                    found[name][target], covered[name][target] = part, True
    for name, there in covered.items():
        if not there.all():
            raise ValueError(
                f"{folder} lacks {np.sum(~there)} of {there.size} numbers of {name} for worker {group.rank}."
            )
    for name, piece in pieces.items():
        piece.array[...] = found[name]
    return index["values"]


def _checksum(shape, begin, array):
    return whole.checksum(json.dumps([*shape, *begin]), {"": np.asarray(array, order="C")})


def _checksum_of_values(values):
    return whole.checksum(json.dumps(values), {})


def _overlap(box, other):
    """The box that is in both, or None."""
    both = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(box, other, strict=True)]
    return both if all(begin < end for begin, end in both) else None


def _index(folder):
    """What the index says: {"number", "files", "values"}."""
    with _damaged(folder / INDEX):
        index = json.loads((folder / INDEX).read_text())
        kinds = {"number": int, "files": list, "values": dict}
        if not all(isinstance(index[name], kind) for name, kind in kinds.items()):
            raise TypeError(f"expected {', '.join(f'{name}: {kind.__name__}' for name, kind in kinds.items())}")
        found = _checksum_of_values(index["values"])
        if index.get(whole.CHECKSUM, found) != found:
            raise ValueError("bytes of its values were changed")
        return index


def _opened(path):
    """(a worker's file, which part of which array each of its pieces is)."""
    import safetensors

    with _damaged(path):
        opened = safetensors.safe_open(path, "numpy")
        return opened, json.loads(opened.metadata()["state"])["values"]["layout"]


@contextlib.contextmanager
def _damaged(path):
    """Names the file that cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as problem:  # whatever its reader raises
        raise ValueError(f"{path} is damaged: {type(problem).__name__}: {problem}.") from problem


def _number(folder):
    try:
        return _index(folder)["number"]
    except FileNotFoundError:
        return 0


class _State:
    """What training.checkpoints saves: a thing with a state_dict."""

    def __init__(self, arrays):
        self.arrays = arrays

    def state_dict(self):
        return self.arrays
