"""04-lines: Predict cache lines, then measure."""

import bisect

import numpy as np

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import FLOATS, lines_of_array

ROWS, COLUMNS = 100, 1000
RECORDS, RECORD = 1000, 6  # numbers in a record


def _two_columns(room):
    """Lines fetched when the first two columns are used one after the other."""
    order = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)[:, :2].T.ravel()
    return lines_of_array(ROWS, COLUMNS).fetches(order, room)


def _small_walk(room):
    """The same question with ten rows: two columns, and what a cache of `room` lines holds."""
    from ... import pictures

    return pictures.walk([*range(10), *range(10)], room, [f"row {k}" for k in range(10)], "Ten rows: column 0, then 1")


WALK = 300  # lines that one of two threads walks through again and again


def _walk_fetches(room, rounds=2):
    """Fetches of the thread that walks through WALK lines; after each of its reads the other one reads a new line."""
    walk = np.tile(np.arange(WALK), rounds)
    stream = WALK + np.arange(walk.size)
    return (
        lines_of_array(WALK + walk.size, FLOATS).fetches(np.stack((walk, stream), axis=1).ravel() * FLOATS, room)
        - stream.size
    )


def room_for_both():
    """The least room with which the walk fetches each line once: more room never fetches more."""
    return bisect.bisect_left(range(4 * WALK), -WALK, lo=1, key=lambda room: -_walk_fetches(room))


def _small_pair(room):
    """A walk through three lines beside a stream."""
    from ... import pictures

    names = [*(f"walk {k}" for k in range(3)), *(f"new {k}" for k in range(6))]
    return pictures.walk(
        [0, 3, 1, 4, 2, 5, 0, 6, 1, 7, 2, 8], room, names, "A walk through three lines beside new ones"
    )


_DRAW = "Write down the byte at which each element begins, and divide by 64: how many different whole numbers?"

LINES = PredictionTask(
    id="04-lines",
    section=Section("4", "04_memory", "Cache lines"),
    title="Predict cache lines, then measure",
    objective="Predict how many cache lines a loop touches and fetches, alone and beside another thread",
    points=5,
    minutes=22,
    questions=(
        Question(
            "row",
            f"lines of row 0 of a ({ROWS}, {COLUMNS}) matrix",
            lambda: lines_of_array(ROWS, COLUMNS).touched(np.s_[0]),
            {
                COLUMNS: "One line for each element? A line holds 16 float32.",
                4 * COLUMNS: "That is the number of bytes. How many lines of 64 bytes do they fill?",
                COLUMNS // FLOATS: "That many lines are full. What about the rest of the row?",
            },
            _DRAW,
        ),
        Question(
            "column",
            f"lines of column 0 of the same ({ROWS}, {COLUMNS}) matrix",
            lambda: lines_of_array(ROWS, COLUMNS).touched(np.s_[:, 0]),
            {
                7: "That would be 100 neighbours. How many bytes lie between two elements of a column?",
                6: "That would be 100 neighbours. How many bytes lie between two elements of a column?",
                ROWS * 63: "That is every line of the matrix. Only one element of each row is used.",
            },
            _DRAW,
        ),
        Question(
            "every_eighth",
            "lines of every eighth element of row 0, x[0, ::8]",
            lambda: lines_of_array(ROWS, COLUMNS).touched(np.s_[0, ::8]),
            {
                COLUMNS // 8: "That is the number of elements. Two of them lie 32 bytes apart: in how many lines?",
                8: "An eighth of the elements; of the lines, too? Which line of the row has none of them?",
            },
            "Which lines of the row hold none of these elements?",
        ),
        Question(
            "one_field_aos",
            f"lines of field 0 of {RECORDS} records of {RECORD} float32, AoS",
            lambda: lines_of_array(RECORDS, RECORD).touched(np.s_[:, 0]),
            {
                RECORDS: "A record has 24 bytes, less than a line: some lines hold field 0 of two or three records.",
                63: "That many hold field 0 if it is stored by itself (SoA). Here the other fields lie between.",
            },
            "How many bytes do all the records take? Is there a line among them without a field 0?",
        ),
        Question(
            "one_field_soa",
            f"lines of field 0 of {RECORDS} records of {RECORD} float32, SoA",
            lambda: lines_of_array(RECORD, RECORDS).touched(np.s_[0]),
            {
                RECORDS: "In SoA the values of a field are neighbours: a line holds 16 of them.",
                375: "That is AoS. In SoA the values of a field are neighbours.",
                RECORDS // FLOATS: "That many lines are full. What about the rest?",
            },
            _DRAW,
        ),
        Question(
            "small_cache",
            "lines fetched for column 0, then column 1, by a cache with room for 64 lines",
            lambda: _two_columns(64),
            {
                ROWS: "When column 1 begins, is the line of row 0 still there? 99 others came after it.",
                ROWS + 36: "Which line goes when a new one comes: the one used longest ago. Which is needed next?",
            },
            "Follow the line of row 0: when is it fetched, when does it have to go, when is it needed again?",
            picture=lambda: _small_walk(6),
        ),
        Question(
            "larger_cache",
            "the same with room for 128 lines",
            lambda: _two_columns(128),
            {
                2 * ROWS: "When column 1 begins, all the lines of column 0 are still there. Which hold its elements?",
                ROWS + 28: "The cache has room for more lines than are needed. Which line would have to go?",
            },
            "How many different lines do the two columns lie in?",
            picture=lambda: _small_walk(12),
        ),
        Question(
            "room",
            f"the least room, in lines, with which a walk through {WALK} lines beside new ones fetches each line once",
            room_for_both,
            {
                WALK: "That would do for the walk alone. The cache keeps what the other thread reads, too.",
                WALK
                + 1: "A line that is read once is kept like any other: the cache does not know that nobody comes back "
                "to it.",
                2 * WALK
                - 1: "One line short: the line that is needed next is the one used longest ago, and it has just gone.",
                2 * WALK + 1: "That will do, and one line less will, too.",
            },
            "Take one line of the walk: how many different lines are used from one read of it to the next, itself "
            "among them?",
            picture=lambda: _small_pair(4),
            section=Section("4.3", "04_sharing", "Shared on purpose: caches and bandwidth"),
        ),
    ),
    hints=(
        "In which line does byte 0 lie, and byte 63, and byte 64? At which byte does element [1, 0] begin?",
        "Lines of a row: its bytes divided by 64, rounded up. Where elements lie 64 bytes or more apart, each has a "
        "line of its own. Where they lie closer, no line on the way is left out.",
        "A row is 4000 bytes long. Records of 6 float32 take 24 bytes, 1000 of them 24,000: all lines of those are "
        "touched. A column needs 100 lines: do they all fit into the cache until the next column begins? And beside "
        "another thread, how many of its lines come in between?",
    ),
)
