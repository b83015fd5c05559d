"""04-split, the second part of 04-moved: Predict what alignment costs."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import LINE

VECTOR, VECTORS, BEHIND = 32, 1000, 20  # bytes of a vector; how many; bytes behind the start of a line
MANY_ROWS, LONG = 64, 100  # of a float32 matrix


def in_two_lines(offset, vector=VECTOR, count=VECTORS):
    """How many of `count` vectors lie in two lines, if the first begins `offset` bytes behind the start of a line."""
    begins = [offset + k * vector for k in range(count)]
    return sum(begin // LINE != (begin + vector - 1) // LINE for begin in begins)


def before_aligned(offset, vector=VECTOR):
    """float32 elements until an address is a multiple of `vector`."""
    return next(n for n in range(vector) if (offset + 4 * n) % vector == 0)


def rows_at_lines(columns, rows=MANY_ROWS):
    """How many rows of a float32 matrix that begins with a line begin with one."""
    return sum(4 * columns * r % LINE == 0 for r in range(rows))


SPLIT = PredictionTask(
    id="04-split",
    section=Section("4.2", "04_vectors", "Alignment"),
    title="Predict what alignment costs",
    objective="Count the vectors that lie in two cache lines, and say what makes the addresses aligned",
    after="04-moved",
    points=1,
    minutes=6,
    questions=(
        Question(
            "split",
            f"vectors of {VECTOR} bytes in two lines, of {VECTORS}, if the first begins {BEHIND} bytes behind the "
            "start of a line",
            lambda: in_two_lines(BEHIND),
            {
                0: "That would be so if the array began with a line, or in the middle of one.",
                VECTORS: "A line has 64 bytes, a vector 32. Can two neighbours both reach over an end?",
                VECTORS // 4: "That is how many there are of 16 bytes.",
            },
            "Where do the first two vectors begin and end, counted from the start of the line?",
        ),
        Question(
            "alone",
            f"elements that the loop does one by one until its addresses are multiples of {VECTOR}",
            lambda: before_aligned(BEHIND),
            {
                VECTOR - BEHIND: "These are bytes. An element of float32 has 4.",
                BEHIND // 4: "So many elements stand between the start of the line and the array. How many to the next "
                "multiple of 32?",
                (LINE - BEHIND) // 4: "That goes on to the next line. A multiple of 32 comes before.",
                VECTOR // 4: "A whole vector of them brings you to the same place in the next vector.",
            },
            "Which multiple of 32 comes next after byte 20, and how many elements of 4 bytes lie before it?",
        ),
        Question(
            "rows",
            f"rows of {MANY_ROWS}, each of {LONG} float32, that begin with a line",
            lambda: rows_at_lines(LONG),
            {
                1: "Row 0 does. Row r begins at byte 400 r: for which r is that a multiple of 64?",
                MANY_ROWS: "A row has 400 bytes, which is no multiple of 64.",
                MANY_ROWS // 2: "Row 2 begins at byte 800, which is 12 lines and a half.",
            },
            "Row r begins at byte 400 r. Write down what remains of that by 64, for r = 0, 1, 2, 3, 4.",
        ),
        Question(
            "padded",
            f"the least length of rows, {LONG} or more, with which each begins with a line",
            lambda: next(n for n in range(LONG, 2 * LONG) if rows_at_lines(n) == MANY_ROWS),
            {
                104: "With 104 each row begins with a multiple of 32 bytes, and every second one with a line.",
                128: "That will do. A shorter one will, too.",
                448: "These are bytes. How many elements?",
                96: "The elements must have room: 100 or more.",
            },
            "Rows must be whole lines: how many float32 does a line have?",
        ),
    ),
    hints=(
        "Draw two lines of 64 bytes, and where the first three vectors lie in them.",
        "A vector lies in two lines if it begins in one and ends in the next. A row begins with a line if its first "
        "byte is a multiple of 64.",
        "The vectors begin at bytes 20, 52, 84, 116 ...; lines end before 64, 128 ... From 20 to the next multiple of "
        "32 are so many bytes, each element has 4. Rows of whole lines have a multiple of 16 elements.",
    ),
)
