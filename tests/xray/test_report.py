"""The report: text that fits a terminal, HTML that is valid, JSON, budgets, findings in words, pictures."""

import html
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pytest
from numba import float32, int32

from dlkernels import cuda
from simt.xray import BudgetExceeded, xray
from simt.xray.metrics import NSIGHT

pytestmark = pytest.mark.quick

VOID = {"br", "input", "meta", "img", "hr"}


@cuda.jit
def rotate(x, y, k):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]
    cuda.syncthreads()
    y[i] = s[t + k if t + k < 64 else t + k - 64]


@cuda.jit
def rotate_racy(x, y):
    s = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = x[i]
    y[i] = s[(t + 1) % 64]


@cuda.jit
def sum_tiles(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for tile in range(4):
        s[t] = x[tile * 32 + t]
        cuda.syncthreads()
        for j in range(32):
            acc += s[j]
    out[t] = acc


@cuda.jit
def stride_8(x, y):
    i = cuda.grid(1)
    y[i] = x[8 * i]


@cuda.jit
def columns(y):
    s = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    for j in range(32):
        s[j, t] = t
    cuda.syncthreads()
    acc = float32(0)
    for j in range(32):
        acc += s[t, j]
    y[t] = acc


def floats(n):
    return np.arange(n, dtype=np.float32)


@pytest.fixture(scope="module")
def good():
    return xray(rotate, 2, 64, snapshots=True)(floats(128), np.zeros(128, np.float32), 3)


@pytest.fixture(scope="module")
def racy():
    return xray(rotate_racy, 2, 64)(floats(128), np.zeros(128, np.float32))


@pytest.fixture(scope="module")
def strided():
    return xray(stride_8, 2, 32)(floats(512), np.zeros(64, np.float32))


@pytest.fixture(scope="module")
def conflicts():
    return xray(columns, 1, 32, snapshots=True)(np.zeros(32, np.float32))


class Checker(HTMLParser):
    """Fails on a tag that is not closed, or closed in the wrong place."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.attributes += [(tag, *a) for a in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, *a) for a in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parse(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


def offline(html):
    """No address of any kind but the SVG namespace."""
    return not re.search(r"(https?:)?//(?!www\.w3\.org/2000/svg)[a-z]", re.sub(r"^\s*//.*$", "", html, flags=re.M))


# -- text, dict, HTML ------------------------------------------------------------------------------------------


def test_text_fits_80_columns(good, racy, strided, conflicts):
    for report in (good, racy, strided, conflicts):
        assert max(map(len, str(report).splitlines())) <= 80
    assert "Nothing wrong was found" in str(good)
    assert "1 finding" in str(racy)


def test_dict_is_plain_json(racy):
    found = json.loads(racy.to_json())
    assert found == racy.to_dict()
    assert found["races"] == 1
    assert found["schema"] == 1
    assert set(found["total"]) >= set(NSIGHT) - {"registers"}
    [race] = found["findings"]
    assert race["kind"] == "race"
    assert len(race["threads"]) == 2
    assert {e["text"] for e in found["expressions"]} >= {"x[i]", "s[t]", "y[i]"}


def test_html_is_valid_and_escaped(good, racy):
    page = parse(good._repr_html_())
    # The expression holds "<", which must arrive as text.
    assert any("t + k < 64" in piece for piece in page.text)
    assert offline(good._repr_html_())
    assert any("race" in piece for piece in parse(racy._repr_html_()).text)
    alone = racy.findings[0]._repr_html_()  # a paragraph, which wraps
    assert alone.startswith("<p>")
    assert any("race" in piece for piece in parse(alone).text)


# -- findings ----------------------------------------------------------------------------------------------------


def test_race_names_both_threads_and_the_cure(racy):
    [race] = racy.races
    assert race.array == "s"
    # Thread 63 reads s[0], which thread 0 stores: the only pair of one element in the first place.
    assert race.index == (0,)
    assert {t["thread"] for t in race.threads} == {(0, 0, 0), (63, 0, 0)}
    assert {t["block"] for t in race.threads} == {(0, 0, 0)}
    assert len(race.lines) == 2
    # 64 elements in each of 2 blocks. Within a warp and across warps alike: one place each.
    assert race.count == 128
    assert "cuda.syncthreads()" in race.cure


def test_missing_barrier_at_the_end_of_a_loop():
    report = xray(sum_tiles, 1, 32)(floats(128), np.zeros(32, np.float32))
    [race] = report.races
    assert "end of the loop body" in race.cure
    # The four tiles are stored in 4 turns; between two barriers one tile is read and the next one stored.
    assert race.scope == "warp"


@cuda.jit
def shuffle_outside_the_mask(x):
    t = cuda.threadIdx.x
    x[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 1)


@cuda.jit
def makes_a_list(x):
    x[0] = [1.0, 2.0][0]


def test_a_launch_that_cannot_go_on():
    report = xray(shuffle_outside_the_mask, 1, 32)(floats(32))
    assert [f.kind for f in report.findings] == ["lane-not-in-mask"]
    assert "could not go on" in str(report)
    assert "could not go on" in report._repr_html_()
    assert "mask" in report.to_dict()["stopped"]


def test_what_is_no_finding_is_raised():
    with pytest.raises(RuntimeError, match="list"):
        xray(makes_a_list, 1, 1)(floats(1))


# -- budgets -----------------------------------------------------------------------------------------------------


def test_budget_kept(good):
    assert good.require(sectors_per_request=4, bank_ways=1, barriers=1, races=0, findings=0) is good
    # 128 threads are 4 warps; each loads x once and s once.
    good.require(global_load_requests=4, global_store_requests=4, shared_load_requests=4)
    good.require(requests=4, kind="load", array="s")
    # 128 floats in, 128 out.
    good.require(bytes_moved=1024, shared_bytes=256, efficiency=1.0, active_lanes=32)


def test_budget_broken_names_the_line(strided):
    with pytest.raises(BudgetExceeded) as caught:
        strided.require(sectors_per_request=4, races=0)
    [excess] = caught.value.exceeded
    assert (excess.measure, excess.counted, excess.allowed) == ("sectors_per_request", 32.0, 4)
    assert excess.text == "x[8 * i]"
    assert excess.line == caught.value.line == strided.expressions[0].line
    assert "line" in str(caught.value)
    assert "32" in str(caught.value)
    strided.require(sectors_per_request=4, array="y")


def test_budget_of_sums_and_of_least_values(strided, conflicts, racy):
    # x: 2 requests x 32 sectors x 32 bytes; y: 2 x 4 x 32.
    with pytest.raises(BudgetExceeded, match=r"(?s)bytes_moved is 2,304.*at most 2,000.*x\[8 \* i\]"):
        strided.require(bytes_moved=2000)
    with pytest.raises(BudgetExceeded, match=r"efficiency is 0\.12.*at least 1"):
        strided.require(efficiency=1.0)
    with pytest.raises(BudgetExceeded, match=r"bank_ways is 32.*at most 1"):
        conflicts.require(bank_ways=1)
    with pytest.raises(BudgetExceeded, match=r"(?s)races is 1.*First: line"):
        racy.require(races=0)
    with pytest.raises(BudgetExceeded) as caught:
        conflicts.require(bank_ways=1, barriers=0)
    assert [e.measure for e in caught.value.exceeded] == ["bank_ways", "barriers"]


def test_budget_with_unknown_names(good):
    with pytest.raises(ValueError, match="no measure 'sectors_pro_request'"):
        good.require(sectors_pro_request=4)
    with pytest.raises(ValueError, match="No access matches array='z'"):
        good.require(requests=1, array="z")
    with pytest.raises(ValueError, match="total of the launch"):
        good.require(barriers=1, array="s")


# -- pictures ----------------------------------------------------------------------------------------------------


def test_pictures_are_valid_and_say_it_in_words(good, strided, conflicts, racy):
    for picture in (
        strided.thread_map(),
        strided.sector_strip(),
        conflicts.bank_strip(),
        good.timeline(),
        good.timeline(block=1, arrays=["s", "y"]),
        good.replay(),
        conflicts.replay(),
        racy.meeting(racy.races[0]),
    ):
        html = picture._repr_html_()
        page = parse(html)
        assert offline(html)
        svg = ET.fromstring(re.search(r"<svg.*</svg>", html, re.S)[0])
        title = svg.find("{http://www.w3.org/2000/svg}title")
        assert title.text == picture.alt
        assert svg.get("aria-labelledby") == title.get("id")
        assert svg.get("role") == "img"
        assert picture.text in "".join(page.text)
        assert picture.alt in str(picture)
        # Colours come from the page: nothing else survives grey, light and dark alike.
        assert not re.search(r'(fill|stroke)="(?!currentColor|none)', html)
        assert "#" not in re.sub(r"&#\d+;", "", html.split("<script>")[0])


def test_pictures_tell_the_counts(strided, conflicts):
    # One warp: 32 sectors, 1024 bytes moved, 128 used.
    assert "32 sectors" in strided.thread_map(array="x").alt
    assert "128 of 1024 bytes" in strided.thread_map(array="x").alt
    assert "4 sectors" in strided.thread_map(array="y").alt
    assert "1 of 32 banks" in conflicts.bank_strip(kind="load").alt
    assert "32-way" in conflicts.bank_strip(kind="load").alt
    assert "32 of 32 banks" in conflicts.bank_strip(kind="store").alt
    _head, bank, *more = conflicts.bank_strip(kind="load").text.splitlines()
    assert bank.split()[:2] == ["0", "32"]
    assert all(len(line) < 50 for line in (bank, *more))  # they fit a page
    assert [int(lane.strip("; ")) for line in (bank[13:], *more) for lane in line.split()] == [*range(32)]


@cuda.jit
def count_into(out, places):
    s = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, t % places, 1)
    cuda.syncthreads()
    out[t] = s[t]


@pytest.mark.parametrize(
    ("places", "said"),
    [(1, "32 lanes update one word"), (8, "4 lanes update one word"), (32, "no two lanes update the same word")],
)
def test_lanes_that_update_one_word_are_no_conflict_of_banks_but_wait(places, said):
    picture = xray(count_into, 1, 32)(np.zeros(32, np.int32), places).bank_strip(kind="atomic")
    assert f"{places} of 32 banks are used, each for one word ({said}" in picture.alt
    assert said in picture.svg.split("</title>", 1)[1]
    assert "1-way" not in picture.svg
    assert picture.text.splitlines()[1].split()[2] == {1: "0-31", 8: "0-24", 32: "0"}[places]


def test_the_picture_of_a_race_leads_from_both_threads_to_the_element(racy):
    race = racy.races[0]
    picture, (element,) = racy.meeting(race), race.index
    one, other = (t["thread"][0] for t in race.threads)
    assert picture.alt == f"Thread {one} of block 0 and thread {other} of block 0 use s[{element}]."
    assert picture.text == race.message.replace("`", "")
    assert f"<p>{html.escape(picture.text)}</p>" in picture._repr_html_()  # a sentence, which wraps; no table
    drawn = ET.fromstring(re.search(r"<svg.*</svg>", picture._repr_html_(), re.S)[0])

    def of(kind):
        return [e for e in drawn.iter() if e.tag.endswith("}" + kind)]

    (place,) = [r for r in of("rect") if float(r.get("fill-opacity")) > 0]
    assert place[0].text == f"s[{element}]"
    middle = float(place.get("x")) + float(place.get("width")) / 2
    from_threads = [e for e in of("line") if float(e.get("y1")) < float(place.get("y")) - 10]
    assert [(float(e.get("x2")), e.get("y2")) for e in from_threads] == [
        (pytest.approx(middle, abs=0.1), place.get("y"))
    ] * 2
    words = [t.text for t in of("text")]
    assert {f"thread {one} of block 0", f"thread {other} of block 0", str(element)} <= set(words)
    assert "lines " + " and ".join(map(str, race.lines)) in words


def test_timeline_tells_who_touches_what(good):
    lines = good.timeline().text.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["0", "s", "store", "0-63", "0-63"],
        ["1", "s", "load", "0-63", "0-63"],
    ]


def test_replay_shows_what_was_stored(good):
    steps = good.replay().text
    # After the barrier block 0 holds x[0:64], folded into rows of 8.
    assert "s  0 1 2 3 4 5 6 7" in steps
    assert "s  56 57 58 59 60 61 62 63" in steps
    assert "s  64 65" in good.replay(block=1).text


def test_replay_without_snapshots(racy):
    with pytest.raises(ValueError, match="snapshots=True"):
        racy.replay()


def test_picture_of_something_that_is_not_there(strided):
    with pytest.raises(ValueError, match="No access to shared memory"):
        strided.bank_strip()
    with pytest.raises(ValueError, match=r"x\[8 \* i\]"):
        strided.thread_map(array="z")


def test_ids_are_unique_on_a_page(good):
    html = good.replay()._repr_html_() + good.replay()._repr_html_() + good.timeline()._repr_html_()
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) > 3


def test_lanes_that_left_before_a_shuffle_and_a_barrier_are_told_of_both():
    """The runs that ask whether somebody used what the shuffle got end at the barrier, which is no error of the
    x-ray."""

    @cuda.jit
    def kernel(x, out):
        s = cuda.shared.array(2, np.float32)
        t = cuda.threadIdx.x
        if t >= x.size:
            return
        total = x[t] + cuda.shfl_down_sync(0xFFFFFFFF, x[t], 16)
        if t % 32 == 0:
            s[t // 32] = total
        cuda.syncthreads()
        out[t] = s[t // 32]

    report = xray(kernel, 1, 64)(np.ones(40, np.float32), np.zeros(40, np.float32))
    (found,) = report.findings  # one cause: the lanes that left
    assert (found.kind, [f.kind for f in found.therefore]) == ("barrier-after-exit", ["inactive-lane-read"])
    assert "inactive-lane-read" in report._repr_html_()
    assert "It may be why, on line" in " ".join(str(report).split())
