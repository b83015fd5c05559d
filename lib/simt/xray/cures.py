"""What to do about a finding: one sentence."""

from ..source.ways import around, return_before
from ..trace import ATOMIC, LOAD, SHARED, STORE
from .analysis import STATIC_SHARED_LIMIT
from .spans import END, moment
from .updates import atomics, takes

CURES = {
    "out-of-bounds": "Guard the access, as in `if i < x.shape[0]:`, or launch no more threads than elements.",
    "negative-index": "It would wrap around to the end of the array: guard the access, or shift the index.",
    "uninitialised-shared": "Store to every element, then cuda.syncthreads(), then read.",
    "uninitialised-global": (
        "cuda.device_array starts with garbage: store to every element, or copy an array to it, first."
    ),
    "uninitialised-local": "A local array starts with garbage: store to every element before you read it.",
    "uninitialised-variable": "Set it on every way that leads to this line: before the branch or loop that sets it.",
    "unfinished-copy": "Wait for copies, then cuda.syncthreads(), then read: each thread waits for its own only.",
    "divergent-barrier": "Move cuda.syncthreads() out of the branch or loop: all threads must reach the same one.",
    "barrier-after-exit": "Every thread of the block must come to it: put only the work under `if`.",
    "lane-not-in-mask": "Every lane that calls a warp operation must be in its mask: 0xffffffff names all 32.",
    "inactive-lane-read": "Have every lane call the operation, and use the value only where it is defined.",
    "waits-for-ever": "Look for who should set it: a thread that never comes there, or that waits itself.",
    "divergent-warp-operation": "Move the warp operation out of the branch: all lanes in its mask must reach it.",
}
SPINNING = (
    "A loop that waits must read atomically, as the flag is set: while cuda.atomic.add(flag, 0, 0) == 0, then "
    "cuda.threadfence()."
)
TWO_FLAGS = (
    "Each thread sets a flag of its own and looks at the other's. Such a lock (Peterson's, Dekker's) holds if "
    "cuda.threadfence() stands between the two; the x-ray follows locks of one element only: take "
    "`while cuda.atomic.cas(lock, 0, 0, 1) != 0`, then cuda.threadfence()."
)
TURNS = (
    "All threads of the block must go round the loop on line {line} equally often, and come to the barrier in each "
    "turn: put only the work under `if`."
)
UPDATE = "An update is a load and a store, and others can come between"
ONE_ELEMENT = "Give every thread an element of its own, let one thread store, or use an atomic operation."


def overlap(trace, a, b):
    """Name of the other array where two accesses of one place go through different arrays."""
    array_a, array_b = trace.arrays[trace.array[a]], trace.arrays[trace.array[b]]
    return array_b.name if trace.array[a] != trace.array[b] and array_a.name != array_b.name else ""


def race_cure(trace, scope, a, b, room=None, several=False):
    """One sentence. The cure depends on who conflicts, and where a barrier could stand: behind the first point of room
    and before the last (spans.py). several: other accesses are out of order there as well."""
    site_a, site_b = trace.sites[trace.site[a]], trace.sites[trace.site[b]]
    kinds = {int(trace.kind[a]), int(trace.kind[b])}
    if overlap(trace, a, b):
        if trace.space[a] == SHARED:
            return "cuda.shared.array(0) is all of the dynamic memory, each time: cut one array into parts by slices."
        return "Give the kernel arrays that do not overlap, or copy what it still needs before it is overwritten."
    if site_a.line == site_b.line and site_a.text == site_b.text and kinds == {LOAD, STORE}:
        return update_cure(trace, a)
    if kinds == {STORE} and (scope == "grid" or site_a == site_b) and not (room and _in_turns(room, scope)):
        return ONE_ELEMENT
    if scope == "grid":
        return _cure_between_blocks(trace, kinds)
    barrier = "cuda.syncthreads() (or cuda.syncwarp())" if scope == "warp" else "cuda.syncthreads()"
    if room and room[1][-1] == END[0]:
        late = "store" if STORE in (trace.kind[a], trace.kind[b]) else "update"
        if {LOAD, STORE} == kinds and not _store_is_later(trace, a, b):
            late = "load"
        return (
            f"The {late} is of a later turn of the loop on line {room[1][-2][0]}: put {barrier} at the end of the loop "
            "body."
        )
    if kinds == {STORE}:
        return f"Let one thread store the element, or put {barrier} between the two stores."
    if ATOMIC in kinds:
        return f"Put {barrier} between the plain access and the atomic one, or make both atomic."
    if site_a.line == site_b.line:
        return f"Load into a variable first, then {barrier} for all threads of the {scope}, then store."
    lines = [point[-1][0] for point in room] if room else []
    where = f"line {lines[0]} and line {lines[1]}" if several and lines[0] < lines[1] else "the two"
    return f"Put {barrier} between {where}, where every thread of the {scope} reaches it."


def update_cure(trace, row):
    """Of an update that is not atomic: the atomic that does the same, where there is one."""
    name, info = atomics([trace.sites[trace.site[row]]])[0], trace.arrays[trace.array[row]]
    if name is None:
        return f"{UPDATE}: use cuda.atomic.add (max, min ...)."
    if not name:
        return (
            f"{UPDATE}, and no atomic does this one: give each thread a part of its own and combine the parts behind a "
            "barrier, or (whole numbers) try cuda.atomic.cas until nobody came between."
        )
    if str(info.dtype) in takes(name):
        return f"{UPDATE}: use cuda.atomic.{name}."
    types = ", ".join(takes(name))
    return f"{UPDATE}: use cuda.atomic.{name}, and an array of {types}: it has none for {info.dtype}."


def _in_turns(room, scope):
    """Whether a barrier of the block in a loop would do."""
    return scope != "grid" and room[1][-1] == END[0]


def _cure_between_blocks(trace, kinds):
    if ATOMIC in kinds:
        return "Make every access atomic while other blocks run, or read the result in a second launch."
    if any(site.kind == "grid barrier" for site in trace.sites):
        return "Put a barrier of the grid between the two: cuda.cg.this_grid().sync()."
    return "Blocks run in any order: let one block own the element, use an atomic, or make it two launches."


def _store_is_later(trace, a, b):
    """Whether the store of a load-store pair is of a later turn of a loop."""
    store, load = (a, b) if trace.kind[a] == STORE else (b, a)
    return moment(trace, trace.site[store], trace.visit[store]) > moment(trace, trace.site[load], trace.visit[load])


def seen_cure(trace, seen):
    """Of something that the executor saw."""
    if seen.kind == "out-of-bounds" and seen.array >= 0:
        info = trace.arrays[seen.array]
        if info.space == "shared" and info.base >= STATIC_SHARED_LIMIT:
            return (
                f"The launch gives {trace.shared_bytes} bytes of dynamic shared memory: ask for more in "
                "kernel[grid, block, stream, bytes], or guard the access."
            )
    if seen.kind == "barrier-after-exit":
        return _missed_cure(trace, seen)
    if seen.kind == "divergent-barrier":
        ways = [way for site in (seen.site, *seen.other_sites) for way in around(trace.sites[site]) if way.divergent]
        if ways and ways[0].kind == "loop":
            return TURNS.format(line=ways[0].line)
    if seen.kind == "divergent-warp-operation":
        ways = [way for way in around(trace.sites[seen.site]) if way.divergent]
        if ways and ways[-1].kind == "branch":
            return (
                f"Move the warp operation out of the branch on line {ways[-1].line}: all lanes in its mask must reach "
                "it, those without work with a value that changes nothing."
            )
    return CURES.get(seen.kind, "")


def _missed_cure(trace, seen):
    """Of a barrier without which a thread ended: it returned before, or its way led past it."""
    calls = [trace.sites[site] for site, _ in trace.visit_path(seen.visit) if trace.sites[site].kind == "call"]
    steps = [*calls, trace.sites[seen.site]]  # from the kernel to the barrier
    if seen.left and (before := return_before(steps[0], seen.left)):
        return f"Do not return before a barrier, as line {before.line} does: put the thread's work under `if` instead."
    ways = [(way, step) for k, step in enumerate(steps) for way in around(step, parameters=k > 0)]
    leads_past = next((pair for pair in ways if pair[0].divergent), None)
    if not leads_past:
        for step in steps[1:]:
            if before := return_before(step):
                return (
                    f"Do not return from {step.function} before its barrier, as line {before.line} does: put the work "
                    "under `if` instead."
                )
    if not leads_past and not ways:
        return CURES[seen.kind]
    way, step = leads_past or ways[-1]
    if way.kind == "loop":
        return TURNS.format(line=way.line)
    what = (
        "the barrier"
        if step is steps[-1]
        else f"the call of {steps[steps.index(step) + 1].function}, which holds the barrier,"
    )
    return f"Move {what} out of the branch on line {way.line}: leave only the work there."
