"""Whose numbers: a class may give each student other numbers to predict (variants/), the same in the notebook and in
the grader.

The archive of such a class has `class.json` in the library, with a key that follows from the class's secret and does
not tell it. A student says once who they are, `me("anna@example.org")`; the grader knows it from the roster. Without
`class.json` all have the numbers of the book.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

from cpulab.files import read_text, write_text

from . import definition, variants

CLASS_FILE = Path(__file__).with_name("class.json")
NUMBERS = "numbers.json"  # the same, in the grader's folder
ME = ".student.json"  # beside the notebooks
_memory = {}  # where that cannot be written


@dataclass(frozen=True)
class Numbers:
    """What a class has: the key of its draws, and how often a student may draw again."""

    key: str
    tries: int = 1
    persons: tuple = ()  # for a class of one, on another machine: who it may be

    @classmethod
    def from_secret(cls, secret, tries=1):
        """From the class's secret, one way: who has the key cannot find the secret, and with it the hidden cases."""
        return cls(hashlib.sha256(f"numbers of one's own|{secret}".encode()).hexdigest()[:24], tries)

    @classmethod
    def read(cls, path):
        """Those of a file, or None."""
        try:
            said = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls(str(said["numbers"]), int(said.get("tries", 1)), tuple(said.get("persons", ())))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def text(self):
        persons = {"persons": list(self.persons)} if self.persons else {}
        return json.dumps({"numbers": self.key, "tries": self.tries} | persons) + "\n"

    def task(self, task, person, attempt=0):
        """A task with the numbers of a person; the task itself, where its numbers are the same for all."""
        drawn = self.drawn(task.id, person, attempt)
        return replace(task, questions=variants.find(task.id).questions(drawn, task.questions)) if drawn else task

    def drawn(self, task_id, person, attempt=0):
        """The numbers of a person for a task, or None."""
        variant = variants.find(task_id)
        return variant and variant.draw(f"{self.key}|{plain(person)}|{task_id}", attempt)

    def tasks(self, task, persons):
        """The task with the numbers of whom a student may be, in all tries: for the grader."""
        if not variants.find(task.id):
            return [task]
        return [self.task(task, person, attempt) for person in persons for attempt in range(self.tries)]


def plain(person):
    """A name as it is drawn for: without needless blanks and in small letters, so that Anna@X is anna@x."""
    return " ".join(str(person).casefold().split())


# In the student's notebook --------------------------------------------------------------------------------------------


class WhoAreYou(ValueError):
    """The class has numbers for each student, and this one has not said who they are."""

    def __init__(self):
        super().__init__(
            "In your class each student has numbers of their own. Say who you are, as your class knows you (your "
            "e-mail address, "
            "unless your instructor said otherwise). Write two lines into a new cell above this one, with your own "
            "address, and run it:\n"
            "from coursework.notebook import me\n"
            'me("anna@example.org")'
        )

    def _render_traceback_(self):
        return [str(self)]


def of_class():
    return Numbers.read(CLASS_FILE)


def known(folder="."):
    """What the student said: {"name": ..., "tries": {task: number of draws before}}."""
    if _memory:
        return dict(_memory)
    try:
        said = json.loads(read_text(Path(folder) / ME))
        return {"name": str(said["name"]), "tries": {str(k): int(v) for k, v in said["tries"].items()}}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {"name": "", "tries": {}}


def say(name=None, tries=None):
    """Remember who the student is, or how often they drew."""
    said = known()
    said = {
        "name": said["name"] if name is None else str(name).strip(),
        "tries": said["tries"] if tries is None else tries,
    }
    try:
        write_text(Path(ME), json.dumps(said))
    except OSError:
        _memory.update(said)  # until the notebook is closed


def of_student(task):
    """A task with the student's own numbers, where the class has such; raises WhoAreYou."""
    numbers = of_class()
    if numbers is None or variants.find(task.id) is None:
        return task
    said = known()
    if not said["name"]:
        raise WhoAreYou()
    return numbers.task(task, said["name"], min(said["tries"].get(task.id, 0), numbers.tries - 1))


def told(chapter):
    """The student's numbers for the tasks of a chapter, as lines of text; [] where all have those of the book."""
    numbers, said = of_class(), known()
    variants_of = {t.id: variants.find(t.id) for t in definition.of_chapter(chapter)}
    variants_of = {task: found for task, found in variants_of.items() if found}
    if numbers is None or not variants_of:
        return []
    if not said["name"]:
        return [str(WhoAreYou())]
    drawn = {
        task: numbers.drawn(task, said["name"], min(said["tries"].get(task, 0), numbers.tries - 1))
        for task in variants_of
    }
    head = f"These tasks have numbers of your own, {said['name']}, in the place of those in the text:"
    return [head, *(f"  {task}: {variants_of[task].text(drawn[task])}" for task in variants_of)]


def again(task_id):
    """Draw other numbers for a task, where the class allows it; what to say."""
    numbers, said = of_class(), known()
    if numbers is None or variants.find(task_id) is None:
        return f"{task_id} has the same numbers for all."
    if not said["name"]:
        raise WhoAreYou()
    used = said["tries"].get(task_id, 0) + 1
    if used >= numbers.tries:
        return f"{task_id}: these are the last numbers; your class has {numbers.tries} for each."
    say(tries=said["tries"] | {task_id: used})
    return f"{task_id}: {variants.find(task_id).text(numbers.drawn(task_id, said['name'], used))}"
