"""Ring attention: attention over the whole sequence, forward and backward, from parts of it; balance; bytes."""

import numpy as np
import pytest
from nets import close, sequence, transformer

import dlkernels
from training import Tensor
from workers import GroupError, threads
from workers.context import context_parallel, cut_sequence, join_sequence, ring_attention, work

SIZES = (1, 2, 3, 4)


def inputs(steps, dtype=np.float32):
    rng = np.random.default_rng(steps)
    return [rng.standard_normal((2, 2, steps, width)).astype(dtype) for width in (8, 8, 5, 5)]  # q, k, v, grad


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("is_causal", [True, False])
@pytest.mark.parametrize("steps", [8, 13, 40])
def test_attention_over_the_whole_sequence(n, balanced, is_causal, steps):
    q, k, v, grad = inputs(steps)
    names = ("q", "k", "v")
    expected = dict(
        zip(names, dlkernels.scaled_dot_product_attention_backward(grad, q, k, v, is_causal=is_causal), strict=True)
    )
    expected["y"] = dlkernels.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    def ring(group):
        mine = [cut_sequence(x, group, 2, balanced) for x in (q, k, v, grad)]
        tensors = [Tensor(x, requires_grad=True) for x in mine[:3]]
        y = ring_attention(*tensors, group, steps, is_causal, balanced)
        y.backward(mine[3])
        found = dict(zip(names, (x.grad for x in tensors), strict=True)) | {"y": y.data}
        return {name: join_sequence(x, group, steps, 2, balanced) for name, x in found.items()}

    for found in threads.run(ring, n):
        close(found, expected, 1e-5)


@pytest.mark.parametrize("n", [1, 3])
def test_a_transformer_over_a_cut_sequence(n):
    x, model = sequence(2, 11), transformer()
    whole = Tensor(x, requires_grad=True)
    y = model(whole)
    grad = np.cos(np.arange(y.size, dtype=np.float32)).reshape(y.shape)
    y.backward(grad)
    expected = {"y": y.data, "x": whole.grad} | {name: p.grad for name, p in model.named_parameters()}

    def ring(group):
        mine = transformer()
        names = [name for name, _ in mine.named_parameters()]
        tensors = mine.parameters()
        context_parallel(mine, group, 11)
        x_mine = Tensor(cut_sequence(x, group), requires_grad=True)
        y = mine(x_mine)
        y.backward(cut_sequence(grad, group))
        found = {name: group.all_reduce(p.grad) for name, p in zip(names, tensors, strict=True)}
        return found | {"y": join_sequence(y.data, group, 11), "x": join_sequence(x_mine.grad, group, 11)}

    for found in threads.run(ring, n):
        close(found, expected, 3e-5)


@pytest.mark.parametrize("n", range(1, 9))
def test_the_balanced_cut_gives_all_the_same_work(n):
    assert [work(rank, n) for rank in range(n)] == pytest.approx([1 / n] * n)
    plain = [work(rank, n, balanced=False) for rank in range(n)]
    assert plain == pytest.approx([(2 * rank + 1) / n**2 for rank in range(n)])


def test_bytes():
    q, k, v, grad = inputs(16)

    def ring(group):
        tensors = [Tensor(cut_sequence(x, group, 2), requires_grad=True) for x in (q, k, v)]
        y, counts = ring_attention(*tensors, group, 16), [group.bytes_sent]
        y.backward(cut_sequence(grad, group, 2))
        return counts[0], group.bytes_sent - counts[0], tensors[1].data.nbytes + tensors[2].data.nbytes

    for forward, backward, both in threads.run(ring, 4):
        assert forward == 3 * both
        assert backward == (3 + 4) * both


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("balanced", [True, False])
def test_cut_and_join(n, balanced):
    x = np.arange(2 * 11 * 3).reshape(2, 11, 3)
    for found in threads.run(
        lambda group: join_sequence(cut_sequence(x, group, 1, balanced), group, 11, 1, balanced), n
    ):
        assert np.array_equal(found, x)


def test_errors():
    with pytest.raises(GroupError, match="3 steps cannot be cut into 4 pieces"):
        threads.run(lambda group: cut_sequence(np.zeros((1, 3)), group), 2)

    def wrong(group):
        x = Tensor(np.zeros((1, 5, 4), np.float32))
        ring_attention(x, x, x, group, 8)

    with pytest.raises(GroupError, match="q has 5 steps; expected 4"):
        threads.run(wrong, 2)
