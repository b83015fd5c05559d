"""Hidden cases of chapter 02: numbers of threads and items that no visible case has."""

from ..definition import Case
from ..tasks.c02.bug import coming
from ..tasks.c02.graph import graphed
from ..tasks.c02.map import mapping
from ..tasks.c02.mean import feeding
from ..tasks.c02.places import sharing
from ..tasks.c02.prefetch import loading
from ..tasks.c02.shards import sharded
from ..tasks.c02.shared import passing
from ..tasks.c02.tally import telling

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
    "02-graph": (
        Case("one task", graphed("a")),
        Case("d needs three", graphed("a b c d:abc")),
        Case("two chains that meet", graphed("c:b d:a a b e:cd")),
    ),
    "02-buffer": (
        Case("nothing is put", passing(2, 1, 2, 0)),
        Case("two producers, one consumer, bound 2", passing(2, 2, 1, 2)),
    ),
    "02-prefetch": (
        Case("the first batch cannot be read", loading(2, 2, bad=0)),
        Case("a bound larger than the data set", loading(3, 5)),
    ),
    "02-tally": (
        Case("one writer, 7 additions, slack 3", telling(1, 7, 3)),
        Case("two writers, 3 additions each, no slack", telling(2, 3, 0)),
        Case("nothing is added", telling(2, 0, 2)),
    ),
    "02-places": (
        Case("all places for one, 5 places", sharing(5, 5, 2)),
        Case("three that fit work together: 6 places", sharing(6, 1, 2, 3, meeting=(0, 1, 2))),
    ),
    "02-shards": (
        Case("no shard at all", sharded()),
        Case("an empty shard among others, bound 2", sharded(2, 0, 1, bound=2)),
        Case("three shards, a stop before the first batch", sharded(2, 2, 2, stop=0)),
        Case("the first batch of all cannot be read", sharded(2, 3, bad=[0, 0])),
    ),
    "02-bug": (Case("three threads, two rounds", coming(3, 2)), Case("two threads, three rounds", coming(2, 3))),
}
