"""Networks made smaller: each method beside what it has to equal, what it stores, what learns on, and what it
refuses."""

import copy

import numpy as np
import pytest

from training import Adam, History, Tensor, accuracy, data, modules, no_grad
from training import functional as F
from training.smaller import (
    awq,
    codebook,
    distillation,
    filters,
    folding,
    gptq,
    hashed,
    lora,
    low_rank,
    networks,
    order,
    pruning,
    quantized,
    storage,
)
from training.smaller.parametrized import Parametrized, columns, inputs, layers, merged, plain, replaced, weight_of
from training.smaller.rounded import Grid, grid

WIDTH = 3
X = np.random.default_rng(5).random((12, 1, 8, 8), np.float32)


def network(seed=0):
    """A small one with random weights, biases that are not small, and all kinds of layers."""
    model = networks.digits(seed, WIDTH)
    for layer in layers(model).values():
        layer.weight.data *= np.float32(2)
    return model


def answers(model, x=X):
    with no_grad():
        return copy.deepcopy(model).eval()(Tensor(x)).numpy()


METHODS = {
    "half": quantized.halved,
    "8 bits": lambda model: quantized.quantized(model, 8, "tensor"),
    "5 bits, zero points": lambda model: quantized.quantized(model, 5, symmetric=False),
    "3 bits": lambda model: quantized.quantized(model, 3, "group", 16),
    "3 bits, percentile": lambda model: quantized.quantized(model, 3, method="percentile"),
    "different bits": lambda model: quantized.quantized(model, {"0": 8, "2": 4, "6": 2, "8": 3}),
    "gptq": lambda model: gptq.gptq(model, X, 3),
    "gptq, groups": lambda model: gptq.gptq(model, X, 3, "group", 10, symmetric=False),
    "awq": lambda model: awq.awq(model, X, 3, group_size=16, tries=4),
    "pruned": lambda model: pruning.pruned(model, 0.3),
    "pruned by layer": lambda model: pruning.pruned(model, 0.3, "layer"),
    "2:4": lambda model: pruning.pruned(model, "2:4"),
    "pruned, then 4 bits": lambda model: quantized.quantized(pruning.pruned(model, 0.3), 4),
    "codebook": lambda model: codebook.shared(model, 3),
    "pruned, then codebook": lambda model: codebook.shared(merged(pruning.pruned(model, 0.3)), 2),
    "hashed": lambda model: hashed.hashed(model, 0.2),
}


def restored(layer):
    """The weight, computed from nothing but what is stored (and what the layer's kind and settings are)."""
    stored, shape = layer.arrays(), layer.computed().shape
    rows = (shape[0], int(np.prod(shape[1:])))
    match layer:
        case quantized.Half():
            return stored["weight"].astype(np.float32)
        case quantized.Quantized():
            found = Grid(stored["scales"], stored.get("zero_points"), layer.how["bits"], layer.codes()[1].group_size)
            return found.numbers(found.stored(stored, rows)).reshape(shape)
        case awq.Scaled():
            s = stored["s"].astype(np.float32).repeat(rows[1] // len(stored["s"]))
            return (layer.grid.numbers(layer.grid.stored(stored, rows)) / s).reshape(shape)
        case pruning.Masked() if "mask" in stored:
            return storage.dense(stored, shape)
        case pruning.Masked():
            weight = np.zeros(rows, np.float32)
            starts = stored["starts"].astype(int)
            for row in range(rows[0]):
                weight[row, stored["columns"][starts[row] : starts[row + 1]]] = stored["values"][
                    starts[row] : starts[row + 1]
                ]
            return weight.reshape(shape)
        case codebook.Codebook():
            mask = np.ones(rows, bool)
            if "mask" in stored:
                mask = storage.unpack(stored["mask"], 1, mask.size).astype(bool).reshape(rows)
            weight = np.zeros(rows, np.float32)
            weight[mask] = stored["centroids"][storage.unpack(stored["codes"], layer.bits, mask.sum())]
            return weight.reshape(shape)
        case hashed.Hashed():
            h = hashed.hashes(int(np.prod(shape)))
            sign = np.where(h & np.uint32(1), -1, 1).astype(np.float32)
            return (stored["values"][(h >> np.uint32(1)) % len(stored["values"])] * sign).reshape(shape)


@pytest.mark.parametrize("name", METHODS)
def test_a_weight_comes_back_from_what_is_stored_and_the_network_given_is_unchanged(name):
    model = network()
    before = model.state_dict()
    small = METHODS[name](model)
    after = model.state_dict()
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[key], after[key]) for key in before)
    for layer in layers(small).values():
        np.testing.assert_array_equal(layer.computed().data, restored(layer))
    fixed = merged(small)
    assert not any(isinstance(layer, Parametrized) for layer in layers(fixed).values())
    np.testing.assert_array_equal(answers(fixed), answers(small))
    biases = sum(layer.bias.data.nbytes for layer in layers(model).values())
    assert storage.nbytes(small) == biases + sum(storage.total(layer.arrays()) for layer in layers(small).values())
    assert storage.nbytes(small) < storage.nbytes(model) == sum(x.nbytes for x in before.values())


@pytest.mark.parametrize("name", [name for name in METHODS if name != "awq"])
def test_what_is_stored_learns_on_and_keeps_its_form(name):
    small = METHODS[name](network())
    zeros = {key: layer.computed().data == 0 for key, layer in layers(small).items()}
    size, labels = storage.nbytes(small), np.arange(12) % 10
    optimizer, losses = Adam(small.parameters(), lr=3e-3), []
    for _ in range(12):
        loss = F.cross_entropy(small(Tensor(X)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert min(losses[-3:]) < losses[0]
    for key, layer in layers(small).items():
        np.testing.assert_array_equal(layer.computed().data, restored(layer))
        if "pruned" in name or name == "2:4":
            assert np.all(layer.computed().data[zeros[key]] == 0)
    assert storage.nbytes(small) <= size * 1.1


def slope_of(model, weight_gradient, weights):
    """Gradients of the loss by plain weights `weights`, in the order of the layers."""
    found = replaced(model, lambda name, layer: plain(weights[name], layer.bias.data, layer.options))
    F.cross_entropy(found(Tensor(X)), np.arange(12) % 10).backward()
    return {name: layer.weight.grad for name, layer in layers(found).items()}


@pytest.mark.parametrize("name", ["3 bits", "pruned", "codebook", "hashed"])
def test_the_gradient_goes_to_what_is_behind_the_weight(name):
    model = network()
    if name == "codebook":  # zeros stay zero, and pull at no value
        for layer in layers(model).values():
            layer.weight.data.reshape(-1)[::5] = 0
    small = METHODS[name](model)
    made = {key: layer.computed().data for key, layer in layers(small).items()}
    expected = slope_of(small, None, made)
    F.cross_entropy(small(Tensor(X)), np.arange(12) % 10).backward()
    for key, layer in layers(small).items():
        slope = expected[key]
        match layer:
            case quantized.Quantized():  # straight through: nothing of it is clipped
                np.testing.assert_allclose(layer.layer.weight.grad, slope, rtol=1e-5, atol=1e-8)
            case pruning.Masked():
                np.testing.assert_allclose(layer.layer.weight.grad, slope * layer.mask.data, rtol=1e-5, atol=1e-8)
            case codebook.Codebook():
                sums = [slope[(layer.indices == k) & layer.mask].sum() for k in range(8)]
                np.testing.assert_allclose(layer.centroids.grad, sums, rtol=1e-4, atol=1e-7)
            case hashed.Hashed():
                sums = [(slope.reshape(-1) * layer.signs)[layer.buckets == k].sum() for k in range(layer.values.size)]
                np.testing.assert_allclose(layer.values.grad, sums, rtol=1e-4, atol=1e-7)


# ---- few bits --------------------------------------------------------------------------------------------------------


def test_activations_are_rounded_with_the_range_that_was_seen():
    model = network()
    small = quantized.quantized(model, 8, activation_bits=3, x=X)
    reached = {}
    for name, layer in layers(small).items():
        run = layer.forward

        def seen(x, name=name, run=run):
            reached[name] = F.fake_quantize(x, *layers(small)[name].input)
            return run(x)

        layer.forward = seen
    found = small(Tensor(X)).numpy()
    assert all(len(np.unique(x.data)) <= 8 for x in reached.values())
    rough = np.abs(found - answers(model)).max()
    for name in layers(small):
        del vars(layers(small)[name])["forward"]
    fine = np.abs(answers(quantized.quantized(model, 8, activation_bits=8, x=X)) - answers(model)).max()
    assert fine < rough / 4
    assert fine < 0.05 * np.abs(answers(model)).max()


def test_straight_through_is_one_inside_and_zero_where_it_was_clipped():
    weight, fixed = np.array([[-9, -0.6, 0.2, 0.74, 9]], np.float32), Grid(np.full(1, 0.5, np.float32), None, 3)
    layer = quantized.Quantized(plain(weight, None), 3, fixed=fixed)
    y = layer.computed()
    assert y.data.tolist() == [[-2, -0.5, 0, 0.5, 1.5]]
    y.backward(np.array([[1, 2, 3, 4, 5]], np.float32))
    assert layer.layer.weight.grad.tolist() == [[0, 2, 3, 4, 0]]


@pytest.mark.parametrize("granularity", ["channel", "group"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_codes_of_four_bits_are_what_the_kernel_reads(granularity, symmetric):
    small = quantized.quantized(network(), 4, granularity, 16, symmetric)
    found = quantized.packed(small)
    assert [type(part).__name__ for part in found if hasattr(part, "bias")] == [
        "Conv2d",
        "Conv2d",
        "Linear4",
        "Linear4",
    ]
    np.testing.assert_allclose(answers(found), answers(small), rtol=1e-4, atol=1e-5)
    assert found.state_dict()["6.codes"].nbytes == layers(small)["6"].layer.weight.size // 2
    assert isinstance(next(iter(quantized.packed(modules.Sequential(layers(small)["6"])))), quantized.Linear4)
    odd = quantized.packed(quantized.quantized(network(), 4, "group", 7))
    assert not any(isinstance(part, quantized.Linear4) for part in odd)  # a byte would have two scales
    with pytest.raises(ValueError, match="has 3 bits; expected a linear one of 4"):
        quantized.Linear4(layers(quantized.quantized(network(), 3))["6"])


def test_gptq_of_a_network_is_nearer_than_rounding_in_each_layer():
    model, x = network(), np.random.default_rng(1).random((40, 1, 8, 8), np.float32)
    small = gptq.gptq(model, x, 3)
    reached = inputs(model, x)
    for name, layer in layers(model).items():
        matrix, seen = layer.weight.data.reshape(len(layer.weight.data), -1), columns(layer, reached[name])
        mine = layers(small)[name].computed().data.reshape(matrix.shape)
        nearest = grid(matrix, 3).rounded(matrix)
        assert gptq.output_error(matrix, mine, seen) < gptq.output_error(matrix, nearest, seen), name


def test_columns_times_weight_are_the_layers_result():
    draw = {"generator": np.random.default_rng(2)}
    x = np.random.default_rng(3).random((2, 3, 9, 7), np.float32)
    for options in ({}, {"stride": 2, "padding": 1}, {"padding": (2, 0), "dilation": (1, 2)}, {"stride": (1, 3)}):
        layer = modules.Conv2d(3, 4, (3, 2), **options, **draw)
        expected = layer(Tensor(x)).numpy()
        matrix = columns(layer, x) @ layer.weight.data.reshape(4, -1).T + layer.bias.data
        shape = (2, *expected.shape[2:], 4)
        np.testing.assert_allclose(matrix.reshape(shape).transpose(0, 3, 1, 2), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="groups=3; expected 1"):
        columns(modules.Conv2d(3, 3, 3, groups=3, **draw), x)


# ---- fewer weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", [0.4, 0.7, 1])
def test_a_network_without_filters_is_the_one_whose_filters_are_zero(keep):
    model = networks.digits(3, 6)
    for layer in layers(model).values():
        layer.bias.data += np.float32(0.1)
    found, expected = filters.smaller(model, keep), filters.zeroed(model, keep)
    np.testing.assert_allclose(answers(found), answers(expected), rtol=1e-5, atol=1e-6)
    for name, layer in list(layers(found).items())[:-1]:
        assert layer.weight.shape[0] == round(keep * layers(model)[name].weight.shape[0])
    assert (storage.nbytes(found) < storage.nbytes(model)) == (keep < 1)
    sizes = {
        k: np.abs(w.weight.data).reshape(len(w.weight.data), -1).sum(1)
        for k, w in enumerate(model)
        if hasattr(w, "weight")
    }
    for k, stay in filters.chosen(model, keep).items():
        gone = np.setdiff1d(np.arange(len(sizes[k])), stay)
        assert not len(gone) or sizes[k][stay].min() >= sizes[k][gone].max()


def test_global_pruning_takes_from_layers_with_small_weights():
    model = network()
    layers(model)["0"].weight.data *= np.float32(100)
    whole, each = (pruning.masks(model, 0.25, scope) for scope in ("global", "layer"))
    assert whole["0"].all()
    total = sum(mask.size for mask in whole.values())
    assert sum(mask.sum() for mask in whole.values()) == round(0.25 * total)
    assert all(mask.sum() == round(0.25 * mask.size) for mask in each.values())
    assert pruning.density(pruning.pruned(model, 0.25)) == pytest.approx(0.25, abs=1e-3)


def test_gradual_pruning_follows_the_schedule_and_never_brings_a_weight_back():
    model = pruning.pruned(network(), 1.0)
    hook, seen, gone = pruning.Gradual(model, 10, 50, keep=0.2, every=10), [], None
    for step in range(1, 60):
        for layer in layers(model).values():  # what was small may grow
            layer.layer.weight.data += (
                np.random.default_rng(step).normal(size=layer.layer.weight.shape).astype(np.float32)
            )
        hook(History(steps=[step]))
        now = np.concatenate([layer.mask.data.reshape(-1) for layer in layers(model).values()])
        assert gone is None or not np.any(now[gone])
        gone = ~now
        seen.append(pruning.density(model))
    for step in (10, 20, 30, 40, 50):
        wanted = 1 - pruning.sparsity_at(step, 10, 50, 0, 0.8)
        assert seen[step - 1] == pytest.approx(wanted, abs=1e-3), step
    assert seen[8] == 1
    assert seen[-1] == seen[49]


@pytest.mark.parametrize("order_", order.ORDERS)
def test_both_orders_keep_as_many_weights_on_a_grid_of_so_many_bits(order_):
    small = order.in_order(network(), order_, 0.3, 3)
    assert pruning.density(small) <= 0.301
    for layer in layers(small).values():
        rows = layer.computed().data.reshape(layer.computed().shape[0], -1)
        assert all(len(np.unique(row)) <= 7 for row in rows)
    said = []
    order.in_order(
        network(), order_, 0.3, 3, tune=lambda model: (said.append(type(next(iter(layers(model).values())))), model)[1]
    )
    first = {"prune, quantize": pruning.Masked, "quantize, prune": quantized.Quantized}[order_]
    assert said == [first, quantized.Quantized]


def test_ranks_are_the_smallest_with_the_error_and_fit_the_budget():
    model = network()
    for error in (0.2, 0.5, 0.8):
        for name, rank in low_rank.ranks_by_error(model, error).items():
            matrix = layers(model)[name].weight.data.reshape(len(layers(model)[name].weight.data), -1)
            s = np.linalg.svd(matrix, compute_uv=False)
            lost = np.sqrt(np.append(np.cumsum(s[::-1] ** 2)[::-1], 0) / np.sum(s**2))
            least = max(1, int(np.argmax(lost <= error)))
            assert rank == (least if least * sum(matrix.shape) < matrix.size else None)
    biases, last = sum(layer.bias.data.nbytes for layer in layers(model).values()), np.inf
    whole = answers(model)
    for budget in (1500, 2200, 3000, 10**6):
        small = low_rank.low_rank(model, low_rank.ranks_by_bytes(model, budget))
        assert storage.nbytes(small) - biases <= budget
        wrong = np.linalg.norm(answers(small) - whole)
        assert wrong <= last * 1.5
        last = wrong
    assert last == 0  # nothing was split


def test_full_rank_is_the_same_network():
    model = network()
    ranks = {name: min(w.weight.shape[0], w.weight.size // w.weight.shape[0]) for name, w in layers(model).items()}
    np.testing.assert_allclose(answers(low_rank.low_rank(model, ranks)), answers(model), rtol=1e-4, atol=1e-5)


def test_folding_is_the_network_in_evaluation_mode():
    model = networks.mnist(0, 4)
    x = np.random.default_rng(0).random((8, 1, 28, 28), np.float32)
    for _ in range(3):
        model(Tensor(x))  # running means move
    for part in model:
        if isinstance(part, modules.BatchNorm2d):
            part.weight.data *= np.float32(1.5)
            part.bias.data += np.float32(0.3)
    small = folding.folded(model)
    assert len(list(small)) == len(list(model)) - 3
    np.testing.assert_allclose(answers(small, x), answers(model, x), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="stands after ReLU"):
        folding.folded(modules.Sequential(modules.ReLU(), modules.BatchNorm2d(3)))


# ---- teachers, and few numbers that learn ----------------------------------------------------------------------------


def test_lora_begins_as_the_network_learns_few_numbers_and_is_merged():
    model = network()
    small = lora.adapted(model, 2)
    np.testing.assert_array_equal(answers(small), answers(model))
    names = [name for name, _ in small.named_parameters()]
    assert {name.split(".")[-1] for name in names} == {"a", "b"}
    before = {name: x.data.copy() for name, x in small.named_tensors()}
    networks.trained(small, (X, np.arange(12) % 10), epochs=3, lr=0.1)
    changed = {name for name, x in small.named_tensors() if not np.array_equal(before[name], x.data)}
    assert changed == set(names)
    np.testing.assert_array_equal(answers(merged(small)), answers(small))
    for layer in layers(small).values():
        a, b, weight = layer.a.data, layer.b.data, layer.layer.weight.data
        expected = weight.reshape(len(weight), -1) + 2 * b.astype(np.float64) @ a
        np.testing.assert_allclose(layer.computed().data.reshape(len(weight), -1), expected, rtol=1e-4, atol=1e-6)
        assert layer.arrays().keys() == {"a", "b"}


def test_the_divergence_is_zero_for_equal_logits_and_its_gradient_a_slope():
    rng = np.random.default_rng(0)
    teacher, student = rng.normal(size=(2, 6, 4))
    assert distillation.divergence(Tensor(teacher), teacher, 3.0).item() == pytest.approx(0, abs=1e-12)
    for temperature in (1.0, 4.0):
        x = Tensor(student, requires_grad=True)
        distillation.divergence(x, teacher, temperature).backward()
        direction, h = rng.normal(size=student.shape), 1e-6
        both = [
            distillation.divergence(Tensor(student + side * direction), teacher, temperature).item() for side in (h, -h)
        ]
        assert (x.grad * direction).sum() == pytest.approx((both[0] - both[1]) / (2 * h), rel=1e-6)
    # at a high temperature it becomes the squared distance of centred logits (section 2.1 of the paper)
    centred = (teacher - teacher.mean(1, keepdims=True)) - (student - student.mean(1, keepdims=True))
    value = distillation.divergence(Tensor(student), teacher, 1e4).item()
    assert value == pytest.approx(np.mean(np.sum(centred**2, axis=1)) / (2 * 4), rel=1e-3)


def test_labels_alone_are_cross_entropy_and_targets_leave_the_teacher_as_it_was():
    teacher = network().train()
    labels = np.arange(12) % 10
    y = distillation.targets(teacher, X, labels, batch_size=5)
    assert teacher.training
    np.testing.assert_allclose(y[:, :-1], answers(teacher), rtol=1e-5, atol=1e-6)  # batches of 5: other products
    logits = Tensor(answers(network(1)))
    assert distillation.Distillation(4, 0.0)(logits, y).item() == pytest.approx(F.cross_entropy(logits, labels).item())
    both = distillation.Distillation(2, 0.25)(logits, y).item()
    soft = distillation.divergence(logits, y[:, :-1], 2).item()
    assert both == pytest.approx(0.75 * F.cross_entropy(logits, labels).item() + 0.25 * soft, rel=1e-5)


# ---- on digits -------------------------------------------------------------------------------------------------------


def test_parts_do_not_meet_and_have_all_classes():
    parts = networks.parts(data.digits)
    assert [len(labels) for _, labels in (parts.train, parts.validation, parts.test)] == [1150, 287, 360]
    assert np.array_equal(parts.test[0], data.digits()[1][0])
    assert np.array_equal(parts.validation[1], data.digits()[0][1][4::5])
    assert all(np.all(np.bincount(labels) > 0) for _, labels in (parts.train, parts.validation))


@pytest.mark.rotates
def test_a_network_that_learns_with_two_bits_knows_more_than_one_that_was_rounded():
    parts = networks.parts(data.digits)
    model = networks.trained(networks.digits(0, 8), parts.train, epochs=8)
    small = quantized.quantized(model, 2, activation_bits=8, x=parts.train[0][:128])
    rounded, whole = accuracy(small, *parts.validation), accuracy(model, *parts.validation)
    assert whole > 0.9
    assert rounded < whole - 0.05
    networks.trained(small, parts.train, epochs=4, lr=1e-3)
    assert accuracy(small, *parts.validation) > rounded + 0.03


def test_a_model_that_learns_from_a_teacher_with_few_pictures_comes_nearer_to_it():
    """What the soft targets of 40 pictures say is more than what their labels say."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 6)).astype(np.float32)
    x = (centres[rng.integers(0, 4, 400)] + rng.normal(size=(400, 6))).astype(np.float32)
    teacher = modules.Sequential(plain(centres * 2, -np.sum(centres**2, axis=1)))
    labels = answers(teacher, x).argmax(1)

    def student(targets, loss):
        layer = modules.Sequential(modules.Linear(6, 4, generator=np.random.default_rng(1)))
        networks.trained(layer, (x[:40], targets), epochs=300, lr=0.1, batch_size=40, loss=loss)
        return accuracy(layer, x[40:], labels[40:])

    soft = student(distillation.targets(teacher, x[:40], labels[:40]), distillation.Distillation(1.0, 1.0))
    assert soft > student(labels[:40], F.cross_entropy) + 0.02


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: quantized.quantized(m, 1), ValueError, "bits is 1"),
        (lambda m: quantized.quantized(m, 8, "row"), ValueError, "granularity is 'row'"),
        (lambda m: quantized.quantized(m, 8, activation_bits=8), ValueError, "activation_bits and x together"),
        (lambda m: pruning.pruned(m, 2.0), ValueError, "keep is 2.0"),
        (lambda m: pruning.pruned(m, 0.5, "row"), ValueError, "expected one of global, layer"),
        (lambda m: pruning.Masked(next(iter(m)), np.ones(3)), ValueError, "mask is .3,. float64; expected .3, 1, 3, 3. "
                                                                          "bool"),
        (lambda m: pruning.Gradual(m, 5, 5, 0.1), ValueError, "begin is 5, end 5"),
        (lambda m: filters.smaller(m, 0), ValueError, "keep is 0"),
        (lambda m: filters.smaller(networks.mnist(0, 2), 0.5), TypeError, "has BatchNorm2d; expected Conv2d of one "
                                                                          "group"),
        (lambda m: filters.smaller(next(iter(m)), 0.5), TypeError, "model is Conv2d; expected a Sequential"),
        (lambda m: folding.folded(next(iter(m))), TypeError, "model is Conv2d; expected a Sequential"),
        (lambda m: low_rank.ranks_by_error(m, 1.0), ValueError, "error is 1.0"),
        (lambda m: low_rank.ranks_by_bytes(m, 10), ValueError, "budget is 10 bytes; rank 1 of each layer takes"),
        (lambda m: low_rank.low_rank(m, {"7": 1}), ValueError, r"ranks names \['7'\]"),
        (lambda m: codebook.shared(m, 9), ValueError, "bits is 9"),
        (lambda m: hashed.hashed(m, 0), ValueError, "keep is 0"),
        (lambda m: hashed.Hashed(next(iter(m)), 0), ValueError, "count is 0; expected 1 to 27"),
        (lambda m: lora.adapted(m, 0), ValueError, "rank is 0"),
        (lambda m: lora.LoRA(next(iter(m)), 1, generator=3), TypeError, "generator is 3"),
        (lambda m: distillation.Distillation(0), ValueError, "temperature is 0"),
        (lambda m: distillation.Distillation()(Tensor(np.zeros((2, 3))), np.zeros((2, 3))), ValueError, "one column "
                                                                                                        "more"),
        (lambda m: order.in_order(m, "both", 0.5, 8), ValueError, "order is 'both'"),
        (lambda m: storage.nbytes(3), TypeError, "model is int; expected a Module"),
        (lambda m: Parametrized(modules.ReLU()), TypeError, "layer is ReLU; expected Linear"),
        (lambda m: Parametrized(next(iter(m))).computed(), NotImplementedError, "no `computed`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call(network())


def test_a_layer_alone_is_a_network_too():
    layer = modules.Linear(5, 3, generator=np.random.default_rng(0))
    small = quantized.quantized(layer, 4)
    assert isinstance(small, quantized.Quantized)
    assert np.array_equal(weight_of(merged(small)).data, small.computed().data)
    assert storage.nbytes(small) == 8 + 3 * 4 + 3 * 4  # 15 codes of half a byte, scales, bias


def test_a_row_is_not_split_and_zeros_have_a_rank():
    model = modules.Sequential(plain(np.zeros((6, 8), np.float32), None), plain(np.ones((1, 6), np.float32), None))
    names = list(layers(model))
    assert low_rank.ranks_by_bytes(model, 4 * (6 + 8) + 4 * 6) == dict(zip(names, (1, None), strict=True))
    assert low_rank.ranks_by_bytes(model, 10**6) == dict.fromkeys(names)
