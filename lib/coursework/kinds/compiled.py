"""A numba function of arrays, called as `f(*arguments)`, that writes into its last argument."""

from dataclasses import dataclass
from typing import ClassVar

from ..checking import arguments_of, attempt
from ..definition import Over, Task
from .arrays import ArrayTask

# What a budget may name: the fields of answer.Cost, and of executed.costs.
COUNTS = {
    "arrays": "arrays allocated by numba",
    "numpy_bytes": "bytes allocated by NumPy",
    "scalar_share": "share of the arithmetic done one number at a time",
    "multiplies": "multiplications",
    "accesses_per_multiply": "memory accesses per vector multiply",
}


@dataclass(frozen=True, kw_only=True)
class CompiledTask(ArrayTask):
    """`out="result"`: the function returns its result."""

    causes: ClassVar[dict] = Task.causes | {
        "UnsupportedRewriteError": (
            "A variable that is changed in the prange loop and begins before it is one sum of all rounds for numba, "
            "and this one is changed in two ways. Does it belong to a round? Let it begin inside the loop, each time "
            "anew."
        ),
        "Beyond64Bits": (
            "Whole numbers of compiled code have 64 bits and wrap around beyond. The check also runs your function as "
            "Python, where they would not, and ends there. Keep them below 2**63."
        ),
        "IndexError": "An index left its array. Which loop does it come from, and does that loop end where the array "
        "does?",
    }

    def counts(self):
        return COUNTS

    def examine(self, answer, cases, seed):
        for index, case in enumerate(cases):
            arguments = arguments_of(case, seed, index)
            result, after = attempt(self, case, lambda a=arguments: answer.compiled_call(a))
            self.compare(case, arguments, after, result, lambda a: answer.compiled_call(a)[1])
        return self.said(cases, seed), "Temporary arrays and speed were not looked at."

    def overspent(self, answer, case, arguments):
        result, after = attempt(self, case, lambda: answer.compiled_call(arguments))
        self.compare(case, arguments, after, result)
        cost, where = self.cost(answer, case, arguments)
        limits = self.budget.require.items()
        over = [Over(name, cost[name], limit, where.get(name, "")) for name, limit in limits if cost[name] > limit]
        reached = [f"Counted: {round(cost[n], 2):g} {COUNTS[n]}." for n, _ in limits if n == "accesses_per_multiply"]
        return over, {}, *reached

    def cost(self, answer, case, arguments):
        """({name: count}, {name: where}) of what the budget limits."""
        return self.counted(answer, case, arguments, sorted(self.budget.require)), {}

    def counted(self, answer, case, arguments, names):
        """The counts of calls that are right: what is counted is compared like any other call."""
        cost, runs = attempt(self, case, lambda: answer.cost(arguments, names))
        for result, after in runs:
            self.compare(case, arguments, after, result)
        return cost
