"""Other numbers for the predictions of chapter 03."""

from ..tasks.c03.layers import returns_after
from ..tasks.c03.predict import guided, stolen_first
from ..tasks.c03.shared import makespan, static_makespan
from . import Asked, Variants


def pays(start, each, cores, processes):
    def from_size(threads):
        return start * threads // (each * (threads - 1))

    nobody = "That many elements take as long as the start alone. The threads must still compute their part."
    return {
        "two": Asked(
            "elements from which two threads are as fast as one",
            from_size(2),
            {start // each: nobody, start: f"An element takes {each} ns."},
            f"Write both times with n elements: {each} n on one thread; the start, and half of the work, on two.",
        ),
        "four": Asked(
            "elements from which four threads are as fast as one",
            from_size(4),
            {
                start // each: nobody,
                2 * from_size(2): "More threads save more of the work, so fewer elements are enough.",
            },
            f"Four threads save three quarters of {each} n. From which n on is that the start?",
        ),
        "running": Asked(
            "threads that want to run at once",
            cores * processes,
            {
                cores: "Each process makes a pool of its own: it knows nothing of the others.",
                processes: "That is one thread for each process. How many does a pool have?",
                cores + processes: "Each of the processes has a pool of as many threads as there are cores.",
                cores // processes: "That is how many there should be in each, not how many there are.",
            },
            "How many threads are in the pool of one process, if nobody says anything? How many processes?",
        ),
        "each": Asked(
            "threads to allow in each process",
            cores // processes,
            {cores: f"That is what numba takes by itself; {processes} processes with so many are too much."},
            "All threads together should be as many as the cores.",
        ),
    }


def _costs(first, falls):
    costs = [first + i for i in range(8)]
    return costs[::-1] if falls == "falls" else costs


def schedules(first, falls, rows, loop, least, dear):
    costs = _costs(first, falls)
    total = sum(costs)
    taken = 1 + loop // 2 // dear  # by thread 1, until thread 0 has done its own rows
    return {
        "static": Asked(
            "work of the busier of 2 threads, static schedule",
            static_makespan(costs, 2),
            {
                total
                // 2: "That is half of all work. The threads get half of the rows each: which rows are the long ones?"
            },
            "Write down the costs of the rows of each thread, 0 to 3 and 4 to 7, and add them up.",
        ),
        "chunks": Asked(
            f"chunks handed out with chunks of {rows}",
            -(-8 // rows),
            {8 // rows: "That forgets the last, shorter chunk."},
            f"A chunk is {rows} rows; the last one may be shorter. How many until all 8 rows are gone?",
        ),
        "dynamic": Asked(
            "work of the busier of 2 threads, dynamic schedule, chunks of 2",
            makespan(costs, 2, 2),
            {
                total // 2: "That is half of all work: perfect balance. But the chunks do not come out even.",
                static_makespan(
                    costs, 2
                ): "That is what the static schedule gives. Here a thread that is free takes the next two rows.",
                makespan(costs, 2, 1): "That is right for chunks of 1. Here two rows are taken at once.",
            },
            "Write down what the four chunks cost. Thread 0 takes the first, thread 1 the second. Who is free first, "
            "and takes the third?",
        ),
        "folded": Asked(
            "work of each of 2 threads, folded",
            total // 2,
            {
                total // 4: "That is one pair of rows, the first and the last. Each thread has two pairs.",
                total: "That is all the work.",
            },
            "What do the rows k and 7 - k cost together? How many such pairs does each thread get?",
        ),
        "guided": Asked(
            f"chunks of a guided schedule: {loop} rows, 2 threads, at least {least} rows in a chunk",
            len(guided(loop, 2, least)),
            {
                len(
                    guided(loop, 2, least, share=1)
                ): "That is with a fair share in each chunk. Ours takes half of one.",
                -(-loop // least): f"That many chunks of {least} there would be. The first ones are larger.",
                guided(loop, 2, least)[
                    0
                ]: "That is the length of the first chunk. How many come until all rows are gone?",
            },
            f"The first chunk has {loop} // 4 rows. What is left then, and what is a quarter of that? Below {least}, "
            f"it is {least}, as long as so many are left.",
        ),
        "stolen": Asked(
            f"rows that thread 0 takes in its first theft: {loop // 2} rows of 1 unit are its own, {loop // 2} of "
            f"{dear} units are thread 1's",
            stolen_first([1] * (loop // 2) + [dear] * (loop // 2)),
            {
                loop // 2 - taken: "So many rows thread 1 still has. A thief takes half of them.",
                loop // 2
                - taken
                + 1: "That is what thread 1 has not finished. One of these rows is in work, and a thief takes half of "
                "the rest.",
                (loop // 2 - taken) // 2
                + 1: "Was the row counted that thread 1 is computing? It has taken that one already.",
                loop
                // 4: "That is half of what thread 1 had at the beginning. What has it left when thread 0 needs more?",
            },
            "When has thread 0 done its own rows? How many has thread 1 taken by then, and what is half of the rest?",
        ),
    }


def layers(first, pieces, piece, late):
    costs = _costs(first, "rises")
    return {
        "blocks": Asked(
            "work of the busier of 2 threads with a chunk size of 1, under a layer that hands out blocks of chunks",
            static_makespan(costs, 2),
            {sum(costs) // 2: "That is half of the work. Each thread gets a block of four chunks: which ones?"},
            "Chunks of one row, and four chunks for each thread, one after the other. Which rows does the busier one "
            "get?",
        ),
        "handed_out": Asked(
            "work of the busier of 2 threads, if each takes the next row when it is free",
            makespan(costs, 2, 1),
            {static_makespan(costs, 2): "That is in blocks. Here the thread that is free takes one row."},
            "Two clocks. Row 0 goes to one thread, row 1 to the other; then always to the clock that is behind.",
        ),
        "all_come": Asked(
            "microseconds until the loop returns, if it waits until both threads have come",
            returns_after(pieces, piece, late, for_all=True),
            {pieces * piece: "Then all pieces are done. But this loop waits for the second thread, too."},
            "What has the first thread done when the second one comes? What must happen before the loop returns?",
        ),
        "all_done": Asked(
            "microseconds until the loop returns, if it waits only until all pieces are done",
            returns_after(pieces, piece, late, for_all=False),
            {late: "Who waits for a thread that has begun no work waits for nothing."},
            f"How long does one thread alone need for {pieces} pieces, and has the other one come by then?",
        ),
    }


VARIANTS = {
    "03-pays": Variants(
        {"start": 12_000, "each": 2, "cores": 8, "processes": 4},
        {
            "start": (9000, 12_000, 18_000, 24_000, 36_000),
            "each": (2, 3, 4, 6),
            "cores": (8, 12, 16, 24),
            "processes": (2, 3, 4, 6),
        },
        "an element takes {each} ns on one thread; starting the parallel loop and waiting for its end takes {start} "
        "ns. The machine has {cores} cores, and {processes} processes run on it.",
        pays,
        lambda start, each, cores, processes: (
            start % (3 * each) == 0 and cores % processes == 0 and cores // processes not in (1, processes)
        ),
    ),
    "03-predict": Variants(
        {"first": 1, "falls": "rises", "rows": 3, "loop": 64, "least": 5, "dear": 6},
        {
            "first": (1, 2, 3, 4, 5, 6),
            "falls": ("rises", "falls"),
            "rows": (3, 5),
            "loop": (48, 64, 80, 96),
            "least": (3, 4, 5, 6),
            "dear": (3, 5, 6, 7),
        },
        "the cost of the 8 rows {falls} by 1 from row to row, and the cheapest row costs {first} units. `chunks` is "
        "about chunks of {rows} rows. The guided schedule hands out {loop} rows to 2 threads, at least {least} in a "
        "chunk. With stealing, a row of the second half of these {loop} costs {dear} units.",
        schedules,
        lambda first, falls, rows, loop, least, dear: (
            7 <= len(guided(loop, 2, least)) <= 11
            and loop // 4 > 11
            # nobody is done at the same moment as another, and what is left to the victim has two equal halves
            and loop // 2 % dear != 0
            and (loop // 2 - 1 - loop // 2 // dear) % 2 == 0
        ),
    ),
    "03-layers": Variants(
        {"first": 1, "pieces": 16, "piece": 100, "late": 4000},
        {"first": (1, 2, 3, 4), "pieces": (8, 12, 16, 20), "piece": (50, 100, 200), "late": (3000, 4000, 5000, 6000)},
        "the 8 rows cost one unit more from row to row, and row 0 costs {first}. The other loop has {pieces} pieces of "
        "{piece} microseconds, and its second thread comes after {late} microseconds.",
        layers,
        lambda first, pieces, piece, late: pieces * piece < late,
    ),
}
