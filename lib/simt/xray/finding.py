"""One thing to repair, as it is told to a person."""

from dataclasses import dataclass, field
from html import escape

from .. import show

RACE_KINDS = ("race", "atomic-against-plain")
UNSET = ("uninitialised-shared", "uninitialised-global")
PARTED = (
    "divergent-barrier",
    "barrier-after-exit",
    "divergent-warp-operation",
    "waits-for-ever",
)  # threads went different ways


@dataclass(frozen=True)
class Finding:
    """One thing to repair.

    kind: "race", "atomic-against-plain", "uninitialised-shared", "out-of-bounds", "negative-index",
        "divergent-barrier", "barrier-after-exit", "lane-not-in-mask",
        "uninitialised-global", "inactive-lane-read", "unfinished-copy", "divergent-warp-operation", "waits-for-ever",
        "uninitialised-local" or "uninitialised-variable".
    message: what happened, one example. cure: one sentence. file, line, text: the source expression.
    lines: all lines concerned, each once. threads: for each thread concerned {"thread": (x, y, z),
    "block": (x, y, z)}. array, index: the element of the example ("" and () where there is none).
    scope: of a race, "warp", "block" or "grid". count: how often, over the whole launch. therefore: findings that are
    most likely its consequences. position: how many accesses of the run came before. told: of a race, the (line, text,
    kind, array) of all accesses that it speaks for. carried: whether they are of two turns of a loop.
    """

    kind: str
    message: str
    cure: str
    file: str
    line: int
    text: str
    lines: tuple = ()
    threads: tuple = ()
    array: str = ""
    index: tuple = ()
    scope: str = ""
    count: int = 1
    therefore: tuple = ()
    position: int = field(default=-1, compare=False)  # -1 where that says nothing
    told: frozenset = field(default=frozenset(), compare=False, repr=False)
    carried: bool = field(default=False, compare=False, repr=False)

    @property
    def is_race(self):
        return self.kind in RACE_KINDS

    def to_dict(self):
        fields = {
            name: getattr(self, name)
            for name in ("kind", "message", "cure", "file", "line", "text", "array", "scope", "count")
        }
        fields["lines"], fields["index"] = list(self.lines), [int(i) for i in self.index]
        fields["threads"] = [{k: list(v) for k, v in t.items()} for t in self.threads]
        fields["therefore"] = [f.to_dict() for f in self.therefore]
        return fields

    def __str__(self):
        more = [f"It may be why, on line {f.line}: {f.message}" for f in self.therefore]
        return " ".join([f"line {self.line}: {self.message}{self.times} {self.cure}", *more])

    @property
    def times(self):
        """How often, for the end of its message."""
        return f" ({self.count} times)" if self.count > 1 else ""

    def to_html(self):
        """Its sentences, what follows from it on lines of their own."""
        said = (
            f"<strong>{escape(self.kind)}</strong>, line {self.line}: {show.sentence(self.message)}{self.times} "
            f"<em>{show.sentence(self.cure)}</em>"
        )
        return said + "".join(
            f"<br>It may be why: <strong>{escape(f.kind)}</strong>, line {f.line}: {show.sentence(f.message)}{f.times}"
            for f in self.therefore
        )

    def _repr_html_(self):
        """A sentence that wraps: what a kernel did is too long for one line of a page."""
        return f"<p>{self.to_html()}</p>"
