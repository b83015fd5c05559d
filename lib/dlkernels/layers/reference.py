"""Embedding and dropout in NumPy and float64: what every other implementation is tested against.

embedding            row input[i] of a table, for each index
embedding_backward   each row of the table gets the sum of the gradients that arrive where it was taken; the row
                     `padding_idx` gets none
dropout              each number is dropped with probability p, else multiplied by 1 / (1 - p) (Srivastava and others
                     2014). Number i of the array goes by word offset + i of the sequence that Philox4x32-10 makes of
                     the seed: four words for each value of its counter. What is dropped is 0, whatever it was
"""

import numpy as np

ROUNDS = 10


def _double(x):
    return np.asarray(x, dtype=np.float64)


def embedding(input, weight, padding_idx=None):
    return _double(weight)[np.asarray(input)]


def embedding_backward(grad, input, weight, padding_idx=None):
    gradient = np.zeros(np.shape(weight))
    np.add.at(gradient, np.asarray(input), _double(grad))
    if padding_idx is not None:
        gradient[padding_idx] = 0
    return gradient


def philox4x32(counter, key):
    """counter: (n, 4), key: (2,), both uint32. (n, 4) random words."""
    words, key = np.array(counter, np.uint64), [int(k) for k in key]
    for _ in range(ROUNDS):
        product_0, product_2 = words[:, 0] * np.uint64(0xD2511F53), words[:, 2] * np.uint64(0xCD9E8D57)
        low, high = (
            [p & np.uint64(0xFFFFFFFF) for p in (product_0, product_2)],
            [p >> np.uint64(32) for p in (product_0, product_2)],
        )
        keys = [np.uint64(k) for k in key]
        words = np.stack([high[1] ^ words[:, 1] ^ keys[0], low[1], high[0] ^ words[:, 3] ^ keys[1], low[0]], axis=1)
        key = [(key[0] + 0x9E3779B9) % 2**32, (key[1] + 0xBB67AE85) % 2**32]
    return words.astype(np.uint32)


def random_words(seed, offset, count):
    """Words offset ... offset + count - 1 of the sequence of this seed."""
    first, last = offset // 4, (offset + count + 3) // 4
    numbers = np.arange(first, last, dtype=np.uint64)
    counter = np.zeros((len(numbers), 4), np.uint64)
    counter[:, 0], counter[:, 1] = numbers & np.uint64(0xFFFFFFFF), numbers >> np.uint64(32)
    return philox4x32(counter, (seed % 2**32, seed >> 32)).reshape(-1)[offset - 4 * first :][:count]


def dropout(input, p=0.5, training=True, seed=0, offset=0):
    x = _double(input)
    if not training:
        return x
    kept = random_words(seed, offset, x.size).reshape(x.shape) >= round(p * 2**32)
    return np.where(kept, x / (1 - p if p < 1 else 1), 0.0)


def dropout_backward(grad, p=0.5, training=True, seed=0, offset=0):
    return dropout(grad, p, training, seed, offset)
