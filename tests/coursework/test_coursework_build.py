"""Exercises are masters without their answers, and carry what nbgrader asks for."""

import ast
import copy
import functools
import inspect
import json
import re
import zipfile
from pathlib import Path

import nbformat
import pytest

from coursework import build, definition, own, progress, release
from coursework.kinds.arrays import ArrayTask
from coursework.kinds.opencl import OpenCLTask

ROOT = Path(__file__).resolve().parents[2]
MASTERS = build.masters(ROOT)

NAMES = [path.name for path in MASTERS]


def pair(name):
    return build.read(ROOT / "solutions" / name), build.read(ROOT / "exercises" / name)


def test_every_chapter_with_tasks_has_a_master():
    assert [definition.chapter_of(name) for name in NAMES] == definition.chapters()


def test_everything_is_up_to_date():
    assert build.build(ROOT, write=False) == []


@pytest.mark.parametrize("name", NAMES)
def test_exercise_is_master_minus_answers(name):
    master, exercise = pair(name)
    tasks = definition.of_chapter(definition.chapter_of(name))
    given = {task.id: task.handed_out for task in tasks if hasattr(task, "handed_out")}
    texts = {task.id for task in tasks if task.is_text}
    assert [c.id for c in master.cells] == [c.id for c in exercise.cells]
    for full, shipped in zip(master.cells, exercise.cells, strict=True):
        assert full.cell_type == shipped.cell_type
        if build.is_answer(full):
            own = inspect.getsource(given[full.id].py_func).splitlines() if full.id in given else []
            kept = [
                line
                for line in shipped.source.splitlines()
                if "YOUR CODE HERE" not in line and build.STUB not in line and line not in own
            ]
            assert set(kept) <= set(full.source.splitlines())
            before, answer = full.source.split(build.SOLUTION[1])[0].split(build.SOLUTION[0])
            shown = before.splitlines() if full.id in texts else ()  # the head of a kernel, or one to mend
            for line in filter(str.strip, answer.splitlines()):
                assert line in shown or line not in shipped.source.splitlines()
        elif full.cell_type == "code":
            assert shipped.source == build.remove_region(full.source, build.HIDDEN)
        else:
            assert full == shipped
    text = json.dumps(exercise)
    assert "BEGIN" not in text
    assert "hidden=True" not in text


@pytest.mark.parametrize("name", NAMES)
def test_shipped_exercise_has_no_outputs_and_parses(name):
    for cell in pair(name)[1].cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            ast.parse(cell.source)


@pytest.mark.parametrize("name", NAMES)
def test_masters_have_recorded_outputs_without_paths(name):
    master = pair(name)[0]
    graded = [c for c in master.cells if c.cell_type == "code" and build.is_check(c)]
    assert graded
    for cell in graded:
        assert not any(o.get("name") == "stderr" for o in cell.outputs), f"{cell.id} says how long it took"
        said = json.dumps(cell.outputs)
        assert "right (" in said, f"{cell.id}: run `python -m coursework.build --run`"
        assert not re.search(r"/(home|root|Users|tmp)/", said)


@pytest.mark.parametrize("name", NAMES)
def test_metadata_is_nbgraders_version_3(name):
    fields = {"schema_version", "grade_id", "grade", "solution", "locked", "task", "points"}
    for notebook in pair(name):
        nbformat.validate(notebook)
        for cell in notebook.cells:
            mark = cell.metadata.get("nbgrader")
            if cell.cell_type != "code":
                assert mark is None
                continue
            assert set(mark) <= fields
            assert mark["schema_version"] == 3
            assert mark["grade_id"] == cell.id
            assert ("points" in mark) == mark["grade"]
            assert not (mark["solution"] and mark["locked"])


@pytest.mark.parametrize("name", NAMES)
def test_points_add_up(name):
    marks = [c.metadata.nbgrader for c in pair(name)[1].cells if c.cell_type == "code"]
    wanted = sum(p for t in definition.of_chapter(definition.chapter_of(name)) for _, p in progress.parts(t))
    assert sum(m.get("points", 0) for m in marks) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_plain_markdown_only(name):
    for cell in pair(name)[1].cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"^(```\{|:::|\$\$|\(.+\)=$)|\{(ref|numref|doc|math)\}`", cell.source, re.MULTILINE), (
                cell.source
            )


@pytest.mark.parametrize("name", NAMES)
def test_listings_name_their_language(name):
    """Jupyter colours what it knows the language of; code that is indented only has none."""
    for cell in pair(name)[0].cells:
        if cell.cell_type == "markdown":
            parts = re.split(r"^```(\w*)\n.*?^```$", cell.source, flags=re.MULTILINE | re.DOTALL)
            assert set(parts[1::2]) <= {"python", "text"}, cell.id
            assert not re.search(r"\n\n    \S", "".join(parts[::2])), cell.id


def test_first_code_cell_names_the_device_where_one_matters():
    for name in NAMES:
        first = next(c for c in pair(name)[0].cells if c.id.endswith("-setup"))
        assert f'begin("{definition.chapter_of(name)}")' in first.source
        said = "".join(o.get("text", "") for o in first.outputs)
        words = (
            "All of it runs on the CPU" if name[:2] < "05" or name[:2] in ("14", "16") else "No GPU found|CUDA kernels"
        )
        assert re.search(rf"^({words})[^\n]*\.$", said, re.MULTILINE)


def small(*sources):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s, id=f"c{i}") for i, s in enumerate(sources)])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda nb: nb.cells.pop(), "graded cells are"),
        (lambda nb: nb.cells.append(copy.deepcopy(nb.cells[0])), "is used twice"),
        (lambda nb: nb.cells[-2].update(source='check("07-nothing", f)'), "No task is called"),
        (lambda nb: nb.cells[-2].update(source='budget("07-add", f)'), "does not fit"),
    ],
)
def test_a_broken_master_is_refused_with_a_reason(change, says):
    master = copy.deepcopy(build.read(MASTERS[0]))
    master.cells = [c for c in master.cells if c.cell_type == "code"]
    change(master)
    with pytest.raises(build.BuildError, match=says):
        build.annotate(master, MASTERS[0].name)


@pytest.mark.parametrize(
    "source", ["### BEGIN SOLUTION\nx", "x\n### END SOLUTION", "### BEGIN SOLUTION\n### BEGIN SOLUTION"]
)
def test_unbalanced_markers_are_refused(source):
    with pytest.raises(build.BuildError, match="stands"):
        build.remove_region(source, build.SOLUTION)


def test_stub_says_how_long_the_answer_is():
    (cell,) = build.exercise_of(
        small("def f(x):\n    ### BEGIN SOLUTION\n    # why\n    y = x\n    return y\n    ### END SOLUTION")
    ).cells
    assert cell.source == (
        "def f(x):\n    # YOUR CODE HERE (about 2 lines), in the place of the next line\n    raise NotImplementedError"
    )


@functools.cache
def master_cells():
    return {cell.id: cell.source for path in MASTERS for cell in build.read(path).cells}


def headings(page):
    """(level, words) of a page in chapters/, without those in code."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^(#+) (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("task", definition.everything(), ids=lambda task: task.id)
def test_a_task_names_a_section_that_exists_and_its_page_leads_back(task):
    assert task.section, f"{task.id} says nothing of what to read first: section=Section(number, page, heading)"
    page = ROOT / "chapters" / f"{task.section.page}.md"
    (_, title), *rest = headings(page)
    assert title.split()[0] == task.section.number
    assert [words for _, words in rest].count(task.section.heading) == 1
    levels = [len(level) for level, words in rest if words == task.section.heading]
    assert max(levels) <= 3  # myst_heading_anchors of _config.yml
    notebook = next(n for n in NAMES if n.startswith(f"{task.chapter}_"))
    assert f"(../exercises/{notebook})" in page.read_text(encoding="utf-8")
    statement = next(c for c in pair(notebook)[1].cells if c.id == f"{task.id}-task")
    section = task.section
    said = f'**Read first:** section {section.number} of the book, "[{section.heading}](../{section.link})".'
    assert said in statement.source


@pytest.mark.parametrize(
    "task",
    [t for t in definition.everything() if isinstance(t, ArrayTask) and not isinstance(t, OpenCLTask)],
    ids=lambda task: task.id,
)
def test_a_specification_names_its_arrays_as_the_answer_does(task):
    """Messages name them."""
    answer = master_cells()[task.id]
    heads = [re.split(r",\s*", names) for names in re.findall(r"^def \w+\((.*)\):", answer, re.MULTILINE)]
    assert list(inspect.signature(task.spec).parameters) in heads


def words_of(page):
    return re.sub(r"\s+", " ", (ROOT / "chapters" / f"{page}.md").read_text(encoding="utf-8"))


def tasks_of_pages():
    """{(page, notebook): numbers of its chapter's tasks}, as the notebook counts them."""
    pages = {}
    for name in NAMES:
        for cell in pair(name)[0].cells:
            heading = re.match(r"## (\d+)\. ", cell.source)
            task = definition.find(cell.id.removesuffix("-task")) if heading else None
            if task and task.section.page.startswith(name[:2]):  # others use an earlier chapter's kernels
                pages.setdefault((task.section.page, name), []).append(int(heading[1]))
    return pages


def counted(numbers, short):
    """[1, 2, 3, 5] as "1, 2, 3 and 5", or "1 to 3 and 5"."""
    runs = []
    for number in numbers:
        if short and runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [part for run in runs for part in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run))]
    return " and ".join([*([", ".join(parts[:-1])] if parts[1:] else []), parts[-1]])


def test_pages_name_their_tasks_by_the_numbers_of_the_notebook():
    pages = tasks_of_pages()
    assert len(pages) > 15
    for (page, _), numbers in pages.items():
        if page == "03_numba_parallel":  # describes them without a number
            continue
        told = "|".join(counted(numbers, short) for short in (False, True))
        assert re.search(rf"([Tt]asks? |\(|: )({told})(?!,? (and|to) \d|, \d|\d)", words_of(page)), f"{page}: {numbers}"


@pytest.mark.parametrize("chapter", definition.chapters())
def test_pages_name_the_minutes_of_their_tasks(chapter):
    minutes = sum(task.minutes for task in definition.of_chapter(chapter))
    said = (
        r"(\d+) for the exercises|exercises\]\(\S+\) take (\d+)|(\d+) minutes for all of them|together take about "
        r"(\d+) minutes"
    )
    if len(chapter) > 2:  # a second notebook, named with its minutes
        said = rf"{chapter}_\w+\.ipynb\)[^.]* (\d+) minutes"
    pages = [path.stem for path in (ROOT / "chapters").glob(f"{chapter[:2]}_*.md")]
    told = [int("".join(match)) for page in pages for match in re.findall(said, words_of(page))]
    assert told
    assert all(abs(number - minutes) <= 0.05 * minutes for number in told), (told, minutes)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Amdahl's law: the job stays the same", "amdahls-law-the-job-stays-the-same"),
        ("Why was my loop not vectorised?", "why-was-my-loop-not-vectorised"),
        ("Rungs 1 and 2: one thread per element", "rungs-1-and-2-one-thread-per-element"),
    ],
)
def test_anchors_are_those_of_the_book(heading, anchor):
    from myst_parser.config.main import MdParserConfig
    from myst_parser.mdit_to_docutils.base import default_slugify

    assert MdParserConfig(heading_anchors=3).heading_slug_func is None  # the default one
    assert definition.Section("1", "page", heading).link == f"chapters/page.md#{anchor}"
    assert default_slugify(heading) == anchor


@pytest.mark.rotates
def test_release_has_no_answers(tmp_path):
    names = release.release(ROOT, tmp_path / "class.zip")
    assert "exercises/" + NAMES[0] in names
    assert "lib/coursework/notebook.py" in names
    assert not [n for n in names if n.startswith(("solutions/", "tests/")) or "/hidden/" in n or "pycache" in n]
    assert not [n for n in names if "egg-info" in n or n.endswith(".pyc")]
    assert {"LICENSE", "LICENSE-TEXT.md", "README.md", "pyproject.toml", "requirements.lock"} <= set(names)
    assert {"AGENTS.md", "exercises/AGENTS.md"} <= set(names)  # found wherever an assistant is started
    assert not [n for n in names if n.endswith("class.json")]
    with zipfile.ZipFile(tmp_path / "class.zip") as pack:
        readme = pack.read("README.md").decode("utf-8")
    assert readme == (ROOT / "exercises" / "README.md").read_text(encoding="utf-8")
    assert "exercises/README.md" not in names
    assert all(f"`{definition.chapter_of(name)}`" in readme for name in (NAMES[0], "06b", NAMES[-1]))
    packages = {Path(n).parent.name for n in names if re.fullmatch(r"lib/\w+/__init__\.py", n)}
    assert packages == {"dlkernels", "simt", "training", "workers", "opencl", "cpulab", "coursework"}
    pages = {p.relative_to(ROOT).as_posix() for p in (ROOT / "lib").rglob("*.html")}
    assert pages
    assert pages <= set(names)
    again = tmp_path / "again.zip"
    release.release(ROOT, again)
    assert again.read_bytes() == (tmp_path / "class.zip").read_bytes()


@pytest.mark.rotates
def test_a_release_works_without_the_hidden_cases(tmp_path):
    import subprocess
    import sys

    numbers = own.Numbers.from_secret("a secret", 2)
    release.release(ROOT, tmp_path / "class.zip", numbers=numbers)
    with zipfile.ZipFile(tmp_path / "class.zip") as pack:
        pack.extractall(tmp_path / "class")
    code = (
        "from coursework import definition as d; import dlkernels; print(dlkernels.__file__);"
        "print([len(d.hidden_cases(t)) for t in d.everything()]);"
        "from coursework import own; print(own.of_class())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path / "class" / "lib"), "PATH": "/usr/bin"},
        capture_output=True, text=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    where, counts, mine = done.stdout.splitlines()
    assert where.startswith(str(tmp_path))
    assert set(ast.literal_eval(counts)) == {0}
    assert mine == str(numbers)  # what draws each student's numbers travels with the library
    environment = {"PYTHONPATH": str(tmp_path / "class" / "lib"), "PATH": "/usr/bin", "HOME": str(tmp_path)}
    checked = subprocess.run(
        [sys.executable, "-m", "coursework.check", "02"],
        cwd=tmp_path / "class",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert (checked.returncode, checked.stderr) == (1, "")
    assert "not solved yet" in checked.stdout
