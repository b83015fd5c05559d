"""What a check says: Outcome, and the Failure in it."""

from dataclasses import asdict, dataclass, field

RIGHT, WRONG, UNSOLVED = "right", "wrong", "unsolved"


@dataclass(frozen=True)
class Failure:
    """What went wrong, for a person: `facts` are (label, text) lines; `picture` describes a drawing (feedback.py)."""

    kind: str
    headline: str
    facts: tuple = ()
    cause: str = ""
    picture: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """Result of one check. `checked` says exactly what was looked at, and `not_checked` what was not."""

    task: str
    part: str  # "results", "budget" or "prediction"
    status: str
    points: int
    max_points: int
    checked: tuple = ()
    not_checked: str = ""
    failure: Failure | None = None
    seconds: float = 0.0
    picture: dict = field(default_factory=dict)  # of a right answer, as in Failure
    golf: dict = field(default_factory=dict)  # the score of an answer within its budget (golf.py)

    def to_dict(self):
        return asdict(self)


class Failed(Exception):
    """Ends a check: the answer is not right."""

    def __init__(self, failure, status=WRONG):
        super().__init__(failure.headline)
        self.failure, self.status = failure, status
