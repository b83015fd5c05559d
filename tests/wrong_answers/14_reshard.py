"""Answers to 14-reshard."""

from answers import MASTER, edit, replace


def file_by_file(length, old, new, rank):
    """right"""
    size, part = (length + old - 1) // old, (length + new - 1) // new
    begin, end = min(length, part * rank), min(length, part * rank + part)
    found = []
    for file in range(begin // size, old):
        first, last = max(begin, file * size), min(end, file * size + size)
        if first < last:
            found.append((file, first - file * size, last - file * size))
    return found


def recursively(length, old, new, rank):
    """right"""
    size, part = -(-length // old), -(-length // new)

    def of(begin, end):
        if begin >= end:
            return []
        stop = min(end, (begin // size + 1) * size)
        return [[begin // size, begin % size, stop - begin // size * size], *of(stop, end)]

    return tuple(of(rank * part, min(length, (rank + 1) * part)))


one_entry = edit(
    MASTER,
    "wrong outside: does an entry end where its file does",
    replace("min(first + end - begin, in_file)", "first + end - begin"),
)
all_of_the_files = edit(MASTER, "wrong end: the next worker's", replace("(file, first, last)", "(file, 0, in_file)"))
a_generator_of_pairs = edit(MASTER, "wrong type: three whole numbers", replace("(file, first, last)", "(first, last)"))
nothing = edit(MASTER, "wrong type: Return a list", replace("return found", "return None"))
