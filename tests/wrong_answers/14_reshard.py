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


rounded_down = edit(
    MASTER, "wrong begin: length / old numbers, rounded up", replace("-(-length // old), -(-length // new)", "length // old, -(-length // new)")
)  # fmt: skip
parts_rounded_down = edit(
    MASTER, "wrong begin: length / new numbers, rounded up", replace("-(-length // old), -(-length // new)", "-(-length // old), length // new")
)  # fmt: skip
padding_too = edit(
    MASTER, "wrong padding: is not read", replace("min((rank + 1) * in_part, length)", "(rank + 1) * in_part")
)
one_entry = edit(
    MASTER,
    "wrong outside: does an entry end where its file does",
    replace("min(first + end - begin, in_file)", "first + end - begin"),
)
the_first_file_alone = edit(
    MASTER, "wrong missing: may lie in several files", replace("while begin < end:", "if begin < end:")
)
numbers_of_the_array = edit(
    MASTER,
    "wrong outside: count within the file",
    replace("(file, first, last)", "(file, begin, begin + last - first)"),
)
lengths = edit(
    MASTER,
    "wrong empty: An entry reads at least one number",
    replace("(file, first, last)", "(file, first, last - first)", after="last = min(first + end - begin, in_file)"),
)
one_by_one = edit(
    MASTER, "wrong pieces: neighbours in one file", replace("min(first + end - begin, in_file)", "first + 1")
)
last_included = edit(MASTER, "wrong begin: as in a slice", replace("(file, first, last)", "(file, first, last - 1)"))
all_of_the_files = edit(MASTER, "wrong end: the next worker's", replace("(file, first, last)", "(file, 0, in_file)"))
a_generator_of_pairs = edit(MASTER, "wrong type: three whole numbers", replace("(file, first, last)", "(first, last)"))
files_from_one = edit(
    MASTER, "wrong begin: This entry begins with number", replace("(file, first, last)", "(file + 1, first, last)")
)
swapped = edit(
    MASTER,
    "wrong missing: may lie in several files",
    replace("-(-length // old), -(-length // new)", "-(-length // new), -(-length // old)"),
)
nothing = edit(MASTER, "wrong type: Return a list", replace("return found", "return None"))
