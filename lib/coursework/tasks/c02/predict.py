"""02-predict: Predict what threads can do."""

import itertools
import queue
import threading
import time

from ...definition import Section
from ...events import Events
from ...kinds.prediction import PredictionTask, Question


def interleavings(steps):
    """How many orders two threads of `steps` steps each have: counted one by one."""
    return sum(1 for _ in itertools.combinations(range(2 * steps), steps))


def least_count(threads, times):
    """The smallest value that unprotected counters can end with: every order of reads and writes is followed."""
    # A thread's state: (steps made, value last read); even steps read, odd ones write.
    start = ((0, 0),) * threads, 0
    reached, open_states = {start}, [start]
    while open_states:
        states, value = open_states.pop()
        for k, (made, seen) in enumerate(states):
            if made == 2 * times:
                continue
            thread_state = (made + 1, value if made % 2 == 0 else seen)
            after = (*states[:k], thread_state, *states[k + 1 :]), value if made % 2 == 0 else seen + 1
            if after not in reached:
                reached.add(after)
                open_states.append(after)
    return min(value for states, value in reached if all(made == 2 * times for made, _ in states))


def most_alive(bound, batches):
    """Loaded batches that exist at once with a queue of `bound`: the most over the schedules that are explored."""
    from cpulab.explore import explore

    most = 0

    def scenario():
        events, ahead = Events(), queue.Queue(maxsize=bound)

        def load():
            for k in range(batches):
                events.enter("alive")  # the batch is loaded now
                ahead.put(k)

        loader = threading.Thread(target=load)
        loader.start()
        for _ in range(batches):
            ahead.get()
            time.sleep(0)  # the consumer computes
            events.leave("alive")
        loader.join()
        return events.counts()["alive"]

    def judge(result):
        nonlocal most
        most = max(most, result)

    explore(scenario, judge=judge, schedules=60, preemptions=1)
    return most


PREDICT = PredictionTask(
    id="02-predict",
    section=Section("2", "02_threads", "The lost update"),
    title="Predict what threads can do",
    objective="Predict the number of orders, the worst lost update and the memory that a queue bounds",
    points=4,
    minutes=12,
    questions=(
        Question(
            "orders",
            "orders in which two threads of 3 steps each can run",
            lambda: interleavings(3),
            {
                2: "These are the orders without any interruption. A thread can be interrupted after each step.",
                6: "6 is the number of steps in all. In how many of the 6 places can the steps of A stand?",
                8: "2 * 2 * 2 would be right if A and B took turns in pairs. B may also make all its steps at once.",
                9: "9 pairs of steps. But an order says for all 6 places whose step comes there.",
                720: "6! lets the steps of one thread change places, too. Each thread keeps its own order.",
                64: "2 to the power of 6 also counts orders in which A makes more than 3 steps.",
            },
            "Write the order as a word of three A and three B, as ABBAAB. How many such words are there?",
        ),
        Question(
            "least",
            "smallest value of the counter after 2 threads with 3 additions each",
            lambda: least_count(2, 3),
            {
                6: "6 is the largest value: nothing lost. How low can it get?",
                3: "One thread's additions all lost gives 3. But a thread that has read early may write late, "
                "over much more than one addition.",
                4: "More can be lost. Let A read 0 and sleep while B makes two of its additions. What does A write "
                "then?",
                5: "That is one lost addition. Can an old value be written over several additions?",
                1: "The last write of all is an old value plus 1. The thread that makes it had begun its last addition "
                "by reading; had nobody written anything before that?",
                0: "Every write puts in some value plus 1.",
            },
            "Play it with two people and a sheet of paper: each reads, sleeps as long as it likes, then writes one "
            "more.",
        ),
        Question(
            "in_memory",
            "loaded batches that exist at once, at most, with Queue(maxsize=3)",
            lambda: most_alive(3, 7),
            {
                3: "3 lie in the queue. Who else holds a batch?",
                4: "3 lie in the queue, and one is with the consumer or the loader. Or with both?",
                6: "3 lie in the queue. One thread puts, one takes: each can hold only one more.",
                7: "That would be all of them: put waits when the queue is full.",
            },
            "Stop the film when the queue is full: what does the loader hold in its hands, and what the consumer?",
            section=Section("2.3", "02_queues", "What the bound is for"),
        ),
    ),
    hints=(
        "Draw it. Two columns, one for each thread; a step is one row.",
        "orders: choose the places of A among 6. least: a thread can write an old value at the very end. in_memory: "
        "queue, loader and consumer each hold some.",
        "orders: which three of six places has A? The order in which you choose them does not matter. least: for whom "
        "is it best to read a small number very late, and who must have written it? in_memory: who still holds a batch "
        "while the queue is full?",
    ),
)
