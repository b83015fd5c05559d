"""Golf: an open end for a task that has a budget. How few can it be? No points, never red.

A task in tasks/cNN/ is given one in its budget:

    budget=Budget(
        points=2,
        text="...",
        require={"global_load_requests": 288},
        over="...",
        golf=Golf(count="global_load_requests", best=120, lead="Each block loads its own tiles. Who needs the same
        ones?"),
    )

`count` is a name of the kind's `counts()`, so golf works for every kind that has a budget. `best` is what the best
answer we know takes: that answer stands in tests/wrong_answers/NN_name.py among the right ones, and
tests/coursework/test_golf.py counts all right answers of the file and of the master: the least must be `best`. The
statement says that there is golf, what is counted and on which launch. Nothing else is needed: the check tells count
and medal, and keeps the reader's record.
"""

from dataclasses import dataclass, field, replace

TIERS = (("gold", 1.0), ("silver", 1.4), ("bronze", 2.5))


@dataclass(frozen=True)
class Golf:
    """`best`: the least count known. `tiers`: medals and how many times `best` they may take, the best first.

    `case`: the launch that is counted (default: that of the budget). `require`: limits that hold on the way, so that
    a count is not saved at the cost of something dearer. `lead`: a question for whoever is above `best`.
    """

    count: str
    best: int | float
    lead: str
    case: object = None
    tiers: tuple = TIERS
    require: dict = field(default_factory=dict)

    def next(self, count):
        """The medal above that of a count, and the most it may take, in words; "" for the best."""
        above = [(name, int(ratio * self.best + 1e-9)) for name, ratio in self.tiers if count > ratio * self.best]
        return f"{above[-1][0]} from {above[-1][1]:,} on" if above else ""

    def tier(self, count):
        """The medal for a count, or ""."""
        return next((name for name, ratio in self.tiers if count <= ratio * self.best), "")


def play(task, answer, arguments_of):
    """The score of an answer within its budget, as plain data {"count", "best", ...}; {} where it cannot be counted.

    `arguments_of(case)` makes the arguments. Whatever happens here, the budget is met: a score is no condition.
    """
    golf = task.budget.golf
    if golf is None:
        return {}
    try:
        return _score(task, golf, answer, arguments_of)
    except Exception:  # wrong on the case that is counted, or out of time: no score
        return {}


def _score(task, golf, answer, arguments_of):
    case = golf.case or task.budget.case or task.cases[-1]
    # Over a budget of nothing, a check says how much it was.
    nothing = replace(task, budget=replace(task.budget, require=golf.require | {golf.count: 0}, golf=None))
    counts = {}
    for name, count, *_ in nothing.overspent(answer, case, arguments_of(case))[0]:
        counts[name] = max(_plain(count), counts.get(name, 0))
    words = task.counts()
    broken = [name for name in counts if name in golf.require]
    limit = task.budget.require.get(golf.count) if golf.case is None else None
    return {
        "count": counts.get(golf.count, 0),
        "what": words[golf.count],
        "case": case.name,
        "limit": limit,
        "best": golf.best,
        "tier": golf.tier(counts.get(golf.count, 0)),
        "next": golf.next(counts.get(golf.count, 0)),
        "lead": golf.lead,
        "broken": f"{_number(counts[broken[0]])} {words[broken[0]]}, allowed: {_number(golf.require[broken[0]])}"
        if broken
        else "",
    }


def _plain(count):
    return count.item() if hasattr(count, "item") else count


def _number(count):
    return f"{count:,}" if isinstance(count, int) else f"{count:.4g}"


def counts_as_record(score):
    """Whether a score may stand as somebody's record."""
    return bool(score) and not score["broken"]


def said(score):
    """A score in sentences."""
    count, best = score["count"], score["best"]
    if score["broken"]:
        return (f"Golf: not counted here, {score['broken']}.",)
    budget = f"the budget is {_number(score['limit'])}; " if score["limit"] is not None else ""
    above = f" ({score['next']})" if score["next"] else ""
    summary = (
        f"Golf: {_number(count)} {score['what']}; {budget}best known {_number(best)}{medal(score['tier'])}{above}."
    )
    if count < best:
        return (
            summary,
            "Fewer than anybody we know of! Please send your answer to your instructor, who can send it in.",
        )
    where = (f"Counted on: {score['case']}.",) if score["limit"] is None else ()
    record = score.get("record", count)
    own_record = (f"Your record is {_number(record)}.",) if record < count else ()
    return (summary, *where, *own_record, *((score["lead"],) if count > best else ()))


def medal(tier):
    """A medal behind a number, in words."""
    return f": {tier}" if tier else ", no medal yet"


def row(task, record):
    """The line of a record in the table of progress."""
    golf = task.budget.golf
    what = task.counts()[golf.count]
    return f"      golf: {_number(record)} {what}; best known {_number(golf.best)}{medal(golf.tier(record))}"
