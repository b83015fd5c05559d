"""What benchmarks/sides.py has recorded: PyTorch's times over ours, as geometric means over the cases of a kind."""

from .records import recorded
from .table import Table

USER, PINNED = "as a user has it", "pinned"
COLUMNS = tuple((instructions, threads) for instructions in ("AVX2", "AVX-512") for threads in (1, 2))


class Beside:
    """A record of ours beside PyTorch. rows: every case as JSON has it; kinds: their names."""

    def __init__(self, name, folder=None):
        self.record = recorded(name, folder)
        self.rows = self.record.data["rows"]
        self.kinds = [
            kind for kind in dict.fromkeys(line["kind"] for line in self.record.data["means"]) if kind != "all"
        ]
        seen = {(line["instruction_set"], line["threads"]) for line in self.record.data["means"]}
        self.columns = [column for column in COLUMNS if column in seen]  # a machine may have no AVX-512

    def mean(self, kind, instructions, threads, passes="forward", mode=USER):
        """The geometric mean of PyTorch's time / ours over a kind, or "all"; KeyError where nothing such is
        recorded."""
        wanted = {"kind": kind, "instruction_set": instructions, "threads": threads, "passes": passes, "mode": mode}
        for line in self.record.data["means"]:
            if wanted.items() <= line.items():
                return line["mean"]
        raise KeyError(f"{self.record.name} has no mean of {wanted}")

    def means(self, *kinds, passes="forward"):
        """The means of some kinds, with each recorded set of instructions and one and two threads each."""
        return [self.mean(kind, *column, passes) for kind in kinds for column in self.columns]

    def table(self, what, passes="forward"):
        """A row for each kind and, where there are several, one for all. what: what the cases are, as "layers"."""
        kinds = self.kinds if len(self.kinds) == 1 else [*self.kinds, "all"]
        rows = [(kind, *(f"{mean:.2f}" for mean in self.means(kind, passes=passes))) for kind in kinds]
        caption = f"PyTorch's time / ours, geometric means over {what}, one and two threads; above 1 we are faster"
        names = [(name.replace("-", "\N{NON-BREAKING HYPHEN}"), n) for name, n in self.columns]  # whole on a phone
        return Table((what, *(f"{name}, {n}" for name, n in names)), rows, caption)

    def __str__(self):
        """When, where and with what."""
        return f"{self.record.caption}\nPyTorch {self.record.data['peer']['version']}"
