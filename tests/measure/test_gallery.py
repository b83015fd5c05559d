"""The gallery shows every GPU rung, with the counts that the x-ray gives now."""

import importlib
from pathlib import Path

import pytest

from cpulab.gallery import by_folder
from cpulab.measure import recorded
from dlkernels import implementations

REPOSITORY = Path(__file__).resolve().parents[2]
RUNGS = [rung for rung in implementations.everything() if rung.device == "gpu"]
CHEAP = (
    "add_wide", "matmul_naive", "matmul_shared_tile", "softmax_block_per_row", "max_pool2d_one_per_window",
    "transpose_padded", "sum_last_block", "histogram_private",
)  # fmt: skip


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(REPOSITORY / "benchmarks"))
        yield importlib.import_module("gallery")


@pytest.mark.quick
def test_every_rung_of_a_gpu_is_there():
    names = [rung.name for rung in RUNGS]
    kept = [row["name"] for row in recorded("gallery").data["rows"]]
    assert sorted(kept) == sorted(names), "python benchmarks/run.py gallery"
    assert sorted(rung.name for gallery in by_folder(RUNGS).values() for rung in gallery.rungs) == sorted(names)


# What another call of a rung launches, and the one that the gallery shows does not: with running statistics, without
# momentum, with a decay that belongs to the gradient. Each is compiled and proved like all others.
OTHER_CALLS = {
    "batch_norm_block_per_channel": ("widen_kernel", "coefficients_kernel", "apply_kernel"),
    "batch_norm_two_stages": ("widen_kernel",),
    "batch_norm_backward_two_stages": ("widen_kernel",),
    "sgd_launches": ("copy_kernel",),
    "adamw_launches": ("scaled_sum_kernel",),
}


@pytest.mark.quick
def test_a_card_shows_the_kernels_of_its_rung_and_no_helper(script):
    """Each that the rung names, in that order; a copy, or a product before it, has its picture elsewhere."""
    rows = {row["name"]: row for row in recorded("gallery").data["rows"]}
    for rung in RUNGS:
        other = OTHER_CALLS.get(rung.name, ())
        named = dict.fromkeys(kernel for kernel in script.names_of_kernels(rung) if kernel not in other)
        shown = dict.fromkeys(launch["kernel"] for launch in rows[rung.name]["launches"])
        assert list(shown) == list(named), f"{rung.name}: what call in benchmarks/gallery.py leads there?"
        assert not set(named) & set(rows[rung.name]["helpers"])


@pytest.mark.parametrize("name", CHEAP)
def test_the_record_is_what_is_counted_now(script, name):
    (rung,) = (rung for rung in script.rungs() if rung.name == name)
    (kept,) = (row for row in recorded("gallery").data["rows"] if row["name"] == name)
    found = script.look(rung)
    for one, other in zip(found["launches"], kept["launches"], strict=True):
        assert {key: value for key, value in one.items() if key != "request"} == {
            key: value for key, value in other.items() if key != "request"
        }
        assert one["request"]["lanes"] == other["request"]["lanes"]


def test_launches_are_caught_only_inside(script):
    import numpy as np

    from dlkernels import add

    rung = next(rung for rung in script.rungs() if rung.name == "add_one_per_element")
    with script.launches() as reports:
        rung(np.ones(5, np.float32), np.ones(5, np.float32))
    rung(np.ones(5, np.float32), np.ones(5, np.float32))
    assert [report.kernel for report in reports] == ["add_kernel"]
    assert (add(np.ones(5), np.ones(5)) == 2).all()


@pytest.mark.quick
def test_cards_say_what_is_known():
    gallery = by_folder(RUNGS)["matrix"]
    for words in ("matmul_naive", "sectors a request", "registers"):
        assert words in repr(gallery)
    html = gallery._repr_html_()
    assert html.count("<details>") == len({rung.operation for rung in gallery.rungs})
    assert html.count('role="img"') >= len(gallery.rungs)
