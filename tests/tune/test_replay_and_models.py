"""Replays of a recorded table, cost models, and what is kept."""

import numpy as np
import pytest

from cpulab.tune import Found, Replay, Space, Trial, exhaustive, fitted, kept_of_best, pruned, random, roofline
from cpulab.tune import kept as kept_answers
from dlkernels.simd import kept as on_disk

pytestmark = pytest.mark.quick

SPACE = Space({"a": range(4), "b": range(3)})


def table(rounds=6):
    """Seconds: the least of each configuration is 1 + its number; drawn samples are larger than that by turns."""
    base = 1.0 + np.arange(len(SPACE))
    noise = np.zeros((len(SPACE), rounds))
    noise[:, ::2] = np.arange(rounds // 2) * 0.1
    return base[:, None] + noise


def test_what_a_configuration_is_worth_never_comes_from_the_samples_that_are_drawn():
    samples = table()
    samples[:, ::2] = 1e-3  # luck
    replay = Replay(SPACE, samples)
    assert np.array_equal(replay.true, 1.0 + np.arange(len(SPACE)))
    assert replay.best == 1
    assert replay.run(random, 5, seed=0).score == 1e-3


def test_effort_says_how_many_samples_are_drawn():
    replay = Replay(SPACE, table())
    whole = replay.trial(np.random.default_rng(0))
    assert {whole(SPACE[5], 1) for _ in range(9)} == {6.0}
    some = replay.trial(np.random.default_rng(0))
    assert {round(some(SPACE[5], 1 / 3), 6) for _ in range(40)} == {6.0, 6.1, 6.2}


def test_a_seed_repeats_a_run_and_another_gives_another():
    replay = Replay(SPACE, table())
    first, again, other = (replay.run(random, 8, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.trials != other.trials


def test_progress_is_the_loss_of_what_would_be_chosen_then():
    replay = Replay(SPACE, table())
    trials = [Trial(4, 0.5, 5.0, 0.5), Trial(7, 0.5, 8.0, 1.0), Trial(7, 1, 8.0, 2.0), Trial(2, 1, 3.0, 3.0)]
    losses = replay.progress(Found(SPACE[2], 3.0, trials), 5)
    assert losses.tolist() == [5, 8, 3, 3, 3]  # more effort counts for more than a better score with less
    assert np.isnan(replay.progress(Found(SPACE[2], 3.0, trials[3:]), 5)[:2]).all()


@pytest.mark.parametrize(
    ("losses", "needed"),
    [([3, 1.04, 1.0], 2), ([1.0, 1.2, 1.05], 3), ([1.0, 1.0], 1), ([2, 1.06], None), ([np.nan, 1.0], 2)],
)
def test_trials_until_the_loss_stays_small(losses, needed):
    assert Replay(SPACE, table()).trials_to(np.array(losses)) == needed


def test_code_is_compiled_once_for_all_that_share_it():
    variants = [SPACE[number]["a"] for number in range(len(SPACE))]
    replay = Replay(SPACE, table(), compile=[100.0] * len(SPACE), variant=variants)
    found = replay.run(exhaustive, 4, 0)  # a = 0 three times, a = 1
    assert replay.seconds(found) == pytest.approx(2 * 100 + 3 * (1 + 2 + 3 + 4))


def test_a_table_of_another_shape_is_refused():
    for wrong in (np.ones((3, 4)), np.ones((len(SPACE), 5)), np.ones(len(SPACE))):
        with pytest.raises(ValueError, match="an even number of rounds"):
            Replay(SPACE, wrong)


def test_a_model_keeps_what_it_holds_for_the_best():
    seconds = 1.0 + np.arange(len(SPACE))
    part = pruned(SPACE, seconds, 0.5)
    assert [part[number] for number in range(len(part))] == [SPACE[number] for number in range(6)]
    assert kept_of_best(SPACE, seconds, seconds, 0.5, best=4) == 4
    assert kept_of_best(SPACE, -seconds, seconds, 0.5, best=4) == 0
    assert kept_of_best(SPACE, -seconds, seconds, 9, best=4) == 1
    assert part.neighbours(0) == [part.number({"a": 1, "b": 0}), part.number({"a": 0, "b": 1})]
    for wrong in (0, 13):
        with pytest.raises(ValueError, match="expected 1 to 12"):
            pruned(SPACE, seconds, wrong)
    with pytest.raises(ValueError, match="one for each configuration"):
        pruned(SPACE, seconds[:3], 0.5)


def test_prices_are_found_again_and_none_is_negative():
    counts = np.random.default_rng(0).uniform(0, 1e6, (30, 3))
    counts[:, 2] = 0  # nothing of this kind
    assert fitted(counts, counts @ [2e-9, 5e-9, 0]) == pytest.approx([2e-9, 5e-9, 0])
    assert (fitted(counts, 1.0 + counts[::-1, 0]) >= 0).all()
    assert roofline([[10, 1], [1, 10]], [1, 2]).tolist() == [10, 20]


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setattr(on_disk, "user_cache_dir", lambda program: str(tmp_path / program))
    return tmp_path


def refuse():
    raise AssertionError("this was found before")


def test_an_answer_is_kept_for_its_key_and_no_other(folder, monkeypatch):
    a, asked = np.zeros((3, 4), np.float32), []

    def find():
        asked.append(1)
        return Found(SPACE[len(asked)], 1.0, [])

    first = kept_answers.tuned(SPACE, find, "product", arrays=(a,))
    assert kept_answers.tuned(SPACE, refuse, "product", arrays=(a,)) == first == SPACE[1]
    others = [
        lambda: kept_answers.tuned(SPACE, find, "sum", arrays=(a,)),
        lambda: kept_answers.tuned(SPACE, find, "product", arrays=(a.T,)),
        lambda: kept_answers.tuned(SPACE, find, "product", arrays=(a.astype(np.float64),)),
        lambda: kept_answers.tuned(SPACE, find, "product", arrays=(a,), layout="F"),
        lambda: kept_answers.tuned(SPACE, find, "product", arrays=(a,), again=True),
    ]
    for count, ask in enumerate(others, start=2):
        ask()
        assert len(asked) == count
    monkeypatch.setattr(kept_answers.numba, "__version__", "another")
    kept_answers.tuned(SPACE, find, "product", arrays=(a,))
    monkeypatch.setattr(kept_answers.numba, "get_num_threads", lambda: 77)
    kept_answers.tuned(SPACE, find, "product", arrays=(a,))
    assert len(asked) == len(others) + 3
    before = kept_answers._FILE.file
    monkeypatch.setattr(on_disk, "library_stamp", lambda: "newer")
    assert kept_answers._FILE.file != before
    assert kept_answers._FILE.file.parent == folder / "cpulab"


@pytest.mark.parametrize("stored", [{"a": "9", "b": "0"}, {"a": "1"}, 3, None, ["a"], {"a": [1], "b": 0}])
def test_what_is_no_configuration_any_more_is_searched_again(folder, stored):
    name = kept_answers.key("product")
    kept_answers._FILE.update({name: stored})
    assert kept_answers.tuned(SPACE, lambda: SPACE[3], "product") == SPACE[3]
    assert kept_answers.tuned(SPACE, refuse, "product") == SPACE[3]


@pytest.mark.parametrize(
    "values", [2 ** np.arange(3), ((1, 2), (2, 1), (4, 4)), (np.float32, np.float64, None)], ids=str
)
def test_an_answer_of_any_values_is_kept(folder, values):
    space = Space({"values": values})
    first = kept_answers.tuned(space, lambda: space[1], "which")
    assert kept_answers.tuned(space, refuse, "which") == first == space[1]
