"""What `make affected` selects for real files of this repository."""

import subprocess
from pathlib import Path

import affected
import mutations
import pytest
import uses

quick = pytest.mark.quick
KERNELS, COURSEWORK, BOOK = "tests/kernels/test_", "tests/coursework/test_", "tests/book/test_"
OPERATIONS, WRONG_ANSWERS = f"{KERNELS}operations.py", "tests/wrong_answers/test_wrong_answers.py"


@pytest.fixture(scope="module")
def all_uses():
    return uses.Uses()


@pytest.fixture
def plan(all_uses):
    return lambda *changed, **options: affected.Plan(changed, all_uses, **options)


def whole(plan):
    return plan.whole.keys() - set(affected.ALWAYS)


def all_of(plan):
    return {*whole(plan), *plan.named, *plan.quick}


def folders(tests):
    return {test.split("/")[1] for test in tests}


@quick
def test_a_kernel(plan):
    found = plan("lib/dlkernels/convolution/cpu.py")
    assert {
        f"{KERNELS}{name}.py" for name in ("convolution", "winograd", "host", "gpu_convolution")
    } <= found.whole.keys()
    assert not {f"{KERNELS}{name}.py" for name in ("matmul", "vector", "attention", "decoding")} & all_of(found)
    words, share = found.named[OPERATIONS]
    assert {"conv2d_tile", "conv2d_chosen", "[conv2d-", "[conv2d]"} <= set(words)
    assert not {"add_compiled", "matmul_tile", "attention_tiles", "max_pool2d_columns", "[softmax]"} & set(words)
    assert 0.02 < share < 0.3
    assert folders(whole(found)) == {"kernels"}
    assert not folders(all_of(found)) & {"coursework", "grading", "wrong_answers", "threads"}
    assert {"chapters/09_convolution.md", "chapters/09_convolution_fast.md"} <= found.pages.keys()
    assert not {"chapters/02_threads.md", "chapters/08_matmul.md", "chapters/07_vector_add.md"} & found.pages.keys()


@quick
def test_a_kernel_that_others_use(plan):
    found = plan("lib/dlkernels/matrix/blocks.py")
    assert {f"{KERNELS}{name}.py" for name in ("matmul", "convolution", "attention")} <= found.whole.keys()
    assert {"matmul_tile", "conv2d_implicit", "attention_tiles"} <= set(found.named[OPERATIONS][0])
    assert "add_one_per_element" not in found.named[OPERATIONS][0]


@quick
def test_a_file_of_the_x_ray(plan):
    found = plan("lib/simt/xray/conflicts.py")
    assert {"tests/xray/test_unset.py", "tests/xray/test_counts.py", "tests/zoo/test_zoo.py"} <= found.whole.keys()
    assert {f"{KERNELS}gpu_convolution.py", f"{COURSEWORK}answer.py"}.isdisjoint(found.whole)
    assert f"{KERNELS}gpu_convolution.py" in found.quick
    assert OPERATIONS not in all_of(found)
    assert not {"tests/threads/test_explore.py", "tests/simd/test_tile.py"} & all_of(found)
    assert {"chapters/xray.md", "chapters/xray_counts.md"} <= found.pages.keys()
    assert len(found.pages) == affected.MOST_PAGES
    assert "chapters/11_block.md" in found.left
    assert "chapters/11_block.md" in plan("lib/simt/xray/conflicts.py", everything=True).pages


@quick
def test_a_chapter(plan):
    found = plan("chapters/07_vector_add.md")
    assert not whole(found)
    assert found.pages.keys() == {"chapters/07_vector_add.md"}
    assert {f"{BOOK}{name}.py" for name in ("pages", "axe", "links", "sources", "times")} <= found.named.keys()
    assert folders(found.named) == {"book"}
    assert all(words == ["07_vector_add"] for words, _ in found.named.values())
    assert not found.notebooks


@quick
def test_tasks_answers_and_notebooks(plan):
    found = plan("lib/coursework/tasks/c09/halo.py")
    assert f"{COURSEWORK}09_tasks.py" in found.whole
    assert not {f"{COURSEWORK}03_tasks.py", "tests/grading/test_grading_hostile.py"} & all_of(found)
    assert found.named[WRONG_ANSWERS][0] == ["09-"]
    assert found.notebooks.keys() == {"solutions/09_convolution.ipynb"}
    found = plan("tests/wrong_answers/06b_bins.py")
    assert found.named[WRONG_ANSWERS][0] == ["06b-bins"]
    assert not found.notebooks
    found = plan("solutions/03_numba_parallel.ipynb")
    assert found.notebooks.keys() == {"solutions/03_numba_parallel.ipynb"}
    assert found.named[f"{COURSEWORK}coursework_build.py"][0] == ["03-", "03_numba_parallel"]


@quick
def test_helpers_of_tests_and_other_files(plan):
    assert whole(plan("tests/zoo/zoo_masks.py")) == {"tests/zoo/test_zoo.py"}
    found = plan("tests/kernels/checks.py")
    assert {f"{KERNELS}recurrent.py", f"{KERNELS}vector.py"} <= found.whole.keys()
    assert OPERATIONS in found.left  # twenty minutes
    assert OPERATIONS in plan("tests/kernels/checks.py", everything=True).whole
    assert OPERATIONS in plan(OPERATIONS).whole  # whatever it takes
    assert f"{BOOK}moving_figures.py" in plan("_static/halo.html").whole
    assert "chapters/09_convolution_fast.md" in plan("_static/halo.html").pages
    assert "tests/measure/test_gallery.py" in plan("benchmarks/gallery.py").whole
    found = plan("Makefile")
    assert "tests/grading/test_grading_walk.py" in found.whole
    assert not folders(all_of(found)) & {"kernels", "simt", "xray", "threads"}
    assert len(plan("tests/conftest.py").quick) > 80


@quick
def test_a_module_that_was_removed_and_a_file_that_nobody_uses(plan):
    assert f"{KERNELS}convolution.py" in plan("lib/dlkernels/convolution/gone.py").whole
    assert plan("docs/A_STUDENTS_PATH.md").whole.keys() >= set(affected.ALWAYS)


@quick
def test_where_a_name_comes_from(all_uses):
    defined = all_uses._defined
    assert defined("dlkernels", "conv2d") == {"conv2d"}
    assert defined("dlkernels", "cuda") == {"lib/dlkernels/device.py"}
    assert defined("dlkernels", "KVCache") == {"lib/dlkernels/attention/kv_cache.py"}
    assert defined("simt", "KernelError") == {"lib/simt/errors.py"}
    assert defined("cpulab", "measure") == {"lib/cpulab/measure/__init__.py"}
    assert defined("cpulab.measure", "times") == {"lib/cpulab/measure/timing.py"}
    assert defined("numpy", "sum") == set()
    used = all_uses.used_by("lib/simt/policy.py")
    assert "lib/simt/compiled/__init__.py" in used  # in a function
    assert "lib/dlkernels/team.py" in all_uses.used_by("chapters/03_pools.md")


@quick
def test_the_programs_that_run_it(plan):
    found = plan(
        "tests/wrong_answers/09_line.py",
        "tests/zoo/zoo_masks.py",
        "chapters/01_timing.md",
        "solutions/02_threads.ipynb",
    )
    style, layout, tests, notebooks, pages = found.commands(book=False, arguments=["-x"])
    assert "check" in style
    assert "format" in layout
    assert style[-2:] == layout[-2:] == ["tests/wrong_answers/09_line.py", "tests/zoo/zoo_masks.py"]
    chosen = tests[tests.index("-k") + 1]
    assert "test_zoo.py or " in chosen
    assert "(test_wrong_answers.py and (09-line))" in chosen
    assert "not slow and not book" in tests
    assert tests[-1] == "-x"
    assert "solutions/02_threads.ipynb" in notebooks
    assert pages[-1] == "chapters/01_timing.md"
    said = "\n".join(found.lines())
    assert "zoo/test_zoo.py (by tests/zoo/zoo_masks.py)" in said
    assert "solutions/02_threads.ipynb (themselves changed)" in said


@quick
def test_what_has_changed(tmp_path, monkeypatch):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x", *arguments], cwd=tmp_path, check=True)

    git("init", "-q", "-b", "main")
    for name in ("kept", "changed", "moved", "removed"):
        Path(tmp_path, name).write_text(f"the file {name}\n" * 9)
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("update-ref", "refs/remotes/origin/main", "HEAD")
    Path(tmp_path, "changed").write_text("x")
    git("commit", "-q", "-a", "-m", "second")
    git("mv", "moved", "there")
    Path(tmp_path, "removed").unlink()
    Path(tmp_path, "new name").touch()
    monkeypatch.setattr(uses, "ROOT", tmp_path)
    _, changed = affected.changed_since()
    assert changed == ["changed", "moved", "new name", "removed", "there"]
    _, changed = affected.changed_since("HEAD")
    assert changed == ["moved", "new name", "removed", "there"]
    with pytest.raises(SystemExit, match="no commit nowhere"):
        affected.changed_since("nowhere")


def test_what_notices_a_planted_fault_is_run(plan):
    """The faults of mutations.py know which tests a line has."""
    texts, plans, missed = mutations.texts_of(uses.ROOT / "lib"), {}, []
    for fault in mutations.FAULTS:
        name = mutations.find(fault, texts).relative_to(uses.ROOT).as_posix()
        found = plans[name] = plans.get(name) or plan(name, everything=True)
        if fault.file not in {*found.whole, *found.named}:
            missed.append((name, fault.file))
    # Tallies are a matter of tests/simt; one fault of theirs is noticed by the record of a GPU only.
    assert missed == [("lib/simt/compiled/tallying.py", "tests/measure/test_gpu_record.py")]
