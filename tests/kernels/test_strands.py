"""LSTMs with a strand for each thread: layers that work behind each other, and parts of a batch."""

import numpy as np
import pytest

from dlkernels import implementations, team
from dlkernels.recurrent import fast_strands, reference

RUNGS = {rung.name: rung for rung in implementations.of("lstm", "cpu")}


def network(steps, batch, features, hidden, layers):
    rng = np.random.default_rng(steps)

    def draw(*shape):
        return (rng.standard_normal(shape) * 0.3).astype(np.float32)

    widths = [features, *[hidden] * (layers - 1)]
    weights = [draw(4 * hidden, width) for width in widths], [draw(4 * hidden, hidden) for _ in widths]
    biases = [[draw(4 * hidden) for _ in widths] for _ in range(2)]
    return draw(steps, batch, features), draw(layers, batch, hidden), draw(layers, batch, hidden), *weights, *biases


# Blocks of steps that do not fit, more layers than blocks, a batch that does not fit its parts, sequences that end early.
@pytest.mark.parametrize("name", ["lstm_wavefront", "lstm_batch_parts"])
@pytest.mark.parametrize(
    ("size", "padded"),
    [((37, 11, 7, 30, 3), False), ((40, 19, 5, 26, 2), True), ((9, 17, 5, 25, 4), True), ((16, 40, 9, 24, 1), True)],
)
def test_strands_give_what_a_thread_gives(monkeypatch, name, size, padded):
    given = network(*size)
    lengths = np.random.default_rng(0).integers(1, size[0] + 1, size[1]) if padded else None
    expected = reference.lstm(*given, lengths=lengths)
    ran, run = [], fast_strands.Strands.run
    monkeypatch.setattr(fast_strands.Strands, "run", lambda self, *rest: (ran.append(rest[:2]), run(self, *rest)))
    monkeypatch.setattr(fast_strands, "BLOCK", 4 * 26 * 10 * 12)  # a dozen steps at a time
    for found, one in zip(RUNGS[name](*given, lengths=lengths), expected, strict=True):
        np.testing.assert_allclose(found, one, atol=2e-6)
    steps, layers = size[0], size[4]
    if name == "lstm_wavefront" and layers > 1:
        rounds = -(-steps // fast_strands.STEPS) + layers - 1
        assert len(ran) == rounds
        assert sum(last - first for first, last in ran) == -(-steps // fast_strands.STEPS) * layers
    elif name == "lstm_batch_parts" and team.size() > 1:
        assert all(part == (0, min(team.size(), size[1] // max(2, fast_strands.lanes // 2))) for part in ran)
