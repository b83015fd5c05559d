"""Figures that move: by button, by key, alone; without their script's help they are still pictures."""

import itertools
import json
import re

import numpy as np
import pytest
from built import ROOT

from dlkernels import conv2d_backward
from dlkernels.convolution import geometry
from dlkernels.convolution.im2col import columns_of

STATIC = ROOT / "_static"
MOVING = sorted(path.name for path in STATIC.glob("*.html") if "figures." in path.read_text(encoding="utf-8"))
PLAYERS = [name for name in MOVING if "figures.player" in (STATIC / name).read_text(encoding="utf-8")]
# The page's clock: it goes on when a test says so.
CLOCK = """<script>
window.setInterval = (step, every) => { window.tick = step; window.every = every; return 1; };
window.clearInterval = (timer) => { if (timer) window.tick = null; };
</script>"""
CAPTION = "document.querySelector('[data-caption]').textContent"


@pytest.fixture
def opened(request, browser, tmp_path):
    figure = (STATIC / request.param).read_text(encoding="utf-8")
    script = (STATIC / "figures.js").read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(
        f"<!doctype html><html><meta charset='utf-8'><title>T</title>{CLOCK}<script>{script}</script>{figure}</html>",
        encoding="utf-8",
    )
    page = browser.open((tmp_path / "page.html").as_uri())
    assert not page.errors, page.errors
    return page


def click(page, name):
    page.evaluate(f"document.querySelector('[data-do={name}]').click()")


def press(page, key):
    page.evaluate(
        f"document.querySelector('figure').dispatchEvent(new KeyboardEvent('keydown', {{key: {key!r}, cancelable: "
        f"true}}))"
    )


def test_there_are_figures():
    assert len(PLAYERS) >= 3
    assert len(MOVING) - len(PLAYERS) >= 2


@pytest.mark.parametrize("opened", PLAYERS, indirect=True)
def test_a_player_goes_by_button_and_key_and_alone(opened):
    assert not opened.evaluate("document.querySelector('[data-controls]').hidden")
    first = opened.evaluate(CAPTION)
    click(opened, "next")
    second = opened.evaluate(CAPTION)
    assert second != first
    press(opened, "ArrowLeft")
    assert opened.evaluate(CAPTION) == first
    press(opened, "ArrowRight")
    assert opened.evaluate(CAPTION) == second
    click(opened, "back")
    click(opened, "play")
    assert opened.evaluate("document.querySelector('[data-do=play]').textContent") == "Stop"
    assert opened.evaluate("every") >= 500  # milliseconds: time to look
    opened.evaluate("tick(), 1")
    assert opened.evaluate(CAPTION) == second
    press(opened, " ")
    assert opened.evaluate("document.querySelector('[data-do=play]').textContent") == "Play"
    assert opened.evaluate("tick") is None


@pytest.mark.parametrize("opened", sorted(set(MOVING) - set(PLAYERS)), indirect=True)
def test_each_button_has_its_key(opened):
    names = opened.evaluate("[...document.querySelectorAll('[data-do]')].map((b) => b.dataset.do)")
    for name in names:
        click(opened, "r")
        before = opened.evaluate(CAPTION)
        click(opened, name)
        by_button = opened.evaluate(CAPTION)
        click(opened, "r")
        assert opened.evaluate(CAPTION) == before
        press(opened, name.upper())
        assert opened.evaluate(CAPTION) == by_button
        assert name == "r" or by_button != before


def numbers(page):
    return [int(number) for number in re.findall(r"\d+", page.evaluate(CAPTION))]


@pytest.mark.parametrize("opened", ["halo.html"], indirect=True)
def test_the_halo_is_what_a_tile_of_results_needs(opened):
    for kernel in (3, 5):
        opened.evaluate(f"document.querySelector('[data-kernel=\"{kernel}\"]').click()")
        for _ in range(8):
            press(opened, "ArrowLeft")
        for side in range(1, 9):
            grad = np.zeros((1, 13 - kernel, 13 - kernel), np.float32)
            grad[0, :side, :side] = 1
            pixels, weights = np.ones((1, 12, 12), np.float32), np.ones((1, 1, kernel, kernel), np.float32)
            needed = np.count_nonzero(conv2d_backward(grad, pixels, weights)[0])
            assert numbers(opened)[:6] == [kernel, kernel, side, side, needed, side * side]
            press(opened, "ArrowRight")


@pytest.mark.parametrize("opened", ["im2col.html"], indirect=True)
def test_the_columns_are_those_of_im2col(opened):
    g, _ = geometry.convolution((5, 5), (3, 3))
    with columns_of(np.arange(1, 26, dtype=np.float32).reshape(1, 5, 5), g, 0, 3, 3) as columns:
        columns = columns.copy()
    for window in range(9):
        assert numbers(opened)[:13] == [window + 1, 9, *columns[:, window], window + 1, window + 1]
        press(opened, "ArrowRight")
    assert numbers(opened)[:4] == [9, columns.size, 25, 13]
    assert np.count_nonzero(columns == 13) == 9


@pytest.mark.parametrize("opened", ["dependence.html"], indirect=True)
@pytest.mark.parametrize("layers", [1, 3])
def test_rounds_are_those_of_the_longest_chains(opened, layers):
    when = {(0, t): 1 for t in range(6)}
    for layer in range(1, layers + 1):
        for t in range(6):
            when[layer, t] = 1 + max(when.get((layer, t - 1), 0), when[layer - 1, t])
    opened.evaluate(f"document.querySelector('[data-layers=\"{layers}\"]').click()")
    for _ in range(9):
        press(opened, "ArrowLeft")
    rounds = list(when.values())
    for number in range(1, max(rounds) + 1):
        done = sum(each <= number for each in rounds)
        assert numbers(opened) == [number, max(rounds), rounds.count(number), done, len(rounds)]
        shown = (
            "[...document.querySelectorAll('g[data-step]')].filter((g) => g.style.display !== 'none' && "
            "g.textContent).length"
        )
        assert opened.evaluate(shown) == done
        press(opened, "ArrowRight")
    press(opened, " ")  # from the end it begins again
    assert numbers(opened)[0] == 1


def kept(page, what):
    """{query: what stands beside it} of the figure of tiles."""
    script = f"[...document.querySelectorAll('[data-kept={what}]')].map((e) => [+e.dataset.query, e.textContent])"
    return {query: float(text) for query, text in page.evaluate(script)}


@pytest.mark.parametrize("opened", ["flash-tiles.html"], indirect=True)
@pytest.mark.parametrize("causal", [False, True])
def test_largest_and_sum_are_those_of_the_scores_seen_so_far(opened, causal):
    rows = re.search(r"SCORES = (\[.*?\])\.map", (STATIC / "flash-tiles.html").read_text(encoding="utf-8"))[1]
    scores = np.array([[float(digit) for digit in row] for row in json.loads(rows)])
    if causal:
        scores[np.triu_indices(8, 1)] = -np.inf
    opened.evaluate(f"document.querySelector('[data-mask={'causal' if causal else 'no'}]').click()")
    for _ in range(8):
        press(opened, "ArrowLeft")
    for first in (0, 4):
        for keys in (2, 4, 6, 8):
            assert numbers(opened)[:4] == [first + 1, first + 4, keys - 1, keys]
            said = opened.evaluate(CAPTION)
            assert ("skipped" in said) == (causal and keys - 2 > first + 3)
            assert ("divided by the sums" in said) == (keys == (first + 4 if causal else 8))
            factors = opened.evaluate(
                "Object.fromEntries([...document.querySelectorAll('[data-kept=factor]')].map((e) => [e.dataset.query, "
                "e.textContent]))"
            )
            for query, factor in factors.items():
                before, there = scores[int(query) - 1, : keys - 2], scores[int(query) - 1, keys - 2 : keys]
                if keys == 2 or there.max() == -np.inf:
                    assert factor == "–"
                    assert keys == 2 or query in re.search(r"For quer\S+ ([\d, ]+) there is no key", said)[1]
                else:
                    assert float(factor) == pytest.approx(np.exp(min(0, before.max() - there.max())), abs=6e-4)
            assert len(factors) == (0 if "skipped" in said else 4)
            largest, sums = kept(opened, "largest"), kept(opened, "sum")
            assert sorted(largest) == list(range(1, first + 5))
            for query in largest:
                seen = scores[query - 1, : keys if query > first else 8]
                assert largest[query] == seen.max()
                assert sums[query] == pytest.approx(np.exp(seen - seen.max()).sum(), abs=6e-4)
            press(opened, "ArrowRight")


@pytest.mark.parametrize("opened", ["deadlock-ring.html"], indirect=True)
@pytest.mark.parametrize("same", [False, True])
def test_two_locks_end_in_a_ring_only_where_each_thread_has_one(opened, same):
    """Every order of 8 presses, beside two locks of Python."""
    ends = set()
    for order in itertools.product("ab", repeat=8):
        press(opened, "r")
        if same:
            press(opened, "o")
        holds, taken, wants = {1: None, 2: None}, {"a": 0, "b": 0}, {"a": None, "b": None}
        for name in order:
            press(opened, name)
            if taken[name] == 2:
                taken[name] = 3
                holds = {lock: None if who == name else who for lock, who in holds.items()}
            elif taken[name] < 2:
                lock = ((1, 2) if name == "a" or same else (2, 1))[taken[name]]
                if holds[lock] is None:
                    holds[lock], wants[name], taken[name] = name, None, taken[name] + 1
                else:
                    wants[name] = lock
        shown = opened.evaluate(
            "[...document.querySelectorAll('[data-link]')].map((e) => [e.dataset.link, e.dataset.how])"
        )
        expected = {
            f"{t.upper()}{lock}": "holds" if holds[lock] == t else "wants" if wants[t] == lock else ""
            for t in "ab"
            for lock in (1, 2)
        }
        assert dict(shown) == expected, order
        ring = wants == {"a": 2, "b": 1}
        assert ("Nobody goes on" in opened.evaluate(CAPTION)) == ring
        ends.add("ring" if ring else "done" if taken == {"a": 3, "b": 3} else "not yet")
    assert ends == ({"done", "not yet"} if same else {"done", "not yet", "ring"})


@pytest.mark.parametrize("opened", ["launch.html"], indirect=True)
def test_every_block_waits_then_runs_once_then_is_written(opened):
    def blocks(state):
        return opened.evaluate(f"[...document.querySelectorAll('[data-{state}]')].map((e) => +e.dataset.{state})")

    for _ in range(8):
        press(opened, "ArrowLeft")
    steps, before = [], None
    while opened.evaluate(CAPTION) != before:
        before = opened.evaluate(CAPTION)
        steps.append((set(blocks("waiting")), set(blocks("resident"))))
        press(opened, "ArrowRight")
    assert steps[0] == steps[-1] == (set(), set())
    assert steps[1] == (set(range(6)), set())
    for (waited, ran), (waiting, running) in itertools.pairwise(steps[1:]):
        assert waiting <= waited
        assert len(running) <= 4  # two multiprocessors, two blocks each
        assert running <= ran | waited  # who has ended does not come again
        assert not running & waiting
    assert set.union(*(running for _, running in steps)) == set(range(6))


@pytest.mark.parametrize("opened", ["look-back.html"], indirect=True)
@pytest.mark.parametrize("waiting", [False, True])
def test_tiles_look_back_until_they_meet_a_prefix(opened, waiting):
    text = (STATIC / "look-back.html").read_text(encoding="utf-8")
    totals = json.loads(re.search(r"TOTALS = (\[.*?\])", text)[1])
    prefixes = np.cumsum(totals).tolist()
    opened.evaluate(f"document.querySelector('[data-plan={'wait' if waiting else 'back'}]').click()")
    for _ in totals:
        press(opened, "ArrowLeft")
    press(opened, "ArrowRight")
    known, reach = {0}, list(range(len(totals)))  # tiles with a prefix; the first tile of each one's sum so far
    rounds = [(known, list(reach))]
    while len(known) < len(totals):
        met = {k for k in range(len(totals)) if k not in known and reach[k] - 1 in known}
        if not waiting:
            reach = [r if k in known | met else r - 1 for k, r in enumerate(reach)]
        known = known | met
        reach = [0 if k in known else r for k, r in enumerate(reach)]
        rounds.append((known, list(reach)))
    assert len(rounds) == (len(totals) if waiting else 5)
    for number, (known, reach) in enumerate(rounds, 1):
        assert numbers(opened)[:3] == [number, len(totals), len(known)]
        states = opened.evaluate("[...document.querySelectorAll('[data-tile]')].map((e) => e.textContent)")
        assert states == ["P" if k in known else "A" for k in range(len(totals))]
        sums = opened.evaluate("[...document.querySelectorAll('[data-sum]')].map((e) => +e.textContent)")
        assert sums == [prefixes[k] - (prefixes[r - 1] if r else 0) for k, r in enumerate(reach)]
        press(opened, "ArrowRight")


@pytest.mark.parametrize("opened", ["ring.html"], indirect=True)
def test_the_ring_is_that_of_the_library(opened):
    """After each step, whose numbers each part of each worker holds: as in a run with a bit for each worker."""
    from workers import collectives, threads

    class Watched:
        def __init__(self, group, steps):
            self.rank, self.size, self.exchange_of, self.steps = group.rank, group.size, group.exchange, steps

        def exchange(self, *arguments):
            self.exchange_of(*arguments)
            self.steps[self.rank].append(self.total.copy())

    steps = [[] for _ in range(4)]

    def work(group):
        watched = Watched(group, steps)
        watched.total = np.full(4, 1 << group.rank)
        steps[group.rank].append(watched.total.copy())
        collectives.ring(watched, watched.total, np.add, "ring")

    threads.run(work, 4)
    for _ in range(7):
        press(opened, "ArrowLeft")
    for step in range(7):
        script = (
            "Object.fromEntries([...document.querySelectorAll('[data-part]')].map((e) => [e.dataset.part, "
            "e.textContent]))"
        )
        for place, text in opened.evaluate(script).items():
            worker, part = map(int, place.split())
            assert sum(1 << int(who) for who in text.split("+")) == steps[worker][step][part], (step, place)
        press(opened, "ArrowRight")


@pytest.mark.parametrize("opened", ["systolic.html"], indirect=True)
def test_the_systolic_array_is_that_of_the_library(opened):
    """After each clock: the weights, what each cell adds, and the results, as cpulab.systolic has them."""
    from cpulab.systolic import weight_stationary

    text = (STATIC / "systolic.html").read_text(encoding="utf-8")
    a, b = (np.array(json.loads(re.search(rf"\b{name} = (\[\[.*?\]\])", text)[1])) for name in "AB")
    clocks = []
    run = weight_stationary(a, b, 3, 3, watch=lambda _, *state: clocks.append([part.copy() for part in state]))
    for _ in range(run.clocks + 1):
        press(opened, "ArrowLeft")
    for clock, (weights, x, sums, result) in enumerate(clocks, 1):
        press(opened, "ArrowRight")
        assert numbers(opened)[:2] == [clock, run.clocks]
        drawn = {
            kind: opened.evaluate(
                f"Object.fromEntries([...document.querySelectorAll('[data-{kind}]')].map((e) => [e.dataset.{kind}, "
                "e.textContent]))"
            )
            for kind in ("weight", "cell", "result")
        }
        for r, c in np.ndindex(3, 3):
            assert drawn["weight"][f"{r} {c}"] == (f"weight {weights[r, c]}" if r < clock else "")
            above = sums[r, c] - x[r, c] * weights[r, c]
            shown = f"{above} + {x[r, c]}·{weights[r, c]} = {sums[r, c]}" if x[r, c] else ""
            assert drawn["cell"][f"{r} {c}"] == shown
        for i, c in np.ndindex(*result.shape):
            assert drawn["result"][f"{i} {c}"] == (str(result[i, c]) if result[i, c] else "·")
    assert f"In all, {run.counts['macs']} of {run.clocks * run.cells} " in opened.evaluate(CAPTION)
