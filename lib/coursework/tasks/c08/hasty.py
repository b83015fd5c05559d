"""08-hasty, the second part of 08-bug: Be the scheduler of two warps."""

from cpulab.explore import Program

from ...definition import Section
from ...kinds.schedule import ScheduleTask

SUMMED = (1, 2, 4, 8, 16, 32)

# What A adds up, and how many numbers of the next tile are in it: no two choices have the same sum.
TOO_NEW = {
    sum(SUMMED[::2]) + SUMMED[1 + 2 * early] + SUMMED[3 + 2 * late] + SUMMED[5]: early + late
    for early in (0, 1)
    for late in (0, 1)
}

HASTY = ScheduleTask(
    id="08-hasty",
    section=Section("8.2", "08_matmul_gpu", "Rung 3: a tile in shared memory"),
    title="Be the scheduler of two warps",
    objective="Choose the steps of two warps by which a missing barrier does most harm to one of them",
    after="08-bug",
    points=2,
    minutes=8,
    who="warp",
    program=Program(
        """
        a = (1, 2, 4, 8, 16, 32)
        tile = [0, 0]  # in shared memory
        sums = [0, 0]


        def warp(w):
            total = 0
            for start in (0, 2, 4):
                tile[w] = a[start + w]
                syncthreads()
                for p in range(2):
                    total += tile[p]
            sums[w] = total
        """,
        A=("warp", 0),
        B=("warp", 1),
    ),
    score=lambda played: TOO_NEW[played.state["sums"][0]],
    shown={0: "A reads no number of the next tile", 1: "A reads 1 number of the next tile"}
    | {n: f"A reads {n} numbers of the next tile" for n in set(TOO_NEW.values()) if n > 1},
    at_the_end=lambda played: f"the sum of A is {played.state['sums'][0]}, and should be {sum(SUMMED)}",
    slips={
        0: "A read each tile before its numbers were overwritten. Which number of a tile does B overwrite, and how far "
        "may B go while A rests?",
        1: "Once A read a number that was too new. The barrier is open again when the late one has come. Who must go "
        "first then, so that A is late once more?",
    },
    advice={
        "impossible": "Who has come to the barrier makes no step until the other one has come, too. Name the other one "
        "there."
    },
    hints=(
        "Once a warp has read a tile: what keeps it from storing its next number?",
        "A comes to the barrier, and then rests. How far may B go before it has to wait for A?",
        "Both store and both come to the barrier. B alone goes on until it stands at the next barrier; then A reads "
        "one number that is too new, and goes there, too. Now nobody waits. Who should go on?",
    ),
)
