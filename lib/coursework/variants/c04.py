"""Other numbers for the predictions of chapter 04."""

import functools

from ..tasks.c04.moved import KNOWN, PAGE, within_reach
from . import Asked, Variants

LINE = 64
_DRAW = "Write down the byte at which each element begins, and divide by 64: how many different whole numbers?"


def touched(starts):
    """Lines that hold the elements which begin at these bytes; the array begins with a line."""
    return len({start // LINE for start in starts})


@functools.cache
def fetches(lines, room):
    """Lines fetched by a cache that keeps the `room` lines used last."""
    kept, fetched = [], 0
    for line in lines:
        fetched += line not in kept
        kept = [*[kept_line for kept_line in kept if kept_line != line][1 - room :], line]
    return fetched


def cache_lines(rows, columns, record, small, large, walk):
    two = tuple(4 * (r * columns + c) // LINE for c in (0, 1) for r in range(rows))
    row = touched(range(0, 4 * columns, 4))
    return {
        "row": Asked(
            f"lines of row 0 of a ({rows}, {columns}) matrix",
            row,
            {
                columns: "One line for each element? A line holds 16 float32.",
                4 * columns: "That is the number of bytes. How many lines of 64 bytes do they fill?",
                columns // 16: "That many lines are full. What about the rest of the row?",
            },
            _DRAW,
        ),
        "column": Asked(
            f"lines of column 0 of the same ({rows}, {columns}) matrix",
            touched(4 * columns * r for r in range(rows)),
            {rows * row: "That is every line of the matrix. Only one element of each row is used."},
            _DRAW,
        ),
        "every_eighth": Asked(
            "lines of every eighth element of row 0, x[0, ::8]",
            touched(range(0, 4 * columns, 32)),
            {-(-columns // 8): "That is the number of elements. Two of them lie 32 bytes apart: in how many lines?"},
            "Which lines of the row hold none of these elements?",
        ),
        "one_field_aos": Asked(
            f"lines of field 0 of {columns} records of {record} float32, AoS",
            touched(range(0, 4 * columns * record, 4 * record)),
            {
                columns: f"A record has {4 * record} bytes, less than a line: some lines hold field 0 of several "
                "records."
            },
            "How many bytes do all the records take? Is there a line among them without a field 0?",
        ),
        "one_field_soa": Asked(
            f"lines of field 0 of {columns} records of {record} float32, SoA",
            touched(range(0, 4 * columns, 4)),
            {
                columns: "In SoA the values of a field are neighbours: a line holds 16 of them.",
                columns // 16: "That many lines are full. What about the rest?",
            },
            _DRAW,
        ),
        "small_cache": Asked(
            f"lines fetched for column 0, then column 1, by a cache with room for {small} lines",
            fetches(two, small),
            {rows: "When column 1 begins, is the line of row 0 still there? All the others came after it."},
            "Follow the line of row 0: when is it fetched, when does it have to go, when is it needed again?",
        ),
        "larger_cache": Asked(
            f"the same with room for {large} lines",
            fetches(two, large),
            {2 * rows: "When column 1 begins, all the lines of column 0 are still there. Which hold its elements?"},
            "How many different lines do the two columns lie in?",
        ),
        "room": Asked(
            f"the least room, in lines, with which a walk through {walk} lines beside new ones fetches each line once",
            2 * walk,
            {
                walk: "That would do for the walk alone. The cache keeps what the other thread reads, too.",
                walk + 1: "A line that is read once is kept like any other.",
                2 * walk - 1: "One line short: the line that is needed next has just gone.",
                2 * walk + 1: "That will do, and one line less will, too.",
            },
            "Take one line of the walk: how many different lines are used from one read of it to the next, itself "
            "among them?",
        ),
    }


def moved(n, one, machine, row, zeroed, kib):
    array, page = 4 * n, PAGE
    return {
        "ordinary": Asked(
            "bytes moved with ordinary stores",
            4 * array,
            {
                3 * array: "That is what the loop asks for. What happens to a line of out before its first element is "
                "stored?",
                2 * array: "That is what is read. What is written moves, too.",
                array: "That is one of the arrays in bytes, or all that moves in elements.",
            },
            "Three arrays are used. One of them crosses the way to memory twice: which, and why?",
        ),
        "past": Asked(
            "bytes moved with non-temporal stores",
            3 * array,
            {
                4 * array: "Such a store writes whole lines past the cache: must they be read first?",
                2 * array: "The results must still come to memory.",
            },
            "Which of the movements of ordinary stores does not happen here?",
        ),
        "second": Asked(
            "percent of the time that two threads take",
            100 * one // machine,
            {
                50: f"Two threads would need twice {one} GB/s. Does the memory give so much?",
                100: "One thread leaves some of the bandwidth unused.",
            },
            f"The same bytes, at {one} GB/s and at {machine}: what is the ratio of the times?",
        ),
        "micro": Asked(
            "microseconds of the loop with ordinary stores, on two threads",
            4 * array // (1000 * machine),
            {
                3 * array // (1000 * machine): "So long it takes if the line of out is not read first.",
                **dict.fromkeys(
                    (4 * array // (1000 * one), round(4 * array / (1000 * one))),
                    f"That is the time of one thread. Two of them move {machine} GB/s.",
                ),
                4 * array // machine: "Those are nanoseconds.",
            },
            "All bytes that move, divided by those of a second. A GB/s is a thousand bytes in each microsecond.",
        ),
        "pages": Asked(
            "pages that are touched for the first time",
            -(-array // page),
            {
                n // page: "An element has 4 bytes.",
                array // page: "The last page is not full, and is needed, too.",
                3 * -(-array // page): "Only out is new; a and b were written before.",
            },
            "How many bytes has out, and how many of its pages has nobody written to?",
        ),
        "reach": Asked(
            f"elements of the column that lie in the first {KNOWN} pages",
            within_reach(row),
            {
                KNOWN: f"That would be so if each row began with a page. A row has {4 * row} bytes.",
                KNOWN * page // (4 * row): "Row 0 counts as well.",
                KNOWN * page // 4: "So many elements lie in these pages in all. The column has one in each row.",
                KNOWN * page // 1024: "That is the reach of the TLB in KiB.",
            },
            "How many bytes have the pages, and at which byte does row r begin? Which r is the last one in them?",
        ),
        "far": Asked(
            f"pages, of {zeroed}, that are read from the other node",
            zeroed // 2,
            {
                zeroed: "Two of the threads have a core in the node where the pages lie.",
                3
                * zeroed
                // 4: "So many are read by another thread than the one that filled them. A page lies in a node.",
                zeroed // 4: "That is the share of one thread. How many threads are in the other node?",
                0: "That would be so if each thread had filled its own quarter.",
            },
            "Who wrote to the pages first, and in which node is that thread? Which threads are in the other one?",
        ),
        "anew": Asked(
            f"page faults of 100 arrays of {kib} KiB, one after the other",
            1024 * kib // page,
            {
                100
                * 1024
                * kib
                // page: "That would be so if each array went back to the system. Where does the second one lie?",
                100: "The first write to a page is a fault. How many pages has an array, and which are new in the "
                "second one?",
                1: "The first write to each page is a fault: how many pages has an array?",
                1024 * kib // page + 1: "Each array begins with a page, so it fills whole pages.",
                0: "Nobody had written to the pages of the first array.",
            },
            "How many pages has one array? Which of them are new in the first one, and which in the second?",
        ),
    }


def aligned(vector, count, behind, length):
    """Vectors from `behind` bytes after the start of a line on; 64 rows of `length` float32."""
    begins = range(behind, behind + count * vector, vector)
    row, rows = 4 * length, sum(4 * length * r % LINE == 0 for r in range(64))
    alone, whole_lines = -behind % vector // 4, -(-length // 16) * 16
    return {
        "split": Asked(
            f"vectors of {vector} bytes in two lines, of {count}, if the first begins {behind} bytes behind the start "
            "of a line",
            sum(b // LINE != (b + vector - 1) // LINE for b in begins),
            {
                0: "That would be so if the first began at a multiple of its size.",
                count: f"A line has 64 bytes, a vector {vector}. Can two neighbours both reach over an end?",
                count // (64 // vector) // 2: f"That is how many there are of {vector // 2} bytes.",
            },
            "Where do the first vectors begin and end, counted from the start of the line? After how many does it "
            "repeat?",
        ),
        "alone": Asked(
            f"elements that the loop does one by one until its addresses are multiples of {vector}",
            alone,
            {
                4 * alone: "These are bytes. An element of float32 has 4.",
                (LINE - behind) // 4: f"That goes on to the next line. Does a multiple of {vector} come before?",
                vector // 4: "A whole vector of them brings you to the same place in the next vector.",
            },
            f"Which multiple of {vector} comes next after byte {behind}, and how many elements of 4 bytes lie before "
            "it?",
        ),
        "rows": Asked(
            f"rows of 64, each of {length} float32, that begin with a line",
            rows,
            {
                1: f"Row 0 does. Row r begins at byte {row} r: for which r is that a multiple of 64?",
                64: f"A row has {row} bytes, which is no multiple of 64.",
            },
            f"Row r begins at byte {row} r. Write down what remains of that by 64, for r = 0, 1, 2, 3 and so on.",
        ),
        "padded": Asked(
            f"the least length of rows, {length} or more, with which each begins with a line",
            whole_lines,
            {
                4 * whole_lines: "These are bytes. How many elements?",
                whole_lines + 16: "That will do. A shorter one will, too.",
                whole_lines - 16: f"The elements must have room: {length} or more.",
                -(-length // 8)
                * 8: "With that each row begins with a multiple of 32 bytes, and every second one with a line.",
            },
            "Rows must be whole lines: how many float32 does a line have?",
        ),
    }


VARIANTS = {
    "04-moved": Variants(
        {"n": 1_000_000, "one": 12, "machine": 16, "row": 1000, "zeroed": 32, "kib": 64},
        {
            "n": (500_000, 600_000, 1_000_000, 1_500_000, 2_000_000),
            "one": (6, 9, 12, 15, 18, 24),
            "machine": (10, 16, 20, 24, 30, 40),
            "row": (600, 750, 900, 1000, 1200),
            "zeroed": (24, 32, 40),
            "kib": (48, 64, 80),
        },
        "the arrays have {n} elements; one thread moves {one} GB/s, and the machine {machine} GB/s; the matrix of "
        "`reach` has rows of {row} float32; thread 0 fills {zeroed} pages; the arrays of `anew` have {kib} KiB.",
        moved,
        lambda n, one, machine, **others: (
            one < machine < 2 * one
            and 100 * one % machine == 0
            and 4 * n % 4096 != 0
            and 16 * n % (1000 * machine) == 0
        ),
    ),
    "04-lines": Variants(
        {"rows": 100, "columns": 1000, "record": 6, "small": 64, "large": 128, "walk": 300},
        {
            "rows": (80, 90, 100, 110, 120),
            "columns": (600, 700, 900, 1000, 1100),
            "record": (5, 6, 7),
            "small": (48, 64),
            "large": (128,),
            "walk": (200, 300, 400),
        },
        "`x` has shape ({rows}, {columns}). There are {columns} records of {record} float32. `small_cache` has room "
        "for {small} lines, `larger_cache` for {large}; the walk of `room` goes through {walk} lines.",
        cache_lines,
    ),
    "04-split": Variants(
        {"vector": 32, "count": 1000, "behind": 20, "length": 100},
        {
            "vector": (16, 32),
            "count": (600, 800, 1000, 1200),
            "behind": (4, 12, 20, 24, 28, 36, 40, 44),
            "length": (90, 100, 104, 116, 120, 136),
        },
        "there are {count} vectors of {vector} bytes, and the first begins {behind} bytes behind the start of a line; "
        "a row has {length} float32, and there are 64 rows.",
        aligned,
        lambda vector, behind, **others: behind % vector != 0,
    ),
}
