"""02-buffer: A bounded buffer that can be closed."""

from ...definition import Case, Section
from ...kinds.thread import ThreadTask
from .shared import judge_through, passing, through

BUFFER = ThreadTask(
    id="02-buffer",
    section=Section("2.2", "02_waiting", "A condition"),
    title="A bounded buffer that can be closed",
    objective="Write a buffer with a condition: wait in a loop, notify whoever may be concerned, end cleanly",
    points=6,
    minutes=25,
    scenario=through,
    schedules=150,
    judge=judge_through,
    cases=(
        Case("one producer, one consumer, bound 1", passing(1, 1, 1, 3)),
        Case("order: one producer, one consumer, bound 3", passing(3, 1, 1, 3)),
        Case("two consumers, bound 1", passing(1, 1, 2, 2)),
        Case("two producers, two consumers, bound 1", passing(1, 2, 2, 1)),
        Case("two producers, one consumer, bound 1", passing(1, 2, 1, 2)),
    ),
    advice={
        "deadlock": (
            "Somebody waits in `wait` and is never told. Whom does each of `put`, `get` and `close` have to wake: one "
            "thread, or all that may be concerned, while it holds the same lock? And does it look at the state before "
            "it waits: may a getter wait although it is closed, a putter although there is room?"
        ),
        "raised-RuntimeError": "`wait` and `notify` need the lock of their condition: put them inside `with` of that "
        "condition.",
        "raised-IndexError": (
            "A thread took from an empty buffer. It had been told of an item, but another was faster. After `wait`, "
            "look again: `while`, not `if`."
        ),
        "busy-waiting": "The thread asks again and again instead of sleeping until it is told. That is what `wait` is "
        "for.",
        "endless": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
        "livelock": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
    },
    without={
        **dict.fromkeys(("queue", "Queue", "SimpleQueue", "LifoQueue"), "what stands inside it is what you build here"),
        "sleep": "to sleep and look again is polling; a condition wakes whoever waits",
        "timeout": "a wait that ends by itself is polling: the right notify makes it needless",
    },
    hints=(
        "For each of `put` and `get`: what must be true before it may go on? And who can make it true?",
        "One `Condition`. `put` waits while the buffer is full; `get` waits while it is empty and not closed. Whoever "
        "changes something (`put`, `get`, `close`) calls `notify_all`.",
        "`get`: the loop that waits compares two things, and goes on when one of them is no longer so. Behind it the "
        "buffer may be empty all the same: what is returned then? And whom must you tell after taking an item?",
    ),
)
