"""02-bug: Repair two bugs in a barrier."""

import threading

from ...definition import Case, Section, Slip
from ...kinds.thread import ThreadTask


def meet(Barrier, parties, rounds):
    """`parties` threads come to the barrier `rounds` times. Nobody may go on before all have come in this round."""
    barrier, came, early, lock = Barrier(parties), [0] * rounds, [], threading.Lock()

    def work():
        for k in range(rounds):
            with lock:
                came[k] += 1
            barrier.wait()
            if came[k] != parties:
                early.append([k, came[k]])

    threads = [threading.Thread(target=work) for _ in range(parties)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min(early, default=None)


def judge_meet(arguments, result):
    parties, _ = arguments
    if result is None:
        return None
    k, came = result
    cause = (
        "A thread went on too early. After `wait`, does it look whether the round that it came for is over, or at "
        "something that belongs to another round?"
    )
    return Slip(
        "early",
        f"nobody goes on before all {parties} have come",
        cause,
        f"in round {k + 1} one went on when {came} had come",
    )


def coming(parties, rounds):
    return lambda rng: (parties, rounds)


BUG = ThreadTask(
    id="02-bug",
    section=Section("2.2", "02_waiting", "A condition"),
    title="Repair two bugs in a barrier",
    objective="Debug code with a condition from the interleaving that breaks it: a barrier that can be used again",
    points=5,
    minutes=20,
    scenario=meet,
    schedules=150,
    judge=judge_meet,
    without={"Barrier": "what stands inside it is what you build here"},
    cases=(
        Case("one thread, two rounds", coming(1, 2)),
        Case("two threads, one round", coming(2, 1)),
        Case("three threads, one round", coming(3, 1)),
        Case("two threads, two rounds", coming(2, 2)),
    ),
    advice={
        "deadlock": "Somebody waits at the barrier for ever. Does it open when exactly `parties` have come, also if "
        "that is one, and in each round anew? Then either nobody woke the others, or one was woken and waited again: "
        "with what does it compare, and what had that become by the time that it looked?",
        "busy-waiting": "A thread asks again and again instead of sleeping until all have come. That is what `wait` is "
        "for.",
        "endless": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
        "livelock": "A thread turns in a loop without waiting for anything. `wait` on the condition inside the loop.",
    },
    hints=(
        "Run the check on the code as it is. Who should have been woken, and was not? Then mend that, and run it "
        "again.",
        "How many threads wait when the last one comes? And can a thread be back at the barrier before another one has "
        "left it?",
        "A thread waits for the end of its own round. Number the rounds: who comes keeps the number that it found; the "
        "last one raises it. What must the loop compare then?",
    ),
)
