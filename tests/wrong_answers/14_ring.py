"""Answers to 14-ring."""

import numpy as np
from answers import MASTER, cut, edit, replace


def two_loops(rank, n, x, send, receive):
    """right"""

    def chunk(k):
        k = k % n
        return slice(len(x) * k // n, len(x) * (k + 1) // n)

    def step(given):
        if rank % 2 == 0:
            send(given)
            return receive()
        came = receive()
        send(given)
        return came

    for s in range(n - 1):
        x[chunk(rank - s - 1)] += step(x[chunk(rank - s)])
    for s in range(n - 1):
        x[chunk(rank - s)] = step(x[chunk(rank - s + 1)])
    return x


BOARD = {}


def on_a_board(rank, n, x, send, receive):
    """wrong raised-KeyError: a dict outside of the function is another one in each"""
    BOARD[rank] = x
    for _ in range(2 * (n - 1)):  # as many numbers as are asked for, of no use
        if rank:
            receive()
        send(np.zeros(len(x) // n + 1))
        if not rank:
            receive()
    return sum(BOARD[r] for r in range(n))


def passes_on_what_came(rank, n, x, send, receive):
    """right"""
    chunks = [x[len(x) * k // n : len(x) * (k + 1) // n] for k in range(n)]
    given, at = chunks[rank], rank
    for step in range(2 * n - 2):
        if rank == n - 1:
            came = receive()
            send(given)
        else:
            send(given)
            came = receive()
        at = (at - 1) % n
        chunks[at] = came + chunks[at] if step < n - 1 else came
        given = chunks[at]
    return np.concatenate(chunks)


def in_a_chain(rank, n, x, send, receive):
    """over budget over-budget: whole arrays go round"""
    if n == 1:
        return x
    if rank == 0:
        send(x)
        total = receive()
        send(total)
        return total
    send(x + receive())
    total = receive()
    if rank < n - 1:
        send(total)
    return total


def whole_arrays(rank, n, x, send, receive):
    """over budget over-budget: whole arrays go round"""
    total, given = x.copy(), x
    for _ in range(n - 1):
        if rank == 0:
            send(given)
            given = receive()
        else:
            came = receive()
            send(given)
            given = came
        total += given
    return total


all_send_first = edit(
    MASTER,
    "wrong deadlock: If all workers send first",
    replace("if rank == 0:", "if rank >= 0:", after="outgoing, incoming"),
)
all_receive_first = edit(
    MASTER,
    "wrong deadlock: some have to receive first",
    replace("if rank == 0:", "if rank < 0:", after="outgoing, incoming"),
)
one_step_less = edit(MASTER, "wrong some: in n - 1 more it goes round", replace("range(2 * (n - 1))", "range(n - 1)"))
always_adds = edit(
    MASTER, "wrong twice: A chunk that is complete is only copied", replace("if step < n - 1:", "if step < 2 * n:")
)
never_adds = edit(MASTER, "wrong missing: not at all", cut("if step < n - 1:\n    came = came + x[incoming]"))
adds_once_more = edit(
    MASTER, "wrong twice: A chunk that is complete is only copied", replace("if step < n - 1:", "if step < n:")
)
the_other_direction = edit(
    MASTER, "wrong place: Which chunk arrives is known", replace("j = (k - 1) % n", "j = (k + 1) % n")
)
equal_chunks = edit(MASTER, "wrong some: belong to no chunk", replace("len(x) * k // n for k", "len(x) // n * k for k"))
keeps_nothing = edit(MASTER, "wrong own: what came was not kept", cut("x[incoming] = came"))
a_mean = edit(MASTER, "wrong mean: divides afterwards", replace("return x", "return x / n"))
returns_a_chunk = edit(MASTER, "wrong type: an array of 4 numbers", replace("return x", "return x[outgoing]"))
returns_nothing = edit(MASTER, "wrong type: Each worker returns an array", cut("return x"))
one_receives_less = edit(
    MASTER,
    "wrong deadlock: send as often as the one after it receives",
    replace("range(2 * (n - 1))", "range(2 * (n - 1) - (rank == 1))"),
)
