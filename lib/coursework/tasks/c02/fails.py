"""02-fails: Find what makes two programs hang."""

import threading

from ...definition import Case, Section
from ...kinds.counterexample import CounterexampleTask, Flaw
from ...kinds.data import Whole
from ...kinds.thread import ThreadTask
from .shared import HIDDEN_JUDGE


def job(places, need, work):
    for _ in range(need):
        places.acquire()
    work()
    for _ in range(need):
        places.release()


_TURN = threading.Lock()


def _job_in_turn(places, need, work):
    """Takes all it needs before anybody else takes any."""
    with _TURN:
        for _ in range(need):
            places.acquire()
    work()
    for _ in range(need):
        places.release()


def three_jobs(job, places, needs):
    free, done = threading.Semaphore(places), []
    threads = [threading.Thread(target=job, args=(free, need, lambda: done.append(1))) for need in needs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(done)


class Accounts:
    def __init__(self, balances):
        self.balances = balances
        self.locks = [threading.Lock() for _ in range(3)]

    def pay(self, source, target, amount):
        low, high = min(source, target), max(source, target)
        with self.locks[low % 3], self.locks[high % 3]:
            self.balances[source] -= amount
            self.balances[target] += amount


class _Accounts:
    """The locks in the order of the locks."""

    def __init__(self, balances):
        self.balances = balances
        self.locks = [threading.Lock() for _ in range(3)]

    def pay(self, source, target, amount):
        low, high = sorted({source % 3, target % 3})
        with self.locks[low], self.locks[high]:
            self.balances[source] -= amount
            self.balances[target] += amount


def two_payments(Accounts, a, b, c, d):
    accounts = Accounts([100] * 9)
    threads = [threading.Thread(target=accounts.pay, args=(*pair, 10)) for pair in ((a, b), (c, d))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return accounts.balances


def _paid(a, b, c, d):
    balances = [100] * 9
    for source, target in ((a, b), (c, d)):
        balances[source] -= 10
        balances[target] += 10
    return balances


JOBS = ThreadTask(
    id="02-fails", title="", objective="", scenario=three_jobs, spec=lambda places, needs: len(needs), **HIDDEN_JUDGE
)
PAYMENTS = ThreadTask(id="02-fails", title="", objective="", scenario=two_payments, spec=_paid, **HIDDEN_JUDGE)

FAILS = CounterexampleTask(
    id="02-fails",
    section=Section("2.2", "02_waiting", "A semaphore, and how it is set"),
    title="Find what makes two programs hang",
    objective="Find the setting of a semaphore, and the calls of a class with locks, that can end in a deadlock",
    points=3,
    minutes=12,
    flaws=(
        Flaw(
            name="places",
            judge=JOBS,
            wrong=job,
            right=_job_in_turn,
            fields={"places": Whole(6, 9), "A": Whole(1, 3), "B": Whole(1, 3), "C": Whole(1, 3)},
            case=lambda places, A, B, C: Case(f"{places} places, needs {A}, {B}, {C}", lambda rng: (places, [A, B, C])),
            agrees="all three jobs end, in every schedule tried",
            lead="How many places can the three jobs hold so that none of them has all it needs?",
        ),
        Flaw(
            name="payments",
            judge=PAYMENTS,
            wrong=Accounts,
            right=_Accounts,
            fields={name: Whole(0, 8) for name in ("source_1", "target_1", "source_2", "target_2")},
            case=lambda source_1, target_1, source_2, target_2: Case(
                f"{source_1} pays {target_1}, {source_2} pays {target_2}",
                lambda rng: (source_1, target_1, source_2, target_2),
            ),
            rules=(
                (
                    lambda source_1, target_1, source_2, target_2: (
                        source_1 % 3 != target_1 % 3 and source_2 % 3 != target_2 % 3
                    ),
                    "the two accounts of a payment have different locks: source % 3 != target % 3",
                ),
            ),
            agrees="both payments are made, in every schedule tried",
            lead="Write down which two locks each payment takes, and which of them first. The accounts are in order; "
            "are the locks?",
        ),
    ),
    hints=(
        "A deadlock needs a ring: each holds what the next one wants. What can each job, or each payment, hold and "
        "still want more?",
        "places: a job that needs n can hold n - 1 and hang. payments: the smaller account may have the larger lock.",
        "places: add up what three jobs can hold with one place missing each, and compare with 6. payments: let both "
        "use the same two locks; write the locks of accounts 0 to 8 in a row, 0 1 2 0 1 2 ..., and look for pairs that "
        "fall.",
    ),
)
