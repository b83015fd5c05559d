"""Answers to 14-experts."""

import numpy as np
from answers import MASTER, edit, replace


def expert_by_expert(choice, experts, capacity):
    """right"""
    slots = np.full((experts, capacity), -1)
    places = np.full(len(choice), -1)
    for expert in range(experts):
        mine = np.flatnonzero(choice == expert)[:capacity]
        slots[expert, : len(mine)] = mine
        places[mine] = expert * capacity + np.arange(len(mine))
    return slots, places


def by_a_stable_sort(choice, experts, capacity):
    """right"""
    order = np.argsort(choice, kind="stable")
    begins = np.searchsorted(choice[order], np.arange(experts))
    slot = np.arange(len(choice)) - begins[choice[order]]
    stay = slot < capacity
    places = -np.ones(len(choice), np.int32)
    places[order[stay]] = choice[order[stay]] * capacity + slot[stay]
    slots = -np.ones(experts * capacity, np.int32)
    slots[places[order[stay]]] = order[stay]
    return slots.reshape(experts, capacity), places


def lists(choice, experts, capacity):
    """right"""
    queues = [[] for _ in range(experts)]
    places = []
    for t, e in enumerate(choice.tolist()):
        places.append(e * capacity + len(queues[e]) if len(queues[e]) < capacity else -1)
        queues[e] += [t] if places[-1] >= 0 else []
    return [q + [-1] * (capacity - len(q)) for q in queues], places


no_limit = edit(MASTER, "wrong raised-IndexError: no slot left", replace("if slot < capacity:", "if slot >= 0:"))
counted_per_token = edit(
    MASTER, "wrong gap: counted by themselves", replace("slot = filled[expert]", "slot = token % capacity")
)
places_of_the_full = edit(
    MASTER,
    "wrong full: it has no slot",
    replace(
        "slot = filled[expert]", "slot = filled[expert]\nplaces[token] = expert * capacity + min(slot, capacity - 1)"
    ),
)
the_last_ones = edit(
    expert_by_expert,
    "wrong last: the first ones have a slot",
    replace("np.flatnonzero(choice == expert)[:capacity]", "np.flatnonzero(choice == expert)[-capacity:]"),
)
backwards = edit(
    expert_by_expert,
    "wrong order: in which they came",
    replace("np.flatnonzero(choice == expert)[:capacity]", "np.flatnonzero(choice == expert)[:capacity][::-1]"),
)
only_those_that_came = edit(
    MASTER, "wrong shape: however many tokens come", replace("return slots, places", "return slots[:, :1], places")
)
