"""The loop that trains: forward, backward, step, with what every training needs around it.

fit          trains a model; shows how it goes; saves checkpoints, and goes on from one
accuracy     the fraction of right answers, in evaluation mode
History      what `fit` returns
"""

import contextlib
import io
import itertools
import math
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dlkernels import cuda
from dlkernels.device import is_device_array

from . import checkpoints
from .arrays import freed_memory_kept
from .optimizers import clip_grad_norm_
from .precision import autocast
from .tensor import Tensor, no_grad


@dataclass
class History:
    """Of each step of the optimiser: its number, the mean loss of its examples, seconds since training began; of each
    evaluation: (step, result)."""

    steps: list = field(default_factory=list)
    losses: list = field(default_factory=list)
    seconds: list = field(default_factory=list)
    accuracies: list = field(default_factory=list)

    def state_dict(self):
        return {name: list(values) for name, values in vars(self).items()}

    def load_state_dict(self, state):
        for name, values in vars(self).items():
            values[:] = state[name]


def fit(model, loss, optimizer, loader, *, epochs=1, schedule=None, accumulate=1, clip=None, evaluate=None, scaler=None,
        checkpoint_path=None, every=None, keep=1, resume=False, hooks=(), history=None, show="auto"):  # fmt: skip
    """Train `model` on the batches (x, y) of a `Loader`, by ``loss(model(Tensor(x)), y)``, the mean over a batch.

    epochs: to train from where the loader stands at the call (with `resume`: where it stood then, too).
    schedule: its step() follows each step of the optimiser. clip: the largest norm of the gradients.
    accumulate: batches whose gradients are summed for one step. It gives the gradients of the larger batch, each
    example counting the same, with the memory of the small one; batch norm and dropout see the small ones.
    evaluate: (x, y) to find the `accuracy` of after each epoch, or a function of the model that returns a number.
    scaler: a `GradScaler`, to train in half precision (precision.py).
    checkpoint_path: a file; the state is saved there each `every` steps and after each epoch, `keep` of them (see
    checkpoints.py), the random states of the model's layers included. resume: where the file exists, go on from it, to
    the very numbers that an uninterrupted training gives.
    hooks: called with the History after each step. history: one to go on with.
    show: "auto" (in a terminal a line that is written anew, in a notebook a curve that grows, elsewhere as "lines"),
    "lines" (one for each epoch) or None.

    Returns the History. Ctrl-C ends the training after the step that runs: the model is as after that step, the
    checkpoint is saved, and KeyboardInterrupt is raised; a second Ctrl-C does not wait. A loss that is nan or infinite
    raises FloatingPointError before it reaches a weight.
    """
    if accumulate < 1 or epochs < 0:
        raise ValueError(f"accumulate is {accumulate}, epochs {epochs}; expected 1 or more, and 0 or more")
    history, until = history or History(), loader.epoch + epochs
    things = {"model": model, "optimizer": optimizer, "loader": loader, "history": history}
    things |= {name: stateful for name, stateful in (("schedule", schedule), ("scaler", scaler)) if stateful}
    things |= {f"generator{k}": generator for k, generator in enumerate(_generators(model))}
    if resume and checkpoint_path and Path(checkpoint_path).exists():
        checkpoints.load(checkpoint_path, **things)

    def save(stop):
        if checkpoint_path:
            checkpoints.save(checkpoint_path, keep=keep, **things)
        if stop:
            where = f"saved in {checkpoint_path}" if checkpoint_path else "not saved, without checkpoint_path"
            raise KeyboardInterrupt(f"stopped after step {step}, {where}; the model is as after that step")

    step, begin = (history.steps or [0])[-1], time.perf_counter() - (history.seconds or [0])[-1]
    display = _Display(show, history)
    model.train()
    with _Interrupt() as interrupt, freed_memory_kept():
        while loader.epoch < until:
            name = f"epoch {loader.epoch + 1}/{until}"
            with contextlib.closing(iter(loader)) as batches:
                while group := list(itertools.islice(batches, accumulate)):
                    value = _gradients(model, loss, optimizer, group, scaler)
                    if not math.isfinite(value):
                        raise FloatingPointError(_advice(value, step + 1, name, model, optimizer, group, scaler))
                    _step(model, optimizer, clip, scaler)
                    if schedule:
                        schedule.step()
                    step += 1
                    history.steps.append(step)
                    history.losses.append(value)
                    history.seconds.append(time.perf_counter() - begin)
                    for hook in hooks:
                        hook(history)
                    display.step(f"{name}, batch {loader.position}/{len(loader)}, loss {value:.4g}")
                    if interrupt.asked or (every and step % every == 0):
                        save(interrupt.asked)
            if evaluate is not None:
                result = evaluate(model) if callable(evaluate) else accuracy(model, *evaluate)
                history.accuracies.append((step, result))
            display.epoch(name)
            save(interrupt.asked)
    return history


def _gradients(model, loss, optimizer, group, scaler):
    """The mean loss of a group of batches; its gradient is then in the parameters."""
    optimizer.zero_grad()
    examples, value = sum(len(y) for _, y in group), 0.0
    for x, y in group:
        with autocast(model) if scaler else contextlib.nullcontext():
            output = model(_beside(model, x))
        part = loss(output, _beside(model, y).data) * (len(y) / examples)
        value += part.item()
        if not math.isfinite(value):
            break
        with np.errstate(over="ignore", invalid="ignore") if scaler else contextlib.nullcontext():  # it looks itself
            (scaler.scale(part) if scaler else part).backward()
    return value


def _step(model, optimizer, clip, scaler):
    if scaler:
        scaler.unscale_(optimizer)
    if clip is not None:
        clip_grad_norm_(model.parameters(), clip)
    if scaler:
        scaler.step(optimizer)
        scaler.update()
    else:
        optimizer.step()


def _beside(model, array):
    """A Tensor of a host array, on the device where the model's weights are."""
    there = any(is_device_array(x.data) for x in model.parameters())
    return Tensor(cuda.to_device(np.ascontiguousarray(array)) if there else array)


def accuracy(model, x, y, batch_size=256):
    """The fraction of `y` that is the argmax of the model's output along its last axis. All layers are in evaluation
    mode meanwhile, and after it in the mode that each of them had."""
    modes = [(module, module.training) for _, module in model.named_modules()]
    model.eval()
    try:
        right = 0
        for begin in range(0, len(y), batch_size):
            part = slice(begin, begin + batch_size)
            with no_grad():
                right += np.sum(model(_beside(model, x[part])).numpy().argmax(-1) == y[part])
        return float(right / y.size)
    finally:
        for module, mode in modes:
            module.training = mode


def _generators(model):
    """The Generators that layers draw from while they train, as dropout; each once."""
    found = {}
    for _, module in model.named_modules():
        found |= {id(value): value for value in vars(module).values() if isinstance(value, np.random.Generator)}
    return found.values()


def _advice(value, step, name, model, optimizer, group, scaler):
    """What to look at when a loss is no number."""
    broken = next((key for key, x in model.named_tensors() if not np.isfinite(x.numpy()).all()), None)
    causes = [f"the learning rate, {optimizer.lr:g}: try a tenth, a warm-up, or clip=1.0"]
    if not all(np.isfinite(x).all() for x, _ in group):
        causes.insert(0, "the data: inputs of this step have nan or infinite numbers")
    if broken:
        causes.append(f"the step before: {broken} has nan or infinite numbers already")
    else:
        causes.append("logarithms and divisions in your loss: all weights are finite, as after the step before")
    if scaler:
        causes.append("float16, which ends at 65504: train without scaler, to see whether an activation is larger")
    return f"The loss is {value} in step {step} ({name}). Look at: {'; '.join(causes)}."


class _Interrupt:
    """While it is open, the first Ctrl-C is only noted, so that no step is left half done; the second does as usual."""

    def __enter__(self):
        self.asked, self.before = False, None
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self.before = signal.signal(signal.SIGINT, self._note)
        return self

    def _note(self, number, frame):
        if self.asked:
            self.before(number, frame)
        self.asked = True

    def __exit__(self, *problem):
        if self.before:
            signal.signal(signal.SIGINT, self.before)


class _Display:
    """One line that is written anew, a curve in a notebook; where nobody watches, a line for each epoch."""

    SECONDS = 0.5  # between two pictures

    def __init__(self, show, history):
        if show not in ("auto", "lines", None):
            raise ValueError(f'show is {show!r}; expected "auto", "lines" or None')
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        notebook = hasattr(shell, "kernel") and "PYTEST_VERSION" not in os.environ  # nbval compares outputs
        live = "curve" if notebook else "bar" if sys.stdout.isatty() else "lines"
        self.way = live if show == "auto" else show
        self.history, self.shown, self.width, self.handle = history, -math.inf, 0, None
        self.steps = len(history.losses)  # before this epoch

    def step(self, line):
        if self.way in ("curve", "bar") and time.monotonic() - self.shown > self.SECONDS:
            self.shown = time.monotonic()
            self._draw(line) if self.way == "curve" else self._write(line)

    def epoch(self, name):
        losses, accuracies = self.history.losses[self.steps :], self.history.accuracies
        line = f"{name}: mean loss {np.mean(losses):.4g}" if losses else name
        line += f", evaluated {accuracies[-1][1]:.4g}" if accuracies else ""
        self.steps += len(losses)
        if self.way == "curve":
            self._draw(line)
        elif self.way:
            self._write(line, end="\n")

    def _write(self, line, end=""):
        if self.way == "lines":
            print(line, flush=True)
            return
        print(f"\r{line:{self.width}}", end=end, flush=True)
        self.width = len(line) if not end else 0

    def _draw(self, line):
        from IPython.display import display
        from matplotlib.figure import Figure

        figure, picture = Figure(figsize=(5, 2.5), layout="constrained"), io.BytesIO()
        axes = figure.subplots()
        axes.plot(self.history.steps, self.history.losses, label="loss")
        axes.set(xlabel="steps", ylabel="loss", title=line)
        if self.history.accuracies:
            right_axes = axes.twinx()
            right_axes.plot(*zip(*self.history.accuracies, strict=True), "C1s--")
            right_axes.set_ylabel("evaluated")
        figure.savefig(picture, format="png", dpi=110)
        data = {"image/png": picture.getvalue(), "text/plain": line}
        if self.handle is None:
            self.handle = display(data, raw=True, display_id=True)
        else:
            self.handle.update(data, raw=True)
