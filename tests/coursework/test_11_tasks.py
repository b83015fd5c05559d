"""Chapter 11: the specifications in the statements, the tasks and the library say the same; budgets hold what they
claim."""

import inspect
import re
from dataclasses import replace

import answers
import masters
import numpy as np
import pytest

from coursework import checking
from coursework.answer import Local
from coursework.grading import servant
from coursework.kinds.data import outcome_of
from coursework.tasks import c11 as tasks
from dlkernels.attention import reference

MASTER = masters.cells("11")


@pytest.mark.quick
def test_the_way_back_through_a_cap_is_the_slope():
    """By central differences, of all keys together."""
    q, k, v, cap, *kept, grad = tasks.back.back_case("", 3, 5).make(np.random.default_rng(0))

    def loss(q, k, v):
        scores = cap * np.tanh(q @ k.T / np.sqrt(q.shape[1]) / cap)
        return (grad * (reference.softmax(scores) @ v)).sum()

    given = [q, k, v]
    for place, found in enumerate(tasks.back.way_back(q, k, v, cap, *kept, grad)):
        for at in np.ndindex(found.shape):
            there, back = ([x.copy() for x in given] for _ in range(2))
            there[place][at] += 1e-5
            back[place][at] -= 1e-5
            assert abs((loss(*there) - loss(*back)) / 2e-5 - found[at]) < 1e-8


@pytest.mark.quick
def test_the_tasks_compute_what_the_library_computes():
    for (x, positions, frequencies, out), case in masters.cases_of(tasks.ROTARY):
        found, right = reference.rotary_embedding(x, positions), tasks.ROTARY.spec(x, positions, frequencies, out)
        np.testing.assert_allclose(found, right, atol=1e-4, err_msg=case)  # frequencies are float32 here
    for arguments, case in masters.cases_of(tasks.NORM):
        found = reference.layer_norm(*arguments[:-1])
        np.testing.assert_allclose(found, tasks.NORM.spec(*arguments), rtol=1e-9, atol=1e-12, err_msg=case)
    for make, tiles in ((tasks.back.back_case("", 6, 20, cap=1e9), 5), (tasks.back.back_case("", 3, 4, cap=1e9), 1)):
        q, k, v, *kept, grad = make.make(np.random.default_rng(tiles))
        cut = [slice(len(k) * t // tiles, len(k) * (t + 1) // tiles) for t in range(tiles)]
        parts = [tasks.back.way_back(q, k[part], v[part], *kept, grad) for part in cut]
        found = sum(part[0] for part in parts), *(np.concatenate([part[n] for part in parts]) for n in (1, 2))
        for one, right in zip(found, reference.scaled_dot_product_attention_backward(grad, q, k, v), strict=True):
            np.testing.assert_allclose(one, right, rtol=1e-6, atol=1e-9)
    for (x, out), case in masters.cases_of(tasks.SOFTMAX):
        some = (x > -np.inf).any(axis=1)
        right = tasks.SOFTMAX.spec(x, out)
        np.testing.assert_allclose(reference.softmax(x[some]), right[some], rtol=1e-12, err_msg=case)
        assert not right[~some].any(), case


@pytest.mark.quick
def test_the_tasks_attend_as_the_library_does():
    for task, causal in ((tasks.ATTENTION, False), (tasks.CAUSAL, True)):
        for (q, k, v, scale, out), case in masters.cases_of(task):
            found = reference.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)
            np.testing.assert_allclose(found, task.spec(q, k, v, scale, out), rtol=1e-9, atol=1e-12, err_msg=case)
    for (q, keys, values, length, scale, out), case in masters.cases_of(tasks.DECODE):
        kept = keys[:, :length], values[:, :length]
        found = reference.scaled_dot_product_attention(q[:, None], *kept, scale=scale, enable_gqa=True)[:, 0]
        right = tasks.DECODE.spec(q, keys, values, length, scale, out)
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12, err_msg=case)


@pytest.mark.quick
def test_parts_that_are_divided_are_as_good_as_the_whole():
    rng = np.random.default_rng(4)
    scores, v = rng.uniform(-900, 900, (2, 12)), rng.uniform(-1, 1, (2, 12, tasks.split.COLUMNS))
    results, logs = np.zeros((3, 2, tasks.split.COLUMNS)), np.full((3, 2), -np.inf)
    for part, (begin, end) in enumerate(((0, 5), (5, 5), (5, 12))):
        for head in range(2):
            m, total, acc = tasks.merge.part_of(scores[head, begin:end], v[head, begin:end])
            if end > begin:
                results[part, head], logs[part, head] = acc / total, m + np.log(total)
    for head in range(2):
        _, total, acc = tasks.merge.part_of(scores[head], v[head])
        np.testing.assert_allclose(tasks.split.combined(results, logs)[head], acc / total, rtol=1e-9)
    assert tasks.split.judge_split((results, logs), tasks.split.combined(results, logs)) is None


@pytest.mark.quick
def test_two_parts_are_as_good_as_the_whole():
    rng = np.random.default_rng(3)
    for first, second in ((5, 3), (1, 9), (4, 0), (0, 2), (0, 0)):
        scores, v = rng.uniform(-50, 50, first + second), rng.uniform(-1, 1, (first + second, tasks.merge.VALUES))
        parts = (*tasks.merge.part_of(scores[:first], v[:first]), *tasks.merge.part_of(scores[first:], v[first:]))
        for found, right in zip(tasks.merge.merged(*parts), tasks.merge.part_of(scores, v), strict=True):
            np.testing.assert_allclose(found, right, rtol=1e-12)
        assert tasks.merge.judge_merge(parts, tasks.merge.part_of(scores, v)) is None


@pytest.mark.quick
def test_every_mistake_of_a_merge_is_seen_in_some_case():
    seen = set()
    for number, case in enumerate(tasks.MERGE.cases):
        m1, l1, acc1, m2, l2, acc2 = case.make(np.random.default_rng(number))
        _, total, acc = tasks.merge.merged(m1, l1, acc1, m2, l2, acc2)
        for place, (formula, _) in enumerate(tasks.merge.MERGES):
            for x1, x2, right in ((l1, l2, total), (acc1, acc2, acc)):
                if not np.allclose(formula(m1, m2, x1, x2), right):
                    seen.add(place)
    assert seen == set(range(len(tasks.merge.MERGES)))


@pytest.mark.quick
def test_every_mistake_of_combining_is_seen_in_some_case():
    seen = set()
    for number, case in enumerate(tasks.SPLIT.cases):
        results, logs = case.make(np.random.default_rng(number))
        right = tasks.split.combined(results, logs)
        for place, (formula, _) in enumerate(tasks.split.SPLITS):
            with np.errstate(all="ignore"):
                wrong = formula(results, logs)  # of another shape: this case says nothing about that mistake
            if wrong.shape == right.shape and not np.allclose(wrong, right):
                seen.add(place)
    assert seen == set(range(len(tasks.split.SPLITS)))


@pytest.mark.quick
def test_the_statement_shows_the_kernels_that_are_judged():
    """One listing for all five, with `END` and `LAST` in it, and what these are for each."""
    statement = MASTER["11-verdicts-task"]
    source = inspect.getsource(tasks.verdicts.narrow_kernel)
    body = source[source.index("    @cuda.jit") : source.index("    return kernel")]
    body = body.replace("end(i, n)", "END").replace("if waits:\n                cuda.syncthreads()", "LAST")
    listing = "\n".join(line[4:] for line in body.rstrip().splitlines())
    assert f"```python\n{listing}\n```\n" in statement
    for name, program in tasks.VERDICTS.programs.items():
        of_kernel = inspect.getclosurevars(program.py_func).nonlocals
        (end,) = re.findall(r"return (.+)", inspect.getsource(of_kernel["end"].py_func))
        last = ", `LAST` is `cuda.syncthreads()`" if of_kernel["waits"] else ", and there is no `LAST`"
        assert f"- **{name}**: `END` is `{end}`{last}\n" in statement


def test_what_is_said_of_the_five_kernels_holds_for_other_lengths_too():
    others = tuple(tasks.verdicts.narrow_case("other", n) for n in (1, 16, 33))
    for name, program in tasks.VERDICTS.programs.items():
        found = checking.check(replace(tasks.verdicts.NARROW, cases=others, kept=None), Local(program, admitted=True))
        assert (found.status == checking.RIGHT) == (name in "AD")


def test_each_of_the_two_barriers_is_needed():
    wait = "        cuda.syncthreads()\n"
    first, second, third = MASTER["11-attention"].split(wait)
    for source, says in (
        (first + wait + second + third, "at the end of the loop body"),
        (first + second + wait + third, "between line"),
    ):
        found = checking.check(tasks.ATTENTION, Local(servant.define([source])["attend"]))
        assert found.failure.kind == "race"
        assert says in found.failure.cause


def test_the_budgets_are_what_is_counted():
    from simt.xray import xray

    case = tasks.ATTENTION.budget.case
    arguments = case.make(np.random.default_rng(0))
    counted = xray(answers.answer("11-attention", "no_tiles"), case.grid, case.block)(*arguments).total
    assert f"{counted['global_load_requests']} without tiles" in tasks.ATTENTION.budget.text
    assert f"it would be {counted['global_load_requests']}" in MASTER["11-attention-task"]
    case = tasks.CAUSAL.budget.case
    arguments = case.make(np.random.default_rng(0))
    scope = servant.define([MASTER["11-attention"], MASTER["11-causal"]])
    n, golf = len(arguments[0]), tasks.CAUSAL.budget.golf
    for kernel, bytes_used in (
        (scope["causal"], tasks.causal.needed_bytes(n)),
        (answers.answer("11-causal", "all_tiles"), tasks.causal.needed_bytes(n, skip=False)),
    ):
        assert xray(kernel, case.grid, case.block)(*arguments).total["bytes_used"] == bytes_used
    assert tasks.CAUSAL.budget.require == {"bytes_used": tasks.causal.needed_bytes(n)}
    assert f"at most {tasks.causal.needed_bytes(n)} `bytes_used`" in MASTER["11-causal-task"]
    assert golf.best == sum(x.size for x in arguments[:3]) // 32  # each number once, 32 in a request


@pytest.mark.parametrize(
    ("name", "values", "refuted"),
    [
        ("first", [88.5], False),
        ("first", [88.8], True),
        ("second", [-80, -120], False),
        ("second", [-110, -120], True),
        ("third", [100, 101], False),
        ("third", [9998, 10_000], True),
    ],
)
def test_which_numbers_refute(name, values, refuted):
    flaw = next(flaw for flaw in tasks.FAILS.flaws if flaw.name == name)
    case = flaw.case(x=flaw.fields["x"].read(values))
    assert outcome_of(flaw.judge, flaw.right, case, 1) is None
    assert (outcome_of(flaw.judge, flaw.wrong, case, 1) is not None) == refuted


def test_two_sizes_that_differ_refute_the_fourth():
    flaw = tasks.FAILS.flaws[-1]
    for queries in (1, 2, 33):
        for keys in (1, 2, 33):
            found = outcome_of(flaw.judge, flaw.wrong, flaw.case(queries=queries, keys=keys), 1)
            assert (found is not None) == (queries != keys and keys > 1), (queries, keys)


def test_the_large_loop_is_the_small_one_many_times():
    """So what was counted of the small one holds for the large one, group by group."""
    small, large = (case.make(np.random.default_rng(0)) for case in (tasks.ROOFLINE.claimed, tasks.ROOFLINE.measured))
    assert {a.size / b.size for a, b in zip(large, small, strict=True)} == {512 / 2}


@pytest.mark.quick
def test_every_mistake_of_a_window_is_seen_in_some_case():
    for options, cause in tasks.window.WINDOWS:
        different = [
            tasks.window.tiles_of_window(*a, **options) != tasks.window.tiles_of_window(*a)
            for a, _ in masters.cases_of(tasks.WINDOW)
        ]
        assert any(different), cause


@pytest.mark.quick
def test_the_mask_of_the_statement_is_that_of_the_task():
    (rule,) = re.findall(r"^```python\n(j <= i .*)\n```$", MASTER["11-window-task"], re.MULTILINE)
    for i, j, window, sink in np.ndindex(9, 9, 4, 3):
        assert eval(rule) == bool(tasks.window.sees(np.array(i), np.array(j), window, sink))
