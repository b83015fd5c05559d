"""05-flip: A picture in the mirror."""

import numpy as np

from ...definition import Budget, Case, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import BLOCK, picture_arguments, thread_of_pixel

NOTHING = np.zeros(0)  # what a suspect gives for arguments that it does not fit


def picture_case(name, rows, columns):
    """A case whose grid has as many blocks along x as along y, so that either may count rows."""
    blocks = -(-max(rows, columns) // 16)
    where = "1 block" if blocks == 1 else f"{blocks} x {blocks} blocks"
    return Case(f"{name}: {rows} x {columns} in {where}", picture_arguments(rows, columns), (blocks, blocks), BLOCK)


FLIP = KernelTask(
    id="05-flip",
    section=Section("5", "05_threads", "Two and three dimensions"),
    title="A picture in the mirror",
    objective="Write a kernel on a grid of two dimensions, and give the columns to the direction in which warps run",
    points=2,
    minutes=15,
    spec=lambda picture, out: picture[:, ::-1],
    cases=(
        picture_case("one block, exact", 16, 16),
        picture_case("exact", 32, 32),
        picture_case("ragged and tall", 37, 20),
        picture_case("ragged and wide", 5, 41),
    ),
    writer=thread_of_pixel,
    suspects=(
        Suspect(lambda picture, out: picture, "This is the picture itself: nothing was mirrored."),
        Suspect(lambda picture, out: picture[::-1], "It stands on its head: the rows were exchanged, not the columns."),
        Suspect(
            lambda picture, out: picture[::-1, ::-1],
            "Rows and columns are both turned round. The rows stay where they are.",
        ),
        Suspect(
            lambda picture, out: picture.T[:, ::-1] if picture.shape[0] == picture.shape[1] else NOTHING,
            "Rows and columns of the picture are exchanged before it is mirrored: one of the two indices is used as "
            "the other.",
        ),
        Suspect(
            lambda picture, out: picture.T if picture.shape[0] == picture.shape[1] else NOTHING,
            "Rows and columns are exchanged, and nothing is mirrored: one of the two indices is used as the other.",
        ),
        Suspect(
            lambda picture, out: picture.T[::-1] if picture.shape[0] == picture.shape[1] else NOTHING,
            "Rows and columns of the picture are exchanged, and the rows mirrored: one of the two indices is used as "
            "the other.",
        ),
    ),
    advice={
        "out-of-bounds": (
            "The grid has more threads than the picture has elements, in both directions: the row must be below "
            "picture.shape[0], the column below picture.shape[1], each by itself. And counted from 0, the last column "
            "is one less than their number."
        ),
        "none-beyond": (
            "Here each thread has an element, so no guard is missing. The mirror of column 0 is the last column, which "
            "has a number counted from 0; that of column c is as far from the right edge as c is from the left one."
        ),
        "negative-index": (
            "An index fell below 0. A thread beyond the right edge has no mirror: is it kept out, by a guard that asks "
            "for rows and for columns, each by itself? The row must be below picture.shape[0], the column below "
            "picture.shape[1]."
        ),
        "some-unwritten": (
            "Some elements have no thread. Does the place use the number of the block in both directions? And is the "
            "guard that of rows for the row, and that of columns for the column?"
        ),
        "race": (
            "Two threads store to one element. Which element belongs to a thread? It needs a row and a column, one of "
            "x and one of y, and each thread mirrors only its own."
        ),
        "raised-TypeError": "cuda.grid(2) gives two numbers, that along x first; an element is picture[row, column].",
    },
    budget=Budget(
        points=1,
        text="at most 4 sectors for each load and each store of a warp",
        require={"sectors_per_request": 4, "active_lanes": 32},
        over=(
            "The picture is right, but neighbouring threads of a warp, which differ in x, lie in different rows of "
            "memory. Elements of one row are neighbours: what should x count?"
        ),
        case=picture_case("exact", 32, 32),
    ),
    hints=(
        "A thread has two numbers, one along x and one along y. Which element of out is its own? And from which column "
        "does it come?",
        "16 threads in a row of a block differ in x only. In memory, elements of one row of the picture are "
        "neighbours. So x should count what differs within a row.",
        "cuda.grid(2) gives both numbers, that along x first. One guard with two conditions. The mirror of column 0 is "
        "the last column, that of column 1 the last but one: their sum is always the same.",
    ),
)
