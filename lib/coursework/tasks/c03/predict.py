"""03-predict: Predict five schedules."""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import PREDICT_ROWS, makespan, static_makespan


def guided(n, threads, least, share=2):
    """Lengths of the chunks, if each is 1 / `share` of a fair share of what is left, but at least `least`."""
    lengths = []
    while sum(lengths) < n:
        left = n - sum(lengths)
        lengths.append(min(left, max(least, left // (share * threads))))
    return lengths


def stolen_first(costs):
    """Rows of the first theft, if two threads begin with a half of the rows each and take one of their own at a
    time."""
    n = len(costs)
    left, free = [list(range(n // 2)), list(range(n // 2, n))], [0, 0]
    while True:
        t = free.index(min(free))
        if not left[t]:
            return len(left[1 - t]) - len(left[1 - t]) // 2
        free[t] += costs[left[t].pop(0)]


LOOP, LEAST = 64, 5  # rows of another loop; of a chunk at least
DEAR = 6  # cost of a row in the second half of that loop, if one in the first half costs 1

PREDICT = PredictionTask(
    id="03-predict",
    section=Section("3.2", "03_schedules", "The five schedules"),
    title="Predict five schedules",
    objective="Predict how much work each thread gets under a static, a dynamic and a folded schedule, what a guided "
    "one hands out, and what a thief takes",
    points=4,
    minutes=17,
    questions=(
        Question(
            "static",
            "work of the busier of 2 threads, static schedule",
            lambda: static_makespan(PREDICT_ROWS, 2),
            {
                18: "18 is half of all work. The threads get half of the rows each: which rows are the long ones?",
                10: "10 is the work of thread 0, with the short rows. Which thread ends last?",
                22: "Rows 4 to 7 have i + 1 terms each: the first of them has 5, not 4.",
            },
            "Write down the rows of each thread, 0 to 3 and 4 to 7, and add up i + 1.",
        ),
        Question(
            "chunks",
            "chunks handed out with chunks of 3",
            lambda: len(range(0, len(PREDICT_ROWS), 3)),
            {2: "8 // 3 forgets the last, shorter chunk.", 4: "4 would be chunks of 2. Here they have 3 rows."},
            "A chunk is 3 rows; the last one may be shorter. How many until all 8 rows are gone?",
        ),
        Question(
            "dynamic",
            "work of the busier of 2 threads, dynamic schedule, chunks of 2",
            lambda: makespan(PREDICT_ROWS, 2, 2),
            {
                18: "18 is half of all work: perfect balance. But the last chunk is a large one.",
                26: "26 is what the static schedule gives. Here a thread that is free takes the next two rows.",
                20: "20 is right for chunks of 1. Here two rows are taken at once.",
            },
            "The chunks cost 3, 7, 11 and 15. Thread 0 takes 3, thread 1 takes 7. Who is free first, and takes 11?",
        ),
        Question(
            "folded",
            "work of each of 2 threads, folded",
            lambda: sum(PREDICT_ROWS) // 2,
            {
                9: "9 is one pair of rows, the first and the last. Each thread has two pairs.",
                36: "36 is all the work. Two threads share it.",
            },
            "Rows i and 7 - i together cost 9. How many such pairs does each thread get?",
        ),
        Question(
            "guided",
            f"chunks of a guided schedule: {LOOP} rows, 2 threads, at least {LEAST} rows in a chunk",
            lambda: len(guided(LOOP, 2, LEAST)),
            {
                len(
                    guided(LOOP, 2, LEAST, share=1)
                ): "That is the schedule of the paper, with a fair share in each chunk. Ours takes half of one.",
                -(-LOOP // LEAST): f"That many chunks of {LEAST} there would be. The first ones are larger.",
                LOOP
                // len(
                    guided(LOOP, 2, LEAST)
                ): "That is the length of a chunk, in the mean. Their number is asked for.",
                guided(LOOP, 2, LEAST)[
                    0
                ]: "That is the length of the first chunk. How many come until all rows are gone?",
                len(guided(LOOP, 2, LEAST)) - 1: "Was a quarter rounded up, or the last, shorter chunk forgotten?",
            },
            f"The first chunk has {LOOP} // 4 rows. What is left then, and what is a quarter of that? Below {LEAST}, "
            f"it is {LEAST}, as long as so many are left.",
        ),
        Question(
            "stolen",
            f"rows that thread 0 takes in its first theft: {LOOP // 2} rows of 1 unit are its own, {LOOP // 2} of "
            f"{DEAR} units are thread 1's",
            lambda: stolen_first([1] * (LOOP // 2) + [DEAR] * (LOOP // 2)),
            {
                26: "So many rows thread 1 still has. A thief takes half of them.",
                27: "That is what thread 1 has not finished. One of these rows is in work, and a thief takes half of "
                "the rest.",
                14: "Was the row counted that thread 1 is computing? It has taken that one already.",
                16: "That is half of what thread 1 had at the beginning. What has it left when thread 0 needs more?",
                5: "So many rows thread 1 has finished by then. How many are left to it?",
                6: "So many rows thread 1 has taken by then. How many are left to it?",
                1: "A dynamic schedule hands out one row. A thief takes half of what it finds.",
            },
            "When has thread 0 done its own rows? How many has thread 1 taken by then, and what is half of the rest?",
            section=Section("3.2", "03_schedules", "Stealing: a range of one's own"),
        ),
    ),
    hints=(
        "Write down the eight costs in a row: row i costs i + 1. Which of them belongs to which thread?",
        "For the dynamic schedule play it with two clocks: the thread with the earlier clock takes the next chunk and "
        "its clock moves on by the cost.",
        "static: the last four rows. chunks: the last one may be small. dynamic: write down the costs of the four "
        "chunks first, then let the clocks decide. folded: what do rows k and 7 - k cost together? guided: each time a "
        "quarter of what is left, and never less than 5. stolen: when is thread 0 done, and how far has thread 1 come "
        "by then?",
    ),
)
