"""What an exploration found, for a person: a verdict, the interleaving as a table and as a picture."""

from dataclasses import replace
from html import escape

from simt import show

from .findings import ERROR
from .tracing import source

ROWS = 60  # of a table: the last ones; those before are folded away
FEW = 10  # rows are not worth folding
CHECK = "(check)"  # in the place of a line that its reader did not write
_CELL = "padding:.15em .6em .15em 0;vertical-align:top"
_WORDS = f"{_CELL};text-align:left"
_STEPS = (
    show.Column("step", right=True, style=_CELL),
    show.Column("thread", style=_WORDS),
    show.Column("line", right=True, style=_CELL),
    show.Column("code", show.code, style=f"{_WORDS};white-space:nowrap"),
    show.Column("what happens", style=f"{_WORDS};min-width:12em"),
)
_FACTS = (show.Column(style="vertical-align:top"), show.Column(render=show.sentence, style="text-align:left"))


class Interleaving:
    """Who did what when: rows of (step, thread, line, code, what happened). `who`: what the threads stand for."""

    def __init__(self, rows, most=ROWS, who="thread"):
        self.rows, self.most = rows, most
        self.columns = (_STEPS[0], replace(_STEPS[1], heading=who), *_STEPS[2:])
        self.head = tuple(column.heading for column in self.columns)

    def parted(self):
        """(the rows before, the last rows that are shown): what a run ends with is at its end."""
        left = len(self.rows) - self.most
        return ([], self.rows) if left < FEW else (self.rows[:left], self.rows[left:])

    def __str__(self):
        before, last = self.parted()
        left = [("...", "", "", f"({len(before)} steps before)", "")] if before else []
        rows = [tuple(str(x) for x in row) for row in (self.head, *left, *last)]
        rows = [(*row[:3], _cut(row[3], 34), row[4]) for row in rows]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        right = (0, 2)
        lines = []
        for row in rows:
            cells = [row[i].rjust(w) if i in right else row[i].ljust(w) for i, w in enumerate(widths)]
            lines.append("  ".join([*cells, row[4]]).rstrip())
        lines.insert(1, "  ".join("-" * w for w in widths) + "  " + "-" * len(self.head[4]))
        return "\n".join(lines)

    __repr__ = __str__

    def __len__(self):
        return len(self.rows)

    def _repr_html_(self):
        before, last = self.parted()
        shown = show.table(self.columns, last, kind="interleaving", scroll=True)
        if not before:
            return shown
        folded = show.table(self.columns, before, kind="interleaving", scroll=True)
        return f"<details><summary>{len(before)} steps before</summary>{folded}</details>{shown}"


def _cut(text, most):
    return text if len(text) <= most else text[: most - 3] + "..."


class Run:
    """One run: how it ended, its result, what was found, and who did what."""

    def __init__(self, outcome, findings, schedule, shared):
        self.outcome, self.findings, self.schedule, self.shared = outcome, findings, schedule, shared
        self.result, self.ending, self.points = outcome.result, outcome.ending, outcome.points
        self.errors = [f for f in findings if f.severity == ERROR]
        self.systematic = False  # one of the runs with few interruptions, which come in order

    @property
    def ok(self):
        return not self.errors

    @property
    def interruptions(self):
        """How often a thread that could go on had to wait for another."""
        return sum(p.chosen != p.default and not p.forced for p in self.points)

    @property
    def table(self):
        """The interleaving as a table: what a thread does on one line without a break is one row."""
        focus, rows, last = self.schedule.focus, [], None
        for event in self.outcome.events[: self._end()]:
            if event.site is not None and event.site not in (self.shared if focus is None else focus):
                continue
            check = self.outcome.is_checks_own(event.file, event.line)
            if check and event.site is not None:  # its own lists and counts: nothing that the program's author wrote
                continue
            text = described(event)
            key = (event.task, event.file, event.line) if not check else (event.task, "", 0)
            if key == last and rows and text not in rows[-1][-1]:
                rows[-1][-1].append(text)
            else:
                line = "" if self.outcome.in_check(event.file) else event.line
                code = CHECK if check else source(event.file, event.line)
                rows.append([event.task, line, code, [text]])
                last = key
        return Interleaving(
            [(i + 1, task, line or "", code, "; ".join(t)) for i, (task, line, code, t) in enumerate(rows)]
        )

    def _end(self):
        """How many events there were when the first thing was wrong; what came after it explains nothing."""
        for finding in self.errors[:1]:
            told = f"ends with {finding.name}" if finding.kind == "exception" else finding.until
            ends = [i for i, event in enumerate(self.outcome.events, 1) if told and event.text == told]
            return ends[0] if ends else None
        return None

    def figure(self):
        """(figure, alternative text): a lane for each thread, a box for each step."""
        from .picture import interleaving

        return interleaving(self)

    def show(self):
        """Show `figure` in a notebook or on a page."""
        from .. import figures

        figures.show(*self.figure())

    def __str__(self):
        lines = [str(f) for f in self.findings] or [f"ended; result {self.result!r}"]
        return "\n".join([*lines, "", str(self.table)])

    __repr__ = __str__

    def _repr_html_(self):
        return _findings_html(self.findings) + self.table._repr_html_()


def described(event):
    """What an event did, in words."""
    if event.kind == "read":
        return f"reads {event.text}" + (f": {event.value}" if event.value else "")
    if event.kind == "write":
        return f"writes {event.text}" + (f": {event.value}" if event.value else "")
    if event.kind == "call":
        return f"calls {event.site.called}"
    return event.text


class Report:
    """Result of `explore`. Prints as the verdict and, where something is wrong, the interleaving that shows it."""

    def __init__(self, search, run, seconds):
        self.run, self.seconds = run, seconds
        self.schedules, self.complete, self.preemptions = search.count, search.complete, search.preemptions
        self.results = dict(sorted(search.results.items(), key=lambda item: -item[1]))

    findings = property(lambda self: self.run.findings)
    ok = property(lambda self: self.run.ok)
    schedule = property(lambda self: self.run.schedule)
    table = property(lambda self: self.run.table)
    result = property(lambda self: self.run.result)

    @property
    def finding(self):
        """The first finding, or None."""
        return self.findings[0] if self.findings else None

    def figure(self):
        return self.run.figure()

    def show(self):
        self.run.show()

    @property
    def verdict(self):
        """One sentence."""
        count = f"{self.schedules} schedule{'s' if self.schedules != 1 else ''}"
        if not self.ok:
            kinds = self.run.errors[0].kind.replace("-", " ")
            times = self.run.interruptions
            how = f"{times or 'no'} interruption{'s' if times != 1 else ''}"
            return f"{kinds}, found in {count}. The run shown has {how}."
        bound = f"at most {self.preemptions} interruptions"
        extent = f"all schedules with {bound}, and random ones" if self.complete else f"not all with {bound}"
        return f"nothing found in {count} ({extent})."

    def __str__(self):
        lines = [self.verdict, *(str(f) for f in self.findings)]
        if len(self.results) > 1:
            lines.append("results   " + ", ".join(f"{r} ({n}x)" for r, n in list(self.results.items())[:6]))
        if not self.ok:
            lines += ["", str(self.table)]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        body = f"<p><b>{escape(self.verdict)}</b></p>" + _findings_html(self.findings)
        return body + (self.table._repr_html_() if not self.ok else "")


def _findings_html(findings):
    parts = []
    for f in findings:
        rows = [*f.facts, *([("why", f.cause)] if f.cause else [])]
        facts = show.table(_FACTS, rows, kind="facts")
        parts.append(f"<p>{escape(f.kind.replace('-', ' '))}: {escape(f.headline)}</p>{facts}")
    return "".join(parts)
