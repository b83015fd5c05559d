"""The map of cache lines against a count of bytes done the slow way, and the model cache against a written-out one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpulab import measure
from cpulab.measure import empty_aligned, line_map, line_picture

pytestmark = pytest.mark.quick

LINE = 64


def bytes_of(array, index):
    """The addresses of an element's bytes, counted by its strides."""
    start = array.ctypes.data + sum(i * s for i, s in zip(index, array.strides, strict=True))
    return range(start, start + array.itemsize)


@st.composite
def views(draw):
    """Arrays of 1 to 3 dimensions and odd element sizes, begun anywhere, cut with any steps, and turned."""
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)))
    dtype = np.dtype(draw(st.sampled_from(["u1", "f4", "f8", "V24", "V200"])))
    array = empty_aligned(shape, dtype, offset=draw(st.integers(0, LINE - 1)), line=LINE)
    cuts = tuple(slice(None, None, draw(st.sampled_from([1, 2, -1, -2]))) for _ in shape)
    return array[cuts].T if draw(st.booleans()) else array[cuts]


@given(views())
def test_lines_are_those_of_the_bytes(array):
    lines = line_map(array, line=LINE)
    everything = set()
    for index in np.ndindex(array.shape):
        own = {address // LINE for address in bytes_of(array, index)}
        assert lines.touched(index) == len(own)
        assert lines.first[index] == min(own) - lines.address // LINE
        assert lines.last[index] == max(own) - lines.address // LINE
        everything |= own
    assert lines.touched() == len(everything)
    assert lines.places.min() < LINE


@given(views(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_fetches_are_those_of_a_list_of_lines_used_last(array, room, random):
    lines = line_map(array, line=LINE)
    order = [random.randrange(array.size) for _ in range(30)]
    kept, fetched = [], 0
    for flat in order:
        index = np.unravel_index(flat, array.shape)
        for line in sorted({address // LINE for address in bytes_of(array, index)}):
            if line not in kept:
                fetched += 1
                kept = kept[-(room - 1) :] if room > 1 else []
            else:
                kept.remove(line)
            kept.append(line)
    assert lines.fetches(order, room) == fetched


def test_a_row_and_a_column():
    x = empty_aligned((32, 64), line=LINE)
    lines = line_map(x, line=LINE)
    assert lines.touched(np.s_[0]) == 4
    assert lines.touched(np.s_[:, 0]) == 32
    by_rows = np.arange(x.size)
    by_columns = by_rows.reshape(x.shape).T.ravel()
    assert lines.fetches(by_rows) == x.nbytes // LINE
    assert lines.fetches(by_columns) == x.size
    assert lines.fetches(by_columns, room=32) == x.nbytes // LINE  # a column of lines fits
    assert lines.fetches(by_columns, room=31) == x.size  # and one line less helps nobody
    pairs = np.unravel_index(by_columns, x.shape)
    assert lines.fetches(pairs) == x.size


def test_false_sharing_is_seen_and_padding_cures_it():
    sums = empty_aligned(4, np.int64, line=LINE)
    lines = line_map(sums, writers=[0, 0, 1, -1], line=LINE)
    assert lines.writers == {0: (0, 1)}
    assert lines.shared == [0]
    padded = empty_aligned((2, 8), np.int64, line=LINE)
    assert line_map(padded, writers=[[0], [1]], line=LINE).shared == []
    # A row as long as a line does not help where the array begins in the middle of one.
    beside = empty_aligned((2, 8), np.int64, offset=16, line=LINE)
    assert line_map(beside, writers=[[0], [1]], line=LINE).shared == [1]


def test_sets():
    x = empty_aligned((64, 1024), line=LINE)  # rows of 4096 bytes: 64 lines
    assert line_map(x, line=LINE).per_set(np.s_[:, 0], sets=64).max() == 64
    padded = empty_aligned((64, 1024 + 16), line=LINE)
    assert line_map(padded, line=LINE).per_set(np.s_[:, 0], sets=64).tolist() == [1] * 64


@pytest.mark.parametrize("offset", [0, 4, 60])
def test_arrays_begin_where_they_are_told(offset):
    array = empty_aligned((3, 5), np.float32, offset)
    assert array.ctypes.data % measure.line_bytes() == offset
    assert (array.shape, array.dtype, array.flags.c_contiguous) == ((3, 5), np.float32, True)
    array[:] = 1


def test_split_elements():
    assert line_map(empty_aligned(10, np.float64, offset=4, line=LINE), line=LINE).split == 1
    assert line_map(empty_aligned(10, np.float64, line=LINE), line=LINE).split == 0


def test_messages():
    with pytest.raises(ValueError, match="offset is 64; expected 0 to 63"):
        empty_aligned(3, offset=64, line=64)
    with pytest.raises(TypeError, match="array is a list; expected a NumPy array"):
        line_map([1, 2])
    with pytest.raises(
        ValueError, match=r"writers has the shape \(3,\); expected one thread for each element of \(4,\)"
    ):
        line_map(np.zeros(4), writers=[0, 1, 2])
    with pytest.raises(ValueError, match="no writers were named"):
        line_map(np.zeros(4)).shared  # noqa: B018
    with pytest.raises(ValueError, match="room is 0"):
        line_map(np.zeros(4)).fetches([0], room=0)


def test_a_line_of_this_machine():
    assert measure.line_bytes() in (32, 64, 128, 256)


def test_the_picture_says_what_it_shows():
    sums = empty_aligned(2, np.int64, line=LINE)
    figure = line_picture(line_map(sums, writers=[0, 1], line=LINE))
    assert figure.alt_text == ("One cache line of 64 bytes, and who writes to it: line 0 by thread 0 and thread 1.")
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels == ["0", "1"]
    figure = line_picture(line_map(empty_aligned((9, 16), line=LINE), line=LINE), most=2)
    assert len(figure.axes[0].texts) == 32
    assert "16, 16 elements" in figure.alt_text
    split = line_picture(line_map(empty_aligned(9, np.float64, offset=4, line=LINE), line=LINE))
    assert "8, 2 elements" in split.alt_text  # one of the nine lies in both
