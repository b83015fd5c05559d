"""Networks learn: digits to 98 per cent of what they have not seen, texts better than by the frequencies of letters."""

import numpy as np
import pytest

from training import Adam, CosineAnnealing, Loader, Tensor, clip_grad_norm_, data, modules, no_grad
from training import functional as F

pytestmark = pytest.mark.rotates


def test_a_convolutional_network_reads_digits():
    generator, epochs = np.random.default_rng(0), 12
    (x, y), (test_x, test_y) = data.digits()
    net = modules.Sequential(
        modules.Conv2d(1, 32, 3, padding=1, generator=generator), modules.ReLU(),
        modules.Conv2d(32, 64, 3, padding=1, generator=generator), modules.ReLU(),
        modules.MaxPool2d(2), modules.Flatten(), modules.Dropout(0.25, generator=generator),
        modules.Linear(1024, 128, generator=generator), modules.ReLU(), modules.Linear(128, 10, generator=generator),
    )  # fmt: skip
    loader = Loader((x, y), 64, seed=1)
    optimizer = Adam(net.parameters(), lr=3e-3)
    schedule = CosineAnnealing(optimizer, total=epochs * len(loader), warmup=10)
    for _ in range(epochs):
        for images, labels in loader:
            loss = F.cross_entropy(net(Tensor(images)), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with no_grad():
        found = net(Tensor(test_x)).numpy().argmax(1)
    assert (found == test_y).mean() >= 0.98


class Transformer(modules.Module):
    """The next letter, from those before: two blocks."""

    def __init__(self, words, width, steps, generator):
        self.embedding = modules.Embedding(words, width, generator=generator)
        self.position = modules.Embedding(steps, width, generator=generator)
        blocks = (modules.TransformerBlock(width, 4, generator=generator) for _ in range(2))
        self.blocks = modules.Sequential(*blocks)
        self.norm, self.head = modules.LayerNorm(width), modules.Linear(width, words, generator=generator)

    def forward(self, letters):
        places = np.broadcast_to(np.arange(letters.shape[1]), letters.shape)
        return self.head(self.norm(self.blocks(self.embedding(letters) + self.position(places))))


class Recurrent(modules.Module):
    """The next letter, from those before: an LSTM."""

    def __init__(self, words, width, steps, generator):
        self.embedding = modules.Embedding(words, width, generator=generator)
        self.lstm = modules.LSTM(width, 2 * width, batch_first=True, generator=generator)
        self.head = modules.Linear(2 * width, words, generator=generator)

    def forward(self, letters):
        return self.head(self.lstm(self.embedding(letters))[0])


@pytest.mark.parametrize("kind", [Transformer, Recurrent])
def test_a_model_of_letters_learns_more_than_their_frequencies(kind):
    steps, generator = 32, np.random.default_rng(3)
    tokens, _, alphabet = data.text()
    net = kind(len(alphabet), 32, steps, generator)
    optimizer = Adam(net.parameters(), lr=1e-2)
    frequencies = np.bincount(tokens) / len(tokens)
    entropy = -(frequencies * np.log(frequencies, where=frequencies > 0, out=np.zeros_like(frequencies))).sum()
    losses = []
    for _ in range(150):
        begins = generator.integers(0, len(tokens) - steps, 16)
        windows = tokens[begins[:, None] + np.arange(steps + 1)]
        logits = net(windows[:, :-1])
        loss = F.cross_entropy(F.reshape(logits, (-1, len(alphabet))), windows[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] > entropy
    assert np.mean(losses[-10:]) < 0.85 * entropy
