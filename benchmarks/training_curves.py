"""Losses of two character models while they learn, by this library and by PyTorch: the curves of chapter 12.4.

    TORCH_PYTHON=.../bin/python python benchmarks/run.py training_curves             recorded in results/
    TORCH_PYTHON=.../bin/python python benchmarks/run.py training_curves --quick     one seed, few steps, not recorded

Both sides begin with the same weights (ours are loaded into PyTorch's modules, which have the same names for them) and
take the same batches. The first losses have to agree to AGREE, or nothing is recorded; others are kept as they come.
Nothing is timed. The sides run one after the other, each in a process of its own: ours by this Python, PyTorch's by the
one that TORCH_PYTHON names (without it: this one).
"""

import itertools
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from training import AdamW, CosineAnnealing, Loader, Tensor, clip_grad_norm_, data, modules
from training import functional as F

WIDTH, HEADS, BATCH, LENGTH = 128, 4, 32, 64
WARMUP, LOWEST, NORM = 20, 0.1, 1.0
RATES = {"LSTM": 5e-3, "Transformer": 5e-3}
ROWS, POSITIONS, HEAD = 0.2, 0.2, 0.4  # by which the first weights of the Transformer are multiplied
SEEDS = 5
SAME, AGREE = 10, 1e-4  # so many losses agree to this


class LSTMModel(modules.Module):
    """The one of the page."""

    def __init__(self, characters, seed):
        g = np.random.default_rng(seed)
        self.rows = modules.Embedding(characters, WIDTH, generator=g)
        self.lstm = modules.LSTM(WIDTH, WIDTH, batch_first=True, generator=g)
        self.head = modules.Linear(WIDTH, characters, generator=g)

    def forward(self, x):
        return self.head(self.lstm(self.rows(x))[0])


class Transformer(modules.Module):
    """The one of the page."""

    def __init__(self, characters, seed):
        g = np.random.default_rng(seed)
        self.rows = modules.Embedding(characters, WIDTH, generator=g)
        self.positions = modules.Embedding(LENGTH, WIDTH, generator=g)
        self.first = modules.TransformerBlock(WIDTH, HEADS, generator=g)
        self.second = modules.TransformerBlock(WIDTH, HEADS, generator=g)
        self.norm = modules.LayerNorm(WIDTH)
        self.head = modules.Linear(WIDTH, characters, generator=g)
        for part, factor in ((self.rows, ROWS), (self.positions, POSITIONS), (self.head, HEAD)):
            part.weight.data *= np.float32(factor)

    def forward(self, x):
        at = np.broadcast_to(np.arange(x.shape[1]), x.shape)
        y = self.rows(x) + self.positions(Tensor(at))
        return self.head(self.norm(self.second(self.first(y))))


MODELS = {"LSTM": LSTMModel, "Transformer": Transformer}


def batches(tokens, seed):
    """One epoch."""
    return Loader(data.windows(tokens, LENGTH), BATCH, seed=seed, drop_last=True)


def ours(kind, tokens, characters, seed, steps):
    model = MODELS[kind](characters, seed)
    optimizer = AdamW(model.parameters(), lr=RATES[kind])
    loader, losses = batches(tokens, seed), []
    schedule = CosineAnnealing(optimizer, len(loader), WARMUP, LOWEST)
    for x, y in itertools.islice(loader, steps):
        scores = F.reshape(model(Tensor(x)), (-1, characters))
        loss = F.cross_entropy(scores, y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(model.parameters(), NORM)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def pytorch(kind, tokens, characters, seed, steps):
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = torch.nn.Embedding(characters, WIDTH)
            self.head = torch.nn.Linear(WIDTH, characters)
            if kind == "LSTM":
                self.lstm = torch.nn.LSTM(WIDTH, WIDTH, batch_first=True)
                return
            self.positions = torch.nn.Embedding(LENGTH, WIDTH)
            options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": True}
            self.first = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, **options)
            self.second = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, **options)
            self.norm = torch.nn.LayerNorm(WIDTH)

        def forward(self, x):
            if kind == "LSTM":
                return self.head(self.lstm(self.rows(x))[0])
            y = self.rows(x) + self.positions(torch.arange(x.shape[1]))
            mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1])
            for block in (self.first, self.second):
                y = block(y, src_mask=mask, is_causal=True)
            return self.head(self.norm(y))

    model = Network()
    begin = MODELS[kind](characters, seed).state_dict()
    model.load_state_dict({name: torch.from_numpy(array) for name, array in begin.items()})
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATES[kind])
    loader, losses = batches(tokens, seed), []
    factor = CosineAnnealing(SimpleNamespace(lr=1), len(loader), WARMUP, LOWEST).factor
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
    for x, y in itertools.islice(loader, steps):
        scores = model(torch.from_numpy(x)).reshape(-1, characters)
        loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(y).reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), NORM)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def side(name, seeds, steps):
    """{kind: losses of each seed} of "ours" or "PyTorch"."""
    tokens, _, alphabet = data.text()
    train, found = {"ours": ours, "PyTorch": pytorch}[name], {}
    for kind in MODELS:
        found[kind] = []
        for seed in range(seeds):
            found[kind].append(train(kind, tokens, len(alphabet), seed, steps))
            print(f"{name}, {kind}, seed {seed}: {np.mean(found[kind][-1][-20:]):.3f}", file=sys.stderr, flush=True)
    text = {"characters": len(alphabet), "crc32": zlib.crc32(tokens.tobytes())}
    versions = {"torch": sys.modules["torch"].__version__} if name == "PyTorch" else {}
    return {"losses": found, "text": text, "versions": versions}


def benchmark(quick=False):
    seeds, steps = (1, 12) if quick else (SEEDS, None)
    there = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "lib")}
    pythons, sides = {"ours": sys.executable, "PyTorch": os.environ.get("TORCH_PYTHON", sys.executable)}, {}
    for name, python in pythons.items():
        command = [python, __file__, json.dumps([name, seeds, steps])]
        sides[name] = json.loads(
            subprocess.run(command, env=there, check=True, stdout=subprocess.PIPE, text=True).stdout
        )
    if sides["ours"]["text"] != sides["PyTorch"]["text"]:
        raise AssertionError("the two sides read different texts: TORCH_PYTHON has to be of the same version.")
    losses = {kind: {name: one["losses"][kind] for name, one in sides.items()} for kind in MODELS}
    for kind, both in losses.items():
        apart = np.abs(np.subtract(both["ours"], both["PyTorch"]))
        print(
            f"{kind}: losses differ by {apart[:, :SAME].max():.0e} in the first {SAME} steps, {apart.max():.0e} in all"
        )
        if apart[:, :SAME].max() > AGREE:
            raise AssertionError(
                f"{kind}: the first losses differ by {apart[:, :SAME].max()}; expected {AGREE} at most."
            )
        for name, runs in both.items():
            both[name] = [[float(f"{loss:.8g}") for loss in run] for run in runs]
    return {
        "losses": losses,
        "same": SAME,
        "agree": AGREE,
        "text": sides["ours"]["text"],
        "peer": sides["PyTorch"]["versions"],
    }


if __name__ == "__main__":
    print(json.dumps(side(*json.loads(sys.argv[1]))))
