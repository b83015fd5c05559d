"""Each pass alone: what it makes of a few lines."""

import ast
import itertools
import textwrap

import pytest

from simt.compiled import structure
from simt.compiled.core import Sync, name, show
from simt.compiled.interchange import choose
from simt.compiled.replication import Replication, exposed_in, leaves
from simt.compiled.splitting import Agree, Any, Region, ScalarFor, ScalarIf, Splitting
from simt.compiled.uniformity import Uniformity

pytestmark = pytest.mark.quick

PURE = {"range", "bool"}


def code(text):
    """Statements; ``barrier()`` and ``v = shuffle(w)`` become Sync."""

    class Syncs(ast.NodeTransformer):
        def visit_Expr(self, node):
            return Sync("block", None, {}, node) if ast.unparse(node) == "barrier()" else node

        def visit_Assign(self, node):
            if isinstance(node.value, ast.Call) and node.value.func.id == "shuffle":
                operands = {"value": node.value.args[0], "operand": ast.Constant(1), "mask": ast.Constant(0xFFFFFFFF)}
                return Sync("shfl_down_sync", node.targets[0].id, operands, node)
            return node

    return Syncs().visit(ast.parse(textwrap.dedent(text))).body


def temporaries():
    numbers = itertools.count()
    return lambda: f"k{next(numbers)}"


def refuse(node, what):
    raise AssertionError(what)


def pieces_of(text, threads=64):
    body, fresh = code(text), temporaries()
    uniformity = Uniformity(body, PURE)
    chosen = choose(body, uniformity, threads, fresh)
    uniformity = Uniformity(body, PURE)
    return Splitting(uniformity, chosen, fresh, refuse).split(body), body, uniformity


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if c:\n    return\nf()", "if c:\n    pass\nelse:\n    f()"),
        ("if c:\n    f()\n    return\nelse:\n    g()\nh()", "if c:\n    f()\nelse:\n    g()\n    h()"),
        ("if a:\n    if b:\n        return\n    f()\ng()",
         "k0 = False\nif a:\n    if b:\n        k0 = True\n    else:\n        f()\nif not k0:\n    g()"),
        ("for i in r:\n    if c:\n        return\n    f()\ng()",
         "k0 = False\nfor i in r:\n    if c:\n        k0 = True\n        break\n    f()\nif not k0:\n    g()"),
    ],
)  # fmt: skip
def test_structure_takes_return_out(before, after):
    made = structure.without(ast.Return, code(before), lambda jump: [], temporaries())
    assert show(made) == after


def test_structure_takes_continue_out():
    made = structure.without(ast.Continue, code("if c:\n    continue\nf()"), lambda jump: [], temporaries())
    assert show(made) == "if c:\n    pass\nelse:\n    f()"


@pytest.mark.parametrize(
    ("text", "varying"),
    [
        ("a = n * 2\nb = a + _tx", {"b"}),
        ("step = 16\nwhile step > 0:\n    v = shuffle(w)\n    step = step // 2", {"v"}),
        ("a = 0\nif _tx > n:\n    a = 1\nb = a", {"a", "b"}),
        ("if _tx > n:\n    a = 1\n    b = a", set()),
        ("a = 0\nif _tx > n:\n    a = 1\n    barrier()\nb = a", set()),
        ("a = _load(x, n)", {"a"}),
        ("for i in range(_tx):\n    a = i\nb = a", {"a", "b", "i"}),
        ("a = 0\nfor i in range(n):\n    if _tx == i:\n        break\n    a = i\nb = a", {"a", "b", "i"}),
    ],
)
def test_uniformity(text, varying):
    found = Uniformity(code(text), PURE).varying
    assert {v for v in found if not v.startswith("_")} == varying


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("for p in range(n):\n    total = total + _load(a, p)", 1),
        ("for p in range(16):\n    total = total + _load(a, p)", 0),
        ("for p in range(64):\n    total = total + _load(a, p)", 1),
        ("for p in range(_tx):\n    total = total + _load(a, p)", 0),
        ("for p in range(n):\n    if _load(a, p) > 0:\n        break", 0),
        ("for p in range(n):\n    _atomic_add(a, p, 1)", 0),
        ("for p in range(n):\n    for q in range(n):\n        total = total + _load(a, p, q)", 2),
        ("for p in range(n):\n    while _load(a, p):\n        f()", 0),
    ],
)
def test_interchange_chooses(text, moved):
    body = code(text)
    assert len(choose(body, Uniformity(body, PURE), 64, temporaries())) == moved
    assert not choose(body, Uniformity(body, PURE), 4, temporaries())


def shapes(pieces):
    """The tree of pieces, as text."""
    made = []
    for piece in pieces:
        kind = type(piece).__name__
        inner = shapes(piece.body) if hasattr(piece, "body") else None
        made.append(kind if inner is None else f"{kind}({inner})")
    return " ".join(made)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f()\nbarrier()\ng()", "Region Collective Region"),
        ("for k in range(n):\n    f()\n    barrier()\n    g()", "ScalarFor(Region Collective Region)"),
        ("if n > 2:\n    barrier()", "ScalarIf(Collective)"),
        ("if _tx > n:\n    barrier()", "Region Agree ScalarIf(Collective)"),
        ("if _tx > n:\n    v = shuffle(w)", "Region Any ScalarIf(Collective)"),
        ("while _load(x):\n    barrier()", "ScalarWhile(Region Agree ScalarBreak Collective)"),
        ("while _load(x):\n    v = shuffle(w)", "Region ScalarWhile(Region Any ScalarBreak Collective)"),
        ("while n > 0:\n    barrier()\n    n = n // 2", "ScalarWhile(ScalarBreak Collective Region)"),
        ("for k in range(_tx):\n    barrier()", "Region Agree ScalarFor(Region Collective)"),
    ],
)
def test_splitting(text, expected):
    pieces, _, _ = pieces_of(text)
    assert shapes(pieces) == expected


def test_guards_say_who_takes_part():
    pieces, _, _ = pieces_of("if _tx > n:\n    f()\n    v = shuffle(w)\n    g()")
    inner = pieces[2]
    assert isinstance(inner, ScalarIf)
    assert {p.guards for p in inner.body} == {(inner.guard,)}
    assert isinstance(pieces[1], Any)


def test_reads_before_writes():
    exposed, certain = exposed_in(
        code("a = b\nif a:\n    c = 1\nelse:\n    c = d\nfor i in range(3):\n    e = c"), set()
    )
    assert exposed & set("abcdei") == {"b", "d"}
    assert certain == {"a", "c", "e", "i"}
    exposed, certain = exposed_in(code("for i in range(n):\n    e = 1\nf = e"), set())
    assert "e" in exposed
    assert certain == {"f"}


def test_replication_keeps_recomputes_and_restores():
    pieces, body, uniformity = pieces_of(
        "i = _bx * 64 + _tx\nv = _load(x, i)\nw = v + 1\n_store(s, _tx, w)\nstep = n // 2\nbarrier()\nstep = step + 1\n"
        "_store(y, i, v * step)"
    )
    found = Replication(pieces, body, uniformity, {"x", "y", "s", "n"}, set())
    first, _, last = leaves(pieces)
    assert isinstance(first, Region)
    assert set(found.recomputed) == {"i"}
    assert found.kept(first) == ([], ["v"])  # w is used in its own piece only
    assert found.kept(last) == (["v"], [])
    assert found.is_scalar("step")
    assert found.restored(last, {"step"}) == ["step"]


def test_a_variable_that_some_threads_assign_is_loaded_before_it_is_stored():
    pieces, body, uniformity = pieces_of("v = _load(x)\nbarrier()\nif v > 1:\n    v = 2\nbarrier()\n_store(y, v)")
    found = Replication(pieces, body, uniformity, {"x", "y"}, set())
    middle = list(leaves(pieces))[2]
    assert found.kept(middle) == (["v"], ["v"])


def test_all_threads_must_agree_on_a_way_to_a_barrier():
    pieces, _, _ = pieces_of("if _load(x):\n    barrier()")
    (agree,) = [p for p in pieces if isinstance(p, Agree)]
    branch = pieces[-1]
    assert isinstance(branch.test, ast.Name)
    assert branch.test.id == agree.result == name(agree.result).id
    assert isinstance(pieces_of("for k in range(n):\n    barrier()")[0][0], ScalarFor)
