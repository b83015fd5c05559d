"""LSTMs with a strand for each thread: layers that work behind each other, and parts of a batch."""

import numpy as np
import pytest

import dlkernels
from dlkernels import implementations, team
from dlkernels.recurrent import fast_strands, reference

pytestmark = pytest.mark.rotates

RUNGS = {rung.name: rung for rung in implementations.of("lstm", "cpu")}


def network(steps, batch, features, hidden, layers):
    rng = np.random.default_rng(steps)

    def draw(*shape):
        return (rng.standard_normal(shape) * 0.3).astype(np.float32)

    widths = [features, *[hidden] * (layers - 1)]
    weights = [draw(4 * hidden, width) for width in widths], [draw(4 * hidden, hidden) for _ in widths]
    biases = [[draw(4 * hidden) for _ in widths] for _ in range(2)]
    return draw(steps, batch, features), draw(layers, batch, hidden), draw(layers, batch, hidden), *weights, *biases


# Blocks of steps that do not fit, more layers than blocks, a batch that does not fit its parts, sequences that end
# early.
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


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize(
    ("hidden", "layers", "directions", "waves"),
    [(64, 2, 1, True), (65, 2, 1, False), (64, 1, 1, False), (64, 2, 2, False)],
)
def test_the_wavefront_is_taken_for_narrow_layers_on_several_cores(
    monkeypatch, cores, hidden, layers, directions, waves
):
    x, h, c, w_ih, w_hh, b_ih, b_hh = network(20, 8, 5, hidden, layers)
    if directions == 2:
        h, c = np.concatenate((h, h)), np.concatenate((c, c))
        w_ih = [w_ih[0], w_ih[0], *[np.concatenate((w, w), axis=1) for w in w_ih[1:] for _ in range(2)]]
        w_hh, b_ih, b_hh = ([one for one in several for _ in range(2)] for several in (w_hh, b_ih, b_hh))
    given = (x, h, c, w_ih, w_hh, b_ih, b_hh, directions == 2)
    expected = reference.lstm(*given)
    ran = []
    wavefront = fast_strands.wavefront
    monkeypatch.setattr(fast_strands, "wavefront", lambda *rest: (ran.append(1), wavefront(*rest))[1])
    monkeypatch.setattr(team, "size", lambda: cores)
    assert implementations.public_rung("lstm", "cpu", x.dtype).name == "lstm_chosen"
    for found, one in zip(dlkernels.lstm(*given), expected, strict=True):
        np.testing.assert_allclose(found, one, atol=2e-6)
    assert bool(ran) == (waves and cores > 1)
