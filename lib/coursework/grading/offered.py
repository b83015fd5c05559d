"""What the command line offers a class beside grading: the one place through which grading knows of it.

Points by hand, late days, regrade requests, look-alikes, a cluster, and submissions as Gradescope exports them. A class
that asks for nothing of it gets rows without points by hand, on which nothing is late.
"""

from dataclasses import dataclass
from pathlib import Path

from .extras import flags, late, overrides, regrade
from .extras.cluster import NoCluster, grade_remotely
from .lms import gradescope_intake

__all__ = [
    "BY_HAND", "HANDED_IN", "Handed", "NoCluster", "Wishes", "grade_remotely", "handed_in", "requests_page",
    "requests_told", "similarity_page",
]  # fmt: skip
BY_HAND, HANDED_IN = overrides.FILE, gradescope_intake.FILE
Handed, handed_in = gradescope_intake.Handed, gradescope_intake.read
similarity_page, requests_page, requests_told = flags.page, regrade.page, regrade.summary


@dataclass(frozen=True)
class Wishes:
    """What an instructor's files say: read before anything is graded, so that a mistake in one is said at once."""

    overrides: tuple = ()
    policy: late.Policy | None = None
    times: tuple = ()  # late.read_times
    requests: tuple = ()  # regrade.read

    @classmethod
    def read(cls, out, overrides_path=None, policy_path=None, times_path=None):
        """From the files named, or those of the usual names in the folder `out`."""
        return cls(
            overrides.read(overrides_path or Path(out) / overrides.FILE),
            late.read(policy_path or Path(out) / late.FILE),
            tuple(late.read_times(times_path)) if times_path else (),
            regrade.read(out),
        )

    def settle(self, out, rows, masters):
        """(rows with what the files say and flags for look-alikes; the pairs that look alike; sentences)"""
        said = late.set_times(rows, self.times)
        alike, pairs = flags.look_alikes(rows, masters)
        rows = [row | {"flags": [*row["flags"], *alike.get((row["student"], row["exercise"]), ())]} for row in rows]
        rows, lost = overrides.apply(rows, self.overrides)
        said += [f"{overrides.FILE}: {sentence}" for sentence in lost]
        rows, lost = regrade.settle(rows, self.requests, self.policy)
        said += [*lost, *late.told(self.policy, rows)]
        return late.charge(self.policy, rows, late.remember(out, rows)), pairs, said


def begin_overrides(out):
    """A file for points by hand, with its header, where there is none."""
    path = Path(out) / overrides.FILE
    if not path.exists():
        path.write_text(overrides.HEADER, encoding="utf-8")
