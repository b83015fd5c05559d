"""Look-alike answers. A flag is a reason to look, never a verdict: short right answers are often the same."""

import ast
from collections import defaultdict
from dataclasses import asdict, replace

from ... import build, definition, trees
from ..for_students import PAGES
from . import similarity

MIN_NODES = 45  # a shorter answer says nothing: two honest students write the same three lines

FEW, MOST_NAMES = 3, 8  # others who are told one by one; names of a ring
MOST_PAIRS = 60  # shown side by side


def given(master_path):
    """What all have: ({cell: source of the public solution}, {cell: source as it was handed out})."""
    master = build.annotate(build.read(master_path), master_path.name)
    shipped = {c.id: c.source for c in build.exercise_of(master).cells}
    public = {
        c.id: "\n".join(line for line in c.source.splitlines() if line.strip() not in build.SOLUTION)
        for c in master.cells
        if c.cell_type == "code" and build.SOLUTION[0] in c.source
    }
    return public, {i: shipped.get(i, "") for i in public}


def look_alikes(results, masters):
    """((student, exercise) -> list of flags, [Pair, ...]) from the answers of all `results`."""
    flags, found = defaultdict(list), []
    for exercise, master in masters.items():
        public, shipped = given(master)
        solved = {r["student"]: _solved(r["answers"], shipped) for r in results if r["exercise"] == exercise}
        worth = {i for i, source in public.items() if len(similarity.nodes(source)) >= MIN_NODES}
        tasks = definition.of_chapter(definition.chapter_of(exercise))
        worth -= {task.id for task in tasks if hasattr(task, "handed_out")}  # mended alike by all
        for student, answers in solved.items():
            copied = _copied({i: s for i, s in answers.items() if i in worth}, public, worth)
            flags[student, exercise] += copied
        alike = similarity.pairs(solved, {i: (public[i], shipped[i]) for i in public})
        found += [replace(pair, exercise=exercise) for pair in alike]
        others = defaultdict(dict)
        for pair in alike:
            others[pair.first][pair.second] = others[pair.second][pair.first] = set(pair.lines)
        for student, like in others.items():
            flags[student, exercise] += _looks_like(like)
    return {who: _short(said) for who, said in flags.items() if said}, found


def page(pairs, rows):
    """The pairs that look alike, side by side, with what both have marked."""
    answers = {(r["exercise"], r["student"]): r["answers"] for r in rows}
    shown = []
    for pair in pairs[:MOST_PAIRS]:
        tasks = []
        for cell, lines in sorted(pair.lines.items()):
            sides = [
                {
                    "student": student,
                    "lines": [
                        {"text": text, "both": number in both}
                        for number, text in enumerate(answers[pair.exercise, student][cell].splitlines(), 1)
                    ],
                }
                for student, both in zip((pair.first, pair.second), lines, strict=True)
            ]
            tasks.append({"cell": cell, "sides": sides})
        shown.append(asdict(pair) | {"tasks": tasks})
    exercises = sorted({pair.exercise for pair in pairs})
    rings = [(e, ring) for e in exercises for ring in similarity.rings([p for p in pairs if p.exercise == e])]
    return PAGES.get_template("similarity.html").render(pairs=shown, rings=rings, left_out=len(pairs) - len(shown))


def _looks_like(like):
    """Flags for {other student: cells}: one for each, or for a ring as a whole."""
    if len(like) <= FEW:
        return [f"looks like {other} ({', '.join(sorted(cells))})" for other, cells in like.items()]
    names, cells = sorted(like), sorted(set().union(*like.values()))
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return [f"looks like {len(names)} others: {', '.join(names[:MOST_NAMES])}{more} ({', '.join(cells)})"]


def _short(said):
    return said if len(said) <= 4 else [*said[:3], f"and {len(said) - 3} more that look alike"]


def _solved(answers, shipped):
    return {i: s for i, s in answers.items() if s.strip() and s.strip() != shipped.get(i, "").strip()}


def _copied(answers, public, worth):
    """The flag for whoever has all longer answers from the public solution, and at least two."""
    if len(answers) < 2 or set(answers) != worth:
        return []
    if all(_as_written(source) == _as_written(public[i]) for i, source in answers.items()):
        return ["all longer answers equal the public solution"]
    if len(answers) > 2 and all(similarity.same_code(source, public[i]) for i, source in answers.items()):
        return ["all longer answers equal the public solution, but for names and numbers"]
    return []


def _as_written(source):
    """A source without comments and layout; its text, for what is no Python."""
    try:
        with trees.deep():
            tree = trees.parse(source)
            trees.limit(tree)
            return ast.unparse(tree)
    except (SyntaxError, trees.TooLarge):
        return " ".join(source.split())
