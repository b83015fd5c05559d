"""A training's state in one file: written whole or not at all, and checked before anything takes it over.

    save("run.safetensors", model=model, optimizer=optimizer, loader=loader, generator=generator, step=step)
    step = load("run.safetensors", model=model, optimizer=optimizer, loader=loader, generator=generator)["step"]

The file is in the safetensors format: a header of JSON, then the bytes of the arrays. Reading it runs no code, as a
pickle would. Arrays of a state are tensors of the file ("model.0.weight"); all else is JSON in its metadata,
with a checksum (CRC-32) of both.

`save` writes a file beside the old one, waits until the disk has it (fsync), and gives it the old one's name in one
step (os.replace). Whatever happens on the way, kill -9 or a full disk, under `path` lies the old checkpoint or the
new one. See T. Pillai and others, "All File Systems Are Not Created Equal" (OSDI 2014), on why each step is needed.
"""

import contextlib
import copy
import glob
import itertools
import json
import os
import shutil
import zlib
from pathlib import Path

import numpy as np

from dlkernels.layouts import as_host

FORMAT = "training 1"


def save(path, *, keep=1, **things):
    """Write `things` into the file `path`, in place of what was there.

    things: by name, objects with state_dict() (a model, an optimiser, a schedule, a loader, a scaler), NumPy's
    Generators, and values that JSON has (a step, a list of losses). A state is made of dicts with names for keys,
    lists, arrays, numbers, strings and None; a tuple becomes a list.
    keep: checkpoints to keep: of "run.safetensors", run.1.safetensors is the one before, run.2.safetensors older.
    Raises TypeError for what cannot be saved and OSError where the file cannot be written; what was there then stays.
    """
    import safetensors.numpy

    path, arrays = Path(path), {}
    state = {"objects": {}, "values": {}}
    for name, thing in things.items():
        is_object = isinstance(thing, np.random.Generator) or hasattr(thing, "state_dict")
        part, value = ("objects", _state_of(thing)) if is_object else ("values", thing)
        state[part][name] = _packed(value, name, arrays)
    words = json.dumps(state)
    metadata = {"format": FORMAT, "state": words, CHECKSUM: checksum(words, arrays)}
    content = safetensors.numpy.save(arrays, metadata=metadata)
    draft = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(draft, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _keep_older(path, keep)
        os.replace(draft, path)
    except OSError as problem:
        words = f"The checkpoint ({len(content):,} bytes) was not written: {problem.strerror}. What was there stays"
        raise OSError(problem.errno, words, str(path)) from problem
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()
    _sync_folder(path.parent)
    for left in path.parent.glob(f"{glob.escape(path.name)}.*.part"):  # of a process that was killed
        left.unlink(missing_ok=True)


def load(path, **things):
    """Give `things` (objects and Generators, by the names they were saved under) their states from the file `path`.

    Returns {name: value} of the plain values in the file. What is in the file and was not asked for is left alone.
    Raises ValueError, with the file and the cause, where it is cut off, damaged or no checkpoint, lacks something, or
    an object refuses its state, as a model does for arrays of other names, shapes or dtypes. All things then are as
    they were. FileNotFoundError where there is no file.
    """
    path = Path(path)
    state = _read(path)
    for name in things:
        if name not in state["objects"]:
            raise ValueError(f"{path} has no state of {name!r}; it has {', '.join(state['objects']) or 'none'}.")
    before, loaded = {name: copy.deepcopy(_state_of(thing)) for name, thing in things.items()}, []
    try:
        for name, thing in things.items():
            loaded.append(name)
            _give(thing, state["objects"][name])
    except Exception as problem:
        for name in loaded:
            _give(things[name], before[name])
        raise ValueError(f"{path} does not fit {loaded[-1]}: {_words(problem)}. Nothing was loaded.") from problem
    return state["values"]


def _state_of(thing):
    return thing.bit_generator.state if isinstance(thing, np.random.Generator) else thing.state_dict()


def _give(thing, state):
    if isinstance(thing, np.random.Generator):
        thing.bit_generator.state = state
    else:
        thing.load_state_dict(state)


ARRAY = "array of the file"  # the key of a dict that stands for an array
METADATA = "__metadata__"  # the part of a header that is no array
CHECKSUM = "crc32"  # the format has none of its own: a bit that a disk turned over would be loaded as a weight


def _packed(state, name, arrays):
    """`state` for JSON: its arrays go into `arrays` under dotted names, which stand in their place."""
    if isinstance(state, dict):
        if wrong := [key for key in state if not isinstance(key, str) or key == ARRAY]:
            raise TypeError(f"{name} has the key {wrong[0]!r}; expected names, as JSON has, and not {ARRAY!r}")
        return {key: _packed(value, f"{name}.{key}", arrays) for key, value in state.items()}
    if isinstance(state, list | tuple):
        return [_packed(value, f"{name}.{k}", arrays) for k, value in enumerate(state)]
    if isinstance(state, np.generic):
        return state.item()
    if state is None or isinstance(state, bool | int | float | str):
        return state
    dtype = getattr(state, "dtype", np.dtype(object))
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        found = f"an array of {dtype}" if hasattr(state, "dtype") else f"of type {type(state).__name__}"
        raise TypeError(f"{name} is {found}; expected numbers, text, None, arrays of numbers, or a state_dict()")
    if name in arrays:
        raise TypeError(f"two arrays have the name {name}")
    if name == METADATA:
        raise TypeError(f"an array has the name {name}, which the format keeps for itself")
    arrays[name] = np.asarray(as_host(state), dtype.newbyteorder("="), order="C")
    return {ARRAY: name}


def _unpacked(state, arrays):
    """What `_packed` was given. Takes each array out of `arrays`."""
    if isinstance(state, dict):
        if set(state) == {ARRAY}:
            return np.array(arrays.pop(state[ARRAY]))
        return {key: _unpacked(value, arrays) for key, value in state.items()}
    return [_unpacked(value, arrays) for value in state] if isinstance(state, list) else state


def _read(path):
    """The state in a file; ValueError for one that `save` has not written."""
    import safetensors.numpy

    content = path.read_bytes()
    try:
        arrays = safetensors.numpy.load(content)  # checks lengths and offsets
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")], object_pairs_hook=_unique)
        metadata = header.get(METADATA, {})
        if metadata.get("format") != FORMAT:
            raise ValueError(f"its format is {metadata.get('format')!r}; expected {FORMAT!r}")
        found = checksum(metadata["state"], arrays)
        if metadata.get(CHECKSUM, found) != found:
            raise ValueError(f"its checksum is {found}; expected {metadata[CHECKSUM]}: bytes were changed")
        state = _unpacked(json.loads(metadata["state"], object_pairs_hook=_unique), arrays)
        if arrays:
            raise ValueError(f"its state has no place for the array {min(arrays)!r}")
        if set(state) != {"objects", "values"}:
            raise ValueError(f"its state has the parts {', '.join(state)}; expected objects, values")
        if wrong := [name for name, part in state.items() if not isinstance(part, dict)]:
            raise ValueError(f"its {wrong[0]} are a {type(state[wrong[0]]).__name__}; expected names and their states")
    except Exception as problem:  # whatever a forged file does to the two readers
        size = f"{len(content):,} bytes"
        raise ValueError(f"{path} ({size}) is no whole checkpoint: {_words(problem)}. Take an older one.") from problem
    return state


def checksum(words, arrays):
    """Of a state's JSON and of its arrays: names, dtypes, shapes and bytes."""
    found = zlib.crc32(words.encode())
    for name, array in sorted(arrays.items()):
        found = zlib.crc32(f"{name} {array.dtype} {array.shape}".encode(), found)
        found = zlib.crc32(array, found) if array.size else found
    return f"{found:08x}"


def _unique(pairs):
    found = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name!r} is there twice")
        found[name] = value
    return found


def _words(problem):
    text = f"nothing is called {problem}" if isinstance(problem, KeyError) else str(problem)
    return (text or type(problem).__name__).rstrip(".")


def _keep_older(path, keep):
    """The checkpoint at `path`, and those before it, get the names of older ones. `path` stays at each moment."""
    names = [path.with_stem(f"{path.stem}.{k}") for k in range(1, keep)]
    if not names or not path.exists():
        return
    for newer, older in reversed(list(itertools.pairwise(names))):
        if newer.exists():
            os.replace(newer, older)
    try:
        os.link(path, names[0])
    except OSError:  # a file system without links
        shutil.copy2(path, names[0])


def _sync_folder(folder):
    """Until this, a power failure may take the new name back. Windows has no such call."""
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
