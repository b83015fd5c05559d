"""A mixture of experts: the same as on one worker; capacity; the router's gradient; balance."""

import numpy as np
import pytest
from nets import close

from training import Tensor, modules
from workers import GroupError, threads
from workers.experts import MixtureOfExperts, feed_forward

SIZES = (1, 2, 3, 4)
WIDTH, NUMBER = 6, 5


def parts(seed=0, number=NUMBER):
    rng = np.random.default_rng(seed)
    router = modules.Linear(WIDTH, number, bias=False, generator=rng)
    return router, [feed_forward(WIDTH, 8, rng) for _ in range(number)]


def tokens(n, each=9, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((each + (each > 1) * k % 3, WIDTH), np.float32) for k in range(n)]


def wave(x):
    return np.cos(np.arange(x.size, dtype=np.float32)).reshape(x.shape)


def by_definition(router, experts, x, top_k):
    """Token by token, in float64, nothing dropped."""
    result = []
    for row in x.astype(np.float64):
        scores = router.weight.data @ row
        chosen = np.argsort(-scores, kind="stable")[:top_k]
        weights = np.exp(scores - scores.max())
        weights = weights / (weights.sum() if top_k == 1 else weights[chosen].sum())
        outputs = [experts[e](Tensor(row[None].astype(np.float32))).data[0] for e in chosen]
        result.append(sum(weights[e] * y for e, y in zip(chosen, outputs, strict=True)))
    return np.array(result, np.float32)


@pytest.mark.parametrize("top_k", [1, 2, 5])
def test_one_worker_by_definition(top_k):
    (x,) = tokens(1)
    layer = MixtureOfExperts(*parts(), top_k, capacity_factor=None)
    close({"y": layer(Tensor(x)).data}, {"y": by_definition(*parts(), x, top_k)})
    assert layer.dropped == 0
    assert layer.load.sum() == top_k * len(x)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("top_k", [1, 2])
@pytest.mark.parametrize("factor", [None, 0.7])
@pytest.mark.parametrize("each", [9, 1])
def test_the_layer_of_one_worker(n, top_k, factor, each):
    """Results and all gradients of one worker that runs the parts in turns; an expert may get no token at all."""
    given = tokens(n, each)
    one, dropped, expected = MixtureOfExperts(*parts(), top_k, factor), 0, {}
    for k, x in enumerate(given):
        leaf = Tensor(x, requires_grad=True)
        y = one(leaf)
        y.backward(wave(y.data))
        dropped += one.dropped
        expected |= {f"y{k}": y.data, f"x{k}": leaf.grad}
    grads = {name: p.grad for name, p in one.named_parameters() if p.grad is not None}

    def work(group):
        layer = MixtureOfExperts(*parts(), top_k, factor, group)
        leaf = Tensor(given[group.rank], requires_grad=True)
        y = layer(leaf)
        y.backward(wave(y.data))
        own = {name: p.grad for name, p in layer.named_parameters() if p.grad is not None}
        router = group.all_reduce(own.pop("router.weight"))
        first = layer.local.start
        moved = {}
        for name, grad in own.items():
            _, number, rest = name.split(".", 2)
            moved[f"experts.{first + int(number)}.{rest}"] = grad
        return {f"y{group.rank}": y.data, f"x{group.rank}": leaf.grad}, router, moved, layer.dropped

    found = threads.run(work, n)
    assert sum(each[3] for each in found) == dropped
    for result, router, _, _ in found:
        close(result, {name: expected[name] for name in result})
        close({"router": router}, {"router": grads["router.weight"]}, 3e-5)
    moved = {name: grad for each in found for name, grad in each[2].items()}
    close(moved, {name: grad for name, grad in grads.items() if name != "router.weight"})


def test_capacity_drops_later_tokens_and_second_choices():
    router, experts = parts(number=2)
    router.weight.data[...] = 0
    router.weight.data[0, 0] = 1  # all tokens with a positive first number prefer expert 0
    x = np.abs(tokens(1)[0])
    layer = MixtureOfExperts(router, experts, 2, capacity_factor=0.5)
    assert layer.capacity(len(x)) == 5
    y = layer(Tensor(x)).data
    assert layer.dropped == 2 * (len(x) - 5)
    assert layer.load.tolist() == [len(x), len(x)]
    assert y[:5].any(axis=1).all()
    assert not y[5:].any()


def test_gradients_by_differences():
    """In float64, on one worker, of all weights and of the tokens, through the softmax over the choices."""
    x = tokens(1)[0].astype(np.float64)
    router, experts = parts()
    layer = MixtureOfExperts(router, experts, 2, capacity_factor=0.8).to("float64")
    leaf = Tensor(x.copy(), requires_grad=True)

    def value():
        y = layer(Tensor(leaf.data))
        return float((y.data * wave(y.data)).sum())

    y = layer(leaf)
    y.backward(wave(y.data).astype(np.float64))
    rng = np.random.default_rng(0)
    for p in (leaf, layer.router.weight, *layer.experts.parameters()):
        if p.grad is None:
            continue
        for _ in range(3):
            at = tuple(rng.integers(length) for length in p.shape)
            before, slopes = p.data[at], []
            for sign in (1, -1):
                p.data[at] = before + sign * 1e-6
                slopes.append(value())
            p.data[at] = before
            assert (slopes[0] - slopes[1]) / 2e-6 == pytest.approx(p.grad[at], abs=1e-6)


def test_balance_is_one_where_all_experts_get_alike_and_grows_with_one_favourite():
    router, experts = parts(number=2)
    router.weight.data[...] = 0
    router.weight.data[0, 0], router.weight.data[1, 1] = 20, 20
    layer, x = MixtureOfExperts(router, experts, 1), np.zeros((8, WIDTH), np.float32)
    x[:4, 0], x[4:, 1] = 1, 1
    layer(Tensor(x))
    assert layer.balance.item() == pytest.approx(1)
    layer(Tensor(x[:4]))
    assert layer.balance.item() == pytest.approx(2)
    layer.balance.backward()
    assert layer.router.weight.grad is not None


def test_errors():
    router, experts = parts()
    for arguments, words in (
        ((router, experts, 6), "top_k is 6; expected 1 to 5"),
        ((router, experts[:3], 2), "the router scores 5 experts; expected 3"),
    ):
        with pytest.raises(ValueError, match=words):
            MixtureOfExperts(*arguments)
    with pytest.raises(GroupError, match="2 experts for 3 workers"):
        threads.run(lambda group: MixtureOfExperts(*parts(number=2), group=group), 3)
