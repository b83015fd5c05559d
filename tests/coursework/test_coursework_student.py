"""What a student sees: unsolved, wrong, right; hints; progress; the check from a shell."""

import builtins
import contextlib
import functools
import html
import json
import keyword
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import masters
import numpy as np
import pytest
from numba.core import event

from coursework import build, check, checking, definition, feedback, notebook, progress
from coursework.answer import Local
from coursework.kinds.kernel import KernelTask
from coursework.kinds.opencl import OpenCLTask
from coursework.kinds.prediction import PredictionTask
from cpulab import measure
from dlkernels import cuda

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "progress.json"))


@cuda.jit
def right_add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (a[i] if i < a.size else 0) + (b[i] if i < b.size else 0)


def test_a_check_before_its_cell_says_which_cell_to_run(capsys):
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance(colors="nocolor")
    shell.run_cell('from coursework.notebook import begin, check\nbegin("02")')
    shell.run_cell('check("02-mean", NotThereYet)')
    said = capsys.readouterr().out
    assert said.count("NotThereYet is not there yet. Run the cell of 02-mean above that makes it;") == 1
    shell.run_cell("NotThereYet")
    assert "above that makes it" not in capsys.readouterr().out


@cuda.jit
def one_block(a, b, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def stub(a, b, out):
    # YOUR CODE HERE
    raise NotImplementedError


@cuda.jit
def no_guard(a, b, out):
    i = cuda.grid(1)
    out[i] = a[i] + b[i]


@cuda.jit
def right_but_for_a_hidden_case(a, b, out):
    i = cuda.grid(1)
    if i < out.size and out.size != 383:
        out[i] = (a[i] if i < a.size else 0) + (b[i] if i < b.size else 0)


@cuda.jit
def slightly_off(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (a[i] + b[i]) * np.float32(1.0002)


def add_outcome(answer, **options):
    return checking.check(definition.find("07-add"), Local(answer), **options)


def test_a_folder_that_cannot_be_written_is_said_once_and_hints_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_memory", {})
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("DLKERNELS_PROGRESS", str(tmp_path / "file" / "progress.json"))
    assert [progress.next_hint("07-add") for _ in range(4)] == [1, 2, 3, 3]
    progress.note(add_outcome(right_add))
    told = capsys.readouterr().out
    assert told.count("kept only until this notebook is closed") == 1
    assert "progress.json" in told
    assert "[x] 07-add" in progress.table(progress.read())


@pytest.mark.quick
def test_failure_names_element_thread_values_and_cause():
    outcome = add_outcome(one_block)
    facts = dict(outcome.failure.facts)
    assert "element [64]; 192 of 256 are wrong" in facts["first wrong"]
    assert facts["belongs to"] == "thread 0 of block 1 (1 * 64 + 0 = 64)"
    case = definition.find("07-add").cases[1]
    a, b, _ = case.make(np.random.default_rng([definition.find("07-add").seed, 1]))
    assert float(facts["expected"]) == pytest.approx(float(a[64]) + float(b[64]), rel=1e-5)
    assert "nobody wrote it" in facts["got"]
    assert "not the block's number" in outcome.failure.cause


def test_picture_shows_blocks():
    text = feedback.as_text(add_outcome(one_block))
    assert "block 0 " + "." * 64 in text
    assert "block 1 " + "_" * 64 in text
    html = feedback.as_html(add_outcome(one_block))
    assert re.search(
        r"<svg role='img' aria-label='Map of the output: 4 rows shown, 0 marks wrong, 192 marks not written", html
    )


@pytest.mark.quick
def test_out_of_bounds_names_line_thread_and_index():
    facts = dict(add_outcome(no_guard).failure.facts)
    assert "300" in facts["it said"]
    assert facts["at"] in ("a[i]", "b[i]", "out[i]")
    assert facts["happened in"].startswith("thread 44 of block 2")


@pytest.mark.quick
def test_green_says_exactly_what_was_checked():
    outcome = add_outcome(right_add)
    text = feedback.as_text(outcome)
    for case in definition.find("07-add").cases:
        assert case.name in text
    assert f"seed {definition.find('07-add').seed}" in text
    assert "Not checked" in text
    assert not re.search(r"all .*(test|check)s? passed", text, re.IGNORECASE)


@pytest.mark.quick
def test_unsolved_is_one_friendly_message_not_a_stack_trace(capsys):
    with pytest.raises(notebook.NotSolvedYet) as error:
        notebook.check("07-add", stub)
    said = capsys.readouterr().out
    assert "not solved yet" in said
    assert "YOUR CODE HERE" in said
    assert "hint(" in said
    assert error.value._render_traceback_() == ["NotSolvedYet: 07-add: not solved yet"]


@pytest.mark.quick
def test_red_is_red_and_raises(capsys):
    with pytest.raises(notebook.CheckFailed, match="wrong result"):
        notebook.check("07-add", one_block)
    assert "likely cause" in capsys.readouterr().out


def test_html_escapes_what_came_from_the_answer():
    failure = checking.Failure("raised-X", "<b>h</b>", (("it said", "<script>alert(1)</script>"),), "<i>")
    html = feedback.as_html(checking.Outcome("07-add", "results", "wrong", 0, 3, failure=failure))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_other_seeds_give_other_numbers_and_the_same_verdict():
    assert add_outcome(right_add, seed=5).status == checking.RIGHT
    got = {dict(add_outcome(one_block, seed=s).failure.facts)["expected"] for s in (1, 2, 3)}
    assert len(got) == 3


def test_what_is_nearly_right_is_wrong():
    assert add_outcome(slightly_off).failure.kind == "precision"


def test_hidden_cases_are_run_where_they_are_asked_for():
    assert add_outcome(right_but_for_a_hidden_case).status == checking.RIGHT
    assert add_outcome(right_but_for_a_hidden_case, hidden=True).status == checking.WRONG


def test_three_hints_on_request(capsys):
    for level in (1, 2, 3, 3):
        notebook.hint("07-add")
        assert f"Hint {level} of 3" in capsys.readouterr().out
    notebook.hint("07-add", 1)
    assert "Hint 1 of 3" in capsys.readouterr().out
    with pytest.raises(ValueError, match="expected 1, 2 or 3"):
        notebook.hint("07-add", 4)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: notebook.check("07-ad", right_add), "No task is called '07-ad'. There are: 07-zip"),
        (lambda: notebook.check("07-sectors", 4), "is a prediction"),
        (lambda: notebook.budget("07-add", right_add), "has no budget"),
        (
            lambda: notebook.predict("07-sectors", neighbours=4),
            "asks for every_eighth, four_in_a_row, neighbours; got neighbours",
        ),
        (lambda: definition.of_chapter("99"), "has no tasks"),
    ],
)
def test_misuse_is_a_sentence(call, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        call()


@pytest.mark.quick
def test_progress_is_kept_and_a_solved_task_stays_solved(capsys):
    with pytest.raises(notebook.CheckFailed):
        notebook.check("07-add", one_block)
    notebook.check("07-add", right_add)
    with pytest.raises(notebook.CheckFailed):
        notebook.check("07-add", one_block)
    entry = progress.read()["07-add results"]
    assert entry == {"status": "right", "points": 3, "tries": 3, "wrong": 2}
    table = progress.table(progress.read())
    assert re.search(r"\[x\] 07-add .* 3/3 +3 tries", table)
    everything = sum(points for task in definition.everything() for _, points in progress.parts(task))
    assert f"3 of {everything} points" in table


@pytest.mark.quick
def test_what_is_not_solved_yet_was_no_try(capsys):
    """Who runs all cells of a new notebook has tried nothing."""
    with pytest.raises(notebook.NotSolvedYet):
        notebook.check("07-add", stub)
    assert progress.read() == {}
    assert re.search(r"\[ \] 07-add ", progress.table(progress.read()))


@pytest.mark.quick
def test_the_second_failure_says_what_to_read(capsys):
    said = []
    for answer in (stub, one_block, no_guard, right_add, one_block):
        with contextlib.suppress(notebook.CheckFailed):
            notebook.check("07-add", answer)
        said.append("read first" in capsys.readouterr().out)
    assert said == [False, False, True, False, False]  # who solved it once needs no advice
    section = definition.find("07-add").section
    outcome = add_outcome(one_block)
    assert section.place == 'section 7 of the book, "The same job on a GPU"'
    assert section.place in feedback.as_text(outcome, read=section)
    card = feedback.as_html(outcome, section)
    assert section.place in html.unescape(card)
    assert "href" not in card  # JupyterLab would say nothing of a link out of the folder that it serves


@pytest.mark.quick
def test_progress_that_is_off_still_lets_hints_go_on(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_memory", {})
    monkeypatch.setenv("DLKERNELS_PROGRESS", "off")
    assert [progress.next_hint("07-add") for _ in range(3)] == [1, 2, 3]
    assert capsys.readouterr().out == ""


@pytest.mark.quick
def test_show_draws_right_and_wrong_kernels_and_judges_nothing(capsys):
    for kernel in (right_add, one_block):
        notebook.show("07-add", kernel)
        said = capsys.readouterr().out
        assert "Store out[i] on line" in said
        assert "wrong" not in said
    notebook.show("07-add", stub)
    assert "nothing to draw" in capsys.readouterr().out
    notebook.show("07-add", 3)
    assert "write @cuda.jit above the function" in capsys.readouterr().out
    with pytest.raises(ValueError, match="02-mean is not about a kernel"):
        notebook.show("02-mean", right_add)
    assert progress.read() == {}


def test_a_damaged_progress_file_is_no_disaster():
    Path(os.environ["DLKERNELS_PROGRESS"]).write_text("{ not json")
    assert progress.read() == {}
    notebook.check("07-add", right_add)
    assert progress.read()["07-add results"]["tries"] == 1


@pytest.mark.quick
@pytest.mark.parametrize("task", definition.everything(), ids=lambda task: task.id)
def test_hints_objective_and_minutes_are_there(task):
    assert all(len(hint) > 30 for hint in task.hints)
    assert re.match(r"[A-Z][a-z]+ ", task.objective)
    assert 0 < task.minutes <= 45
    assert task.points > 0


@pytest.mark.quick
@pytest.mark.parametrize("name", ["01-bug", "02-mean", "02-map", "02-prefetch"])
def test_where_the_answer_is_a_few_lines_the_last_hint_asks_for_them(name):
    assert definition.find(name).hints[-1].endswith("?")


TOKEN = re.compile(r'0x\w+|[A-Za-z_]\w*|[\d.]*\d|"[^"]*"|//=?|\*\*|<<|>>|[-+*/%<>=!&|^]=|\S')
EXPRESSION, LINE = 10, 8  # tokens: so many of a line in a row, or a whole line of so many, are no hint any more


def tokens(text):
    """Of code, or of a sentence with code in it; the names that a student chooses are all alike."""
    kept = {*keyword.kwlist, *dir(builtins)}
    return ["name" if word.isidentifier() and word not in kept else word for word in TOKEN.findall(text)]


@functools.cache
def answers():
    """[(id of a cell, the tokens of each line of its answer), ...] of all masters."""
    cells = (cell for path in build.masters(ROOT) for cell in build.read(path).cells if build.is_answer(cell))
    regions = ((cell.id, re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", cell.source, re.S)) for cell in cells)
    return [
        (cell, [tokens(line.split("#")[0]) for text in texts for line in text.split("\n")]) for cell, texts in regions
    ]


def told(hint, lines):
    """What of the lines stands in a hint: the longest run of tokens that is too long to be one, or nothing."""
    words = " ".join(tokens(hint))
    for line in sorted(lines, key=len, reverse=True):
        length = len(line) if LINE <= len(line) < EXPRESSION else EXPRESSION
        for first in range(len(line) - length + 1):
            if f" {' '.join(line[first : first + length])} " in f" {words} ":
                return " ".join(line)
    return ""


@pytest.mark.quick
@pytest.mark.parametrize("task", definition.everything(), ids=lambda task: task.id)
def test_a_hint_names_a_step_and_writes_no_line_of_the_answer(task):
    lines = [line for cell, region in answers() if cell.startswith(task.id) for line in region]
    assert lines
    for hint in task.hints:
        assert not told(hint, lines), hint


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("04-bug", "`part = (lines + 3) // 4 * 16`, and so on"),
        ("04-bug", "Part k is `range(k * length, min((k + 1) * length, x.size))`."),
        ("03-softmax", "Then out[r, c] /= s."),
        ("03-finish", "Take t = free.index(min(free))."),
    ],
)
def test_a_hint_that_writes_the_line_is_noticed_whatever_its_names_are(name, hint):
    assert told(hint, [line for cell, region in answers() if cell == name for line in region])


def results(hint):
    """What the sums and products that stand in a hint come to."""
    for text in re.findall(r"[\d(][\d ()+*/-]*[\d)]", hint):
        if re.search(r"\d[ )]*[-+*/]+[ (]*\d", text):
            with contextlib.suppress(SyntaxError, TypeError):
                yield eval(text)


@pytest.mark.quick
def test_no_hint_of_a_prediction_works_out_its_answer():
    assert [*results("orders: 6 * 5 * 4 / (3 * 2 * 1), rows 5 + 6 + 7 + 8.")] == [20, 26]
    for task in definition.everything():
        if isinstance(task, PredictionTask):
            truths = {question.truth() for question in task.questions}
            assert not truths & {result for hint in task.hints for result in results(hint)}, task.id


@pytest.mark.parametrize("task", definition.everything(), ids=lambda task: task.id)
def test_cases_cover_one_block_exact_and_ragged_with_random_numbers(task):
    if not isinstance(task, KernelTask):
        pytest.skip("about kernels")
    names = " ".join(case.name for case in task.cases)
    for word in () if isinstance(task, OpenCLTask) else ("one block", "exact", "ragged"):  # these name work-groups
        assert word in names
    for case in task.cases:
        one, two = (case.make(np.random.default_rng(seed)) for seed in (1, 2))
        pairs = [pair for i, pair in enumerate(zip(one, two, strict=True)) if i != task.out % len(one)]
        floats = [(x, y) for x, y in pairs if isinstance(x, np.ndarray) and x.dtype.kind == "f"]
        arrays = [(x, y) for x, y in floats if x.any() and not np.isnan(x).all()]  # zeros: where Adam's averages begin
        given = 1 if task.id == "11-rotary" else 0  # the frequencies, which are the same for every text
        assert sum(np.array_equal(x, y) for x, y in arrays) == given


def copy_with_answers(tmp_path, answers=None):
    """The shipped exercise with the master's answers, or with some of them."""
    exercise, master = (build.read(ROOT / d / "07_vector_add.ipynb") for d in ("exercises", "solutions"))
    for cell, full in zip(exercise.cells, master.cells, strict=True):
        if cell.cell_type == "code" and build.is_answer(full) and (answers is None or full.id in answers):
            cell.source = full.source
    (tmp_path / "exercises").mkdir(exist_ok=True)
    path = tmp_path / "exercises" / "07_vector_add.ipynb"
    path.write_text(build.text_of(exercise))
    return path


def run_check(cwd, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "coursework.check", *arguments], cwd=cwd, capture_output=True, text=True
    )


@pytest.mark.rotates
def test_check_from_a_shell_is_red_as_shipped_and_green_when_solved(tmp_path):
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises", ignore=shutil.ignore_patterns(".*"))
    red = run_check(tmp_path, "07")
    assert red.returncode == 1
    assert red.stdout.count("not solved yet") == 10
    assert "not answered yet" in red.stdout
    assert "0 of 35 points" in red.stdout
    assert "Traceback" not in red.stdout + red.stderr
    copy_with_answers(tmp_path)
    green = run_check(tmp_path, "7")
    assert (green.returncode, green.stderr) == (0, "")
    assert "35 of 35 points on the visible cases." in green.stdout


@pytest.mark.rotates
def test_check_from_a_shell_notices_missing_cells_and_broken_ones(tmp_path):
    path = copy_with_answers(tmp_path)
    nb = build.read(path)
    nb.cells = [c for c in nb.cells if c.id != "07-bug-check"]
    next(c for c in nb.cells if c.id == "07-launch").source = "def launch(n:\n    return 1"
    build.with_install(nb, "07", "", "99.0")
    path.write_text(build.text_of(nb))
    done = run_check(tmp_path, str(path))
    assert done.returncode == 1
    assert "and this notebook is newer. No dlkernels-*.whl of version 99.0 or later lies" in done.stdout
    assert "07-bug: its results check did not run" in done.stdout
    assert "SyntaxError" in done.stdout


@pytest.mark.parametrize("wish", ["13", "nothing.ipynb", "99"])
def test_check_of_nothing_says_so(tmp_path, wish):
    done = run_check(tmp_path, wish)
    assert done.returncode == 2
    assert re.match(r"(No notebook|There is no notebook).*", done.stderr)
    assert "Traceback" not in done.stderr


def test_find_notebook_asks_when_several_fit(tmp_path, monkeypatch):
    for name in ("07_a.ipynb", "07_b.ipynb"):
        (tmp_path / name).write_text("{}")
    (tmp_path / "08_c.ipynb").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="2 notebooks fit '07'"):
        check.find_notebook("07")
    with pytest.raises(ValueError, match="No notebook 08"):  # a folder is none
        check.find_notebook("08")


@pytest.mark.rotates(by=lambda params: type(params["task"]).__name__)
@pytest.mark.parametrize("task", definition.everything(), ids=lambda task: task.id)
def test_a_check_compiles_little_and_only_once(task, monkeypatch):
    """What makes a student wait is numba at work. How long that takes depends on the machine (`tests/check_times.py`
    measures it), how many functions it compiles does not: at most 13 (03-largest), and none when the same answer is
    checked again."""
    each = dict.fromkeys(range(1, 1025), 1e11)  # peaks of the machine that were kept: to measure them compiles more
    kept = measure.Peaks(each, {"triad": {"plain": each}}, 1 << 20)
    monkeypatch.setattr("cpulab.measure.plot.peaks", lambda **_: kept)
    answer = masters.answer(task)
    for most in (15, 0):
        with event.install_recorder("numba:compile") as compiled:
            outcome = checking.check(task, answer)
        assert outcome.status == checking.RIGHT
        assert sum(what.is_start for _, what in compiled.buffer) <= most


@pytest.mark.quick
def test_outcomes_are_plain_data():
    json.dumps(add_outcome(one_block).to_dict())
    json.dumps(add_outcome(right_add).to_dict())


# A budget after its check, and names that nobody knows ----------------------------------------------------------------


@cuda.jit
def one_round(alpha, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] += alpha * x[i]


@cuda.jit
def one_too_far(alpha, x, y):
    for i in range(cuda.grid(1), y.size + 1, cuda.gridsize(1)):
        y[i] += alpha * x[i]


@pytest.mark.parametrize(
    ("kernel", "says", "kind"),
    [(one_round, "wrong result", "first-round-only"), (one_too_far, "out of bounds", "out-of-bounds")],
)
def test_a_budget_does_not_say_again_what_the_check_said(kernel, says, kind, monkeypatch):
    monkeypatch.setattr(notebook, "OUTCOMES", [])
    with pytest.raises(notebook.CheckFailed, match=says):
        notebook.budget("07-axpy", kernel)
    with pytest.raises(notebook.CheckFailed):
        notebook.check("07-axpy", kernel)
    with pytest.raises(notebook.CheckFailed, match="first make the result right; the check above says what is wrong"):
        notebook.budget("07-axpy", kernel)
    failure = notebook.OUTCOMES[-1].failure
    assert (failure.kind, failure.facts, failure.picture) == (kind, (), {})


@pytest.mark.parametrize("arguments", [(), ("07-ad",), ("07-add", 4)])
def test_a_hint_of_nothing_is_one_line(arguments):
    with pytest.raises(notebook.Misused) as raised:
        notebook.hint(*arguments)
    assert raised.value._render_traceback_() == [str(raised.value)]
