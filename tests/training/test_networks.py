"""Modules and random networks of them: gradients beside recorded PyTorch results and beside differences, in float64."""

import functools
import inspect

import numpy as np
import pytest
import torch_networks
from torch_networks import leaves, numbers, recorded, run, sums, weights

from training import Tensor, modules
from training import functional as F
from training.arrays import brought

CASES = recorded()["cases"]


def made(name, *arguments):
    """A module of ours with the arguments of the record."""
    kind = getattr(modules, name)
    random = {"generator": np.random.default_rng(0)} if "generator" in inspect.signature(kind).parameters else {}
    if name == "LSTM":
        random["batch_first"] = True
    return kind(*arguments, **random)


def network(case, dtype="float64"):
    parts = modules.Sequential(*(made(*layer) for layer in leaves(case["layers"]))).to(dtype)
    named = [(name, x.shape) for name, x in parts.named_tensors()]
    parts.load_state_dict({name: array.astype(dtype) for name, array in weights(named).items()})
    return parts


def answer(case):
    parts = network(case)
    x = Tensor(torch_networks.inputs(case), requires_grad=not case["words"])
    output = run(case["layers"], iter(parts), x)
    output.backward(numbers(output.shape, 0))
    found = {"output": output.data} | ({"x": x.grad} if x.requires_grad else {})
    found |= {name: p.grad for name, p in parts.named_parameters()}
    return found | {name: x.data for name, x in parts.named_tensors() if not isinstance(x, modules.Parameter)}


@pytest.mark.rotates
@pytest.mark.parametrize("which", range(len(CASES)))
def test_gradients_of_random_networks_are_pytorchs(which):
    case = CASES[which]
    found = answer(case)
    assert found.keys() == case["answer"].keys()
    for name, array in found.items():
        scale = 1 + 97 * np.abs(array).sum()  # the sums may cancel
        np.testing.assert_allclose(sums(array), case["answer"][name], rtol=0, atol=1e-9 * scale, err_msg=name)


@pytest.mark.quick
def test_the_record_has_all_layers_and_differs_from_other_gradients():
    assert len(CASES) >= 300
    names = {layer[0] for case in CASES for layer in leaves(case["layers"])}
    assert names >= {"Conv2d", "MaxPool2d", "LSTM", "TransformerBlock", "Embedding", "BatchNorm2d", "LayerNorm"}
    assert {layer[0] for case in CASES for layer in case["layers"]} >= {"Residual", "Twice"}
    a = numbers((3, 4), 1)
    assert sums(a) != sums(a.T)
    assert sums(a) != sums(-a)


MODULES = {
    "Linear": ((4, 3), (2, 4)),
    "Conv2d": ((2, 4, 3, 2, 1, 1, 2), (2, 2, 5, 5)),
    "ReLU": ((), (3, 4)), "GELU": ((), (3, 4)), "SiLU": ((), (3, 4)), "Tanh": ((), (3, 4)), "Sigmoid": ((), (3, 4)),
    "MaxPool2d": ((2,), (1, 2, 4, 4)),
    "AvgPool2d": ((3, 2, 1), (1, 2, 5, 5)),
    "Flatten": ((), (2, 3, 2, 2)),
    "LayerNorm": ((5,), (3, 5)),
    "RMSNorm": ((5,), (3, 5)),
    "BatchNorm2d": ((3,), (2, 3, 4, 4)),
    "LSTM": ((3, 4, 2), (2, 5, 3)),
    "MultiheadAttention": ((6, 2, True), (2, 4, 6)),
    "TransformerBlock": ((6, 2, 10), (2, 4, 6)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_gradients_of_a_module_are_slopes(name):
    arguments, shape = MODULES[name]
    module = made(name, *arguments).to("float64")
    x = Tensor(numbers(shape, 1), requires_grad=True)
    wanted = dict(module.named_parameters()) | {"x": x}

    def result():
        output = module(x)
        return output[0] if isinstance(output, tuple) else output

    output = result()
    output.backward(arriving := numbers(output.shape, 2))
    for seed, (which, tensor) in enumerate(wanted.items(), 3):
        here, direction, h = tensor.data, numbers(tensor.shape, seed), 1e-6
        both = []
        for side in (h, -h):
            tensor.data = here + side * direction
            both.append((result().data * arriving).sum())
        tensor.data = here
        slope = (both[0] - both[1]) / (2 * h)
        assert (tensor.grad * direction).sum() == pytest.approx(slope, rel=1e-6, abs=1e-8), which


def test_gradients_of_embedding_are_slopes():
    module = made("Embedding", 5, 3).to("float64")
    ids = np.array([[0, 3, 3], [4, 0, 3]])
    output = module(ids)
    output.backward(arriving := numbers(output.shape, 2))
    expected = np.zeros((5, 3))
    np.add.at(expected, ids, arriving)
    np.testing.assert_allclose(module.weight.grad, expected, rtol=1e-12)


@pytest.mark.quick
def test_heads_are_apart_and_together_again():
    """Each is linear: <f(x), y> = <x, gradient>; a part that nothing uses has a gradient of zeros."""
    x = Tensor(numbers((2, 5, 3 * 2 * 4), 1), requires_grad=True)
    parts = F.split_heads(x, 2, 3)
    expected = x.data.reshape(2, 5, 3, 2, 4).transpose(2, 0, 3, 1, 4)
    assert all(
        part.shape == (2, 2, 5, 4) and (part.data == one).all() for part, one in zip(parts, expected, strict=True)
    )
    together = F.merge_heads(parts[1])
    assert (together.data == x.data[..., 8:16]).all()
    y = numbers(together.shape, 2)
    together.backward(y)
    assert (x.grad[..., 8:16] == y).all()
    assert not x.grad[..., :8].any()
    assert not x.grad[..., 16:].any()
    with pytest.raises(ValueError, match=r"x has shape \(2, 5, 24\); expected a multiple of 3 \* 5"):
        F.split_heads(x, 5, 3)
    with pytest.raises(ValueError, match=r"expected \(\.\.\., heads, tokens, d\)"):
        F.merge_heads(Tensor(numbers((4, 3), 1)))
    with pytest.raises(TypeError, match="expected host memory"):
        F.split_heads(Tensor(brought(x.data.astype(np.float32), "cuda")), 2, 3)


@pytest.mark.quick
def test_a_block_gives_the_gradients_of_the_operation_that_keeps_its_input_alone():
    block = made("TransformerBlock", 6, 2, 10).to("float64")
    attention = block.self_attn
    weights = [block.norm1.weight, block.norm1.bias, attention.in_proj_weight, attention.in_proj_bias,
               attention.out_proj.weight, attention.out_proj.bias, block.norm2.weight, block.norm2.bias,
               block.linear1.weight, block.linear1.bias, block.linear2.weight, block.linear2.bias]  # fmt: skip
    results = []
    for network_of in (block, lambda x: F.transformer_block(x, *weights, heads=2)):
        block.zero_grad()
        x = Tensor(numbers((2, 4, 6), 1), requires_grad=True)
        output = network_of(x)
        output.backward(numbers(output.shape, 2))
        results.append([output.data, x.grad, *(p.grad for p in weights)])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="activation is 'swish'; expected one of relu"):
        modules.TransformerBlock(6, 2, activation="swish", generator=np.random.default_rng(0))


SHAPES = {
    "reshape": lambda x: F.reshape(x, (4, -1)),
    "flatten": F.flatten,
    "permute": lambda x: F.permute(x, (0, 2, 1)),
    "select": lambda x: F.select(x, (slice(None), slice(0, 2), 1)),
    "one row": lambda x: F.select(x, -1),
    "concatenate": lambda x: (
        F.concatenate([x, F.reshape(x, (4, 3, 2)), x], dim=2)
        if x.shape == (4, 3, 2)
        else F.concatenate([x, x * 2], dim=-1)
    ),
}


@pytest.mark.quick
@pytest.mark.parametrize("on", ["cpu", "cuda"])
@pytest.mark.parametrize("name", SHAPES)
def test_changes_of_shape_and_their_gradients(name, on):
    """Each is linear: <f(x), y> = <x, gradient>, for any x and y."""
    x = Tensor(brought(numbers((4, 3, 2), 1).astype(np.float32), on), requires_grad=True)
    output = SHAPES[name](x)
    y = numbers(output.shape, 2).astype(np.float32)
    output.backward(brought(y, on))
    gradient = x.grad if on == "cpu" else x.grad.copy_to_host()
    assert (output.numpy() * y).sum() == pytest.approx((x.numpy() * gradient).sum(), rel=1e-5)


def smallest_with(kind):
    """The shortest network with such a layer, of those that run in device memory."""
    known = (
        k
        for k, case in enumerate(CASES)
        if kind in (text := str(case["layers"])) and not any(layer in text for layer in ("BatchNorm", "Transformer"))
    )
    return min(known, key=lambda k: (np.prod(CASES[k]["x"]), len(str(CASES[k]["layers"]))))


@pytest.mark.parametrize("which", [smallest_with(kind) for kind in ("Conv2d", "LSTM", "Twice")])
def test_device_arrays_give_the_gradients_of_host_arrays(which):
    case, results = CASES[which], []
    for device in ("cpu", "cuda"):
        parts = network(case, "float32").to(device)
        data = torch_networks.inputs(case)
        data = data if case["words"] else data.astype(np.float32)
        x = Tensor(brought(data, device), requires_grad=not case["words"])
        output = run(case["layers"], iter(parts), x)
        output.backward(brought(numbers(output.shape, 0).astype(np.float32), device))
        grads = [p.grad for p in parts.parameters()]
        assert all(isinstance(grad, np.ndarray) == (device == "cpu") for grad in grads)
        results.append([output.numpy(), *(Tensor(grad).numpy() for grad in grads)])
    for host, there in zip(*results, strict=True):
        np.testing.assert_allclose(there, host, rtol=1e-4, atol=1e-5)


@pytest.mark.quick
def test_the_operations_of_the_table_are_there_by_name():
    assert F.conv2d.__doc__ == functools.reduce(getattr, ["conv2d", "__doc__"], __import__("dlkernels"))
    assert {"softmax", "lstm", "reshape"} <= set(dir(F))
    with pytest.raises(AttributeError, match="no operation 'conv7d'"):
        F.conv7d  # noqa: B018


@pytest.mark.quick
def test_state_dicts_have_pytorchs_names_and_are_copies():
    block = made("TransformerBlock", 4, 2)
    state = block.state_dict()
    assert list(state)[:4] == [
        f"self_attn.{name}" for name in ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
    ]
    block.norm1.weight.data += 1
    assert (state["norm1.weight"] == 1).all()
    block.load_state_dict(state)
    assert (block.norm1.weight.data == 1).all()
    with pytest.raises(ValueError, match=r"missing are \['norm1.bias'\], unknown are \['more'\]"):
        block.load_state_dict(
            {name: x for name, x in state.items() if name != "norm1.bias"} | {"more": state["norm1.bias"]}
        )
    with pytest.raises(ValueError, match=r"linear1.bias is \(3,\) float64; expected \(16,\) float32"):
        block.load_state_dict(state | {"linear1.bias": np.zeros(3)})


@pytest.mark.quick
def test_the_same_seed_gives_the_same_network_and_no_generator_is_an_error():
    one, other = (made("Linear", 3, 2).state_dict() for _ in range(2))
    assert all((one[name] == other[name]).all() for name in one)
    assert np.abs(one["weight"]).max() <= 1 / np.sqrt(3)
    with pytest.raises(TypeError, match="generator is 7"):
        modules.Linear(3, 2, generator=7)


@pytest.mark.quick
def test_modules_find_their_parts():
    net = modules.Sequential(made("Linear", 2, 2), modules.ReLU(), made("Linear", 2, 2))
    setattr(net, "1", net.__dict__["0"])  # the same weights again
    assert len(net.parameters()) == 4
    assert len(net.state_dict()) == 6
    assert not net.eval().training
    assert not getattr(net, "2").training
    assert net.train().training
    net(Tensor(np.ones((1, 2), np.float32))).sum().backward()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
