"""03-layers, the second part of 03-predict: Who hands out the chunks, and who waits at the end?"""

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question
from .shared import PREDICT_ROWS, makespan, static_makespan

PIECES, PIECE, LATE = 16, 100, 4000  # pieces of a loop; microseconds of one; until the other thread gets a core


def returns_after(pieces, piece_time, late, for_all):
    """Microseconds until a loop returns, on the caller's thread and one that comes `late`; both take pieces from a
    counter. `for_all`: it returns when both have come, and not as soon as all pieces are done."""
    free = [0, late]
    for _ in range(pieces):
        k = free.index(min(free))
        free[k] += piece_time
    return max(free) if for_all or free[1] > late else free[0]


LAYERS = PredictionTask(
    id="03-layers",
    section=Section("3.3", "03_pools", "Three layers under `prange`"),
    title="Who hands out the chunks, and who waits at the end?",
    objective="Predict what a threading layer makes of a chunk size, and what a loop costs that waits for every thread",
    after="03-predict",
    points=2,
    minutes=8,
    questions=(
        Question(
            "blocks",
            "work of the busier of 2 threads with a chunk size of 1, under a layer that hands out blocks of chunks",
            lambda: static_makespan(PREDICT_ROWS, 2),
            {
                sum(PREDICT_ROWS)
                // 2: "That is half of the work. Each thread gets a block of four chunks: which ones?",
                makespan(
                    PREDICT_ROWS, 2, 1
                ): "That is so if a thread takes its next row when it is free. Here nobody hands out "
                "anything while the loop runs.",
                10: "That is the thread with the short rows. Who is busier?",
            },
            "Chunks of one row, and four chunks for each thread, one after the other. Which rows does the busier one "
            "get?",
        ),
        Question(
            "handed_out",
            "work of the busier of 2 threads, if each takes the next row when it is free",
            lambda: makespan(PREDICT_ROWS, 2, 1),
            {
                sum(PREDICT_ROWS)
                // 2: "That would be perfect. Row 7, the longest, is taken last: what does the other thread do then?",
                static_makespan(PREDICT_ROWS, 2): "That is in blocks. Here the thread that is free takes one row.",
                makespan(PREDICT_ROWS, 2, 2): "That is with two rows at a time.",
                16: "That is the other thread: one of the two ends later.",
            },
            "Two clocks. Row 0 goes to one thread, row 1 to the other; then always to the clock that is behind.",
        ),
        Question(
            "all_come",
            "microseconds until the loop returns, if it waits until both threads have come",
            lambda: returns_after(PIECES, PIECE, LATE, for_all=True),
            {
                PIECES * PIECE: "Then all pieces are done. But this loop waits for the second thread, too.",
                PIECES * PIECE // 2: "That would be so if both began at once.",
                LATE
                + PIECES * PIECE // 2: "When the second thread comes, no piece is left: the first one was not idle.",
                LATE + PIECES * PIECE: "One does not wait for the other before it begins.",
                PIECES: "That is the number of pieces. How many microseconds is it until the loop returns?",
            },
            "What has the first thread done when the second one comes? What must happen before the loop returns?",
        ),
        Question(
            "all_done",
            "microseconds until the loop returns, if it waits only until all pieces are done",
            lambda: returns_after(PIECES, PIECE, LATE, for_all=False),
            {
                LATE: "Who waits for a thread that has begun no work waits for nothing.",
                PIECES: "That is the number of pieces. How many microseconds do they take?",
                PIECES
                * PIECE
                // 2: "That would be so if both began at once. How many pieces are left when the second one comes?",
            },
            "How long does one thread alone need for 16 pieces, and has the other one come by then?",
        ),
    ),
    hints=(
        "For each layer: when is it decided who gets which row, before the loop or while it runs? And for each loop: "
        "what must have happened before it returns?",
        "In blocks, a chunk size changes nothing: the first half of the chunks for one thread, the second half for the "
        "other. Handed out, it is the game with two clocks.",
        "blocks: the rows 4 to 7. handed_out: the clocks show 1 and 2, then 4 and 6, then 9 and 12, and then? The "
        "pieces: 16 times 100 is less than 4000.",
    ),
)
