"""06-lanes, the second part of 06-spread: The same, from register to register."""

import numpy as np

from ...definition import Budget, Section
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask
from .shared import (
    EVERYBODY_COMES,
    ONE_WALKS,
    SHUFFLES_TOO,
    SPREAD_SUSPECTS,
    TOLD_FIRST,
    WHO_MAY_STORE,
    by_block,
    over,
    spread_case,
)

LANES_BY_HAND = (
    "After which distances has lane 0 seen all 32 numbers? 16, 8, 4, 2 and 1, five rounds. And both results of all "
    "four warps have to come together."
)

LANES = KernelTask(
    id="06-lanes",
    section=Section("6.3", "06_together", "Rung 4: shuffles in a warp"),
    title="The same, from register to register",
    objective="Write a reduction by shuffles in each warp and shared memory between the warps",
    after="06-spread",
    points=1,
    minutes=18,
    spec=by_block(np.ptp),
    tell_first=TOLD_FIRST,
    cases=(
        spread_case("one block, exact", 128, 3),
        spread_case("exact", 384, -3),
        spread_case("ragged, all positive", 200, 3),
        spread_case("ragged, all negative", 257, -3),
    ),
    writer=lambda index, case: (index[0], 0),
    suspects=(
        *SPREAD_SUSPECTS,
        Suspect(
            by_block(lambda s: np.ptp(s[:32])),
            "This is the spread of the first warp alone: 32 elements. The block has four warps, whose results have to "
            "meet.",
        ),
    ),
    advice={
        "race": (
            "A thread reads what another one stores, and no barrier lies between the two. The warps store their "
            "results, then all wait, then they are put together: who stores to which place?"
        ),
        "divergent-barrier": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "barrier-after-exit": f"{EVERYBODY_COMES} {SHUFFLES_TOO}",
        "uninitialised-shared": "A place of shared memory is read that nobody stored. Which thread of a warp stores "
        "the warp's result, and at which place?",
        "lane-not-in-mask": "A lane takes part that the mask does not name. 0xFFFFFFFF names all 32.",
        "inactive-lane-read": (f"A shuffle reads from a lane that does not take part in it. {SHUFFLES_TOO}"),
        "divergent-warp-operation": (f"The lanes of a warp do not come to the same shuffle. {SHUFFLES_TOO}"),
        "out-of-bounds": "An index left its array. The last stretch of x may be short. And a block has four warps: "
        "which places has the shared array?",
        "two-writers": WHO_MAY_STORE,
        **dict.fromkeys(("wrong-value", "precision"), LANES_BY_HAND),
    },
    budget=Budget(
        points=2,
        text="one barrier; for n = 256 at most 16 store and 16 load requests to shared memory, and 16 load requests to "
        "global memory",
        require={
            "barriers": 1,
            "shared_store_requests": 16,
            "shared_load_requests": 16,
            "atomics": 0,
            "global_load_requests": 16,
        },
        over=(
            "The result is right, but more goes through shared memory than two numbers of each warp. Inside a warp a "
            "shuffle hands a number from register to register, without a barrier. Only the results of the warps need "
            "shared memory."
        ),
        causes=(
            (
                over("atomics"),
                "The result is right, but threads go one after the other through an atomic operation. Shuffles need "
                "none.",
            ),
            (
                lambda rows: {o.name for o in rows} == {"barriers"},
                "The result is right, with more than one barrier. Lanes of a warp that shuffle need none; one is for "
                "the results of the warps.",
            ),
            (over("global_load_requests"), ONE_WALKS),
        ),
        case=spread_case("exact", 256, 1),
    ),
    hints=(
        "Which of the seven rounds of your tree stay within one warp? Those need neither shared memory nor a barrier.",
        "Five rounds in every warp, with distances 16 to 1: each lane takes the larger of its own number and the one "
        "that it gets, and alike for the smaller one. Lane 0 has the warp's result. Four warps, so two shared arrays "
        "of four.",
        "cuda.shfl_down_sync(0xFFFFFFFF, value, d) hands over the value of the lane d places further. Behind the five "
        "rounds the first lane of each warp stores two numbers at the warp's place; one barrier; then one thread goes "
        "through four places.",
    ),
)
