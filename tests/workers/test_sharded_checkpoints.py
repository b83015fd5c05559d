"""Sharded checkpoints: written by n workers, read by m; pieces of any boxes; what is lacking or cut off."""

import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nets import batches, close, loss_of, mlp, same_bits

from training import Adam
from workers import GroupError, bounds, checkpoints, threads
from workers.checkpoints import INDEX, Piece, load, load_optimizer, save, save_optimizer
from workers.zero import ZeroOptimizer, fully_shard, whole_state


def model_and_optimizer(group, stage, seed):
    model = mlp(seed=seed)
    if stage == 3:
        model = fully_shard(model, group)
        return model, Adam(model.parameters(), lr=0.01)
    return model, ZeroOptimizer(model.parameters(), Adam, group, stage, bucket=500, lr=0.01)


def train(group, model, optimizer, steps):
    for parts in steps:
        optimizer.zero_grad()
        mine = parts[group.rank :: group.size]
        for part in mine:
            (loss_of(model, part) / len(mine)).backward()
        optimizer.step()


@pytest.mark.parametrize("stage", [1, 2, 3])
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 4), (4, 2), (3, 2), (2, 2)])
def test_another_number_of_workers_goes_on(tmp_path, stage, before, after):
    """Weights, moments and counts of steps, to the bit; then a training that goes on as one that did not stop."""
    first, second = [batches(12, seed=k) for k in range(2)], [batches(12, seed=9)]

    def begin(group):
        model, optimizer = model_and_optimizer(group, stage, 0)
        train(group, model, optimizer, first)
        save_optimizer(tmp_path, group, optimizer, step=2, note="two steps")
        return whole_state(model)

    def go_on(group):
        model, optimizer = model_and_optimizer(group, stage, 1)
        values = load_optimizer(tmp_path, group, optimizer)
        loaded = whole_state(model)
        train(group, model, optimizer, second)
        return loaded, whole_state(model), values

    def never_stopped(group):
        model, optimizer = model_and_optimizer(group, stage, 0)
        train(group, model, optimizer, first + second)
        return whole_state(model)

    saved = threads.run(begin, before)[0]
    expected = threads.run(never_stopped, before)[0]
    for loaded, trained, values in threads.run(go_on, after):
        same_bits(loaded, saved)
        (same_bits if before == after else close)(trained, expected, *([] if before == after else [2e-3]))
        assert values == {"step": 2, "note": "two steps"}


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([0, 1]), st.sampled_from([0, 1]), st.integers(0, 9))
def test_pieces_of_any_cut(tmp_path_factory, n, m, dim, other_dim, rows):
    """A matrix cut by rows, read by columns, or the other way round; parts may be empty."""
    folder = tmp_path_factory.mktemp("pieces")
    whole = np.arange(rows * 7, dtype=np.float32).reshape(rows, 7)

    def piece(group, along):
        cuts = bounds(whole.shape[along], group.size)
        begin = (cuts[group.rank], 0) if along == 0 else (0, cuts[group.rank])
        part = np.take(whole, range(cuts[group.rank], cuts[group.rank + 1]), along)
        return Piece(np.ascontiguousarray(part), whole.shape, begin)

    threads.run(lambda group: save(folder, group, {"w": piece(group, dim)}), n)

    def read(group):
        mine = piece(group, other_dim)
        expected = mine.array.copy()
        mine.array[...] = -1
        load(folder, group, {"w": mine})
        return np.array_equal(mine.array, expected)

    assert all(threads.run(read, m))


def saved(tmp_path, n=2):
    def work(group):
        part = np.arange(6, dtype=np.float32)[group.part(6)]
        save(tmp_path, group, {"w": Piece(part, (6,), (3 * group.rank,))}, step=1)

    threads.run(work, n)


def test_only_the_newest_files_stay_and_the_older_ones_until_then(tmp_path):
    saved(tmp_path)
    old = sorted(file.name for file in tmp_path.iterdir())
    saved(tmp_path)
    new = sorted(file.name for file in tmp_path.iterdir())
    assert len(old) == len(new) == 3
    assert INDEX in new
    assert not set(old) & set(new) - {INDEX}
    # A save that dies before the index is written: the files of the one before are what the index names.
    (tmp_path / "3-0-of-2.safetensors").write_bytes(b"cut off")
    array = np.zeros(6, np.float32)
    threads.run(lambda group: load(tmp_path, group, {"w": Piece(array, (6,), (0,))}), 1)
    assert array.tolist() == [0, 1, 2, 3, 4, 5]


def test_what_the_killed_left_is_gone_after_the_next_save(tmp_path):
    for draft in ("2-1-of-4.safetensors.99.part", f"{INDEX}.99.part"):
        (tmp_path / draft).write_text("cut o")
    (tmp_path / "notes.part").touch()  # someone's own
    saved(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {
        INDEX,
        "1-0-of-2.safetensors",
        "1-1-of-2.safetensors",
        "notes.part",
    }


def test_the_index_comes_after_all_files(tmp_path, monkeypatch):
    written, there = checkpoints.whole.save, []

    def late(path, **what):
        if path.name.endswith("1-of-2.safetensors"):
            time.sleep(0.1)  # worker 0 would be done
            there.append((tmp_path / INDEX).exists())
        written(path, **what)

    monkeypatch.setattr(checkpoints.whole, "save", late)
    saved(tmp_path)
    assert there == [False]


def test_errors_leave_arrays_as_they_are(tmp_path):
    saved(tmp_path)
    whole = np.full(6, 7, np.float32)
    for piece, words in (
        (Piece(whole, (8,), (1,)), r"w is of shape \(6,\) in .*; expected \(8,\)"),
        (Piece(whole.astype(np.float64), (6,), (0,)), "w is float32 in .*; expected float64"),
    ):
        with pytest.raises(GroupError, match=words):
            threads.run(lambda group, piece=piece: load(tmp_path, group, {"w": piece}), 1)
    with pytest.raises(GroupError, match="lacks 6 of 6 numbers of v"):
        threads.run(lambda group: load(tmp_path, group, {"v": Piece(whole, (6,), (0,))}), 1)
    index = json.loads((tmp_path / INDEX).read_text())
    (tmp_path / INDEX).write_text(json.dumps(index | {"files": index["files"][:1]}))
    with pytest.raises(GroupError, match="lacks 3 of 6 numbers of w for worker 0"):
        threads.run(lambda group: load(tmp_path, group, {"w": Piece(whole, (6,), (0,))}), 1)
    assert whole.tolist() == [7] * 6
    with pytest.raises(GroupError, match="FileNotFoundError"):
        threads.run(lambda group: load(tmp_path / "no", group, {}), 1)


def test_a_damaged_file_is_named(tmp_path):
    saved(tmp_path)
    index = json.loads((tmp_path / INDEX).read_text())
    for name in (INDEX, index["files"][1]):
        whole = (tmp_path / name).read_bytes()
        for content in (b"", whole[:-1], b"[]"):
            (tmp_path / name).write_bytes(content)
            with pytest.raises(GroupError, match=rf"{name} is damaged: "):
                threads.run(lambda group: load(tmp_path, group, {"w": Piece(np.zeros(6, np.float32), (6,), (0,))}), 1)
        (tmp_path / name).write_bytes(whole)
    (tmp_path / INDEX).write_text(json.dumps(index | {"number": "one"}))
    with pytest.raises(GroupError, match="is damaged: TypeError: expected number: int, files: list, values: dict"):
        saved(tmp_path)


def changed(content, at):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def test_a_changed_bit_is_found_where_the_whole_piece_is_read(tmp_path):
    """The bytes, the place and the values: a weight in another's place is as wrong as another weight."""

    def loaded(workers=1):
        def work(group):
            array = np.zeros(6, np.float32)
            return array, load(tmp_path, group, {"w": Piece(array, (6,), (0,))})

        return threads.run(work, workers)[0]

    saved(tmp_path)
    right, values = loaded()
    index = json.loads((tmp_path / INDEX).read_text())
    file = tmp_path / index["files"][1]
    content = file.read_bytes()
    for at in range(len(content) - 3 * right.itemsize, len(content)):
        file.write_bytes(changed(content, at))
        with pytest.raises(GroupError, match=rf"{file.name} is damaged: bytes of w were changed"):
            loaded()
    file.write_bytes(content.replace(b'"pieces.w":', b'"pieces.v":'))
    with pytest.raises(GroupError, match=rf"{file.name} is damaged: "):
        loaded()
    file.write_bytes(content)
    (tmp_path / INDEX).write_text(json.dumps(index | {"values": {"step": 8}}))
    with pytest.raises(GroupError, match=f"{INDEX} is damaged: ValueError: bytes of its values were changed"):
        loaded()
    older = {name: value for name, value in index.items() if name != checkpoints.whole.CHECKSUM}
    (tmp_path / INDEX).write_text(json.dumps(older))
    assert loaded()[1] == values
    np.testing.assert_array_equal(loaded()[0], right)
