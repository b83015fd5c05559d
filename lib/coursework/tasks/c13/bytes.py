"""13-bytes: Predict what a layer takes."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

BOOK = 1024, 4096, 64, 10


def asked(outs, ins, group, percent):
    """For each question: its text, its answer, what wrong answers rest on, what to do about any other."""
    count = outs * ins
    entries = count * percent // 100
    return {
        "channel": (
            "bytes as int8, with a float32 scale for each output channel",
            count + 4 * outs,
            {
                count: "The scales are missing: four bytes for each output channel.",
                count + 4 * ins: "A scale for each input. The channels are the outputs: the rows of the weight.",
                count + outs: "A scale is a float32: four bytes.",
                4 * count + 4 * outs: "A code of eight bits is one byte, not four.",
                count + 4: "That is one scale for the whole tensor.",
                count + 2 * outs: "A scale is a float32: four bytes.",
                8 * (count + 4 * outs): "These are bits. A byte has eight of them.",
            },
            "A byte for each weight, four for each scale.",
        ),
        "group": (
            f"bytes as int4, packed, with a float16 scale for each group of {group} neighbours in a row",
            count // 2 + 2 * (count // group),
            {
                count // 2: "The scales are missing.",
                count + 2 * (count // group): "Two codes of four bits share a byte.",
                count // 2 + 4 * (count // group): "These scales are float16: two bytes.",
                count // 2
                + 2 * (ins // group): "A group is a piece of one row, and there are as many rows as outputs.",
                count // 2
                + 2 * outs: f"That is a scale for each row. A row has a scale for each {group} of its weights.",
            },
            "Half a byte for each weight, and two bytes for each group: how many groups are there?",
        ),
        "csr": (
            f"bytes in CSR, where {percent} % of the weights are left: float32 values, int32 columns, int32 pointers",
            8 * entries + 4 * (outs + 1),
            {
                8 * entries: "The pointers are missing: where each row begins, and the end of the last.",
                8 * entries + 4 * outs: "One pointer more: the end of the last row is stored, too.",
                4 * entries: "These are the values. Each has a column, too, and each row a pointer.",
                12 * entries: "CSR does not store the row of each entry, only where each row begins.",
                4 * entries + 4 * (outs + 1): "The columns are missing: an int32 for each entry.",
                8 * entries
                + 4 * (ins + 1): "The pointers say where rows begin, and there are as many rows as outputs.",
                8 * (count * (100 - percent) // 100)
                + 4
                * (
                    outs + 1
                ): f"That is CSR with what goes. {percent} % of the weights are left, and only these are entries.",
                8 * count * percent / 100
                + 4
                * (
                    outs + 1
                ): f"There are only whole entries: cut {percent} % of {count:,} off to a whole number first.",
            },
            "For each entry a value and a column, for each row a pointer, and one pointer more.",
        ),
        "two_four": (
            "bytes as 2:4 in float16: the values that stay, and two bits for each",
            count + count // 8,
            {
                count: "The indices are missing: two bits for each value that stays.",
                2 * count + count // 4: "Half of the weights go. What stays is count / 2.",
                count + count // 4: "Two bits are a quarter of a byte, and half of the weights stay.",
                count + count // 2: "Two bits for each value that stays, not a byte.",
                2 * count + count // 8: "A value is a float16: two bytes.",
                8 * count + count: "These are bits. A byte has eight of them.",
            },
            "Half of the weights stay, with two bytes and two bits each.",
        ),
    }


def question(name):
    text, _, slips, otherwise = asked(*BOOK)[name]
    return Question(name, text, lambda: asked(*BOOK)[name][1], slips, otherwise)


BYTES = PredictionTask(
    id="13-bytes",
    section=Section("13.3", "13_sparse", "Compressed rows"),
    title="Predict what a layer takes",
    objective="Count the bytes of a layer in four forms, with everything that has to be stored",
    points=2,
    minutes=10,
    questions=tuple(question(name) for name in ("channel", "group", "csr", "two_four")),
    hints=(
        "What has to be stored besides the codes, so that somebody else can make numbers of them again?",
        "Scales in the first two; columns and where rows begin in the third; in the fourth where in its four each "
        "value stood.",
        "channel: a byte a weight, 4 a row. group: half a byte a weight, 2 a group. csr: 8 an entry, 4 a row and 4. "
        "two_four: half of the weights, 2 bytes and 2 bits each.",
    ),
)
