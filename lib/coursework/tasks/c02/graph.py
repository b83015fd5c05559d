"""02-graph, the second part of 02-map: Jobs that need the results of others."""

import threading

from ...definition import Case, Section, Slip
from ...kinds.thread import ThreadTask


def run_graph(Graph, needs, waits):
    """Run the tasks of a graph, each in a thread of its own from the moment that it is submitted. `waits`: {task:
    another one, for whose beginning it waits}."""
    order, early, running, over = [], [], [], set()
    begun = {name: threading.Event() for name in needs}

    def run(name):
        begun[name].set()
        if name in waits:
            begun[waits[name]].wait()
        over.add(name)
        graph.finished(name)

    def submit(name):
        open_needs = [n for n in needs[name] if n not in over]
        if open_needs:
            early.append([name, open_needs[0]])
        order.append(name)
        thread = threading.Thread(target=run, args=(name,), name=f"task {name}")
        running.append(thread)
        thread.start()

    graph = Graph({name: list(before) for name, before in needs.items()}, submit)
    graph.start()
    for thread in running:  # it grows while they run
        thread.join()
    return {"order": order, "early": early}


def judge_graph(arguments, result):
    needs, _ = arguments
    order, early = result["order"], result["early"]
    told = f"each of {', '.join(needs)} submitted once, when all that it needs is finished"
    if not order:
        cause = "Nothing was submitted. What needs nothing can run at once: `start` submits it."
        return Slip("nothing", told, cause, "no call of `submit`")
    if early:
        name, need = early[0]
        cause = (
            "A task was handed over too early. It may need several others: being needed by the one that has just "
            "finished is not enough. And needs[x] are those before x, not those after it."
        )
        return Slip("early", told, cause, f"{name} submitted when {need} was not finished")
    twice = next((name for name in order if order.count(name) > 1), None)
    if twice:
        return Slip("twice", told, GRAPH_TWICE, f"{twice} submitted {order.count(twice)} times")
    missing = [name for name in needs if name not in order]
    if missing:
        return Slip("missing", told, GRAPH_MISSING, f"{', '.join(missing)} never submitted")
    return None


GRAPH_TWICE = (
    "Two threads found the same task ready, and both submitted it. Who brings the number of open needs to 0 must learn "
    "it in the same step, under the lock, in which it takes one off. And a task that `submit` got in `start` may end "
    "before `start` has: what does `start` look at then?"
)
GRAPH_MISSING = (
    "A task was never submitted, though all that it needs is finished: nobody found it ready. Were two needs taken off "
    "at once, and one of them lost? Or do the numbers of open needs belong to another graph, or begin too high?"
)


def graphed(needs, **waits):
    """A graph of the tasks a, b, c ...: "a b c:ab" lets c need a and b."""
    parts = [part.partition(":") for part in needs.split()]
    return lambda rng: ({name: list(before) for name, _, before in parts}, waits)


GRAPH = ThreadTask(
    id="02-graph",
    section=Section("2.3", "02_queues", "Tasks that depend on each other"),
    title="Jobs that need the results of others",
    objective="Run tasks that depend on each other: count what each one still needs, and start it in time",
    after="02-map",
    points=3,
    minutes=10,
    scenario=run_graph,
    schedules=80,
    preemptions=2,
    judge=judge_graph,
    cases=(
        Case("a chain: b needs a, c needs b", graphed("a b:a c:b")),
        Case("c needs a and b", graphed("a b c:ab")),
        Case("one result for two: b and c need a, d needs both", graphed("a b:a c:a d:bc")),
        Case("c needs a alone, and b goes on until c has begun", graphed("a b c:a", b="c")),
    ),
    advice={
        "deadlock": "Somebody waits for ever. A task may begin as soon as all that it needs itself is finished, "
        "whatever else is still running. And nobody may wait inside `finished` or `start`.",
        "lost-update": GRAPH_MISSING,
        "raised-KeyError": "A name has no entry. needs[x] is the list of the tasks before x, and [] for one that needs "
        "nothing. Is everything set up before the first `submit`, which may bring a call of `finished` at once?",
        "raised-AttributeError": "Is everything set up in `__init__`, before the first `submit`, which may bring a "
        "call of `finished` at once?",
        "busy-waiting": "`finished` asks again and again. It need not wait: the thread that finishes the last need "
        "submits the task.",
        "endless": "`finished` turns in a loop. It need not wait: the thread that finishes the last need submits the "
        "task.",
        "livelock": "`finished` turns in a loop. It need not wait: the thread that finishes the last need submits the "
        "task.",
    },
    hints=(
        "Task d needs b and c, which finish in two threads, in any order. Which of the two threads submits d, and how "
        "does it know?",
        "For each task the number of its needs that are still open, and the list of the tasks that need it. `finished` "
        "takes one off for each task of that list; who comes to 0 submits.",
        "Take one off and compare with 0 under one lock, and keep the answer in a name of your own. In `start`, the "
        "open numbers may already be changing: what tells you, unchanged, which tasks need nothing?",
    ),
)
