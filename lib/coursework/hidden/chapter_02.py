"""Hidden cases of chapter 02: numbers of threads and items that no visible case has."""

from ..definition import Case
from ..tasks.chapter_02 import feeding, loading, mapping, moving, passing

CASES = {
    "02-mean": (
        Case("three threads, one addition each", feeding(3, 1)),
        Case("two threads add, one reads twice", feeding(2, 1, reads=2)),
    ),
    "02-map": (
        Case("chunks longer than the list: 3 items in chunks of 5", mapping(3, 5)),
        Case("chunks of one: 3 items", mapping(3, 1)),
        Case("the last item fails: 1 item", mapping(1, 2, bad=True)),
    ),
    "02-buffer": (
        Case("nothing is put", passing(2, 1, 2, 0)),
        Case("two producers, one consumer, bound 2", passing(2, 2, 1, 2)),
    ),
    "02-prefetch": (
        Case("the first batch cannot be read", loading(2, 2, bad=0)),
        Case("a bound larger than the data set", loading(3, 5)),
    ),
    "02-bug": (
        Case("a ring of three accounts", moving((50, 50, 50), (0, 1, 10), (1, 2, 20), (2, 0, 30))),
        Case("too little in both", moving((10, 10), (0, 1, 30), (1, 0, 40))),
    ),
}
