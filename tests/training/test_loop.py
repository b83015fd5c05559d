"""The loop: what it computes, how it stops and goes on, what it shows."""

import json
import signal
import sys
import types

import numpy as np
import pytest
from trained import STEPS, Training, same

from training import SGD, Tensor, accuracy, checkpoints, data, fit, modules
from training import functional as F


def test_it_learns_digits():
    train, test = data.digits()
    training = Training(dropout=False)
    training.loader, training.optimizer.lr = data.Loader(train, 32, seed=1), 0.05
    history = training.fit(epochs=8, evaluate=test, schedule=None)
    assert history.accuracies[-1][1] > 0.93
    assert history.steps == list(range(1, 8 * 45 + 1))
    assert history.accuracies[0][0] == 45
    assert np.mean(history.losses[-45:]) < np.mean(history.losses[:45]) / 3
    assert len(history.seconds) == len(history.steps)
    assert history.seconds == sorted(history.seconds)


def test_accumulated_gradients_are_those_of_the_larger_batch():
    """Up to rounding, and with a last batch that is smaller (73 examples)."""
    large, small = Training(32, dropout=False), Training(8, dropout=False)
    before = small.weights
    losses = large.fit(epochs=3).losses, small.fit(epochs=3, accumulate=4).losses
    assert len(losses[0]) == len(losses[1]) == 9
    np.testing.assert_allclose(*losses, rtol=1e-5)
    for name, weights in large.weights.items():
        np.testing.assert_allclose(small.weights[name], weights, rtol=1e-4, atol=1e-6)
        assert not np.allclose(before[name], weights, atol=1e-3)


def test_gradients_are_clipped_before_the_step(monkeypatch):
    norms = []
    training = Training(dropout=False)

    def step(*arguments):
        norms.append(np.sqrt(sum(np.sum(np.square(x.grad)) for x in training.model.parameters())))

    monkeypatch.setattr(training.optimizer, "step", step)
    training.fit(clip=0.01)
    assert norms == pytest.approx([0.01] * STEPS, rel=1e-4)


def test_evaluation_leaves_each_layer_its_mode_and_no_gradient():
    training = Training()
    model, modes = training.model, []
    frozen = vars(model)["0"]
    forward = model.forward

    def looked(x):
        modes.append([part.training for _, part in model.named_modules()])
        result = forward(x)
        assert not result.requires_grad
        return result

    frozen.training, model.forward = False, looked
    found = accuracy(model, *training.test, batch_size=100)
    assert len(modes) == 4
    assert not any(map(any, modes))
    assert [part.training for _, part in model.named_modules()] == [
        part is not frozen for _, part in model.named_modules()
    ]
    model.forward, x = forward, training.test[0]
    right = model.eval()(Tensor(x)).numpy().argmax(1) == training.test[1]
    assert found == right.mean()
    model.train().forward = None
    with pytest.raises(TypeError):
        accuracy(model, *training.test)
    assert all(part.training for _, part in model.named_modules())


def test_accuracy_of_sequences_counts_each_token():
    class Echo(modules.Module):
        def forward(self, x):
            return Tensor(np.eye(5, dtype=np.float32)[x.data])

    x = np.arange(12).reshape(3, 4) % 5
    y = x.copy()
    y[0, 0] += 1
    assert accuracy(Echo(), x, y, batch_size=2) == 11 / 12


@pytest.mark.rotates
def test_batches_go_to_the_device_where_the_weights_are():
    """A training there comes to the weights of one here, to rounding."""
    found = []
    for device in ("cpu", "cuda"):
        (x, y), _ = data.digits()
        x, y = x[:6, 0, :4, :4].reshape(6, 16), y[:6] % 4
        model = modules.Linear(16, 4, generator=np.random.default_rng(1)).to(device)
        optimizer = SGD(model.parameters(), lr=0.1)
        history = fit(model, F.cross_entropy, optimizer, data.Loader((x, y), 3), evaluate=(x, y), show=None)
        found.append([*history.losses, history.accuracies[0][1], *model.state_dict()["weight"].ravel()])
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"accumulate": 2}, {"scaled": True}, {"dropout": False, "clip": 0.5}], ids=str)
def test_after_a_fault_it_goes_on_to_the_very_same_weights(tmp_path, options):
    path = tmp_path / "run.safetensors"
    made = {name: options[name] for name in ("dropout", "scaled") if name in options}
    options = {name: options[name] for name in options if name not in made}
    whole = Training(**made)
    expected = whole.fit(epochs=3, evaluate=whole.test, **options)

    def fail(history):
        if history.steps[-1] % 4 == 3:
            raise OSError("the plug was pulled")

    for _ in range(20):
        training = Training(**made)
        try:
            history = training.fit(epochs=3, evaluate=training.test, checkpoint_path=path, every=2, resume=True,
                                   hooks=[fail] if _ < 3 else [], **options)  # fmt: skip
            break
        except OSError:
            pass
    assert same(training.weights, whole.weights)
    assert same(training.optimizer.state_dict(), whole.optimizer.state_dict())
    assert (history.steps, history.losses, history.accuracies) == (expected.steps, expected.losses, expected.accuracies)
    again = Training(**made)
    assert again.fit(epochs=3, checkpoint_path=path, resume=True, **options).losses == expected.losses
    assert same(again.weights, whole.weights), "nothing is left to train"


def interrupt(at, times=1):
    def hook(history):
        if history.steps[-1] == at:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    return hook


def test_ctrl_c_leaves_a_checkpoint_and_a_model_as_after_a_whole_step(tmp_path):
    path, handler = tmp_path / "run.safetensors", signal.getsignal(signal.SIGINT)
    whole, training, other = Training(), Training(), Training()
    whole.fit(epochs=2)
    with pytest.raises(KeyboardInterrupt, match=r"stopped after step 7, saved in .*run\.safetensors"):
        training.fit(epochs=2, checkpoint_path=path, hooks=[interrupt(7)])
    assert signal.getsignal(signal.SIGINT) is handler
    values = checkpoints.load(path, **other.things)
    assert values == {}
    assert same(other.weights, training.weights)
    assert (other.loader.epoch, other.loader.position, other.schedule.steps) == (1, 2, 7)
    other.fit(epochs=1)
    assert same(other.weights, whole.weights)
    training.fit(epochs=1)  # it goes on in the same process as well
    assert same(training.weights, whole.weights)


def test_ctrl_c_while_it_evaluates_is_not_lost():
    training = Training()

    def evaluate(model):
        signal.raise_signal(signal.SIGINT)
        return 0.5

    with pytest.raises(KeyboardInterrupt, match="after step 5, not saved"):
        training.fit(evaluate=evaluate)
    assert training.loader.epoch == 1


def test_a_second_ctrl_c_does_not_wait():
    training, seen = Training(), []
    with pytest.raises(KeyboardInterrupt) as problem:
        training.fit(hooks=[interrupt(2, times=2), lambda history: seen.append(history.steps[-1])])
    assert str(problem.value) == ""
    assert seen == [1], "the second hook of step 2 did not run"


def test_a_loss_that_is_no_number_stops_before_it_reaches_a_weight():
    training = Training(dropout=False, examples=64)
    training.loader.arrays[0][3, 0, 2, 2] = np.nan
    training.loader.shuffle = False
    training.loader.arrays = tuple(np.roll(array, 32, 0) for array in training.loader.arrays)  # in the third batch
    with pytest.raises(FloatingPointError, match=r"The loss is nan in step 3 \(epoch 1/1\)") as problem:
        training.fit()
    assert "Look at: the data: inputs of this step have nan" in str(problem.value)
    assert all(np.isfinite(x).all() for x in training.weights.values())

    training = Training(dropout=False, scaled=True)
    vars(training.model)["0"].weight.data[0] = np.inf
    with pytest.raises(FloatingPointError, match=r"0\.weight has nan or infinite numbers already; float16"):
        training.fit()

    def divided(output, y):
        return F.cross_entropy(output, y) * float("inf")

    training = Training(dropout=False)
    with pytest.raises(FloatingPointError, match=r"the learning rate, 0\.\d+: try a tenth.*divisions in your loss"):
        fit(training.model, divided, training.optimizer, training.loader, show=None)


@pytest.mark.parametrize(("options", "words"), [
    ({"accumulate": 0}, "accumulate is 0"), ({"epochs": -1}, "epochs -1"), ({"show": "loud"}, "show is 'loud'; "
                                                                                              "expected"),
])  # fmt: skip
def test_wrong_arguments_are_told(options, words):
    with pytest.raises(ValueError, match=words):
        Training().fit(**options)


# ---- what it shows ---------------------------------------------------------------------------------------------------


def test_where_nobody_watches_it_prints_a_line_for_each_epoch(capsys):
    training = Training()
    training.fit(epochs=2, evaluate=lambda model: 0.25, show="auto")
    training.fit(show="lines")
    training.fit(show=None)
    lines = capsys.readouterr().out.split("\n")
    assert [line.split(": mean loss ")[0] for line in lines] == ["epoch 1/2", "epoch 2/2", "epoch 3/3", ""]
    assert all(line.endswith(", evaluated 0.25") for line in lines[:2])


def test_a_terminal_has_one_line_that_is_written_anew(capsys, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("training.loop._Display.SECONDS", -1)
    Training().fit(epochs=2, show="auto")
    first, second, rest = capsys.readouterr().out.split("\n")
    assert rest == ""
    pieces = first.split("\r")
    assert pieces[0] == ""
    assert [piece.split(", ")[1] for piece in pieces[1:6]] == [f"batch {k}/5" for k in range(1, 6)]
    assert pieces[6].startswith("epoch 1/2: mean loss ")
    assert len(pieces[6]) >= len(pieces[5]), "nothing is left of the longer line before"
    assert second.split("\r")[-1].startswith("epoch 2/2: mean loss ")


class Handle:
    def __init__(self):
        self.shown = []

    def update(self, content, raw):
        assert raw
        self.shown.append(content)


@pytest.fixture
def notebook(monkeypatch):
    """The curves that a notebook would show."""
    display = pytest.importorskip("IPython.display")
    handle = Handle()

    def first(content, raw, display_id):
        assert raw
        assert display_id
        handle.shown.append(content)
        return handle

    monkeypatch.setattr("IPython.get_ipython", lambda: types.SimpleNamespace(kernel=True))
    monkeypatch.setattr(display, "display", first)
    return handle


def test_a_notebook_has_a_curve_that_grows(notebook, capsys, monkeypatch):
    monkeypatch.delenv("PYTEST_VERSION", raising=False)
    monkeypatch.setattr("training.loop._Display.SECONDS", -1)
    Training().fit(evaluate=lambda model: 0.25, show="auto")
    assert capsys.readouterr().out == ""
    assert len(notebook.shown) == STEPS + 1
    assert all(content["image/png"].startswith(b"\x89PNG") for content in notebook.shown)
    assert notebook.shown[-1]["text/plain"].startswith("epoch 1/1: mean loss ")
    assert json.dumps([content["text/plain"] for content in notebook.shown])


def test_under_nbval_a_notebook_has_lines(notebook, capsys, monkeypatch):
    monkeypatch.setenv("PYTEST_VERSION", "9")
    Training().fit(show="auto")
    assert capsys.readouterr().out.startswith("epoch 1/1: mean loss ")
    assert not notebook.shown
