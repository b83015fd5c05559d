"""Checkpoints: what comes back is what was saved, and a file that was cut, forged or does not fit changes nothing."""

import errno
import json
import os
import resource
import struct
import subprocess

import numpy as np
import pytest
from safetensors.numpy import load_file

from training import Tensor, checkpoints, modules
from training.checkpoints import load, save


class Holder:
    """Anything with a state."""

    def __init__(self, **state):
        self.state = state

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        self.state = state


class Network(modules.Module):
    """Weights of two types, and a count that is not learned."""

    def __init__(self, value=1.0):
        self.first = modules.Linear(4, 3, generator=np.random.default_rng(0))
        self.first.weight.data[:] = value
        self.half = modules.Parameter(np.array([value, 2], np.float16))
        self.count = Tensor(np.array(7))

    state = property(modules.Module.state_dict)


def network(value=1.0):
    return Network(value)


def optimizer(value=1.0):
    moments = {"0": {"step": 3, "exp_avg": np.full((3, 4), value)}, "1": {"step": 0}}
    return Holder(lr=0.1, options={"betas": (0.9, 0.999), "nesterov": False}, state=moments)


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=True)
    return a == b and isinstance(b, type(a))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.safetensors"


def test_what_was_saved_comes_back(path):
    numbers = {name: np.arange(6).reshape(2, 3).astype(name) for name in ("f2", "f4", "f8", "i8", "u1", "i4", "?")}
    odd = {"empty": np.zeros((0, 3)), "single": np.array(2.5), "nan": np.array([np.nan, np.inf]),
           "columns": np.arange(12.0).reshape(3, 4)[:, ::2], "back": np.arange(5)[::-1],
           "big": np.arange(3, dtype=">f4")}  # fmt: skip
    saved, other = Holder(**numbers, **odd, names=["a", ["ü", None]], rate=0.1), Holder()
    save(path, thing=saved, step=12, losses=[0.1, float("inf")], deep={"a": np.array([1, 2])})
    values = load(path, thing=other)
    odd["big"] = odd["big"].astype("<f4")
    assert same(saved.state | {"big": odd["big"]}, other.state)
    assert same(values, {"step": 12, "losses": [0.1, float("inf")], "deep": {"a": np.array([1, 2])}})
    other.state["columns"][:] = 0  # it can be written into


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_a_generator_goes_on(path, kind):
    generator = np.random.Generator(kind(1))
    generator.standard_normal(7)
    save(path, generator=generator)
    expected = generator.standard_normal(9)
    other = np.random.Generator(kind(2))
    load(path, generator=other)
    assert np.array_equal(other.standard_normal(9), expected)
    if kind is not np.random.PCG64:
        with pytest.raises(ValueError, match="does not fit generator"):
            load(path, generator=np.random.default_rng())


def test_other_programs_can_read_it(path):
    save(path, model=network())
    assert sorted(load_file(path)) == ["model.count", "model.first.bias", "model.first.weight", "model.half"]


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (lambda: None, "step is of type function; expected numbers"),
        ({1: 2}, "has the key 1; expected names"),
        ({"a": [object()]}, "step.a.0 is of type object"),
        ({"a.b": np.zeros(1), "a": {"b": np.zeros(1)}}, "two arrays have the name step.a.b"),
        ({"array of the file": "a"}, "has the key 'array of the file'; expected names"),
        (np.array(["text"]), "step is an array of <U4; expected numbers"),
    ],
)
def test_what_cannot_be_saved_leaves_the_old_file(path, thing, words):
    save(path, step=1)
    with pytest.raises(TypeError, match=words):
        save(path, step=thing)
    assert load(path) == {"step": 1}
    assert os.listdir(path.parent) == [path.name]


def test_the_formats_own_name_is_refused(path):
    with pytest.raises(TypeError, match="an array has the name __metadata__, which the format keeps for itself"):
        save(path, __metadata__=np.zeros(1))


def test_the_last_ones_are_kept(path):
    for step in range(6):
        save(path, keep=3, step=step)
    names = sorted(os.listdir(path.parent))
    assert names == ["run.1.safetensors", "run.2.safetensors", "run.safetensors"]
    assert [load(path.with_name(name))["step"] for name in (names[2], names[0], names[1])] == [5, 4, 3]


def test_what_a_killed_process_left_goes_with_the_next(path):
    for name in ("run.safetensors.17.part", "run.safetensors.part", "other.17.part"):
        (path.parent / name).touch()
    save(path, step=1)
    assert sorted(os.listdir(path.parent)) == ["other.17.part", "run.safetensors", "run.safetensors.part"]


# ---- files that are not whole ----------------------------------------------------------------------------------------


def refused(path, words, **changed):
    """Load into two objects and a generator; nothing may have changed."""
    generator = np.random.default_rng(5)
    things = {"model": network(5.0), "optimizer": optimizer(5.0), "generator": generator} | changed
    with pytest.raises(ValueError, match=words) as problem:
        load(path, **things)
    assert str(path) in str(problem.value)
    assert generator.bit_generator.state == np.random.default_rng(5).bit_generator.state
    for name, fresh in (("model", network(5.0)), ("optimizer", optimizer(5.0))):
        assert name in changed or same(things[name].state, fresh.state)
    return str(problem.value)


def saved(path):
    save(path, model=network(), optimizer=optimizer(), generator=np.random.default_rng(1), step=1)
    return path.read_bytes()


def test_a_file_cut_anywhere_is_refused(path):
    content = saved(path)
    begin = 8 + int.from_bytes(content[:8], "little")
    places = {
        *range(12),
        *range(begin - 3, begin + 3),
        *range(12, len(content), 61),
        *range(len(content) - 9, len(content)),
    }
    for place in sorted(places):
        path.write_bytes(content[:place])
        refused(path, "is no whole checkpoint")
    path.write_bytes(content + b"0")
    refused(path, "is no whole checkpoint")
    path.write_bytes(content)
    load(path, model=network(5.0))


def test_a_bit_turned_over_is_noticed(path):
    content, whole = saved(path), network(5.0)
    load(path, model=whole)
    for place in range(0, len(content), 3):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        try:
            load(path, model=(model := network(5.0)))
        except ValueError:
            continue
        assert same(model.state_dict(), whole.state_dict())  # the checksum's own name was hit
        assert b"crc32" not in path.read_bytes()


def forged(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensor(begin=0, end=4, shape=(1,), dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def described(state, **tensors):
    return forged({"__metadata__": {"format": checkpoints.FORMAT, "state": state}, **tensors}, b"1234")


ONE = json.dumps(tensor()).encode()
EMPTY = '{"objects": {}, "values": {}}'
FORGED = {
    "a header longer than the file": (forged(b"{}", length=1 << 40), "header"),
    "a header longer than memory": (forged(b"{}", length=(1 << 64) - 1), "header"),
    "offsets behind the end": (forged({"a": tensor(0, 8, (2,))}, b"1234"), "not fully covered"),
    "offsets below zero": (forged({"a": tensor(-4, 4, (2,))}, b"1234"), "integer `-4`"),
    "two arrays in the same bytes": (forged({"a": tensor(0, 8, (2,)), "b": tensor(4, 12, (2,))}, b"1" * 12), "offset"),
    "a shape that overflows": (forged({"a": tensor(0, 8, (1 << 62, 4))}, b"1" * 8), "overflow"),
    "an array of nothing, and endless": (forged({"a": tensor(0, 0, (0, 1 << 63))}), "dimension"),
    "a type that is not known": (forged({"a": tensor(dtype="X9")}, b"1234"), "X9"),
    "a type that NumPy lacks": (forged({"a": tensor(shape=(2,), dtype="BF16")}, b"1234"), "BF16"),
    "the same name twice": (forged(b'{"a": ' + ONE + b', "a": ' + ONE + b"}", b"1234"), "'a' is there twice"),
    "not JSON": (forged(b"{]"), "JSON"),
    "a list": (forged(b"[]"), "sequence"),
    "no text": (forged(b"\xff\xfe"), "UTF-8"),
    "no checkpoint": (forged({"a": tensor()}, b"1234"), "its format is None"),
    "of another version": (forged({"__metadata__": {"format": "training 9"}}), "its format is 'training 9'"),
    "no state": (forged({"__metadata__": {"format": checkpoints.FORMAT}}), "nothing is called 'state'"),
    "a state that is no JSON": (described("{", a=tensor()), "Expecting"),
    "a state deeper than the stack": (described("[" * 200_000, a=tensor()), "recursion"),
    "bytes that no array has": (described(EMPTY), "not fully covered"),
    "an array that nothing names": (described(EMPTY, a=tensor()), "no place for the array 'a'"),
    "an array that is not there": (described('{"objects": {"array of the file": "b"}}', a=tensor()), "called 'b'"),
    "a name twice in the state": (described('{"objects": {}, "objects": {}}', a=tensor()), "'objects' is there twice"),
    "a part that is none": (described('{"objects": {"array of the file": "a"}, "values": 1}', a=tensor()), "ndarray"),
    "parts that are missing": (described('{"values": {"array of the file": "a"}}', a=tensor()), "expected objects"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_file_is_refused(path, name):
    content, words = FORGED[name]
    path.write_bytes(content)
    refused(path, f"is no whole checkpoint: .*{words}")


def test_what_does_not_fit_is_refused_and_changes_nothing(path):
    saved(path)
    wide, other, lacks, more = (network() for _ in range(4))
    wide.first.weight.data = np.zeros((3, 5), np.float32)
    other.first.bias.data = np.zeros(3)
    more.first.scale = Tensor(np.zeros(1))
    del lacks.first.bias
    cases = [
        (wide, r"first.weight is \(3, 4\) float32; expected \(3, 5\) float32"),
        (other, r"first.bias is \(3,\) float32; expected \(3,\) float64"),
        (lacks, r"missing are \[\], unknown are \['first.bias'\]"),
        (more, r"missing are \['first.scale'\], unknown are \[\]"),
    ]
    for model, words in cases:
        before = model.state
        refused(path, f"does not fit model: .*{words}", model=model)
        generator = np.random.default_rng(5)  # and where the model comes last
        with pytest.raises(ValueError, match="Nothing was loaded"):
            load(path, generator=generator, model=model)
        assert generator.bit_generator.state == np.random.default_rng(5).bit_generator.state
        assert same(model.state, before)
    refused(path, "has no state of 'schedule'; it has model, optimizer, generator", schedule=Holder())
    with pytest.raises(FileNotFoundError):
        load(path.with_name("none"))


def test_an_object_that_refuses_its_state_takes_all_back(path):
    class Refusing(Holder):
        def load_state_dict(self, state):
            self.state = {"half": "taken"}
            if state["lr"] == 0.1:
                raise KeyError("exp_avg")
            self.state = state

    saved(path)
    refusing = Refusing(lr=5, half="mine")
    refused(path, "does not fit optimizer: nothing is called 'exp_avg'. Nothing was loaded", optimizer=refusing)
    assert refusing.state == {"lr": 5, "half": "mine"}


# ---- disks that are full ---------------------------------------------------------------------------------------------


def check_full(path, number):
    with pytest.raises(
        OSError, match=r"checkpoint \([\d,]+ bytes\) was not written: .*What was there stays"
    ) as problem:
        save(path, keep=2, model=Holder(a=np.zeros(1 << 20, np.uint8)), step=2)
    assert problem.value.errno == number
    assert str(path) in str(problem.value)
    assert load(path) == {"step": 1}
    assert os.listdir(path.parent) == [path.name]


def test_a_full_disk_keeps_the_old_checkpoint(tmp_path):
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        there = subprocess.run(mount, capture_output=True).returncode == 0
    except FileNotFoundError:
        there = False
    if not there:
        pytest.skip("no file system can be mounted here; the next tests stand for it")
    try:
        save(folder / "run.safetensors", step=1)
        check_full(folder / "run.safetensors", errno.ENOSPC)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_limit_of_the_size_keeps_the_old_checkpoint(path):
    save(path, step=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        check_full(path, errno.EFBIG)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end_keeps_the_old_checkpoint(path, call, monkeypatch):
    save(path, step=1)

    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checkpoints.os, call, fail)
    with pytest.raises(OSError, match=r"No space left on device\. What was there stays"):
        save(path, step=2)
    monkeypatch.undo()
    assert load(path) == {"step": 1}
    assert os.listdir(path.parent) == [path.name]
