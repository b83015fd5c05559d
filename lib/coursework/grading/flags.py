"""Look-alike answers. A flag is a reason to look, never a verdict: short right answers are often the same."""

from collections import defaultdict

from .. import build
from .grade import fingerprint, parts_of

MIN_NODES = 45  # a shorter answer says nothing: two honest students write the same three lines


def size(print_):
    """How many nodes of a syntax tree a fingerprint stands for, roughly."""
    return print_.count("(")


def public_prints(master_path):
    """Fingerprints of the public solution: cell id -> fingerprint."""
    cells = build.read(master_path).cells
    return {
        c.id: fingerprint("\n".join(line for line in c.source.splitlines() if line.strip() not in build.SOLUTION))
        for c in cells
        if c.cell_type == "code" and build.SOLUTION[0] in c.source
    }


def look_alikes(results, masters):
    """(student, exercise) -> list of flags, from the answers' fingerprints of all `results`."""
    flags = defaultdict(list)
    for exercise, master in masters.items():
        public = public_prints(master)
        handed_out = {task.id for task, *_ in parts_of(exercise) if hasattr(task, "handed_out")}  # all mend them alike
        worth = {i for i, p in public.items() if size(p) >= MIN_NODES and i not in handed_out}
        same = defaultdict(list)
        for result in results:
            if result["exercise"] != exercise or not result["answers"]:
                continue
            answers = {i: p for i, p in result["answers"].items() if p and i in worth}
            copied = sorted(i for i, p in answers.items() if p == public[i])
            if len(copied) >= 2 and len(copied) == len(worth):
                flags[result["student"], exercise].append("all longer answers equal the public solution")
            own = tuple(sorted((i, p) for i, p in answers.items() if p != public[i]))
            if sum(size(p) for _, p in own) >= 2 * MIN_NODES:
                same[own].append(result["student"])
        for students in same.values():
            for student in students if len(students) > 1 else ():
                others = [s for s in students if s != student]
                named = ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
                flags[student, exercise].append(f"same longer answers as {named}")
    return flags
