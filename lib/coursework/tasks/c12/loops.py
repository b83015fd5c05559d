"""12-loops: Six training loops, one of them right."""

from ...definition import Case, Section, Slip
from ...kinds.detective import DetectiveTask, Fault
from ...kinds.scenario import ScenarioTask


def play_loop(loop, pictures, epochs, batch):
    """Run `loop(model, data, held_back, epochs, batch)` and return what happened: [what, ...] in order.

    Picture k has label k. The model keeps gradients until `clear`, and knows whether it is in training mode.
    """
    log, state = [], {"learns": True, "waiting": [], "turn": 0}

    class Model:
        def train(self):
            state["learns"] = True

        def evaluate(self):
            state["learns"] = False

        def clear(self):
            state["waiting"] = []

        def backward(self, x, t):
            log.append(["learn", list(x), list(t), state["learns"]])
            state["waiting"].append(list(x))

        def step(self):
            log.append(["step", [list(x) for x in state["waiting"]]])

        def right(self, x, t):
            log.append(["judge", list(x), list(t), state["learns"]])

    def shuffled(rows):
        state["turn"] += 1
        k = (2 * state["turn"] + 1) % len(rows) or 1
        return [*rows[k:], *rows[:k]][::-1]

    numbers = list(range(pictures))
    cut = pictures - pictures // 4
    loop(Model(), (numbers[:cut], numbers[:cut]), (numbers[cut:], numbers[cut:]), epochs, batch, shuffled)
    return log


def judge_loop(arguments, log):
    pictures, _, _ = arguments
    held_back = set(range(pictures - pictures // 4, pictures))
    learned = [event for event in log if event[0] == "learn"]
    judged = [event for event in log if event[0] == "judge"]
    for _, x, t, _training in learned:
        if x != t:
            return Slip("pairs", "each picture with its label", "", f"picture {x[0]} came with label {t[0]}")
        if held_back & set(x):
            k = min(held_back & set(x))
            return Slip("leak", "no picture that is held back", "", f"it learned from picture {k}")
    for event in log:
        if event[0] == "step" and len(event[1]) != 1:
            got = f"a step used the gradients of {len(event[1])} batches"
            return Slip("stale", "the gradient of one batch in each step", "", got)
    if any(event[3] for event in judged):
        return Slip("judged-training", "judged in evaluation mode", "", "it judged in training mode")
    if not all(event[3] for event in learned):
        first_wrong = next(k for k, event in enumerate(learned) if not event[3])
        got = f"batch {first_wrong + 1} was learned in evaluation mode"
        return Slip("learned-evaluating", "learned in training mode", "", got)
    return None


def first(model, data, held_back, epochs, batch, shuffled):
    x, t = data
    for _ in range(epochs):
        model.train()
        for k in range(0, len(x), batch):
            model.backward(x[k : k + batch], t[k : k + batch])
            model.step()
        model.clear()
        model.evaluate()
        model.right(*held_back)


def second(model, data, held_back, epochs, batch, shuffled):
    x, t = data
    for _ in range(epochs):
        model.train()
        x, t = shuffled(x), shuffled(t)
        for k in range(0, len(x), batch):
            model.clear()
            model.backward(x[k : k + batch], t[k : k + batch])
            model.step()
        model.evaluate()
        model.right(*held_back)


def third(model, data, held_back, epochs, batch, shuffled):
    x, t = data
    model.train()
    for _ in range(epochs):
        order = shuffled(list(range(len(x))))
        for k in range(0, len(x), batch):
            rows = order[k : k + batch]
            model.clear()
            model.backward([x[r] for r in rows], [t[r] for r in rows])
            model.step()
        model.evaluate()
        model.right(*held_back)


def fourth(model, data, held_back, epochs, batch, shuffled):
    x, t = data
    for _ in range(epochs):
        model.train()
        order = shuffled(list(range(len(x))))
        for k in range(0, len(x), batch):
            rows = order[k : k + batch]
            model.backward([x[r] for r in rows], [t[r] for r in rows])
            model.step()
            model.clear()
        model.evaluate()
        model.right(*held_back)


def fifth(model, data, held_back, epochs, batch, shuffled):
    x, t = data
    model.train()
    for _ in range(epochs):
        for k in range(0, len(x), batch):
            model.clear()
            model.backward(x[k : k + batch], t[k : k + batch])
            model.step()
            model.right(*held_back)


def sixth(model, data, held_back, epochs, batch, shuffled):
    x, t = (a + b for a, b in zip(data, held_back, strict=False))
    for _ in range(epochs):
        model.train()
        order = shuffled(list(range(len(x))))
        for k in range(0, len(x), batch):
            rows = order[k : k + batch]
            model.clear()
            model.backward([x[r] for r in rows], [t[r] for r in rows])
            model.step()
        model.evaluate()
        model.right(*held_back)


LOOP = ScenarioTask(
    id="12-loop",
    title="",
    objective="",
    points=3,
    minutes=15,
    hints=("", "", ""),
    scenario=play_loop,
    judge=judge_loop,
    cases=(
        Case("two epochs of 16 pictures, batches of 4", lambda rng: (16, 2, 4)),
        Case("three epochs of 12 pictures, batches of 4", lambda rng: (12, 3, 4)),
    ),
)

LOOPS = DetectiveTask(
    id="12-loops",
    section=Section("12", "12_training", "A network that learns may be wrong"),
    title="Six training loops, one of them right",
    objective="Find what is wrong with a training loop that runs, and whose loss falls",
    points=3,
    minutes=15,
    judge=LOOP,
    programs={"first": first, "second": second, "third": third, "fourth": fourth, "fifth": fifth, "sixth": sixth},
    run="run",
    faults=(
        Fault("right", "learns from each batch alone, and judges fairly"),
        Fault("stale", "a step uses gradients of earlier batches, too", ("stale",)),
        Fault("pairs", "a picture comes with the label of another one", ("pairs",)),
        Fault("judges", "judges in training mode", ("judged-training",)),
        Fault("learns", "learns in evaluation mode", ("learned-evaluating",)),
        Fault("leak", "learns from pictures by which it is judged", ("leak",)),
    ),
    advice={
        "verdict": "Write down, for the first two batches and for the second epoch: which mode is set, which gradients "
        "wait, which pictures come with which labels."
    },
    hints=(
        "Which three things must hold for each batch? Its pictures with their labels; its own gradient and no other; "
        "training mode.",
        "Then look at the second epoch. What has the first one left behind: a mode, gradients?",
        "`shuffled` returns another order with each call. `clear` may stand before or behind a step, as long as it "
        "stands between any two of them.",
    ),
)
