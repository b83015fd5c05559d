"""The figures of docs/TEACHING.md are those of the records, the mistakes and the syllabus."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import mistakes
import pytest

from coursework import syllabus

pytestmark = pytest.mark.quick
ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "TEACHING.md").read_text(encoding="utf-8")
WORDS = " ".join(TEXT.split())
FILES = ("syllabus.toml", "syllabus_six.toml")


def test_the_sums_of_both_syllabuses():
    courses = [syllabus.weeks((ROOT / "docs" / name).read_text(encoding="utf-8")) for name in FILES]
    for words, of in (
        ("hours of reading", lambda weeks: syllabus.hours(sum(week.reading for week in weeks))),
        ("hours of tasks", lambda weeks: syllabus.hours(sum(week.work for week in weeks))),
        ("points", lambda weeks: str(sum(week.points for week in weeks))),
    ):
        assert f"| {words} | {of(courses[0])} | {of(courses[1])} |" in TEXT
    assert [len(course) for course in courses] == [12, 6]
    chapters = {task.chapter for week in courses[0] for task in week.tasks}
    assert f"The twelve weeks hand in {len(chapters)} notebooks" in WORDS


def test_the_counts_of_mistakes():
    files = sorted((ROOT / "tests" / "mistakes").glob("*.toml"))
    found = [(path.stem[:2], one) for path in files for one in mistakes.tables(path.stem)[1]]
    verdicts = Counter(one["verdict"] for _, one in found)
    assert f"{len(found)} mistakes, for {len(files)} tasks" in WORDS
    assert set(verdicts) == {"right", "vague", "green"}
    assert f"{verdicts['right']} messages name the cause" in WORDS
    assert f"{verdicts['vague']} are true but" in WORDS
    assert f"{verdicts['green']} answers pass" in WORDS
    kinds = Counter(one.get("kind") for _, one in found)
    told = {kind: int(number) for kind, number in re.findall(r"^\| `([\w-]+)` \| (\d+) \|", TEXT, re.MULTILINE)}
    assert told
    assert told == {kind: kinds[kind] for kind in told}
    chapters = ", ".join(
        f"{chapter} {number}" for chapter, number in Counter(chapter for chapter, _ in found).most_common(3)
    )
    assert chapters == "08 {}, 06 {}, 02 {}".format(
        *re.search(r"08, 06 and 02 \((\d+), (\d+) and (\d+)\)", WORDS).groups()
    )


def test_what_grading_takes():
    record = json.loads((ROOT / "benchmarks" / "results" / "grading.json").read_text(encoding="utf-8"))["data"][
        "answered"
    ]
    seconds, number = record["seconds"], record["submissions"]
    assert (
        f"a class of {number} was graded in {seconds / 60:.1f} minutes by two cores, {seconds / number:.1f} seconds"
        in WORDS
    )
    assert record["exercise"] == "07_vector_add"


def test_pages_that_ask_for_one_that_is_left_out_are_named():
    titles = {page.stem: title(page) for page in (ROOT / "chapters").glob("*.md")}
    for name, says in zip(
        FILES,
        (
            "Page 12 asks for 11.7, which no week has",
            "Two pages ask for one that is left out, 6 for 5.2 and 11 for 7.2",
        ),
        strict=True,
    ):
        weeks = tomllib.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))["week"]
        pages = [page for week in weeks for page in week["pages"]]
        lacking = [
            (titles[page], titles[needed])
            for k, page in enumerate(pages)
            for needed in re.findall(r"\]\((\w+)\.md", needs(page))
            if needed not in pages[:k]
        ]
        assert lacking == re.findall(r"([\d.]+) (?:asks )?for ([\d.]+\d)", says), name
        assert says in WORDS


def title(page):
    """The number of a page."""
    found = re.search(r"^# ([\d.]+) ", page.read_text(encoding="utf-8"), re.MULTILINE)
    return found and found[1]


def needs(page):
    """What a page says that it needs."""
    found = re.search(r"\*\*Needs:\*\*(.*)", (ROOT / f"chapters/{page}.md").read_text(encoding="utf-8"))
    return found[1] if found else ""


def test_what_it_names_is_there():
    for name in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / name).exists(), name
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make (\w+)", TEXT)):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
