"""08-lane: Which lane holds it?"""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question


def _owner(row, column, part):
    """(lane, register) of an element in the fragments of mma.m16n8k16, from the table of the library's stand-in."""
    from dlkernels.tensor_cores import GROUP, LANES, T

    for register in range({"c": 4, "b": 2}[part]):
        for half in range(2):
            if part == "c":
                if half != register % 2:
                    continue
                rows, columns = GROUP + 8 * (register // 2), 2 * T + half
            else:
                rows, columns = 2 * T + 8 * register + half, GROUP
            found = LANES[(rows == row) & (columns == column)]
            if found.size:
                return int(found[0]), register
    raise LookupError((row, column, part))


def _lanes_of_row(row):
    from dlkernels.tensor_cores import GROUP, LANES

    return len(LANES[row % 8 == GROUP])


LANE = PredictionTask(
    id="08-lane",
    section=Section("8.4", "08_fewer_bits", "On tensor cores"),
    title="Which lane holds it?",
    objective="Find the lane and the register that hold an element of a tensor core's matrices",
    points=2,
    minutes=8,
    questions=(
        Question(
            "lane_of_sum",
            "the lane that holds element [11, 5] of the sums",
            lambda: _owner(11, 5, "c")[0],
            {
                46: "There are 32 lanes. Row 11 is row 3 of the lower half: group has 8 values.",
                17: "Each lane holds two neighbouring columns: t is the column divided by 2.",
                13: "This is 8 * row + column of something. A group is four lanes: lane = 4 * group + t.",
                91: "That is the number of the element in the matrix, 8 * row + column.",
            },
            "Row 11 is row group or row group + 8. Column 5 is 2t or 2t + 1. The lane is 4 * group + t.",
        ),
        Question(
            "register_of_sum",
            "which of c0, c1, c2, c3 it is, as a number",
            lambda: _owner(11, 5, "c")[1],
            {
                0: "c0 is in row group and column 2t. Is 11 below 8, and is 5 even?",
                1: "c1 is in row group, and 11 is no group.",
                2: "c2 is in column 2t, and 5 is odd.",
            },
            "There are four: 0, 1, 2 and 3.",
        ),
        Question(
            "lane_of_b",
            "the lane that holds element [9, 6] of b",
            lambda: _owner(9, 6, "b")[0],
            {
                7: "In b the rows go with t, the columns with group: the other way round than in the sums.",
                28: "Row 9 is row 2t + 9 with t = 0, not row 2t + 1.",
                39: "There are 32 lanes. In b the columns go with group, the rows with t.",
            },
            "Column 6 tells the group. Row 9 is 2t, 2t + 1, 2t + 8 or 2t + 9: which t?",
        ),
        Question(
            "lanes_of_a_row",
            "lanes that hold elements of row 5 of the sums",
            lambda: _lanes_of_row(5),
            {
                8: "The row has 8 elements. How many of them does one lane hold?",
                32: "All lanes of a warp hold something, but not of this row.",
                1: "One lane holds two elements of a row. The row has 8.",
                2: "Each lane holds two of the row. How many lanes does that take for 8?",
            },
            "A row belongs to one group. How many lanes have the same lane // 4?",
        ),
    ),
    hints=(
        "Draw the matrix of sums, 16 x 8. Write group and t beside its rows and above its columns.",
        "lane = 4 * group + t. In the sums a row gives the group (take 8 away where it is 8 or more), and a column "
        "divided by 2 gives t. In b it is the other way round.",
        "Row 11 is 8 + 3; column 5 is 2 * 2 + 1. For b: column 6 is the group itself, and row 9 belongs to t = 0.",
    ),
)
