"""Chapter 08: the missing barrier is found by its line, and each budget is at most half of the step before."""

import ast
import re
from pathlib import Path

import masters
import pytest

from coursework import checking, definition
from coursework.answer import Local
from coursework.grading import servant
from coursework.tasks import c08 as tasks
from cpulab.explore import Program

ROOT = Path(__file__).resolve().parents[2]
MASTER = masters.cells("08")


def given_kernel():
    """The colleague's kernel, as it stands in the statement of 08-bug."""
    (source,) = re.findall(r"```python\n(.*?)\n```", MASTER["08-bug-task"], re.DOTALL)
    ast.parse(source)
    return source


def outcome(task_id, source, name, part=checking.check, **options):
    return part(definition.find(task_id), Local(servant.define([source])[name]), **options)


def test_the_given_kernel_is_rejected_with_the_lines_of_its_race():
    source = given_kernel()
    lines = source.splitlines()
    failure = outcome("08-bug", source, "matmul_repaired").failure
    assert failure.kind == "race"
    said = dict(failure.facts)
    stored = int(re.search(r"stores it at `a_tile\[y, x\]` on line (\d+)", said["it said"])[1])
    assert lines[stored - 1].strip() == "a_tile[y, x] = a[i, start + x]"
    assert said["at"] == "a_tile[y, p]"
    assert re.fullmatch(r"(thread \(\d+, \d+\) of block \(0, 0\)( and )?){2}", said["happened in"])


def test_the_given_kernel_needs_both_repairs():
    source = given_kernel()
    last = "            total += a_tile[y, p] * b_tile[p, x]\n"
    barrier = source.replace(last, last + "        cuda.syncthreads()\n")
    assert barrier != source
    assert outcome("08-bug", barrier, "matmul_repaired").failure.kind == "uninitialised-shared"
    both = barrier
    for tile, value in (("a_tile", "a[i, start + x]"), ("b_tile", "b[start + y, j]")):
        line = f"            {tile}[y, x] = {value}\n"
        both = both.replace(line, f"{line}        else:\n            {tile}[y, x] = 0\n")
    assert outcome("08-bug", both, "matmul_repaired", hidden=True).status == checking.RIGHT


@pytest.mark.rotates
@pytest.mark.parametrize("which", [0, 1])
def test_every_barrier_of_the_tiled_kernels_is_needed(which):
    for task_id, name in (("08-tiled", "matmul_tiled"), ("08-four", "matmul_four"), ("08-bug", "matmul_repaired")):
        parts = MASTER[task_id].split("        cuda.syncthreads()\n")
        assert len(parts) == 3
        without = ["\n", "\n"]
        without[1 - which] = "        cuda.syncthreads()\n"
        source = parts[0] + without[0] + parts[1] + without[1] + parts[2]
        assert outcome(task_id, source, name).failure.kind == "race"


def counts(task_id, name, m, k, n):
    """Totals of the x-ray of a master on an m x k x n product."""
    from coursework.tasks import c08 as tasks
    from simt.xray import xray

    case = tasks.shared.case("", m, k, n, tasks.four.WIDE if task_id == "08-four" else tasks.shared.TILE)
    kernel = servant.define([MASTER[task_id]])[name]
    arguments = case.make(definition.np.random.default_rng(0))
    return xray(kernel, case.grid, case.block)(*arguments).total


def test_each_step_costs_at_most_half_of_the_one_before():
    sizes = (32, 32, 64)
    naive, tiled, four = (counts(f"08-{step}", f"matmul_{step}", *sizes) for step in ("naive", "tiled", "four"))
    assert naive["global_load_requests"] == 16 * tiled["global_load_requests"]
    assert tiled["global_load_requests"] == 2 * four["global_load_requests"]
    assert tiled["shared_load_requests"] == 2 * four["shared_load_requests"]
    budget = definition.find("08-four").budget.require
    assert budget["global_load_requests"] == four["global_load_requests"]
    assert budget["shared_load_requests"] == four["shared_load_requests"]


def shape_of(arguments):
    """(m, k, n) of a product, whatever way its operands lie."""
    *_, out = arguments
    if len(arguments) == 2:  # a function that returns its result
        return *arguments[0].shape, arguments[1].shape[1]
    return out.shape[0], arguments[0].size // out.shape[0], out.shape[1]


@pytest.mark.parametrize("task", definition.of_chapter("08"), ids=lambda task: task.id)
def test_cases_are_not_square_and_not_whole_tiles(task):
    if not getattr(task, "cases", ()) or task.id in ("08-network", "08-strides"):
        pytest.skip("no products of two matrices")
    rng = definition.np.random.default_rng(0)
    shapes = [shape_of(case.make(rng)) for case in task.cases]
    assert any(len(set(shape)) == 3 for shape in shapes)
    assert any(all(length % 4 for length in shape[1:]) or shape[1] % 16 for shape in shapes)


def test_the_listings_are_what_a_compiler_makes():
    """Each line of a listing of 08-listing stands in the machine code of its kernel, in this order."""
    from coursework.tasks import c08 as tasks
    from dlkernels.vector.gpu import add_kernel, add_wide_kernel
    from simt.xray import compiler

    for name, text in tasks.listing.LISTINGS.items():
        assert f"**{name}**\n\n```text\n{text.strip()}\n```\n\n" in MASTER["08-listing-task"]
    if not compiler.available():
        pytest.skip("needs the compiler for GPUs (make gpu)")
    three, kinds = "void(float32[::1], float32[::1], float32[::1])", "void(float32[::1], uint32[::1], float32[::1])"
    made = {
        "A": (add_kernel, three),
        "B": (add_wide_kernel, three),
        "C": (tasks.listing.by_kind, kinds),
        "D": (tasks.listing.by_two_kinds, kinds),
    }
    for name, (kernel, signature) in made.items():
        code = compiler.compiled(kernel, signature, "sm_80").sass.replace(".reuse", "")
        found = [line.split("*/", 1)[1].rsplit(";", 1)[0].strip() for line in code.splitlines() if "*/" in line]
        place = -1
        for line in tasks.listing.LISTINGS[name].strip().splitlines():
            assert line in found[place + 1 :], (name, line)
            place = found.index(line, place + 1)


def test_strips_are_those_of_the_page():
    """The cell of page 8.5 counts them by other functions."""
    page = (ROOT / "chapters" / "08_gpu_limits.md").read_text(encoding="utf-8")
    cell = re.search(r"^def in_groups\(.*?(?=^for n in)", page, re.DOTALL | re.MULTILINE)[0]
    names = {}
    exec(cell, names)
    side, at_once = tasks.order.SIDE, tasks.order.AT_ONCE
    assert names["strips"](1, side, at_once) == tasks.order.strips_by_rows()
    for rows in (2, 4, 8, 16):
        assert names["strips"](rows, side, at_once) == tasks.order.strips(rows)


def test_the_missing_barrier_does_all_the_harm():
    """With it, no order of the two warps' steps makes A read a number of the next tile."""
    hasty = definition.find("08-hasty")
    last = "            total += tile[p]\n"
    mended = Program(hasty.program.text.replace(last, last + "        syncthreads()\n"), **hasty.program.threads)
    assert mended.text.count("syncthreads()") == 2
    most, _, _, complete = mended.furthest(hasty.score)
    assert (most, complete) == (0, True)
    assert set(tasks.hasty.TOO_NEW.values()) == {0, 1, 2}
    assert len(tasks.hasty.TOO_NEW) == 4
