"""12-words: The gradient of an embedding, without atomics."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

_NOTHING = np.zeros(0)


def rows_added(grad, order, start, out):
    found = np.zeros(out.shape)
    for word in range(len(start) - 1):
        found[word] = grad[order[start[word] : start[word + 1]]].astype(np.float64).sum(axis=0)
    return found


def _told(formula):
    def guess(*arguments):
        found = formula(*arguments)
        return _NOTHING if np.allclose(found, rows_added(*arguments), rtol=1e-3, atol=1e-5) else found

    return guess


def _rows_of(first, end):
    """The sums, as if word w had the positions order[first(start, w)] to order[end(start, w) - 1]."""

    def formula(grad, order, start, out):
        found = np.zeros(out.shape)
        for word in range(len(out)):
            found[word] = grad[order[first(start, word) : end(start, word)]].astype(np.float64).sum(axis=0)
        return found

    return formula


def _begin(start, word):
    return start[word]


def _end(start, word):
    return start[word + 1]


def _mean(grad, order, start, out):
    return rows_added(grad, order, start, out) / np.maximum(np.diff(start), 1)[:, None]


def _unsorted(grad, order, start, out):
    return rows_added(grad, np.arange(len(order)), start, out)


def _last(grad, order, start, out):
    found = np.zeros(out.shape)
    for word in range(len(start) - 1):
        if start[word + 1] > start[word]:
            found[word] = grad[order[start[word + 1] - 1]]
    return found


def words_case(name, positions, vocabulary, width, some=None):
    """Gradients (positions, width); positions in the order of their words, (positions,); where each word's begin,
    (vocabulary + 1,); out (vocabulary, width). some: only so many words occur."""

    def make(rng):
        words = rng.integers(0, some or vocabulary, positions)
        order = np.argsort(words, kind="stable")
        start = np.searchsorted(words[order], np.arange(vocabulary + 1))
        return random_values(rng, positions, width), order, start, unwritten(vocabulary, width)

    name = f"{name}: {positions} positions, {vocabulary} words, {width} columns"
    return Case(name, make, grid=(vocabulary, -(-width // 64)), block=64)


WORDS = KernelTask(
    id="12-words",
    section=Section("12.4", "12_characters", "Who adds to a row"),
    title="The gradient of an embedding, without atomics",
    objective="Write a sum over scattered rows that is the same in each run, from sorted positions",
    points=2,
    minutes=18,
    spec=rows_added,
    rtol=1e-4,
    atol=1e-5,
    writer=lambda index, case: ((index[0], index[1] // 64), index[1] % 64),
    cases=(
        words_case("one block, exact", 5, 1, 64),
        words_case("each word once or so", 12, 12, 64),
        words_case("few words, ragged columns", 40, 5, 20),
        words_case("words that do not occur", 30, 9, 64, 4),
        words_case("more columns than threads", 20, 6, 100),
    ),
    suspects=(
        Suspect(
            _told(_unsorted),
            "The rows were taken as they stand. `start` counts in the sorted order: position number k of it is "
            "order[k].",
        ),
        Suspect(_told(_last), "This is the gradient of one of the word's positions: they are added up, not replaced."),
        Suspect(
            _told(lambda grad, order, start, out: np.tile(grad.astype(np.float64).sum(axis=0), (len(out), 1))),
            "Each word has the sum of all positions. Only those from start[word] to start[word + 1] are its own.",
        ),
        Suspect(
            _told(_rows_of(_begin, lambda start, word: start[-1])),
            "Each word's sum goes on beyond its own positions, to the last one of all. It ends before start[word + 1].",
        ),
        Suspect(
            _told(_rows_of(lambda start, word: 0, _end)),
            "Each word's sum begins with the first position of all. Its own positions begin with start[word].",
        ),
        Suspect(
            _told(_rows_of(_begin, lambda start, word: max(start[word], start[word + 1] - 1))),
            "The last position of each word is missing. It is number start[word + 1] - 1, and a range ends before its "
            "second number.",
        ),
        Suspect(
            _told(_rows_of(lambda start, word: min(start[word] + 1, start[word + 1]), _end)),
            "The first position of each word is missing. It is number start[word].",
        ),
        Suspect(
            _told(_mean),
            "Each sum was divided by the number of its positions. A gradient is the sum: nothing is divided.",
        ),
    ),
    advice={
        "some-unwritten": "A word that does not occur has a gradient, too: 0. The sum begins with 0 and is stored in "
        "any case. And a row may have more columns than the 64 threads of a block: blockIdx.y counts stretches of 64.",
        "not-finite": "The sum begins with what stood in out. Begin it with 0.",
        "adds-to-old": "The sum begins with what stood in out. Begin it with 0.",
        "out-of-bounds": "A block has 64 threads, and the columns need not be a multiple of 64: guard the column. A "
        "word's positions end before start[word + 1]. And the word is the block's number, blockIdx.x: cuda.grid counts "
        "threads.",
        "one-block": "Only one word was written. blockIdx.x is the word, and blockIdx.y the stretch of 64 columns: "
        "cuda.grid counts threads.",
        "tail": "What comes last was never written. The word is the block's number, blockIdx.x, and the column is 64 * "
        "blockIdx.y + threadIdx.x: cuda.grid counts threads. And a word that does not occur has a gradient, too: 0.",
        "negative-index": "There is no position with that number: `order` was read beyond its end, or before its "
        "begin. A word's positions are order[start[word]] to order[start[word + 1] - 1].",
        "race": "Two threads write one element. A block has one word, blockIdx.x, and a thread one column of it.",
        "wrong-value": "Take word 0 by hand: which positions has it in `order`, and which rows of grad are these?",
    },
    budget=Budget(
        points=1,
        text="no atomics, each gradient is loaded once, each element of out stored once: for 32 positions of 64 "
        "columns at most 224 load and 16 store requests",
        require={"atomics": 0, "global_load_requests": 224, "global_store_requests": 16},
        over="The result is right, but it costs more than a load of each gradient and a store of each sum. Keep the "
        "sum in a variable, and `start[word + 1]` as well.",
        case=words_case("exact", 32, 8, 64),
    ),
    hints=(
        "Which thread may add to an element of out, so that no other one adds to it? Which numbers does it need then?",
        "A block has a word, and a thread has a column of it. The thread goes through the word's positions in the "
        "sorted order.",
        "Three loads in a round would be start, order and grad: the first does not change in the loop. A sum that "
        "begins with 0 also gives words that do not occur what they need.",
    ),
)
