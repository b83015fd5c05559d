"""12-loss: The gradient of cross-entropy, a warp for each row."""

import numpy as np

from ...definition import Budget, Case, Section, random_values, unwritten
from ...kinds.arrays import Suspect
from ...kinds.kernel import KernelTask

_NOTHING = np.zeros(0)
_FIRST = (
    "race",
    "divergent-barrier",
    "divergent-warp-operation",
    "lane-not-in-mask",
    "inactive-lane-read",
    "waits-for-ever",
    "barrier-after-exit",
    "uninitialised-shared",
)


def probabilities(logits):
    away = logits.astype(np.float64)
    e = np.exp(away - away.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def loss_gradient(logits, labels, count, grad, divide=True, ignore=True, less=1.0):
    found = probabilities(logits)
    rows = np.flatnonzero(labels >= 0) if ignore else np.arange(len(labels))
    found[rows, labels[rows]] -= less
    if ignore:
        found[labels < 0] = 0
    return found / count if divide else found


def _told(formula):
    """A suspect's formula: nothing where it is the right result."""

    def guess(logits, labels, count, grad):
        right, found = loss_gradient(logits, labels, count, grad), formula(logits, labels, count, grad)
        return _NOTHING if found.shape != right.shape or np.allclose(found, right, rtol=1e-3, atol=1e-5) else found

    return guess


def _from(away, sums, labels, count):
    """The gradient, as if exp(away) / sums were the probabilities."""
    found, rows = np.exp(away) / sums, np.flatnonzero(labels >= 0)
    found[rows, labels[rows]] -= 1
    found[labels < 0] = 0
    return found / count


def _lanes(logits):
    """(rows, classes): each score less the largest of its lane; the sum of exp of these, of its lane."""
    away, sums = np.zeros(logits.shape), np.zeros(logits.shape)
    for lane in range(min(32, logits.shape[1])):
        part = logits[:, lane::32].astype(np.float64)
        part -= part.max(axis=1, keepdims=True)
        away[:, lane::32], sums[:, lane::32] = part, np.exp(part).sum(axis=1, keepdims=True)
    return away, sums


def _of_lanes(logits, labels, count, grad):
    """As if each lane had its own sum."""
    return _from(*_lanes(logits), labels, count)


def _own_largest(logits, labels, count, grad):
    """As if each lane had its own largest score, and all had one sum."""
    away, _ = _lanes(logits)
    return _from(away, np.exp(away).sum(axis=1, keepdims=True), labels, count)


def _uncorrected(logits, labels, count, grad):
    """As if the sums of lanes with different largest scores were added as they are."""
    top = logits.max(axis=1, keepdims=True).astype(np.float64)
    lanes = _lanes(logits)[1][:, :32].sum(axis=1, keepdims=True)
    return _from(logits - top, lanes, labels, count)


def _first_round(logits, labels, count, grad):
    """As if each lane had looked at one class, and written one."""
    found = np.zeros(logits.shape)
    found[:, :32] = probabilities(logits[:, :32])
    rows = np.flatnonzero((labels >= 0) & (labels < 32))
    found[rows, labels[rows]] -= 1
    found[labels < 0] = 0
    return found / count


def _running(logits, labels, count, grad):
    """As if a lane's sum were not corrected where a larger score comes, and the merge of lanes were right."""
    top, total = logits.max(axis=1, keepdims=True).astype(np.float64), 0
    for lane in range(min(32, logits.shape[1])):
        part = logits[:, lane::32].astype(np.float64)
        so_far = np.maximum.accumulate(part, axis=1)
        total = total + np.exp(so_far[:, -1:] - top) * np.exp(part - so_far).sum(axis=1, keepdims=True)
    return _from(logits - top, total, labels, count)


def loss_case(name, rows, classes, scale=3.0, ignored=0, around=0.0):
    """Scores (rows, classes), labels of which `ignored` are -1, how many are not, and the gradient."""

    def make(rng):
        labels = rng.integers(0, classes, rows)
        labels[rng.permutation(rows)[:ignored]] = -1
        return (
            np.float32(around) + np.float32(scale) * random_values(rng, rows, classes),
            labels,
            max(rows - ignored, 1),
            unwritten(rows, classes),
        )

    return Case(f"{name}: {rows} rows, {classes} classes", make, grid=rows, block=32)


LOSS = KernelTask(
    id="12-loss",
    section=Section("12", "12_training", "The loss starts it"),
    title="The gradient of cross-entropy, a warp for each row",
    objective="Write a stable, fused gradient of cross-entropy that reads each score twice",
    points=3,
    minutes=25,
    spec=lambda logits, labels, count, grad: loss_gradient(logits, labels, count, grad),
    rtol=2e-4,
    atol=2e-6,
    tell_first=_FIRST,
    writer=lambda index, case: (index[0], index[1] % 32),
    cases=(
        loss_case("one block, exact", 1, 32),
        loss_case("fewer classes than lanes", 3, 10),
        loss_case("ragged", 5, 50),
        loss_case("large scores", 3, 40, 900.0),
        loss_case("all scores far below 0", 2, 37, 3.0, around=-900.0),
        loss_case("some rows without a label", 6, 33, 3.0, 2),
    ),
    suspects=(
        Suspect(
            _told(lambda *a: loss_gradient(*a, less=0.0)),
            "These are the probabilities. At the label's class, j == labels[row] whichever lane has it, one is taken "
            "off.",
        ),
        Suspect(
            _told(lambda *a: loss_gradient(*a, divide=False)), "The loss is a mean over `count` rows: divide by it."
        ),
        Suspect(
            _told(lambda logits, labels, count, grad: loss_gradient(logits, labels, len(logits), grad)),
            "This is divided by all rows. Rows without a label do not count: divide by `count`.",
        ),
        Suspect(
            _told(lambda logits, labels, count, grad: loss_gradient(logits, labels, logits.shape[1], grad)),
            "This is divided by the number of classes. The loss is a mean over rows: divide by `count`.",
        ),
        Suspect(
            _told(lambda *a: -loss_gradient(*a)), "The sign is wrong: probabilities minus one at the label's class."
        ),
        Suspect(
            _told(lambda *a: loss_gradient(*a, ignore=False)),
            "A row with the label -1 is like the others here, and -1 was taken for the last class. Its gradient is 0.",
        ),
        Suspect(
            _told(
                lambda logits, labels, count, grad: (
                    loss_gradient(logits, labels, count, grad) + (labels < 0)[:, None] * probabilities(logits) / count
                )
            ),
            "A row with the label -1 has probabilities here. It does not enter the loss, so its gradient is 0.",
        ),
        Suspect(
            _told(_of_lanes),
            "Each lane used its own sum, of the scores that it saw. The lanes of a warp have to put theirs together, "
            "by shuffles.",
        ),
        Suspect(
            _told(_own_largest),
            "Each lane took off the largest of its own scores. All lanes need the row's largest: one more reduction, "
            "by shuffles.",
        ),
        Suspect(
            _told(_uncorrected),
            "The lanes' sums were added as they are. They rest on different largest scores: multiply each by exp(its "
            "largest - the common one) before.",
        ),
        Suspect(
            _told(_first_round),
            "Each lane looked at one class. With more than 32 classes it goes on to further ones: lane, lane + 32, "
            "lane + 64, ...",
        ),
        Suspect(
            _told(_running),
            "When a lane meets a larger score, the sum that it has rests on the old one: multiply it by exp(old "
            "largest - new largest).",
        ),
    ),
    advice={
        "not-finite": "exp of a large number is infinite, and of a number far below 0 it is 0: then a sum is 0, too. "
        "Take the row's largest score off before; it begins with -inf, not with 0. And where a lane has seen no score, "
        "its largest is -inf, and -inf less -inf is no number.",
        "divergent-warp-operation": "Some lanes do not come to the shuffle. With 10 classes 22 lanes have no score: "
        "they shuffle, too, with a largest score of -inf and a sum of 0. So no shuffle stands inside the loop over "
        "classes, or under an `if`.",
        "inactive-lane-read": "A shuffle reads from a lane that does not take part. All 32 lanes have to come to it, "
        "those without a score, too: none returns before, and the mask has 32 bits.",
        "lane-not-in-mask": "A lane shuffles that the mask does not name. All 32 take part: 0xFFFFFFFF.",
        "wrong-value": "Two passes: the first finds the row's largest score and the sum of exp(score - largest), of "
        "all lanes together. The second writes exp(score - largest) / sum, less 1 at the label, divided by count. "
        "`shfl_down` leaves a result in lane 0 alone; with `shfl_xor` each lane has it.",
        "some-unwritten": "Each element of grad has to be written. A lane goes on in steps of 32: with 50 classes some "
        "lanes have two. And a row without a label has a gradient, too: 0.",
        "out-of-bounds": "An index left its array: the loop of a lane goes from its number in steps of 32, and ends at "
        "the number of classes. A row belongs to a block of 32 threads: cuda.blockIdx.x.",
        "race": "Two threads meet at one element. Each class of a row belongs to one lane: j = lane, lane + 32, ...",
    },
    budget=Budget(
        points=1,
        text="each score is loaded twice, no shared memory, no barrier: for 4 rows of 64 classes at most 20 load "
        "requests to global memory, four of them for the labels",
        require={"global_load_requests": 20, "shared_store_requests": 0, "barriers": 0, "atomics": 0},
        over="The result is right, but the scores are read more often than twice, the label more often than once, or "
        "numbers go through shared memory. Largest score and sum can be found in one pass (chapter 11), and lanes pass "
        "numbers on by shuffles.",
        case=loss_case("exact", 4, 64),
    ),
    hints=(
        "What does each lane know after it has gone through its own scores? What must two lanes do to put that "
        "together?",
        "As in 11-merge: two pairs (largest, sum) become one. Five rounds of cuda.shfl_xor_sync, with distances 16, 8, "
        "4, 2, 1, and every lane has the row's pair.",
        "A lane without scores brings -inf and 0. Where both largest are -inf, the sum stays 0: skip the exp. Then a "
        "second loop writes: which lane sees the label's class?",
    ),
)
