"""A simulated training step: what it counts against formulas of papers, what it refuses, and published runs."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import simulate
from workers.simulate import Grid, Impossible, runs, steps

GPT3 = simulate.models["gpt-175b"]
SMALL = simulate.Model(8, 1024, 16, 2048, 32000)
EXPERTS = SMALL.but(experts=8, active=2, gated=True, dropout=False)


def cluster(size, **changes):
    return simulate.cluster("h100", size).but(**changes)


# ---- shapes ----------------------------------------------------------------------------------------------------------

SAID = {"gpt-1.7b": 1.7, "gpt-3.6b": 3.6, "gpt-7.5b": 7.5, "gpt-18b": 18.4, "gpt-39b": 39.1, "gpt-76b": 76.1,
        "gpt-145b": 145.6, "gpt-310b": 310.1, "gpt-530b": 529.6, "gpt-1t": 1008.0, "gpt-175b": 174.6, "llama3-8b": 8.03,
        "llama3-70b": 70.6, "llama3-405b": 405.9, "nemotron4-340b": 341, "grok-1": 314}  # fmt: skip


@pytest.mark.parametrize("name", SAID)
def test_a_model_has_as_many_parameters_as_its_paper_says(name):
    assert simulate.models[name].parameters / 1e9 == pytest.approx(SAID[name], rel=0.006, abs=0.06)


@pytest.mark.parametrize("name", [name for name in simulate.models if name.startswith("gpt")])
def test_parameters_and_operations_of_gpt_are_the_formulas_of_narayanan(name):
    m = simulate.models[name]
    layers, h, s, v = m.layers, m.width, m.sequence, m.vocabulary
    assert m.parameters == pytest.approx(12 * layers * h**2 * (1 + 13 / (12 * h) + (v + s) / (12 * layers * h)))
    assert m.flops_per_token * s == pytest.approx(72 * s * layers * h**2 * (1 + s / (6 * h) + v / (12 * layers * h)))


@pytest.mark.parametrize(("name", "flops"), [("llama3-405b", 2.17e16), ("llama3-70b", 3.94e15), ("gpt-175b", 2.20e15)])
def test_operations_are_those_that_nvidia_counts(name, flops):
    m = simulate.models[name]
    assert m.flops_per_token * m.sequence == pytest.approx(flops, rel=0.01)


# ---- memory ----------------------------------------------------------------------------------------------------------


@given(st.sampled_from([1, 2, 4, 8]), st.integers(1, 4), st.booleans(), st.sampled_from(["none", "selective"]))
def test_a_layers_activations_are_those_of_korthikanti(t, b, parallel, recompute):
    s, h, a = GPT3.sequence, GPT3.width, GPT3.heads
    grid = Grid(tensor=t, microbatch=b, sequence_parallel=parallel, recompute=recompute, flash=False)
    scores = 5 * a * s / h if recompute == "none" else 0
    rest = 34 / t if parallel else 10 + 24 / t
    assert steps.layer_activations(GPT3, grid) == pytest.approx(s * b * h * (rest + scores / t))


# GiB for each GPU of figure 1 of Korthikanti and others, as read from it by the authors of Calculon (validation.py)
@pytest.mark.parametrize(
    ("name", "p", "b", "v", "state", "activations"),
    [("gpt-22b", 1, 4, 1, 45.6, 9.56), ("gpt-175b", 8, 1, 3, 45.6, 12.35), ("gpt-530b", 35, 1, 3, 31.6, 23.1),
     ("gpt-1t", 64, 1, 1, 33.0, 26.6)],
)  # fmt: skip
def test_memory_is_that_of_korthikantis_figure(name, p, b, v, state, activations):
    grid = Grid(8, p, microbatch=b, interleave=v, zero=0, recompute="selective", flash=False)
    holds = simulate.steps.memory(simulate.models[name], grid, 8 * p * b)
    assert sum(holds[k] for k in ("weights", "gradients", "optimizer")) / 2**30 == pytest.approx(state, rel=0.1)
    assert holds["activations"] / 2**30 == pytest.approx(activations, rel=0.03)


@pytest.mark.parametrize(("zero", "each"), [(0, 18), (1, 6 + 12 / 64), (2, 2 + 16 / 64), (3, 18 / 64)])
def test_zero_shares_what_rajbhandari_says(zero, each):
    """Bytes for each parameter: 2 of weights, 4 of gradients, 12 of Adam's, the last three levels cut by 64."""
    model = SMALL.but(vocabulary=1024)
    holds = steps.memory(model, Grid(data=64, zero=zero), 64)
    held = sum(holds[k] for k in ("weights", "gradients", "optimizer"))
    layer = model.attention_parameters + model.expert_parameters + model.small_parameters
    gathered = 4 * layer if zero == 3 else 0
    assert held == pytest.approx(each * model.parameters + gathered, rel=1e-6)


def test_experts_are_spread():
    one, spread = (steps.memory(EXPERTS, Grid(data=8, expert=e, zero=0), 8) for e in (1, 8))
    experts = EXPERTS.layers * 8 * EXPERTS.expert_parameters
    assert one["weights"] - spread["weights"] == pytest.approx(2 * experts * 7 / 8)


def test_full_recomputation_keeps_a_layers_input():
    holds = steps.memory(GPT3, Grid(8, 8, recompute="full", sequence_parallel=False), 64)
    one = steps.layer_activations(GPT3, Grid(8, sequence_parallel=False))
    assert holds["activations"] == pytest.approx(12 * 8 * 2 * GPT3.sequence * GPT3.width + one)


# ---- time ------------------------------------------------------------------------------------------------------------


@given(
    st.sampled_from([1, 2, 4, 8]), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2]), st.sampled_from([1, 2, 4, 8])
)
def test_parts_make_the_step_and_no_gpu_beats_its_kernels(t, p, c, micro):
    machines = cluster(t * p * c * 2)
    found = simulate.step(SMALL, Grid(t, p, 2, c, microbatch=micro), machines, 2 * micro * 8)
    assert found.time == pytest.approx(sum(found.parts.values()))
    assert min(found.parts.values()) >= 0
    assert 0 < found.mfu < machines.gpu.kernels
    assert found.tokens_per_second * found.time == pytest.approx(2 * micro * 8 * SMALL.sequence)


def test_the_bubble_is_that_of_the_formula():
    """Without logits all stages are alike: a part of (p - 1) / (m + p - 1), and with v chunks (p - 1) / v."""
    model, p, m = SMALL.but(vocabulary=1), 4, 8
    still = cluster(p, far=simulate.Link("none", 0, 1e30), near=simulate.Link("none", 0, 1e30))
    for v in (1, 2):
        found = simulate.step(model, Grid(1, p, microbatch=1, interleave=v), still, m)
        working = found.parts["compute"] + found.parts["bubble"]
        assert found.parts["bubble"] / working == pytest.approx((p - 1) / v / (m + (p - 1) / v), rel=0.01)


@pytest.mark.parametrize("p", [2, 4, 8])
@pytest.mark.parametrize("m", [4, 16])
def test_a_pipeline_with_logits_takes_as_long_as_when_it_is_run(p, m):
    model = SMALL.but(vocabulary=200_000)
    still = cluster(p, far=simulate.Link("none", 0, 1e30), near=simulate.Link("none", 0, 1e30))
    found = simulate.step(model, Grid(1, p, overlap=("pipeline",)), still, m)
    forward, backward = (one.seconds for one in steps._layer(model, Grid(1, p), still))
    parts = {k: found.parts[k] for k in ("compute", "bubble")}
    layers = model.layers // p
    head = parts["compute"] / m - layers * (forward + backward)
    run = simulate.pipelined(
        [layers * forward] * (p - 1) + [layers * forward + head / 3],
        [layers * backward] * (p - 1) + [layers * backward + head * 2 / 3],
        m,
    )
    assert sum(parts.values()) == pytest.approx(run, rel=1e-9)


def test_gradients_travel_as_the_ring_says():
    machines = cluster(64, rails=False)
    grid = Grid(data=64, zero=0, overlap=())
    found = simulate.step(SMALL, grid, machines, 64)
    layer = SMALL.attention_parameters + SMALL.expert_parameters + SMALL.small_parameters
    nbytes = 4 * (SMALL.layers * layer + SMALL.embedding_parameters)
    link = machines.far
    assert found.parts["data"] == pytest.approx(126 * (link.alpha + nbytes / 64 / (link.beta * link.efficiency)))
    hidden = simulate.step(SMALL, grid.but(overlap=("data",)), machines, 64)
    assert hidden.parts["data"] < found.parts["data"]


def test_tensor_parallel_moves_two_sums_for_each_layer_and_pass():
    machines = cluster(8)
    found = simulate.step(SMALL, Grid(8, overlap=()), machines, 4)
    link = machines.near
    one = 14 * (link.alpha + 2 * SMALL.sequence * SMALL.width / 8 / (link.beta * link.efficiency))
    assert found.parts["tensor"] == pytest.approx(4 * SMALL.layers * 4 * one)


@pytest.mark.parametrize(
    "changes", [{"recompute": "full"}, {"flash": False}, {"overlap": ()}, {"sequence_parallel": False}]
)
def test_what_saves_nothing_costs_time(changes):
    grid = Grid(8, 8, 2)
    machines = cluster(128, gpu=dataclasses.replace(simulate.GPUS["h100"], memory=1e15))
    assert simulate.step(GPT3, grid.but(**changes), machines, 64).time > simulate.step(GPT3, grid, machines, 64).time


def test_experts_compute_for_the_tokens_that_see_them():
    dense = EXPERTS.but(experts=1, active=1)
    one, many = (simulate.step(m, Grid(microbatch=8), cluster(1), 8).parts["compute"] for m in (dense, EXPERTS))
    assert one < many < 2 * one * 1.2


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "grid", "size", "batch", "says"),
    [
        (SMALL, Grid(2, 2, 2), 16, 8, "= 8 GPUs; the cluster has 16"),
        (SMALL, Grid(16), 16, 8, "beyond a node of 8"),
        (SMALL.but(heads=12, width=1536), Grid(8), 8, 8, "does not divide 12 heads"),
        (SMALL, Grid(1, 3), 3, 8, "do not divide 8 layers, nor 10"),
        (SMALL, Grid(1, 1, 8, interleave=2), 8, 8, "without a pipeline"),
        (SMALL, Grid(1, 1, 8), 8, 12, "does not divide a batch of 12"),
        (SMALL, Grid(1, 1, 8, microbatch=2), 8, 8, "does not divide a batch of 8"),
        (SMALL, Grid(1, 4, interleave=2), 4, 6, "6 microbatches for an interleaved pipeline of 4"),
        (EXPERTS, Grid(1, 1, 4, expert=8), 4, 8, "expert 8 does not divide"),
        (SMALL, Grid(1, 1, 4, expert=2), 4, 8, "and 1 experts"),
        (SMALL.but(sequence=2050), Grid(context=4), 4, 8, "into pairs of equal parts"),
        (SMALL, Grid(0), 1, 8, "tensor is 0"),
        (SMALL, Grid(zero=4), 1, 8, "expected 0 to 3"),
        (SMALL, Grid(recompute="some"), 1, 8, "none, selective or full"),
        (SMALL, Grid(1, 2, 2, zero=3), 4, 8, "expected zero 0 or 1"),
        (GPT3, Grid(8), 8, 8, "would hold"),
    ],
)
def test_an_impossible_grid_is_refused_with_what_is_wrong(model, grid, size, batch, says):
    with pytest.raises(Impossible, match=says):
        simulate.step(model, grid, cluster(size), batch)


def test_a_pipeline_may_count_embedding_and_logits_as_layers():
    """As Llama 3 405B does: 126 layers on 128 parts."""
    model = simulate.models["llama3-405b"]
    found = simulate.step(model, Grid(8, 16, 8, interleave=8, recompute="full"), cluster(1024), 128)
    assert found.mfu > 0.3


def test_unknown_names_are_named():
    with pytest.raises(KeyError, match="a100, h100, h200"):
        simulate.cluster("b300", 8)
    with pytest.raises(TypeError, match="a Grid has no threads"):
        simulate.search(SMALL, cluster(8), 8, threads=2)
    with pytest.raises(ValueError, match="1 or more"):
        simulate.cluster("h100", 0)


def test_a_step_in_words():
    words = str(simulate.step(GPT3, Grid(8, 8, 8), cluster(512), 1024))
    assert words.startswith("tensor 8 x pipeline 8 x data 8; microbatch 1, ZeRO-1\n")
    assert "MFU" in words
    assert "compute" in words
    assert str(Grid(expert=2, data=2, interleave=3, recompute="full")).count(",") == 3


# ---- search ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "size", "batch"), [(SMALL, 8, 32), (SMALL, 12, 24), (EXPERTS, 16, 32), (SMALL, 1, 1)]
)
def test_the_search_finds_what_trying_all_by_hand_finds(model, size, batch):
    found = simulate.search(model, cluster(size), batch, zero=1, recompute="none")
    assert [one.time for one in found] == sorted(one.time for one in found)
    best = math.inf
    for t in (1, 2, 4, 8):
        for p in range(1, 9):
            for micro in (1, 2, 4, 8):
                for v in (1, 2, 3, 4, 6, 8):
                    for e in (1, 2, 4, 8):
                        try:
                            grid = Grid(t, p, size // (t * p) or 1, expert=e, microbatch=micro, interleave=v)
                            best = min(best, simulate.step(model, grid, cluster(size), batch).time)
                        except Impossible:
                            pass
    assert found[0].time == pytest.approx(best) or (model.experts > 1 and found[0].time >= best)
    assert simulate.best(model, cluster(size), batch, zero=1, recompute="none").time == found[0].time


def test_what_is_held_is_held():
    found = simulate.search(GPT3, cluster(512), 1024, tensor=8, overlap=())
    assert found
    assert {one.grid.tensor for one in found} == {8}
    assert {one.grid.overlap for one in found} == {()}
    with pytest.raises(Impossible, match="no grid of 8 GPUs"):
        simulate.best(GPT3, cluster(8), 8)


def test_the_search_chooses_what_nvidia_chose_for_gpt3():
    """Their recipe for 128 to 2048 H100: tensor 4, pipeline 8, microbatch 1, 12 parts on each GPU."""
    grid = simulate.best(GPT3, cluster(512), 1024).grid
    assert (grid.tensor, grid.pipeline, grid.microbatch, grid.interleave) == (4, 8, 1, 12)


# ---- published runs --------------------------------------------------------------------------------------------------

RUNS = runs.published()


@pytest.mark.parametrize("gpu", ["a100", "h100"])
def test_kernels_on_the_cards_are_those_fitted_on_the_rows_to_fit(gpu):
    assert runs.fitted(gpu) == simulate.GPUS[gpu].kernels


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.source} {run.name} {run.gpus}")
def test_a_published_run_is_met_within_fifteen_per_cent(run):
    assert run.grid.size == run.gpus
    assert abs(run.error()) < 0.15


def test_published_runs_are_met_within_five_per_cent_on_average():
    tests = [run for run in RUNS if not run.fit]
    assert len(tests) >= 40
    assert len({run.source for run in RUNS}) == 5
    assert runs.mean_error(tests) < 0.05


def test_tflops_and_seconds_of_megascale_agree():
    """Its table gives seconds and tokens/s."""
    for run, tokens in zip(
        (run for run in RUNS if run.source == "jiang2024"),
        (39.3e3, 74.1e3, 103.8e3, 132.7e3, 433.6e3, 851.6e3, 1027.9e3, 1466.8e3),
        strict=True,
    ):
        assert run.batch * 2048 / run.seconds == pytest.approx(tokens, rel=0.005)


def test_zero3_of_2021_lies_between_one_port_with_and_without_overlap():
    for run in runs.zero3():
        hidden = run.simulated(rails=False).time
        waits = dataclasses.replace(run, grid=run.grid.but(overlap=())).simulated(rails=False).time
        assert hidden < run.seconds < waits * 1.05
        assert run.simulated().time < 0.75 * run.seconds  # all ports and overlap would have been much faster
