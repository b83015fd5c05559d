"""LSTMs whose threads do not meet in a step: each has a strand of its own, all of whose units it computes alone.

    lstm_wavefront        a strand is a layer, which works on a block of steps; the next layer is a block behind
                          (Appleyard and others 2016): the cells of a diagonal run at the same time
    lstm_batch_parts      a strand is a part of the batch
    lstm_chosen           the wavefront where layers are narrow; else fast.py's

In fast.py all threads share the units of a step and meet after it: each reads its part of U only. Here a thread reads
all of U, and meets the others once in a block of steps. That wins where a step is so short that the meeting counts
(benchmarks/recurrent_layers.py).
"""

import numpy as np

from .. import team
from ..host import aligned_zeros
from ..implementations import implementation
from ..matrix.choose import multiply_contiguous
from ..simd.cache import cached_njit
from ..simd.inner import inner_njit
from ..team import share
from .fast import BLOCK, LSTM, ONE, ROWS, UNITS, ZERO, _step_over_batch, in_vectors, lanes, line_of, panels
from .geometry import GATES
from .layers import by_steps, on_layers, split

f32 = np.float32
STEPS = 16  # of a block: what a layer does before the next may begin
NARROW = 64  # hidden units: up to here the wavefront was faster at every batch that was measured, with AVX2
COUNT = GATES["lstm"]
SPARE = 4 * lanes  # numbers behind the end of a line that a tile may read


@inner_njit(error_model="numpy")
def _strand(arguments, task, who):
    """Some steps of one strand: its weights, gates P = W x + b, states, masks and output are first_strand + task of
    each array."""
    first_strand, weights, bias, p, states, now, masks, lengths, line, stride, begins, counts, reverse, out = arguments
    k = first_strand + task
    batch, hidden = out.shape[2], out.shape[3]
    wide = -(-batch // lanes) * lanes
    steps, mask = counts[k], masks[k]
    gates = p[k][: COUNT * hidden * steps * batch].reshape((COUNT * hidden, steps * batch))
    for number in range(steps):
        step = steps - 1 - number if reverse else number
        t, all_go_on = begins[k] + step, True
        for b in range(batch):
            mask[b] = ONE if t < lengths[k, b] else ZERO
            all_go_on = all_go_on and t < lengths[k, b]
        h_at, new_at = now[k] * hidden * wide, (1 - now[k]) * hidden * wide
        step_arguments = (
            LSTM, weights[k], bias[k], gates, step * batch, states[k], h_at, new_at, mask, all_go_on, line, stride, t,
            out[k],
        )  # fmt: skip
        for part in range(-(-hidden // UNITS)):
            _step_over_batch(step_arguments, part, who)
        now[k] = 1 - now[k]


@cached_njit(error_model="numpy")
def _strands(
    first_strand,
    weights,
    bias,
    p,
    states,
    now,
    masks,
    lengths,
    line,
    stride,
    begins,
    counts,
    reverse,
    out,
    tasks,
    threads,
    least,
    team,
):
    arguments = first_strand, weights, bias, p, states, now, masks, lengths, line, stride, begins, counts, reverse, out
    share(_strand, arguments, tasks, threads, least, team)


class Strands:
    """Memory for strands of one shape, a list of U each, and what runs some of them side by side. block: of steps at a
    time."""

    def __init__(self, weights, biases, batch, steps, block):
        count, hidden = len(weights), weights[0].shape[1]
        self.batch, self.hidden, self.wide = batch, hidden, -(-batch // lanes) * lanes
        self.size = hidden * self.wide
        self.weights = np.stack([panels(matrix, COUNT) for matrix in weights])
        self.bias = np.stack(
            [sum((vector for vector in pair if vector is not None), np.zeros(COUNT * hidden, f32)) for pair in biases]
        )
        self.p = aligned_zeros((count, COUNT * hidden * block * batch + SPARE), f32)
        self.states = aligned_zeros((count, 4 * self.size + SPARE), f32)
        self.now = np.zeros(count, np.int64)
        self.masks, self.lengths = np.zeros((count, self.wide), f32), np.zeros((count, batch), np.int64)
        self.begins, self.counts = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.out = np.zeros((count, steps, batch, hidden), f32)
        self.threads = min(count, team.size())
        self.each = COUNT * (UNITS + ROWS) * self.wide
        self.line = line_of(self.threads * self.each)

    def state(self, k, which):
        """h (0) or c (1) of a strand: (batch, hidden), to be read and written."""
        start = (2 * which + self.now[k]) * self.size
        return self.states[k, start : start + self.size].reshape(self.hidden, self.wide)[:, : self.batch].T

    def inputs(self, k, begin, x, w_ih):
        """W x for the steps of x, those of the strand's next run."""
        self.begins[k], self.counts[k] = begin, len(x)
        lines = x.reshape(-1, x.shape[2])
        room = self.p[k, : COUNT * self.hidden * len(lines)].reshape(COUNT * self.hidden, len(lines))
        multiply_contiguous(w_ih, lines.T, room)

    def run(self, start, stop, reverse):
        least = int(self.counts[start:stop].sum()) * self.hidden * self.size // 40
        _strands(
            start, self.weights, self.bias, self.p, self.states, self.now, self.masks, self.lengths, self.line,
            self.each,
            self.begins, self.counts, reverse, self.out, stop - start, self.threads, least, team.members(),
        )  # fmt: skip


def fits(g):
    """Whether strands can be: vectors over the batch need ROWS units, and half a vector of sequences."""
    return g.hidden >= ROWS and g.batch >= max(2, lanes // 4)


# ---- layers on a diagonal --------------------------------------------------------------------------------------------


def wavefront(g, last, weights, x):
    """All layers of one direction, in blocks of steps: layer l does block r - l in round r."""
    strands = Strands([w[1] for w in weights], [w[2:] for w in weights], g.batch, g.steps, STEPS)
    strands.lengths[:] = g.steps if g.lengths is None else g.lengths
    for k in range(g.layers):
        strands.state(k, 0)[:], strands.state(k, 1)[:] = last[0][k], last[1][k]
    blocks = -(-g.steps // STEPS)
    for number in range(blocks + g.layers - 1):
        start, stop = max(0, number - blocks + 1), min(g.layers, number + 1)
        for k in range(start, stop):
            begin = (number - k) * STEPS
            read = x if k == 0 else strands.out[k - 1]
            strands.inputs(k, begin, read[begin : begin + STEPS], weights[k][0])
        strands.run(start, stop, False)
    for k in range(g.layers):
        last[0][k], last[1][k] = strands.state(k, 0), strands.state(k, 1)
    return strands.out[-1]


alone = on_layers(in_vectors)


@implementation(
    "lstm",
    device="cpu",
    adds="layers as a wavefront: each on a core of its own, a block of steps behind the one before",
    dtypes=("float32",),
    limits="for several layers in one direction and a batch; else as the rung before",
)
def lstm_wavefront(g, *arrays):
    if g.layers == 1 or g.directions == 2 or not fits(g):
        return alone(g, *arrays)
    last, weights, x = split(g, arrays)
    out = wavefront(g, last, weights, by_steps(g, x))
    return g.as_given(out), *(state.reshape(g.states_shape()) for state in last)


# ---- parts of the batch ----------------------------------------------------------------------------------------------


def in_parts(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out):
    """A layer in one direction, with a strand for each core; the last part has sequences of length 0 to spare."""
    cores = min(team.size(), g.batch // max(2, lanes // 2))
    if cores < 2 or not fits(g):
        in_vectors(g, reverse, x, h, c, w_ih, w_hh, b_ih, b_hh, out)
        return
    part_batch = -(-g.batch // cores)
    block = min(g.steps, max(1, BLOCK // (COUNT * g.hidden * part_batch)))
    strands = Strands([w_hh] * cores, [(b_ih, b_hh)] * cores, part_batch, g.steps, block)
    parts = [slice(k * part_batch, min(g.batch, (k + 1) * part_batch)) for k in range(cores)]
    counts = [max(0, part.stop - part.start) for part in parts]
    lengths = np.full(g.batch, g.steps) if g.lengths is None else g.lengths
    for k, (part, count) in enumerate(zip(parts, counts, strict=True)):
        strands.lengths[k, :count] = lengths[part]
        strands.state(k, 0)[:count], strands.state(k, 1)[:count] = h[part], c[part]
    begins = range(0, g.steps, block)
    for begin in reversed(begins) if reverse else begins:
        steps = min(block, g.steps - begin)
        for k, (part, count) in enumerate(zip(parts, counts, strict=True)):
            some = np.zeros((steps, part_batch, x.shape[2]), f32)
            some[:, :count] = x[begin : begin + steps, part]
            strands.inputs(k, begin, some, w_ih)
        strands.run(0, cores, reverse)
    for k, (part, count) in enumerate(zip(parts, counts, strict=True)):
        out[:, part], h[part], c[part] = (
            strands.out[k, :, :count],
            strands.state(k, 0)[:count],
            strands.state(k, 1)[:count],
        )


@implementation(
    "lstm",
    device="cpu",
    adds="parts of the batch, each on a core of its own: threads meet once, and each reads all of U",
    dtypes=("float32",),
    limits="for batches of several vectors; else as the rung before the wavefront",
)
@on_layers
def lstm_batch_parts(*arguments):
    in_parts(*arguments)


# ---- the one that is taken -------------------------------------------------------------------------------------------


@implementation(
    "lstm",
    device="cpu",
    adds=f"chooses: the wavefront up to {NARROW} units on several cores; else a step as a job of the team",
    dtypes=("float32",),
    public=True,
)
def lstm_chosen(g, *arrays):
    narrow = g.hidden <= NARROW and team.size() > 1
    return lstm_wavefront(g, *arrays) if narrow else alone(g, *arrays)
