"""Each day a part of the long tests: those that carry the marker `rotates`. Two weeks see all of them.

    @pytest.mark.rotates                                        of a file's tests a fourteenth
    @pytest.mark.rotates(by=lambda params: params["task"])      of the tests of each task a fourteenth, but at least one
    @pytest.mark.rotates(together=lambda params: params["row"])  what has a row in common, on the same day: compiled
                                                                 once
    @pytest.mark.rotates(whole=True)                            all cases of a test function on the same day

Which day is whose depends on the names of a file's tests alone: one that is added may move its neighbours to other
days, and `make nightly` has them all. What also carries `quick` runs every day, what carries `slow` every night.

ROTATION=3/14 runs the third of fourteen parts, ROTATION=all everything. Without it, that is today's part, by UTC; but
all where tests are chosen by name (`file::test`, `-k`).
"""

import datetime
import re
import zlib
from collections import defaultdict

PARTS = 14


def part_of(wish, today, named=False):
    """(k, n): of n parts the one numbered k, from 0; None for all. wish: what ROTATION says."""
    if wish == "all" or (named and not wish):
        return None
    if not wish:
        return today.toordinal() % PARTS, PARTS
    found = re.fullmatch(r"(\d+)/(\d+)", wish)
    if not found or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f'ROTATION={wish}: expected "all", or one of n parts, such as 3/{PARTS}')
    return int(found[1]) - 1, int(found[2])


def today():
    return datetime.datetime.now(datetime.UTC).date()


def words(part):
    """As ROTATION has it."""
    return f"{part[0] + 1}/{part[1]}" if part else "all"


def chosen(names, part, daily=False, first=0):
    """Of a group of names those of a part. daily: at least one. first: whose day begins, so that not all groups have
    one day."""
    k, n = part
    names = sorted(names, key=lambda name: (zlib.crc32(name.encode()), name))
    day = k % min(n, len(names)) if daily and names else (k + first) % n
    return {name for place, name in enumerate(names) if place % n == day}


def split(items, part):
    """(the tests to run, those left for other days) of what pytest has collected."""
    groups = defaultdict(lambda: defaultdict(set))
    for item in items:
        mark = item.get_closest_marker("rotates")
        if mark and part and not any(map(item.get_closest_marker, ("quick", "slow"))):
            params = item.callspec.params if hasattr(item, "callspec") else {}
            group = mark.kwargs["by"](params) if "by" in mark.kwargs else None
            file, _, name = item.nodeid.partition("::")
            if "together" in mark.kwargs:
                name = str(mark.kwargs["together"](params))
            elif mark.kwargs.get("whole"):
                name = name.partition("[")[0]
            groups[file, group][name].add(item)
    left = set()
    for (file, by), group in groups.items():
        today = chosen(group, part, daily=by is not None, first=zlib.crc32(file.encode()))
        left.update(*(tests for name, tests in group.items() if name not in today))
    return [item for item in items if item not in left], [item for item in items if item in left]


def of_today(request, name):
    """The values of a parameter in the tests of this run that stand in the file of the one that asks: for what is made
    for all of them."""
    here = [item for item in request.session.items if item.path == request.path and hasattr(item, "callspec")]
    return list(dict.fromkeys(item.callspec.params[name] for item in here if name in item.callspec.params))
