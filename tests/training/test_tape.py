"""The tape: graphs of every form, what is refused, and that nobody writes into what others hold."""

import threading

import numpy as np
import pytest

import dlkernels
from dlkernels import cuda
from training import Tensor, apply, no_grad, record
from training import functional as F
from training.tensor import tape

pytestmark = pytest.mark.quick


def leaf(*values):
    return Tensor(np.array(values), requires_grad=True)


def test_a_tensor_used_twice():
    x = leaf(1.0, -2.0, 3.0)
    (x + x + x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_a_diamond_runs_each_node_once():
    """By paths a chain of 60 diamonds would have 2^60 of them."""
    x = leaf(1.0, 2.0)
    y = x
    for _ in range(60):
        y = y + y
    assert len(tape(y)) == 60
    y.sum().backward()
    assert x.grad.tolist() == [2.0**60, 2.0**60]


def test_a_long_chain_meets_no_limit_of_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(5000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]


def test_a_node_waits_for_all_that_used_its_result():
    """One way from y to the loss is longer than the other."""
    x = leaf(0.5, -1.0)
    y = F.tanh(x)
    (F.tanh(F.tanh(F.tanh(y))) + y).sum().backward()
    d, at = 1.0, np.tanh(x.data)
    for _ in range(3):
        at = np.tanh(at)
        d = d * (1 - at**2)
    np.testing.assert_allclose(x.grad, (d + 1) * (1 - np.tanh(x.data) ** 2), rtol=1e-12)


def test_gradients_add_up_over_calls_in_memory_of_their_own():
    x, other = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x + other).sum().backward()
    assert not np.shares_memory(x.grad, other.grad)  # add returns one array for both
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first.tolist() == [4, 4]
    assert other.grad.tolist() == [1, 1]


def test_the_gradient_that_is_given_is_not_written_into():
    x, grad = leaf(1.0, 2.0), np.array([5.0, 6.0])
    for _ in range(2):
        (x + x).backward(grad)
    assert grad.tolist() == [5, 6]
    assert x.grad.tolist() == [20, 24]


def test_a_branch_without_a_gradient():
    x, w = leaf(1.0, 2.0), leaf(5.0, 6.0)
    unused = F.tanh(w)
    y = x + 1
    F.sigmoid(y)  # leads nowhere
    (y + unused.detach()).sum().backward()
    assert w.grad is None
    assert x.grad.tolist() == [1, 1]


def test_of_several_results_those_that_are_not_used_get_none():
    x = Tensor(np.arange(16.0).reshape(1, 1, 4, 4), requires_grad=True)
    largest, indices = F.max_pool2d_with_indices(x, 2)
    assert not indices.requires_grad
    largest.sum().backward()
    assert x.grad.sum() == 4
    seen = []
    a, b = record("split", (x.data[0], x.data[0]), [x], lambda grad, kept: seen.append(grad) or [None])
    b.sum().backward()
    assert seen[0][0] is None
    assert (seen[0][1] == 1).all()
    assert not a.grad


def test_no_grad_and_detach():
    x = leaf(1.0)
    with no_grad():
        assert not (x + 1).requires_grad
    assert (x + 1).requires_grad
    assert not (x.detach() + 1).requires_grad
    assert np.shares_memory(x.detach().data, x.data)

    @no_grad()
    def predict():
        return x * 2

    assert not predict().requires_grad
    with pytest.raises(RuntimeError, match="requires_grad=True"):
        predict().backward()


def test_no_grad_is_of_one_thread():
    x, found = leaf(1.0), []
    with no_grad():
        thread = threading.Thread(target=lambda: found.append((x + 1).requires_grad))
        thread.start()
        thread.join()
    assert found == [True]


def test_backward_twice_is_an_error_before_anything_is_added():
    x = leaf(1.0, 2.0)
    y = F.tanh(x)
    loss, second = y.sum(), (y + x).sum()
    loss.backward()
    before = x.grad.copy()
    for again in (loss, second):
        with pytest.raises(RuntimeError, match="a second time"):
            again.backward()
    assert (x.grad == before).all()


def test_a_weight_that_was_changed_between_forward_and_backward():
    w = leaf(1.0, 2.0)
    y = F.tanh(w).sum()
    w.data *= 2
    w.version += 1  # as optimizers and load_state_dict do
    with pytest.raises(RuntimeError, match="changed after tanh had used it"):
        y.backward()


def test_activations_that_no_gradient_needs_are_freed():
    import weakref

    x = leaf(1.0, 2.0)
    y = x + 1
    freed = weakref.ref(y.data)
    z = y + 1
    del y
    assert freed() is None
    z.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_operators():
    a, b = leaf(1.0, 2.0), leaf(4.0, 8.0)
    assert ((a + b) / 2 - b * 3 - (-a) + 1 + (5 - a)).numpy().tolist() == [-3.5, -13]
    ((a + b) / 2 - b * 3 - (-a) * 7 + 1 + (5 - a)).sum().backward()
    assert a.grad.tolist() == [6.5, 6.5]
    assert b.grad.tolist() == [-2.5, -2.5]
    m, n = Tensor(np.eye(2) * 2, requires_grad=True), np.array([[1.0, 2.0], [3.0, 4.0]])
    assert isinstance(n + m, Tensor)
    (n @ m).sum().backward()
    assert m.grad.tolist() == [[4, 4], [6, 6]]
    assert a.mean().item() == 1.5
    with pytest.raises(TypeError, match="product of matrices is @"):
        a * b


def test_sequences_of_tensors_among_the_arguments():
    draw = np.random.default_rng(1)
    sizes = {"w_ih": (8, 3), "w_hh": (8, 2)}, {"w_ih": (8, 2), "w_hh": (8, 2)}
    layers = [{name: Tensor(draw.normal(size=shape), True) for name, shape in one.items()} for one in sizes]
    layers[1]["w_hh"] = layers[0]["w_hh"]  # shared
    x = Tensor(draw.normal(size=(4, 1, 3)))
    arguments = [tuple(one[name] for one in layers) for name in ("w_ih", "w_hh")]
    output, _, _ = F.lstm(x, None, None, *arguments)
    output.sum().backward()
    arrays = [tuple(w.data for w in one) for one in arguments]
    _, _, w_hh = [*dlkernels.lstm_backward(np.ones_like(output.data), x.data, None, None, *arrays)]
    np.testing.assert_allclose(layers[0]["w_hh"].grad, w_hh[0] + w_hh[1], rtol=1e-12)


def test_messages():
    x = leaf(1.0, 2.0)
    with pytest.raises(ValueError, match=r"shape \(2,\) needs grad"):
        x.backward()
    with pytest.raises(ValueError, match=r"grad is \(3,\) float64; expected \(2,\) float64"):
        (x + 1).backward(np.ones(3))
    with pytest.raises(ValueError, match=r"grad is \(2,\) float32; expected \(2,\) float64"):
        (x + 1).backward(np.ones(2, np.float32))
    with pytest.raises(TypeError, match="tensor of int64"):
        Tensor(np.array([1, 2]), requires_grad=True)
    with pytest.raises(TypeError, match="takes no out"):
        apply("add", x, x, out=np.zeros(2))
    with pytest.raises(ValueError, match="histogram has no backward"):
        F.histogram(x, 3, 0.0, 1.0)
    with pytest.raises(TypeError, match="Rows by their numbers: embedding"):
        F.select(x, np.array([0, 0]))


def test_numbers_become_float32_arrays_stay():
    assert Tensor([1.0, 2.0]).dtype == np.float32
    assert Tensor(np.array([1.0])).dtype == np.float64
    assert Tensor([1, 2]).dtype == np.int64


def test_device_arrays():
    x = Tensor(cuda.to_device(np.array([1.0, 2.0], np.float32)), requires_grad=True)
    (x + x * 3 - 1).sum().backward()
    assert x.grad.copy_to_host().tolist() == [4, 4]
    (x + x).sum().backward()
    assert x.grad.copy_to_host().tolist() == [6, 6]


def test_a_leaf_says_when_its_gradient_is_ready():
    """Once in each backward, when all uses have added to it, the last layers first; not where nothing arrives."""
    first, second, idle = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(5.0, 6.0)
    ready = []
    for x in (first, second, idle):
        x.when_ready = lambda x: ready.append((x, x.grad.copy()))
    y = F.tanh(first + first)
    z = y + second
    (z + second + first).sum().backward()
    assert [x for x, _ in ready] == [second, first]
    for x, grad in ready:
        assert np.array_equal(grad, x.grad)
    (first * 2).sum().backward()
    assert ready[-1][0] is first
    assert np.array_equal(ready[-1][1], first.grad)
    assert len(ready) == 3
    assert idle.grad is None


def test_a_tensor_that_is_a_leaf_itself_says_so_too():
    x, ready = leaf(1.0), []
    x.when_ready = ready.append
    x.backward()
    assert ready == [x]
