"""The grader's parts: reading with suspicion, layouts, zips, merging, flags, reports, exports."""

import contextlib
import csv
import json
import os
import re
import shutil
import types

import hostile
import living
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coursework import admission, build, extraction
from coursework.answer import AnswerFailed
from coursework.grading import exchange, reports, results, sandbox
from coursework.grading.extras import flags, similarity
from coursework.grading.grade import _result, empty_result, grade
from coursework.grading.intake import merge, reading, submissions
from coursework.grading.session import Session
from coursework.plain import plain

pytestmark = pytest.mark.quick

EXERCISE = "07_vector_add"

# exchange ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [1, -2.5, True, None, "text", [1, [2]], {"a": {"b": 3}}, np.arange(6).reshape(2, 3), np.zeros((0, 3), np.float32)],
    ids=repr,
)
def test_plain_data_crosses(tmp_path, value):
    exchange.write(value, tmp_path, "x")
    back = exchange.read(tmp_path, "x")
    assert np.array_equal(back, value) if isinstance(value, np.ndarray) else back == value
    if isinstance(value, np.ndarray):
        assert (back.dtype, back.shape) == (value.dtype, value.shape)


def test_arrays_keep_their_bits_and_order(tmp_path):
    nan = np.array([0x7FC0ABCD], np.uint32).view(np.float32)
    fortran = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    exchange.write([nan, fortran], tmp_path, "x")
    back = exchange.read(tmp_path, "x")
    assert back[0].view(np.uint32)[0] == 0x7FC0ABCD
    assert np.array_equal(back[1], fortran)
    assert back[1].flags.f_contiguous


@pytest.mark.parametrize(
    "value",
    [object(), {(1, 2): 3}, {3}, lambda: 0, np.array([object()]), np.array([b"a"]), 1j],
    ids=["object", "dict with a pair for a key", "set", "function", "array of objects", "array of bytes", "complex"],
)
def test_anything_else_does_not(tmp_path, value):
    with pytest.raises(TypeError):
        exchange.write(value, tmp_path, "x")


def test_not_more_arrays_than_a_message_may_have(tmp_path, monkeypatch):
    exchange.write([np.zeros(1)] * 3, tmp_path, "three")
    monkeypatch.setattr(exchange, "MESSAGE", exchange.MESSAGE._replace(arrays=2))
    assert exchange.write([np.zeros(1)] * 2, tmp_path, "x").name == "x.message"
    assert exchange.read(tmp_path, "x") == [np.zeros(1)] * 2
    with pytest.raises(TypeError, match="more than 2 arrays"):
        exchange.write([np.zeros(1)] * 3, tmp_path, "y")
    with pytest.raises(exchange.BadData, match="more than 2 arrays"):
        exchange.read(tmp_path, "three")


def test_messages_that_were_read_are_forgotten(tmp_path):
    exchange.write([np.zeros(1)], tmp_path, "x")
    exchange.place(tmp_path, "folder").mkdir()
    exchange.forget(tmp_path, "x", "missing", "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.message"]


def test_only_regular_files_of_limited_size_are_read(tmp_path):
    (tmp_path / "real").write_text("1")
    (tmp_path / "link.message").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe.message")
    (tmp_path / "folder.message").mkdir()
    with open(tmp_path / "sparse.message", "wb") as file:
        file.truncate(1 << 40)
    for name in ("link", "pipe", "folder", "sparse", "missing"):
        with pytest.raises(exchange.BadData):
            exchange.read(tmp_path, name)


@pytest.mark.parametrize("planted", ["link", "pipe", "file"])
def test_what_lies_in_wait_is_replaced_and_neither_followed_nor_waited_for(tmp_path, planted):
    """The grader writes requests, with its own rights, into a folder that the submission may write to."""
    mine, place = tmp_path / "mine", tmp_path / "folder" / "x.message"
    mine.write_text("mine")
    place.parent.mkdir()
    {"link": lambda: place.symlink_to(mine), "pipe": lambda: os.mkfifo(place), "file": place.touch}[planted]()
    reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)  # or the old way to write would wait here for ever
    exchange.write([np.arange(3.0)], place.parent, "x")
    os.close(reader)
    assert mine.read_text() == "mine"
    assert np.array_equal(exchange.read(place.parent, "x")[0], np.arange(3.0))


def test_a_folder_in_the_place_of_a_request_is_an_error(tmp_path):
    exchange.place(tmp_path, "x").mkdir()
    with pytest.raises(OSError, match=r"x\.message"):
        exchange.write([np.arange(3.0)], tmp_path, "x")


@pytest.mark.skipif(os.name == "nt", reason="nobody is given a file there")
def test_what_a_link_points_to_is_given_to_nobody(tmp_path):
    box = sandbox.Sandbox("bwrap", None, folder=tmp_path, user=os.getuid() or 54321)
    (tmp_path / "req-1-planted").symlink_to(tmp_path / "nowhere")
    box.own(tmp_path / "req-1-planted")  # following it would fail
    (tmp_path / "mine").touch()
    (tmp_path / "req-1-another").symlink_to(tmp_path / "mine")
    box.own(tmp_path / "req-1-another")
    assert (tmp_path / "mine").stat().st_uid == os.getuid()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        '{"__array__": "../../etc/passwd"}',
        '{"__array__": 5}',
        '{"__array__": ["<f8", [1], "C", 0]}',
        "\udcff",
        "[" * 30 + "]" * 30,
    ],
)
def test_damaged_replies_are_bad_data(tmp_path, text):
    exchange.place(tmp_path, "x").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(exchange.BadData):
        exchange.read(tmp_path, "x")


def test_half_a_surrogate_pair_can_be_written_on(tmp_path):
    exchange.place(tmp_path, "x").write_bytes(b'{"\\ud800": ["a\\udfff", {"\\u00e9": 1}]}\n')
    assert exchange.read(tmp_path, "x") == {"?": ["a?", {"é": 1}]}
    tasks = [{"points": 0, "max_points": 1, "text": "\ud800"}]
    result = _result("me", EXERCISE, "graded", ["\udfff"], tasks, {"\ud800": "\ud800"}, 0)
    results.save(tmp_path / "result.json", result)
    assert results.json.loads((tmp_path / "result.json").read_text(encoding="utf-8")) == result


@pytest.mark.parametrize("value", [np.zeros(2), [1], 5, None, "value", {}, {"failed": 5}, {"failed": [1]}], ids=repr)
def test_what_is_no_reply_is_no_result(tmp_path, value):
    exchange.write(value, tmp_path, "res-1")
    asking = types.SimpleNamespace(_number=1)
    with pytest.raises(AnswerFailed) as raised:
        Session._receive(asking, types.SimpleNamespace(folder=tmp_path), "add")
    assert raised.value.name == "NoResult"
    assert list(tmp_path.iterdir()) == []


GOOD = ["<f8", [4], "C", 8]


def test_what_is_said_of_arrays_is_not_believed():
    body = bytes(8) + np.arange(4.0).tobytes()
    assert np.array_equal(exchange.numbers(GOOD, body, 32), np.arange(4.0))
    assert exchange.numbers(["<f8", [4, 0], "F", 0], b"", 0).shape == (4, 0)
    wrong = (
        {0: ["|O8", "<U4", "V8", "f8,f8", "<f7", "<f99", "float64", "", 8, None, ["<f8"]]},
        {
            1: [
                [5],
                [-4],
                [1 << 40],
                [9_999_999] * 100_000,
                [1 << 48],
                [1 << 70],
                [0, 1 << 70],
                [True],
                [4.0],
                [[4]],
                "4",
                4,
                None,
                [1] * 200,
                [-1, -4],
            ]
        },
        {2: ["K", "", None, 0, []]},
        {3: [9, -8, 1 << 70, 8.0, True, None, "8"]},
    )
    for change in wrong:
        for place, values in change.items():
            for value in values:
                with pytest.raises(exchange.BadData):
                    exchange.numbers([*GOOD[:place], value, *GOOD[place + 1 :]], body, 1 << 20)
    for entry in (GOOD[:3], [*GOOD, 0], "<f8", None, {}):
        with pytest.raises(exchange.BadData):
            exchange.numbers(entry, body, 1 << 20)
    with pytest.raises(exchange.BadData, match="at most"):
        exchange.numbers(GOOD, body, 31)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 140), st.binary(min_size=1, max_size=6))
def test_fuzzed_messages_are_bad_data_or_plain(tmp_path_factory, place, noise):
    folder = tmp_path_factory.mktemp("fuzzed")
    path = exchange.write([np.arange(3.0), {"a": np.zeros((2, 0), np.int8)}], folder, "x")
    data = bytearray(path.read_bytes())
    data[place : place + len(noise)] = noise
    path.write_bytes(data)
    with contextlib.suppress(exchange.BadData):
        plain(exchange.read(folder, "x"), exchange.MESSAGE)


# merging and admission ------------------------------------------------------------------------------------------------


def merged(notebook):
    master, shipped = merge.canonical(hostile.MASTER)
    cells = [reading._cell(json.loads(json.dumps(c))) for c in notebook.cells if c.cell_type == "code"]
    return merge.merge(master, shipped, cells)


def test_merge_takes_answers_and_nothing_else():
    notebook = hostile.solved()
    result = merged(notebook)
    assert result.flags == []
    assert {name.removesuffix("-claims") for name in result.untouched} == hostile.TASKS.keys() - set(hostile.SOLVED)
    for step in result.steps:
        if step.kind == "answer":
            assert step.source == hostile.cell(notebook, step.id).source
        if step.kind == "check" and "check(" in step.source and not re.search("07-(fails|verdicts)", step.source):
            assert "hidden=True" in step.source


def test_merge_without_extra_cells_is_the_canonical_notebook_but_for_cells_that_install_or_are_for_trying():
    master, _ = merge.canonical(hostile.MASTER)
    assert build.is_install(master[0])
    assert [s.id for s in merged(hostile.solved()).steps] == [c.id for c in master[1:] if not build.is_trial(c)]


def test_a_class_may_install_from_an_address_of_its_own():
    notebook = hostile.solved()
    build.annotate(notebook, "07_vector_add.ipynb", "https://example.org/course.whl")
    assert "example.org" in notebook.cells[1].source
    assert merged(notebook).flags == merged(hostile.solved()).flags


def test_merge_believes_the_grade_id_before_the_cells_id():
    notebook = hostile.solved()
    add, axpy = hostile.cell(notebook, "07-add"), hostile.cell(notebook, "07-axpy")
    add.id, axpy.id = axpy.id, add.id
    result = merged(notebook)
    assert (result.answers["07-add"], result.answers["07-axpy"]) == (add.source, axpy.source)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_fuzzed_notebooks_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / "x.ipynb"
    text = build.text_of(hostile.solved())
    kind = data.draw(st.sampled_from(["cut", "noise", "types"]))
    if kind == "cut":
        path.write_text(text[: data.draw(st.integers(0, len(text)))])
    elif kind == "noise":
        raw = bytearray(text.encode())
        for _ in range(data.draw(st.integers(1, 20))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(raw)
    else:
        notebook = json.loads(text)
        junk = st.sampled_from(
            [None, 0, [], {}, "x", [None], {"nbgrader": 1}, {"nbgrader": {"grade_id": ["a"]}}, -1.5, True]
        )
        for _ in range(data.draw(st.integers(1, 5))):
            cell = data.draw(st.sampled_from(notebook["cells"]))
            if isinstance(cell, dict):
                cell[data.draw(st.sampled_from(["metadata", "source", "id", "cell_type", "outputs"]))] = data.draw(junk)
        path.write_text(json.dumps(notebook))
    master, shipped = merge.canonical(hostile.MASTER)
    with contextlib.suppress(reading.Unreadable):
        assert len(merge.merge(master, shipped, reading.load(path)[0]).answers) == ANSWERS


ANSWERS = sum(build.is_answer(cell) for cell in build.read(hostile.MASTER).cells)
ADD = hostile.cell(hostile.solved(), "07-add").source


def test_an_answer_is_what_its_names_mean_when_it_is_checked():
    cells = [
        "%matplotlib inline", "import os\nOS = os", "SCALE = 2\nOTHER = open", "broken(",
        "@cuda.jit(device=True)\ndef twice(x):\n    return SCALE * x", "@cuda.jit\ndef unused(x):\n    import os",
        "@cuda.jit\ndef f(x):\n    x[cuda.grid(1)] = twice(x[0])",
    ]  # fmt: skip
    sources = [s.strip() for s in living.collect(cells, "f", admission.KERNEL)]
    assert sources[0] == "SCALE = 2"
    assert [s.splitlines()[1] for s in sources[1:]] == ["def f(x):", "def twice(x):"]


CONSTANTS = {
    "computed": ("WARP = 32\nSTEP = 4 * WARP", "STEP", "STEP = 128"),
    "a tuple": ("TILE = 4\nSTEP = (TILE, TILE + 1)", "STEP[0]", "STEP = (4, 5)"),
    "together": ("ROWS, STEP = 16, 32", "STEP", "STEP = 32"),
    "annotated": ("STEP: int = 16", "STEP", "STEP = 16"),
    "of a call": ("STEP = int(16.0)", "STEP", "STEP = 16"),
    "of NumPy": ("STEP = np.float32(0.5)", "STEP", "STEP = np.float32(0.5)"),
    "a private name": ("_TILE = 16", "_TILE", "_TILE = 16"),
    "inside an if": ("if True:\n    STEP = 16\nelse:\n    STEP = 8", "STEP", "STEP = 16"),
    "of a loop": ("for STEP in (4, 8):\n    pass", "STEP", "STEP = 8"),
    "of a with": ("import contextlib\nwith contextlib.suppress(OSError):\n    STEP = 2", "STEP", "STEP = 2"),
    "grown": ("STEP = 2\nSTEP += 3", "STEP", "STEP = 5"),
    "below zero": ("STEP = -1", "STEP", "STEP = -1"),
    "without an end": ("STEP = -math.inf", "STEP", "STEP = -math.inf"),
    "the one that it was computed from changed": ("TILE = 16\nSTEP = TILE + 2\nTILE = 8", "STEP", "STEP = 18"),
    "another name for a function": ("from math import sqrt as STEP", "STEP(2.0)", "STEP = math.sqrt"),
    "a type": ("from numpy import float32 as STEP", "STEP(2.0)", "STEP = np.float32"),
}


@pytest.mark.parametrize(("cell", "use", "found"), CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_has_the_value_that_it_has(cell, use, found):
    sources = living.collect([cell, f"@cuda.jit\ndef f(x):\n    x[0] = {use}"], "f", admission.KERNEL)
    assert sources[0].strip() == found


@pytest.mark.parametrize(
    "value", ["cuda", "open('/dev/null')", "'text'", "[1, 2]", "{}", "(1, 'a')", "1 << 200", "print", "lambda x: x"]
)
def test_what_is_no_number_is_no_constant(value):
    with pytest.raises(admission.NotAdmitted, match=r"WIDE|cuda by itself|two meanings"):
        living.collect([f"WIDE = {value}", "@cuda.jit\ndef f(x):\n    x[0] = WIDE"], "f", admission.KERNEL)


@pytest.mark.parametrize(
    "body",
    [
        "x.__class__", "open('f')", "open(x)", "eval(x)", "vars(x)", "getattr(x, 'y')", "eval('1')", "[i for i in x]", "(lambda: "
                                                                                                                       "0)()", "x.ctypes.data",
        "cuda.synchronize()", "cuda.cudadrv", "np.load(x)", "np.lib", "math.__dict__", "f'{x}'", "'{0}'.format(x)",
        "x.tofile(y)", "x.shape.__class__", "globals()", "type(x)", "x.dtype.type", "cuda.jit", "cuda.current_context()",
        "print(x.__class__)", "print(open('f'))", "print('{0}'.format(x))", "print(f'{x}')", "y = 'text'", "(x := 3)", "yield "
                                                                                                                       "x", "await "
                                                                                                                                  "x", "{1: "
                                                                                                                                             "2}", "numba.objmode",
        "y = np", "y = cuda.atomic", "cuda = x", "np.x = 3", "(np if x else math).pi", "np[0]", "x.shape = 3", "del "
                                                                                                               "x[0]", "for "
                                                                                                                           "np "
                                                                                                                           "in "
                                                                                                                           "x: "
                                                                                                                           "pass",
        "y: open('f') = 3", "x = y = numba", "(np).ctypeslib", "np.random.rand()", "np.lib.stride_tricks", "numba.core", "cuda.grid.__call__", "print(np)",
        "x[np]", "x[1:open(2)]", "left_at_line_ = 3", "rounds_1_ = 0", "y = 1" + "0" * 50, "y = 3j", "y = b'a'", "y = "
                                                                                                                 "...",
    ],
)  # fmt: skip
def test_admission_refuses(body):
    with pytest.raises(admission.NotAdmitted, match=r"line 3 uses .*(cannot contain|does not take)"):
        extraction.admitted([f"@cuda.jit\ndef f(x, y):\n    {body}"], admission.KERNEL, "f")


def test_admission_refuses_a_slice_and_says_what_a_thread_works_on():
    with pytest.raises(admission.NotAdmitted, match=r"line 3 uses a slice, .* one thread works on single elements"):
        living.collect(["@cuda.jit\ndef f(x):\n    x[1:2]"], "f", admission.KERNEL)


def test_a_variable_is_not_the_function_of_its_name():
    other = "@cuda.jit(device=True)\ndef row(x):\n    return open(x)"
    kernel = "@cuda.jit\ndef f(x):\n    for row in range(3):\n        x[row] = 0"
    assert living.collect([other, kernel], "f", admission.KERNEL) == [kernel]
    with pytest.raises(admission.NotAdmitted, match="open"):
        living.collect(
            [other, kernel.replace("x[row] = 0", "x[0] = row(x)").replace("for row", "for k")], "f", admission.KERNEL
        )


def test_admission_refuses_names_that_nobody_defined():
    with pytest.raises(admission.NotAdmitted, match=r"line 3 uses 'unknown_name', which is not defined"):
        living.collect(["@cuda.jit\ndef f(x):\n    unknown_name"], "f", admission.KERNEL)


@pytest.mark.parametrize(
    "source",
    [
        "@cuda.jit\n@evil\ndef f(x):\n    pass", "@cuda.jit(device=evil())\ndef f(x):\n    pass", "@cuda.jit(evil)\n"
                                                                                                  "def f(x):\n    pass",
        "@cuda.jit\ndef f(x=evil()):\n    pass", "@cuda.jit\ndef f(x: evil()):\n    pass", "@cuda.jit\ndef f(*x):\n    "
                                                                                           "pass",
        "@cuda.jit\ndef f(x: evil(), /):\n    pass", "@cuda.jit\ndef f(*, x=evil()):\n    pass", "@cuda.jit\ndef f(*x: "
                                                                                                 "evil()):\n    pass",
        "@cuda.jit\ndef f(x, **y: evil()):\n    pass", "@cuda.jit\ndef f(*, x: evil()):\n    pass", "@(evil())\ndef "
                                                                                                    "f(x):\n    pass",
        "@cuda.jit\ndef f(x) -> evil():\n    pass", "@cuda.jit\ndef f(x):\n    def g():\n        pass", "@cuda.jit\ndef f(x):\n    x.a = "
                                                                                                        "3",
        "@cuda.jit\ndef f(x):\n    with x:\n        pass", "@cuda.jit\ndef f(x):\n    try:\n        pass\n    except:\n"
                                                           "        pass",
        "@cuda.jit\ndef f(x):\n    class A: pass", "@cuda.jit\ndef f(x):\n    global y", "def f(x):\n    pass", "f = "
                                                                                                                "evil()", "f "
                                                                                                                              "= "
                                                                                                                              "[1]", "evil()",
        "@cuda.jit(link=['a.cu'])\ndef f(x):\n    pass", "@cuda.jit(**evil)\ndef f(x):\n    pass", "@cuda.jit\ndef "
                                                                                                   "f(x):\n    pass\n"
                                                                                                   "evil()",
        "@cuda.jit\ndef f(x):\n    pass\n# \u2028evil()\nevil()", "@cuda.jit\ndef cuda(x):\n    pass", "@cuda.jit\nasync def f(x):\n    "
                                                                                                       "pass",
        "class f:\n    pass", "import f", "from os import f", "f = np.float32(evil())", "f = open(1)", "f = np.load(1)", "f: "
                                                                                                                         "evil() "
                                                                                                                         "= "
                                                                                                                         "3", "f "
                                                                                                                                          "= "
                                                                                                                                          "np", "f, "
                                                                                                                                                    "g "
                                                                                                                                                    "= "
                                                                                                                                                    "1, "
                                                                                                                                                    "2",
        "x[0] = 1", "f = 7 ** 7 ** 9", "global f", "@cuda.jit\ndef __f(x):\n    pass", "if evil(): pass", "f = '1'", "f "
                                                                                                                     "= "
                                                                                                                     "1" + "0" * 60,
    ],
)  # fmt: skip
def test_admission_refuses_whatever_runs_code_when_it_is_defined(source):
    with pytest.raises(admission.NotAdmitted):
        extraction.admitted([source], admission.KERNEL, "f")


def test_annotations_and_text_between_lines_are_not_taken_along():
    """What stands in the notebook ran there, in its own process; in the clean one nothing of it is left."""
    kernel = (
        "ran = []\n@cuda.jit\ndef f(x: ran.append(1), /, y: ran.append(2) = None) -> ran.append(3):\n    'text'\n    "
        "i: int = 0 # \u2028x()\n    x[i] = 1"
    )
    scope = living.run([kernel.replace(" = None", "")], extraction.prelude() | {"__name__": "answer"})
    assert sorted(scope["ran"]) == [1, 2, 3]
    (text,) = living.collect([kernel.replace(" = None", "")], "f", admission.KERNEL)
    assert text == "\n@cuda.jit\ndef f(x, /, y):\n\n    i = 0\n    x[i] = 1"


@pytest.mark.parametrize(
    "source", ["x[0] = 1" + " + 1" * 1500, "x[0] = " + "-" * 2000 + "1", "x[0] = " + "1 if x else " * 900 + "2"]
)
def test_what_is_too_deep_is_told(source):
    with pytest.raises(admission.NotAdmitted, match=r"nested 500 deep|no Python"):
        extraction.admitted([f"@cuda.jit\ndef f(x):\n    {source}"], admission.KERNEL, "f")


@pytest.mark.parametrize("source", ["    x[0] = 1\n" * 9_000, "    x[0] = 1 # " + "a" * 100_000])
def test_what_is_too_long_is_told(source):
    with pytest.raises(admission.NotAdmitted, match=r"characters of source|more than 20,000 parts"):
        extraction.admitted([f"@cuda.jit\ndef f(x):\n{source}"], admission.KERNEL, "f")


def test_a_long_chain_of_conditions_is_none_of_these():
    chain = "".join(f"    elif x[0] == {i}:\n        x[0] = {i}\n" for i in range(400))
    (text,) = extraction.admitted(
        [f"@cuda.jit\ndef f(x):\n    if x[0] < 0:\n        pass\n{chain}"], admission.KERNEL, "f"
    )
    assert text.count("elif") == 400
    assert len(similarity.nodes(text)) > 400  # such a chain is compared like any other answer


@pytest.mark.parametrize("rung", ["cuda.jit", "cuda.jit(device=True)", "cuda.jit(fastmath=True)"])
def test_admission_takes_the_usual_kernels(rung):
    source = (
        f"@{rung}\ndef f(A, B, C):\n    '''C = A @ B'''\n    s = cuda.shared.array((16, 16), np.float32)\n    i, j = "
        "cuda.grid(2)\n    tx = cuda.threadIdx.x\n    total = np.float32(0)\n    for k in range(A.shape[1] // 16):\n"
        "        s[tx, cuda.threadIdx.y] = A[i, k]\n        cuda.syncthreads()\n        total += s[tx, k] * B[k, j]\n"
        "    if i < C.shape[0] and not j >= C.shape[1]:\n        C[i, j] = max(total, 0.0) if total > 0 else "
        "-math.exp(total)\n    cuda.atomic.add(C, (0, 0), cuda.shfl_down_sync(0xFFFFFFFF, total, 16))\n"
    )
    assert len(living.collect([source], "f", admission.KERNEL)) == 1


# flags ----------------------------------------------------------------------------------------------------------------


def outcome_of(student, answers, points=20):
    return empty_result(student, EXERCISE, "graded") | {"answers": answers, "points": points, "key": student}


def test_a_copy_of_the_book_is_told_and_one_short_answer_is_not():
    public, _ = flags.given(hostile.MASTER)
    renamed = {i: re.sub(r"\bz\b", "total", re.sub(r"\bi\b", "index", s)) for i, s in public.items()}
    rows = [
        outcome_of("copies the book", public),
        outcome_of("renames", renamed),
        outcome_of("short", {"07-add": public["07-add"]}),
        outcome_of("nothing", {}),
    ]
    flagged, pairs = flags.look_alikes(rows, {EXERCISE: hostile.MASTER})
    assert flagged == {
        ("copies the book", EXERCISE): ["all longer answers equal the public solution"],
        ("renames", EXERCISE): ["all longer answers equal the public solution, but for names and numbers"],
    }
    assert pairs == []  # what both have from the book is no evidence


# results and reports
# ------------------------------------------------------------------------------------------------------


def test_missing_and_unreadable_submissions_are_results_without_a_process(tmp_path):
    result = empty_result("anna", EXERCISE, "missing")
    assert (result["points"], result["max_points"], result["status"]) == (0, hostile.MOST, "missing")
    (tmp_path / "x.ipynb").write_text("{")
    result = grade("anna", EXERCISE, tmp_path / "x.ipynb", hostile.MASTER, "bwrap", None, 1, None)
    assert result["status"].startswith("unreadable: it is not JSON")


def test_file_names_for_students_are_safe_and_different():
    names = ["anna", "../../etc", "a/b", "a_b", "", "..", "x" * 300, "Zoë", "=cmd()", "a\0b", "con."]
    safe = [results.safe_name(name) for name in names]
    assert len(set(safe)) == len(names)
    assert all(
        name and not set(name) & set('/\\\0:*?"<>|') and name not in (".", "..") and len(name) < 80 for name in safe
    )


def test_reports_escape_names_and_texts(tmp_path):
    evil = "=HYPERLINK('x')<script>`|"
    submission = submissions.Submission(evil, EXERCISE, None)
    row = outcome_of(evil, {}) | {"notes": ["<img src=x> `a`"], "flags": ["<b>"]}
    row["tasks"][0] |= {"text": "```\n<script>alert(1)</script>\n````", "status": "wrong"}
    results.save(results.path_of(tmp_path, submission), row)
    reports.write_all(tmp_path, [submission], {EXERCISE: hostile.MASTER})
    with open(tmp_path / "grades.csv", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["student"] == "'" + evil
    (page,) = (tmp_path / "feedback").glob("*.html")
    overview = (tmp_path / "overview.html").read_text(encoding="utf-8")
    assert "<script>" not in page.read_text(encoding="utf-8") + overview
    assert "<img" not in page.read_text(encoding="utf-8")
    assert "<b>" not in overview
    assert "=HYPERLINK(&#39;x&#39;)&lt;script&gt;`|" in overview
    (markdown,) = (tmp_path / "feedback").glob("*.md")
    assert "`````text" in markdown.read_text(encoding="utf-8")


def test_a_damaged_result_file_is_graded_again(tmp_path):
    path = tmp_path / "r.json"
    for text in ("", "{", "[]", "{}"):
        path.write_text(text)
        assert results.load(path) is None


def test_the_key_covers_everything_that_decides(tmp_path):
    from coursework.grading.sandbox import Limits

    path = tmp_path / "x.ipynb"
    path.write_text("1")
    submission = submissions.Submission("anna", EXERCISE, path)
    keys = [
        results.key_of(submission, hostile.MASTER, "bwrap", Limits(), 1),
        results.key_of(submission, hostile.MASTER, "rlimit", Limits(), 1),
        results.key_of(submission, hostile.MASTER, "bwrap", Limits(cell_seconds=1), 1),
        results.key_of(submission, hostile.MASTER, "bwrap", Limits(), 2),
        results.key_of(submission, hostile.EXERCISE, "bwrap", Limits(), 1),
    ]
    path.write_text("2")
    keys.append(results.key_of(submission, hostile.MASTER, "bwrap", Limits(), 1))
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("package", results.PACKAGES)
def test_a_change_anywhere_in_the_library_changes_the_key(package, tmp_path, monkeypatch):
    for name in results.PACKAGES:
        shutil.copytree(results.LIBRARY / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    before = results.code_key.__wrapped__()
    monkeypatch.setattr(results, "LIBRARY", tmp_path)
    assert results.code_key.__wrapped__() == before  # the place does not matter
    deepest = max((tmp_path / package).rglob("*.py"), key=lambda path: (len(path.parts), path))
    deepest.write_text(deepest.read_text() + "# changed\n")
    changed = results.code_key.__wrapped__()
    deepest.rename(deepest.with_name("renamed.py"))
    assert len({before, changed, results.code_key.__wrapped__()}) == 3


def test_the_key_covers_all_packages():
    assert set(results.PACKAGES) == {p.parent.name for p in results.LIBRARY.glob("*/__init__.py")}


def test_the_seed_is_secret_and_stays(tmp_path):
    first = results.secret_seed(tmp_path)
    assert first == results.secret_seed(tmp_path)
    assert first != results.secret_seed(tmp_path / "other")
    assert results.secret_seed(tmp_path, "ours") == results.secret_seed(tmp_path / "x", "ours")
