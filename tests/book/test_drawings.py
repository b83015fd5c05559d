"""What the drawings say of a kernel is what its code does."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from built import ROOT

from dlkernels.convolution import gpu, gpu_gemm
from dlkernels.matrix.gpu_tensor_fed import A_PITCH, DEPTH
from dlkernels.tensor_cores import deal_to_a_warp
from simt import cuda

pytestmark = pytest.mark.quick

BANKS = 32


def drawing(name):
    return ElementTree.parse(ROOT / "_static" / name).getroot()


def group(name, part):
    return drawing(name).find(f".//g[@id='{part}']")


def holders_of_a():
    """{(row, pair of columns): (lane, register)}: numbered elements, dealt out as `ldmatrix` does."""
    numbers = np.arange(256, dtype=np.uint32).reshape(16, 16)
    pairs = numbers[:, ::2] | numbers[:, 1::2] << 16
    dealt = deal_to_a_warp({lane: pairs[lane % 16, lane // 16 * 4 :][:4] for lane in range(32)})
    where = {int(pairs[row, pair]): (row, pair) for row in range(16) for pair in range(8)}
    return {where[int(word)]: (lane, r) for lane, words in dealt.items() for r, word in enumerate(words)}


def test_the_fragment_is_drawn_as_it_is_dealt():
    cells = list(group("warp-fragment.html", "warp-fragment-lanes"))
    across, down = (sorted({float(cell.get(axis)) for cell in cells}) for axis in "xy")
    place = {cell: (down.index(float(cell.get("y"))), across.index(float(cell.get("x")))) for cell in cells}
    holders = holders_of_a()
    assert {place[cell]: int(cell.text) for cell in cells} == {where: lane for where, (lane, _) in holders.items()}
    # a0 and a1 left, a2 and a3 right; below are a1 and a3
    assert all(register == row // 8 + 2 * (pair // 4) for (row, pair), (_, register) in holders.items())
    bold = {place[cell] for cell in cells if cell.get("font-weight")}
    assert bold == {where for where, (lane, _) in holders.items() if lane == 5}
    caption = drawing("warp-fragment.html").findtext("figcaption")
    assert "lane 5, with rows 1 and 9, columns 2 and 3, 10 and 11" in caption
    assert ({row for row, _ in bold}, {2 * pair for _, pair in bold}) == ({1, 9}, {2, 10})


@pytest.mark.parametrize(("pitch", "ways"), [(DEPTH // 2, 4), (A_PITCH, 1)])
def test_rows_are_drawn_in_their_banks(pitch, ways):
    boxes = list(group("padded-rows.html", f"padded-rows-{pitch}"))
    left, width = min(float(box.get("x")) for box in boxes), float(boxes[0].get("width")) / 4
    first = [round((float(box.get("x")) - left) / width) for box in boxes]
    assert first == [row * pitch % BANKS for row in range(8)]
    wanted = [(bank + word) % BANKS for bank in first for word in range(4)]
    assert max(map(wanted.count, wanted)) == ways
    assert f"{pitch} words" in "".join(drawing("padded-rows.html").itertext())


def test_a_half_is_copied_to_while_the_other_is_multiplied():
    text = (ROOT / "_static" / "copies-meanwhile.html").read_text(encoding="utf-8")
    found = re.findall(r'<text x="([\d.]+)" y="(\d+)"[^>]*>(copy|multiply) (\d)</text>', text)
    rounds = sorted({float(x) for x, *_ in found})
    halves = sorted({y for _, y, *_ in found}, key=int)
    for x, y, what, tile in found:
        assert halves.index(y) == (int(tile) + 1) % 2  # tile 1 in half 0, as in the kernel
        assert rounds.index(float(x)) == int(tile) - (what == "copy")  # a round before it is multiplied
    assert len(found) == 9


def test_a_tile_and_its_halo_are_drawn_as_a_block_loads_them():
    side, around = gpu.SIDE, gpu.SIDE + 2  # of 3 x 3 windows
    said = "".join(drawing("halo-tile.html").itertext())
    assert f"shared memory: {around} × {around} pixels" in said
    assert f"{side} × {side} results" in said
    assert f"A block of {side**2} threads loads {around**2} pixels." in said
    lines = [path.get("d") for path in drawing("halo-tile.html").iter("path") if path.get("stroke-opacity")]
    assert [d.count("H") for d in lines] == [around + 1, side + 1]


def test_the_tiles_of_implicit_gemm_are_drawn_to_scale():
    edge, depth, across = gpu_gemm.EDGE, gpu_gemm.DEPTH, gpu_gemm.ACROSS
    said = "".join(drawing("implicit-gemm.html").itertext())
    assert (
        f"A step: {edge} × {depth} weights and {depth} × {across} pixels are loaded for {edge} × {across} sums." in said
    )
    sizes = [(float(r.get("width")), float(r.get("height"))) for r in drawing("implicit-gemm.html").iter("rect")]
    scale = 2
    assert (scale * across, scale * edge) in sizes
    assert sizes.count((scale * 4, scale * 8)) == 2  # of one thread: two times four pixels of eight channels


def test_the_two_dimensional_grid_is_drawn_as_a_kernel_numbers_it():
    @cuda.jit
    def who(out):
        x, y = cuda.grid(2)
        if y < out.shape[0] and x < out.shape[1]:
            out[y, x] = 1000 * cuda.blockIdx.x + 100 * cuda.blockIdx.y + 10 * cuda.threadIdx.x + cuda.threadIdx.y

    numbers = np.full((7, 20), -1)
    who[(3, 2), (8, 4)](numbers)
    cells = list(group("grid-2d.html", "grid-2d-threads"))
    across, down = (sorted({float(cell.get(axis)) for cell in cells}) for axis in "xy")
    place = {(down.index(float(c.get("y"))), across.index(float(c.get("x")))): c for c in cells}
    assert len(place) == len(cells) == 3 * 2 * 8 * 4
    assert {at for at, cell in place.items() if cell.get("stroke-dasharray") is None} == set(np.ndindex(7, 20))
    (marked,) = [at for at, cell in place.items() if cell.get("fill") == "#c8641b"]
    assert marked == (5, 13)
    assert numbers[marked] == 1151  # block (1, 1), thread (5, 1)
    assert "The marked thread is thread (5, 1) of block (1, 1)" in drawing("grid-2d.html").findtext("figcaption")


@pytest.mark.parametrize(("down", "across"), [(2, 16), (4, 8)])
def test_the_tile_of_a_warp_is_drawn_to_scale(down, across):
    edge, warp, lane = 128, 2, 13
    left, top = 4 * (warp % (16 // across) * across), 4 * (warp // (16 // across) * down)
    rows = {row + half for half in (0, 64) for row in range(top, top + 4 * down)}
    columns = {column + half for half in (0, 64) for column in range(left, left + 4 * across)}
    part = group("warp-tile.html", f"warp-tile-{down}x{across}")
    block, *boxes = part
    scale = float(block.get("width")) / edge

    def drawn(kind, axis, size):
        """The rows or columns that the boxes of a kind cover."""
        places = [
            (round((float(box.get(axis)) - float(block.get(axis))) / scale), round(float(box.get(size)) / scale))
            for box in boxes
            if box.get("class") == kind
        ]
        return {first + i for first, count in places for i in range(count)}

    assert drawn("warp", "y", "height") == drawn("a", "y", "height") == rows
    assert drawn("warp", "x", "width") == drawn("b", "x", "width") == columns
    first = 4 * (lane // across) + top, 4 * (lane % across) + left
    of_thread = [{start + half + i for half in (0, 64) for i in range(4)} for start in first]
    assert [drawn("thread", "y", "height"), drawn("thread", "x", "width")] == of_thread
    said = "".join(drawing("warp-tile.html").itertext())
    assert f"{len(rows)} + {len(columns)} = {len(rows) + len(columns)} numbers" in said
