"""14-experts: Tokens to their experts, and back."""

import numpy as np

from ...definition import Case, Section, Slip
from ...kinds.function import FunctionTask
from ...plain import reals
from .shared import CUTTING


def dispatch(choice, experts, capacity):
    """(slots, places): the token in each slot of each expert, -1 where none; the slot of each token, -1 where it has
    none."""
    slots, places = np.full((experts, capacity), -1), np.full(len(choice), -1)
    filled = np.zeros(experts, int)
    for token, expert in enumerate(choice):
        if filled[expert] < capacity:
            slots[expert, filled[expert]] = token
            places[token] = expert * capacity + filled[expert]
            filled[expert] += 1
    return slots, places


def judge_experts(arguments, result):
    choice, experts, capacity = arguments
    slots, places = dispatch(*arguments)
    expected = f"slots {_shown(slots)}, places {_shown(places)}"
    if not isinstance(result, tuple | list) or len(result) != 2:
        return Slip("type", expected, "Return two arrays: slots and places.")
    s, p = map(reals, result)
    if s is None or p is None or not (np.isfinite(s).all() and np.isfinite(p).all()):
        return Slip("type", expected, "Return two arrays of whole numbers.")
    if s.shape != slots.shape:
        cause = (
            f"There are {capacity} slots for each of {experts} experts, however many tokens come: an all-to-all of "
            "equal parts needs that."
        )
        return Slip("shape", expected, cause, f"slots of shape {s.shape}")
    if p.shape != places.shape:
        return Slip("shape", expected, "There is a place for each token.", f"places of shape {p.shape}")
    if not np.array_equal(s, slots):
        return _wrong_slots(s, slots, choice, capacity)
    bad = np.flatnonzero(p != places)
    if not bad.size:
        return None
    t = int(bad[0])
    got, wanted = f"{p[t]:g} for token {t}, of expert {choice[t]}", f"place {places[t]}"
    if places[t] == -1:
        cause = f"Expert {choice[t]} was full when token {t} came: it has no slot, and its place is -1."
        return Slip("full", wanted, cause, got)
    if p[t] == places[t] % capacity:
        return Slip(
            "of-expert", wanted, "This is the slot within its expert. Slots are counted through all experts.", got
        )
    if p[t] == places[t] % capacity * experts + choice[t]:
        cause = "slots has a row for each expert: those of expert e begin at e * capacity."
        return Slip("turned", wanted, cause, got)
    if p[t] == -1:
        return Slip(
            "lost", wanted, f"Token {t} has a slot, slots[{places[t] // capacity}, {places[t] % capacity}].", got
        )
    return Slip("places", wanted, "slots.reshape(-1)[place] is the token whose place it is.", got)


def _wrong_slots(s, slots, choice, capacity):
    e, k = (int(i) for i in np.argwhere(s != slots)[0])
    got, wanted = f"{s[e, k]:g} in slots[{e}, {k}]", f"{'token ' if slots[e, k] >= 0 else ''}{slots[e, k]}"
    came = np.flatnonzero(np.asarray(choice) == e)
    row = s[e]
    if slots[e, k] == -1:
        said = int(row[k]) if row[k] == int(row[k]) else -1
        if said == 0 and (not came.size or came[0] != 0 or k > 0):
            return Slip("empty", wanted, "An empty slot holds -1: 0 is a token.", got)
        if 0 <= said < len(choice) and choice[said] != e:
            return Slip(
                "another", wanted, f"Token {said} goes to expert {choice[said]}, or, if that one is full, to none.", got
            )
        return Slip("empty", wanted, f"Expert {e} gets {len(came)} tokens: the slots behind them stay empty, -1.", got)
    if row[k] == -1 and (row[k:] >= 0).any():
        cause = "This slot is empty, and a later one is not. Each expert's slots are counted by themselves, from 0 on."
        return Slip("gap", wanted, cause, got)
    if set(row) - {-1} == set(came[:capacity].tolist()):
        return Slip("order", wanted, "Within an expert tokens stand in the order in which they came.", got)
    if len(came) > capacity and np.array_equal(row, came[-capacity:]):
        return Slip("last", wanted, "Of too many tokens the first ones have a slot, not the last ones.", got)
    if len(came) > capacity and set(row) <= set(came.tolist()):
        cause = (
            f"{len(came)} tokens come to expert {e}, which has {capacity} slots: the first of them have one, and "
            "nobody else's is overwritten."
        )
        return Slip("over", wanted, cause, got)
    if 0 <= s[e, k] < len(choice) and s[e, k] == int(s[e, k]) and choice[int(s[e, k])] != e:
        return Slip("another", wanted, f"Token {s[e, k]:g} goes to expert {choice[int(s[e, k])]}.", got)
    return Slip(
        "slots", wanted, f"The tokens of expert {e} are {came[:6].tolist()}{' ...' if came.size > 6 else ''}.", got
    )


def _shown(x):
    return np.array2string(np.asarray(x), threshold=12, max_line_width=200).replace("\n", "")


def tokens(n, experts, capacity, skew=1.0):
    """make(rng) -> the expert of each of n tokens, int64, uneven with a larger `skew`; experts; capacity."""

    def make(rng):
        return (experts * rng.random(n) ** skew).astype(np.int64), experts, capacity

    return make


EXPERTS = FunctionTask(
    id="14-experts",
    section=Section("14.3", CUTTING, "The experts"),
    title="Tokens to their experts",
    objective="Sort tokens into the slots of their experts, with a capacity, so that equal parts can be sent and "
    "brought back",
    points=2,
    minutes=15,
    judge=judge_experts,
    cases=(
        Case("8 tokens, 4 experts, 3 slots", tokens(8, 4, 3)),
        Case("an expert that is full", tokens(12, 2, 4, 2.0)),
        Case("an expert without tokens", lambda rng: (np.array([3, 3, 1, 0, 3]), 5, 2)),
        Case("no tokens", lambda rng: (np.zeros(0, np.int64), 2, 2)),
        Case("2,000 tokens, 16 experts, 150 slots", tokens(2000, 16, 150, 1.3)),
    ),
    advice={
        "raised-IndexError": "Is a token stored although its expert has no slot left? Compare with the capacity before "
        "you store."
    },
    hints=(
        "A token comes, and knows its expert. What must you know of this expert to choose the slot?",
        "Keep the number of filled slots of each expert. A token gets the next one, if there is one; its place is "
        "expert * capacity + slot.",
        "Begin with arrays of -1. For token t of expert e with k tokens so far: where there is room, slot k of row e "
        "holds t, and the place of t counts the slots of all experts before e, too; then one more is filled.",
    ),
)
