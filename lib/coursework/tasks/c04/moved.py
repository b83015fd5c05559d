"""04-moved: Predict what really moves."""

import itertools

from ...definition import Section
from ...kinds.prediction import PredictionTask, Question

SUMMED, PAGE = 1_000_000, 4096  # elements of float32; bytes in a page
ONE_THREAD, MACHINE = 12, 16  # GB/s
KNOWN, ROW = 64, 1000  # pages that the TLB knows; elements of float32 in a row


def within_reach(row):
    """Elements of a column, one in each row, that lie in the first KNOWN pages: by trying."""
    return next(r for r in itertools.count() if 4 * row * r // PAGE >= KNOWN)


NODE = 0, 0, 1, 1  # of each thread
ZEROED, ARRAYS, KIB = 32, 100, 64  # pages that thread 0 fills; arrays one after the other; KiB of each


def read_far(pages):
    """Pages read from the other node, if thread 0 filled all of them and each thread reads a quarter."""
    home = dict.fromkeys(range(pages), NODE[0])
    return sum(home[page] != NODE[len(NODE) * page // pages] for page in home)


def faults_of_arrays(count, size):
    """Page faults of `count` arrays, each written whole and freed before the next, if what is freed is handed out
    again."""
    freed, written, new, faults = [], set(), 0, 0
    for _ in range(count):
        if not freed:
            freed.append(new)
            new += -(-size // PAGE)
        begin = freed.pop()
        for page in range(begin, begin + -(-size // PAGE)):
            faults += page not in written
            written.add(page)
        freed.append(begin)
    return faults


MOVED = PredictionTask(
    id="04-moved",
    section=Section("4.2", "04_vectors", "Past the cache"),
    title="Predict what really moves",
    objective="Predict the bytes that stores move, how long they take, what a second thread gains, how many pages are "
    "touched first and by whom, and how far a TLB reaches",
    points=2,
    minutes=13,
    questions=(
        Question(
            "ordinary",
            "bytes moved with ordinary stores",
            lambda: 4 * 4 * SUMMED,
            {
                12
                * SUMMED: "That is what the loop asks for. What happens to a line of out before its first element is "
                "stored?",
                8 * SUMMED: "That is what is read. What is written moves, too.",
                3 * SUMMED: "These are elements. How many bytes does each have?",
                4 * SUMMED: "That is one of the arrays in bytes, or all that moves in elements. How many bytes has an "
                "element?",
            },
            "Three arrays are used. One of them crosses the way to memory twice: which, and why?",
        ),
        Question(
            "past",
            "bytes moved with non-temporal stores",
            lambda: 3 * 4 * SUMMED,
            {
                16 * SUMMED: "Such a store writes whole lines past the cache: must they be read first?",
                8 * SUMMED: "The results must still come to memory.",
            },
            "Which of the movements of ordinary stores does not happen here?",
        ),
        Question(
            "second",
            "percent of the time that two threads take",
            lambda: 100 * ONE_THREAD // MACHINE,
            {
                50: "Two threads would need twice 12 GB/s. Does the memory give so much?",
                100: "One thread leaves some of the bandwidth unused.",
                133: "That is how many times as fast it is, in percent. The time is asked for.",
            },
            "The same bytes, at 12 GB/s and at 16: what is the ratio of the times?",
        ),
        Question(
            "micro",
            "microseconds of the loop with ordinary stores, on two threads",
            lambda: 4 * 4 * SUMMED // (1000 * MACHINE),
            {
                1: "Those are milliseconds.",
                12
                * SUMMED
                // (
                    1000 * MACHINE
                ): "So long it takes with non-temporal stores, or if the line of out is not read first.",
                16 * SUMMED // (1000 * ONE_THREAD): "That is the time of one thread. Two of them move 16 GB/s.",
                SUMMED: "Those are nanoseconds.",
                4 * SUMMED // (1000 * MACHINE): "That is one array, or elements in the place of bytes.",
            },
            "All bytes that move, divided by those of a second. A GB/s is a thousand bytes in each microsecond.",
        ),
        Question(
            "pages",
            "pages that are touched for the first time",
            lambda: -(-4 * SUMMED // PAGE),
            {
                SUMMED // PAGE: "An element has 4 bytes.",
                -(-SUMMED // PAGE): "An element has 4 bytes.",
                4 * SUMMED // PAGE: "The last page is not full, and is needed, too.",
                **dict.fromkeys(
                    (3 * -(-4 * SUMMED // PAGE), -(-3 * 4 * SUMMED // PAGE)),
                    "Only out is new; a and b were written before.",
                ),
            },
            "How many bytes has out, and how many of its pages has nobody written to?",
        ),
        Question(
            "reach",
            f"elements of the column that lie in the first {KNOWN} pages",
            lambda: within_reach(ROW),
            {
                KNOWN: "That would be so if each row began with a page. A row has 4000 bytes.",
                KNOWN * PAGE // (4 * ROW): "Row 0 counts as well.",
                KNOWN * PAGE // 4: "So many elements lie in these pages in all. The column has one in each row.",
                KNOWN * PAGE // 1024: "That is the reach of the TLB in KiB.",
                KNOWN * PAGE: "That is the reach of the TLB in bytes.",
                4 * KNOWN * PAGE // (4 * ROW): "An element has 4 bytes, and a row 4000.",
            },
            "How many bytes have the pages, and at which byte does row r begin? Which r is the last one in them?",
            section=Section("4.3", "04_sharing", "The table of pages"),
        ),
        Question(
            "far",
            f"pages, of {ZEROED}, that are read from the other node",
            lambda: read_far(ZEROED),
            {
                ZEROED: "Two of the threads have a core in the node where the pages lie.",
                3
                * ZEROED
                // 4: "So many are read by another thread than the one that filled them. A page lies in a node: which "
                "threads are in it?",
                ZEROED // 4: "That is the share of one thread. How many threads are in the other node?",
                0: "That would be so if each thread had filled its own quarter.",
            },
            "Who wrote to the pages first, and in which node is that thread? Which threads are in the other one?",
            section=Section("4.3", "04_sharing", "Who touches a page first"),
        ),
        Question(
            "anew",
            f"page faults of {ARRAYS} arrays of {KIB} KiB, one after the other",
            lambda: faults_of_arrays(ARRAYS, 1024 * KIB),
            {
                ARRAYS
                * 1024
                * KIB
                // PAGE: "That would be so if each array went back to the system. Where does the second one lie?",
                ARRAYS: "The first write to a page is a fault. How many pages has an array, and which of them are new "
                "in the second one?",
                1: "The first write to each page is a fault: how many pages has an array?",
                1024 * KIB // PAGE + 1: "Each array begins with a page, so it fills whole pages.",
                0: "Nobody had written to the pages of the first array.",
            },
            "How many pages has one array? Which of them are new in the first one, and which in the second?",
            section=Section("4.3", "04_sharing", "Behind the addresses: pages"),
        ),
    ),
    hints=(
        "Which lines are read, which are written, and which are both?",
        "An ordinary store reads its line first. Time is bytes divided by bandwidth. A page is given to the process at "
        "its first write, in the node of the thread that writes.",
        "a and b are read; out is read and written with ordinary stores, only written with the other ones. The ratio "
        "of two times is the inverse ratio of two bandwidths. Pages: bytes of out divided by 4096, rounded up. Reach: "
        "the rows begin at the bytes 0, 4000, 8000 and so on. Which of these lie in 64 pages? far: which two threads "
        "share a node? anew: where does the second array lie?",
    ),
)
