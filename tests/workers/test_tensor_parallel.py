"""Tensor parallel: results and gradients of the whole layer, from parts of its weights; bytes; errors."""

import numpy as np
import pytest
from nets import close, sequence, transformer

from training import Tensor, modules
from training import functional as F
from workers import GroupError, autograd, threads
from workers.tensor import (
    ColumnParallelLinear,
    ParallelAttention,
    ParallelEmbedding,
    RowParallelLinear,
    cross_entropy,
    tensor_parallel,
)

SIZES = (1, 2, 3, 4)


def weight_of(array):
    return np.cos(np.arange(array.size, dtype=np.float32)).reshape(array.shape)


def whole_gradients(model, x):
    x = Tensor(x, requires_grad=True)
    y = model(x)
    y.backward(weight_of(y.data))
    return {"y": y.data, "x": x.grad} | {name: p.grad for name, p in model.named_parameters()}


def pair():
    rng = np.random.default_rng(0)
    return modules.Sequential(
        modules.Linear(6, 10, generator=rng), modules.GELU(), modules.Linear(10, 7, generator=rng)
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("sequence", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 5, 8])
def test_column_then_row_is_the_pair(n, sequence, rows):
    x = np.random.default_rng(1).standard_normal((rows, 6), np.float32)

    def work(group):
        first, gelu, second = pair()
        model = modules.Sequential(
            ColumnParallelLinear(first, group, sequence), gelu, RowParallelLinear(second, group, sequence)
        )
        whole = Tensor(x, requires_grad=True)
        y = model(autograd.cut(whole, group) if sequence else whole)
        y = autograd.join(y, group) if sequence else y
        y.backward(weight_of(y.data))
        found = {"y": y.data, "x": whole.grad}
        grads = {name: p.grad for name, p in model.named_parameters()}
        found["0.weight"] = group.all_gather(grads["0.weight"])
        found["0.bias"] = group.all_gather(grads["0.bias"])
        found["2.weight"] = group.all_gather(grads["2.weight"], axis=1)
        found["2.bias"] = group.broadcast(grads.get("2.bias"))
        assert ("2.bias" in grads) == (group.rank == 0)
        return found

    expected = whole_gradients(pair(), x)
    for found in threads.run(work, n):
        close(found, expected)


def parts_of_block(group, block, grads):
    """The gradients of a block's parts, put together as the whole block has them."""
    found = {}
    for name, axis in (
        ("linear1.weight", 0),
        ("linear1.bias", 0),
        ("linear2.weight", 1),
        ("self_attn.out_proj.weight", 1),
    ):
        found[name] = group.all_gather(grads[name], axis=axis)
    for name in ("weight", "bias"):
        parts = [group.all_gather(part) for part in np.split(grads[f"self_attn.in_proj.{name}"], 3)]
        found[f"self_attn.in_proj_{name}"] = np.concatenate(parts)
    for name in ("linear2.bias", "self_attn.out_proj.bias"):
        found[name] = group.broadcast(grads.get(name))
    return found | {name: grads[name] for name in grads if name.startswith("norm")}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("cut", [False, True])
def test_a_transformer_with_cut_heads(n, cut):
    x, model = sequence(), transformer()
    expected = whole_gradients(model, x)

    def work(group):
        mine = tensor_parallel(transformer(), group, sequence=cut)
        whole = Tensor(x, requires_grad=True)
        y = mine(autograd.cut(whole, group, 1) if cut else whole)
        y = autograd.join(y, group, 1) if cut else y
        y.backward(weight_of(y.data))
        found = {"y": y.data, "x": whole.grad}
        for k, block in enumerate(mine):
            grads = {name: p.grad for name, p in block.named_parameters()}
            found |= {f"{k}.{name}": grad for name, grad in parts_of_block(group, block, grads).items()}
        return found

    for found in threads.run(work, n):
        close(found, expected, 3e-5)


def test_bytes_of_a_block():
    """Two all-reduces forward, two backward; with cut steps as many bytes. Weights: a quarter each, but for norms."""
    x = sequence(2, 8)

    def work(group, cut):
        model = tensor_parallel(transformer(layers=1), group, sequence=cut)
        held = sum(p.size for name, p in model.named_parameters() if "norm" not in name and not name.endswith("bias"))
        own = x[:, group.part(8)] if cut else x
        y, counts = model(Tensor(own, requires_grad=True)), [group.bytes_sent]
        y.backward(weight_of(y.data))
        return held, *counts, group.bytes_sent - counts[0]

    whole = sum(p.size for p in transformer(layers=1).parameters() if len(p.shape) == 2)
    norms = 3 * 2 * 2 * 12 * 4  # backward, the norms' own gradients are added up as well: 2 norms, weight and bias
    for held, forward, backward in threads.run(work, 4, False):
        assert held == whole // 4
        assert forward == backward == 2 * 2 * 3 * x.nbytes // 4
    for held, forward, backward in threads.run(work, 4, True):
        # column-parallel layers gather the gradients' inputs a second time nowhere: what they gathered is kept
        assert held == whole // 4
        assert forward == 2 * 2 * 3 * x.nbytes // 4
        assert backward == forward + norms // 2


@pytest.mark.parametrize("n", SIZES)
def test_cross_entropy_of_cut_classes(n):
    rng = np.random.default_rng(2)
    logits, target = 5 * rng.standard_normal((9, 11), np.float32), rng.integers(11, size=9)
    whole = Tensor(logits, requires_grad=True)
    loss = F.cross_entropy(whole, target)
    loss.backward()

    def work(group):
        mine = Tensor(np.ascontiguousarray(logits[:, group.part(11)]), requires_grad=True)
        found, before = cross_entropy(mine, target, group), group.bytes_sent
        found.backward()
        assert group.bytes_sent == before
        return {"loss": found.data, "logits": group.all_gather(mine.grad, axis=1)}

    for found in threads.run(work, n):
        close(found, {"loss": loss.data, "logits": whole.grad})


def test_cross_entropy_of_large_logits():
    logits = np.array([[1e30, -1e30, 0.0, 5.0]], np.float32)

    def work(group):
        return cross_entropy(Tensor(logits[:, group.part(4)], requires_grad=True), [0], group).item()

    assert threads.run(work, 2) == [0, 0]


@pytest.mark.parametrize("n", SIZES)
def test_an_embedding_with_cut_rows(n):
    words = np.array([[0, 3, 10], [3, 6, 1]])

    def made():
        return modules.Embedding(11, 4, generator=np.random.default_rng(0))

    whole = made()
    y = whole(words)
    y.backward(weight_of(y.data))

    def work(group):
        mine = ParallelEmbedding(made(), group)
        y = mine(words)
        y.backward(weight_of(y.data))
        return {"y": y.data, "weight": group.all_gather(mine.weight.grad)}

    for found in threads.run(work, n):
        close(found, {"y": y.data, "weight": whole.weight.grad})


def test_errors():
    def few_heads(group):
        ParallelAttention(modules.MultiheadAttention(6, 2, generator=np.random.default_rng(0)), group)

    def no_class(group):
        cross_entropy(Tensor(np.zeros((2, 3), np.float32)), [0, 6], group)

    def wrong_part(group):
        autograd.gather(Tensor(np.zeros((2 * group.rank, 3), np.float32)), group)

    for work, size, words in (
        (few_heads, 3, "2 heads for 3 workers"),
        (no_class, 2, "target 6 is no class"),
        (wrong_part, 2, "worker . has . of 2 along dimension 0"),
    ):
        with pytest.raises(GroupError, match=words):
            threads.run(work, size)
