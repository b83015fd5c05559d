"""03-gate: A gate before the pool."""

import copy
import threading

from ...checking import short
from ...definition import Case, Section, Slip
from ...events import Events
from ...kinds.thread import ThreadTask


def serve(Gate, rounds, bad, hold, forks, children):
    """Call a gate for the numbers in `rounds`, a list for each thread. `bad`: the number on which the parallel loop
    fails.

    `hold`: "call" keeps a thread inside the parallel loop until another one has its result, "fork" until a child has;
    with "turns" each thread begins when the one before has ended. `forks`: a child calls "before" the first call,
    "after" the calls, or "both". `children`: their three numbers, and the parent's last one.
    """
    process, owner, home = 1, {1: None}, threading.get_ident()
    inside, go = threading.Event(), threading.Event()
    events, seen = Events(), {"results": [], "ended": [], "alone": [], "errors": [], "at_once": 0}

    def parallel(x):
        me, number = threading.get_ident(), 1
        if me == home:
            number = process
        if owner[number] is None:
            owner[number] = number
        elif owner[number] != number:
            seen["ended"].append(x)
        events.enter("in_the_loop")
        if hold == "call" or (hold == "fork" and me != home):
            inside.set()
            go.wait()
        events.leave("in_the_loop")
        if x == bad:
            raise ValueError(f"{x} is bad")
        return x * x

    def alone(x):
        seen["alone"].append(x)
        return x * x

    gate = Gate(parallel, alone, lambda: process if threading.get_ident() == home else 1)

    def call(gate, numbers):
        for x in numbers:
            try:
                seen["results"].append([x, gate(x)])
                if hold == "call":
                    go.set()
            except ValueError as error:
                seen["errors"].append(str(error))

    def child(*numbers):
        nonlocal process
        twin, process, owner[2] = copy.copy(gate), 2, owner[1]  # a fork copies what is there
        call(twin, numbers)
        process = 1

    if forks in ("before", "both"):
        child(children[0])
    if hold == "turns":
        call(gate, rounds[0])
    others = [threading.Thread(target=call, args=(gate, numbers)) for numbers in rounds[1:]]
    for thread in others:
        thread.start()
        if hold == "turns":
            thread.join()
    if hold == "fork":
        inside.wait()
        child(children[1])
    if hold != "turns":
        call(gate, rounds[0])
    go.set()
    for thread in others:
        thread.join()
    if forks in ("after", "both"):
        child(children[2])
        call(gate, [children[3]])
    return seen | {"at_once": events.counts().get("in_the_loop", 0)}


def judge_serve(arguments, result):
    rounds, bad, hold, forks, children = arguments
    if result["at_once"] > 1:
        cause = (
            "Two threads came in at the same moment. To look whether the loop is free, and to take it, must be one "
            "step: a lock that is asked for without waiting does both."
        )
        got = f"{result['at_once']} at once: the layer ends the process"
        return Slip("two-at-once", "one thread at a time in `parallel`", cause, got)
    if result["ended"]:
        cause = (
            "A child was sent to threads that only its parent has. Compare the number of the process, `pid()`, with "
            "that of the process that called `parallel` first, at each call."
        )
        got = f"parallel({result['ended'][0]}) in a child whose parent had used it: the layer ends the process"
        return Slip("fork", "`alone` in a child whose parent has used `parallel`", cause, got)
    if bad is not None and result["errors"] != [f"{bad} is bad"]:
        cause = "The caller must hear of the error of the loop: let it go out. `finally` opens the lock on the way."
        got = f"the errors {result['errors']}" if result["errors"] else "no error"
        return Slip("error-lost", f"ValueError: {bad} is bad, raised by the call", cause, got)
    numbers = [x for row in rounds for x in row if x != bad]
    before, after = forks in ("before", "both"), forks in ("after", "both")
    numbers += children[:1] * before + children[1:2] * (hold == "fork") + children[2:] * after
    expected = sorted([x, x * x] for x in numbers)
    came = sorted(result["results"], key=str)
    if sorted(map(str, came)) != sorted(map(str, expected)):
        cause = "Each call returns what `parallel(x)` or `alone(x)` returns."
        wrong = next((pair for pair in came if pair not in expected), None)
        got = f"gate({wrong[0]}) = {short(wrong[1])}" if wrong else f"{len(came)} results of {len(expected)} calls"
        return Slip("wrong-result", "gate(x) = x * x, the result of both", cause, got)
    if len(rounds) > 1 and not hold:
        return None  # who came while somebody was inside cannot be told from outside
    allowed = {children[2]} | ({*numbers} if hold in ("call", "fork") else set())
    vain = [x for x in result["alone"] if x not in allowed]
    if vain:
        of_process = {children[0]: "child", children[3]: "parent"}
        cause = VAIN["error" if bad is not None else of_process.get(vain[0], "free")]
        return Slip("alone-in-vain", "`parallel` where nothing speaks against it", cause, f"alone({vain[0]})")
    return None


VAIN = {
    "error": "After an error in the loop nobody is inside any more, and the next caller may use it. Is the lock opened "
    "on every way out?",
    "child": "The gate was made before the fork, but nobody had called `parallel` yet: the child may, and has threads "
    "of its own then. So the process that counts is not the one that made the gate.",
    "parent": "The child is gone, and the parent's threads are as they were. Does the object still belong to the "
    "parent?",
    "free": "Nobody was inside, and the process is the one that called `parallel` first. Is the lock opened after each "
    "call, and is any thread let in?",
}


def serving(*rounds, bad=None, hold="", forks=""):
    """A list of calls for each thread; each number stands for a random one."""

    def make(rng):
        names = [int(x) for x in 10 + rng.permutation(80)]
        numbers = [[names[x] for x in row] for row in rounds]
        return numbers, None if bad is None else names[bad], hold, forks, names[10:14]

    return make


GATE = ThreadTask(
    id="03-gate",
    section=Section("3.3", "03_pools", "Two callers, and a fork"),
    title="A gate before the pool",
    objective="Make a parallel loop safe for two callers at once and for a fork, under a layer that is neither",
    points=3,
    minutes=12,
    scenario=serve,
    schedules=80,
    judge=judge_serve,
    without=dict.fromkeys(
        ("timeout", "sleep"), "a caller never waits here, not even for a while; `acquire(blocking=False)` asks"
    ),
    cases=(
        Case("one caller, three calls", serving([1, 2, 3])),
        Case("two callers", serving([1], [2])),
        Case("two callers, one after the other", serving([1], [2], hold="turns")),
        Case("two callers, and one stays inside until the other has its result", serving([1], [2], hold="call")),
        Case("an error in the loop", serving([1, 2], bad=1)),
        Case("a child after the first call, then its parent", serving([1], forks="after")),
        Case("a child before the first call", serving([1], forks="before")),
        Case("a child while a thread of the parent is inside", serving([1], [2], hold="fork")),
    ),
    advice={
        "deadlock": "A caller waits. Somebody else is inside for a long time, or the lock was closed when the process "
        "was forked, and nobody in the child will ever open it: `acquire(blocking=False)` asks, and does not wait. Or "
        "was the lock not opened after an error?",
        "lock-not-released": "The lock is still closed at the end. What opens it when `parallel` raises an error? "
        "`finally` does.",
        "raised-RuntimeError": "Only who got the lock may open it. What did `acquire(blocking=False)` return?",
        "busy-waiting": "A caller asks again and again. It need not wait at all: it can do the work alone.",
        "endless": "A caller asks again and again. It need not wait at all: it can do the work alone.",
        "livelock": "A caller asks again and again. It need not wait at all: it can do the work alone.",
        "lost-update": "Two callers read and changed a name of the object at the same time: what tells that somebody "
        "is inside must be taken in one step, as a lock is.",
    },
    hints=(
        "What must be true before a call may use `parallel`? There are two things. And which of them can change "
        "between your looking and your calling?",
        "A lock that is closed while somebody is inside, and the number of the process that called `parallel` first: "
        "None until then. Who does not get the lock works alone.",
        "Ask for the lock without waiting. If you have it: note the process if none is noted yet, and compare. "
        "Everything from there on stands in a `try`, for the lock must be opened on three ways out.",
    ),
)
