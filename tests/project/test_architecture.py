"""Who may know whom: the rules of lib/README.md, read from the source. A name in a string counts like an import."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import dlkernels

pytestmark = pytest.mark.quick

LIBRARY = Path(__file__).parents[2] / "lib"
PACKAGES = ("simt", "dlkernels", "training", "workers", "opencl", "cpulab", "coursework")
OPERATIONS = tuple(dlkernels.FOLDERS)  # each may use those before it
# What operations may use besides.
SHARED = (
    "arguments", "async_copy", "device", "examples", "host", "implementations", "indices", "launches", "layouts", "measured", "simd", "team", "tensor_cores", "wide",
)  # fmt: skip

# Who may know which other package, or which room of it.
ARROWS = {
    "simt": (),
    "dlkernels": ("simt",),
    "training": ("dlkernels",),
    "workers": ("training", "dlkernels"),
    "opencl": ("dlkernels", "simt"),
    "cpulab": ("dlkernels.simd", "dlkernels.device", "simt.show", "simt.xray"),
    "coursework": ("simt", "dlkernels", "training", "workers.simulate", "opencl.read", "cpulab"),
}
# Within a package: which rooms a room may know. A room that is not listed may know all of its package.
ROOMS = {
    "simt": {
        "source": ("errors", "numbers"),
        "xray": ("count", "errors", "hostarrays", "limits", "policy", "retargeting", "run", "show", "trace", "source"),
        "show": (),
    },
    "cpulab": {
        "figures": (),
        "explore": ("figures",),
        "watch": ("figures",),
        "measure": ("figures", "files"),
        "tune": ("measure",),
        "files": (),
    },
    "dlkernels": {
        "simd": (),
        "device": (),
        "launches": ("device",),
        "layouts": ("device", "launches"),
        "arguments": ("device", "host", "launches", "layouts"),
        "indices": ("device", "host", "layouts", "simd"),
        "examples": (),
        "host": (),
        "implementations": ("device", "examples", "launches", "layouts"),
        "wide": ("device",),
        "async_copy": ("wide",),
        "tensor_cores": ("async_copy", "device", "wide"),
        "schedules": ("simd",),
        "team": ("simd",),
        "measured": ("simd", "team"),
        **{name: (*SHARED, *OPERATIONS[:place]) for place, name in enumerate(OPERATIONS)},
    },
}
DOTTED = re.compile(rf"^({'|'.join(PACKAGES)})(\.[a-z_][a-z_0-9]*)+$")


def module_of(path):
    """("simt", "compiled", "launch") for lib/simt/compiled/launch.py."""
    return path.relative_to(LIBRARY).with_suffix("").parts


@cache
def said_by(path):
    """(what a file imports, its strings), from one walk through it. Imports in any form, at its top or in a function:
    ("simt", "policy", "start")."""
    package, imported, strings = module_of(path)[:-1], [], []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported += [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            imported += [(*base, alias.name) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node.value)
    return tuple(imported), tuple(strings)


def imported_by(path):
    return said_by(path)[0]


def named_in(path):
    """What a file names in strings that are a dotted name or a path."""
    for value in said_by(path)[1]:
        text = value.strip().strip(".")
        folders = [p for p in PACKAGES if text.split("/")[0] == p or text.startswith(f"lib/{p}")]
        folders = [] if text in ("dlkernels", "workers", "opencl") else folders  # the distribution's name, words
        yield from (tuple(name.split(".")) for name in ([text] if DOTTED.match(text) else folders))


def known_to(path):
    """The modules of ours that a file knows."""
    return (name for name in (*imported_by(path), *named_in(path)) if name[0] in PACKAGES)


FILES = sorted(p for package in PACKAGES for p in (LIBRARY / package).rglob("*.py"))


def wrong_arrows(path):
    """What a file knows and should not, in words."""
    here = module_of(path)
    rooms = ROOMS.get(here[0], {})
    for there in set(known_to(path)):
        if there[0] != here[0]:
            allowed = [tuple(rule.split(".")) for rule in ARROWS[here[0]]]
            if not any(there[: len(rule)] == rule for rule in allowed):
                yield (
                    f"{'.'.join(here)} may know {', '.join(ARROWS[here[0]]) or 'no other package'}, not "
                    f"{'.'.join(there)}"
                )
        elif len(there) > 1 and len(here) > 1 and here[1] in rooms and there[1] != here[1]:
            room = LIBRARY / there[0] / there[1]
            exists = room.is_dir() or room.with_suffix(".py").is_file()
            if exists and there[1] not in rooms[here[1]]:
                yield (
                    f"{here[0]}.{here[1]} may know {', '.join(rooms[here[1]]) or 'itself only'}, not {'.'.join(there)}"
                )


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_nobody_knows_more_than_the_map_allows(path):
    assert not list(wrong_arrows(path))


def test_the_proof_is_an_extra():
    """Only who asks for `simt.prove` loads the proof, and only the proof needs z3: all else works without."""
    door, proof = LIBRARY / "simt" / "__init__.py", LIBRARY / "simt" / "proof"
    assert '"prove": "proof"' in door.read_text(encoding="utf-8")
    for path in (p for p in FILES if proof not in p.parents):
        known = {*imported_by(path), *named_in(path)}
        assert not [name for name in known if name[0] == "z3" or name[:2] == ("simt", "proof")], path


def test_grading_knows_of_extras_and_learning_systems_through_one_place():
    """Without those two folders, only offered.py would have to change."""
    grading = LIBRARY / "coursework" / "grading"
    extra = {("coursework", "grading", folder) for folder in ("extras", "lms")}
    for path in (p for p in FILES if module_of(p)[:3] not in extra and p != grading / "offered.py"):
        assert not {name[:3] for name in known_to(path)} & extra, path


def modules():
    """Every module of ours by its name, without ``__init__``: ("simt", "xray") is a package, its file lies inside."""
    named = {module_of(path): path for path in FILES}
    return {name[:-1] if name[-1] == "__init__" else name: path for name, path in named.items()}


def imports_of(name, path, known):
    """The modules of its own package that a module imports, inside functions too."""
    for there in imported_by(path):
        target = next((there[:end] for end in range(len(there), 0, -1) if there[:end] in known), name)
        if target[0] != name[0] or target == name:
            continue
        yield target
        # Whoever imports simt.compiled.launch from outside runs simt/compiled/__init__.py, too.
        yield from (
            target[:end] for end in range(1, len(target)) if target[:end] != name[:end] and target[:end] in known
        )


def circles(graph):
    """Sets of modules that import one another round (Tarjan's strongly connected components)."""
    index, low, stack = {}, {}, []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for there in graph[node]:
            if there not in index:
                yield from visit(there)
            if there in stack:
                low[node] = min(low[node], low[there])
        if low[node] == index[node]:
            circle = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(circle) > 1:
                yield sorted(".".join(name) for name in circle)

    for node in graph:
        if node not in index:
            yield from visit(node)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_imports_in_a_circle(package):
    known = modules()
    graph = {name: set(imports_of(name, path, known)) for name, path in known.items() if name[0] == package}
    assert not list(circles(graph))


def test_a_circle_is_seen():
    assert list(circles({("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("b",)}})) == [["b", "c"]]
    known = modules()
    assert ("simt", "compiled") in set(imports_of(("simt", "policy"), known["simt", "policy"], known))  # a lazy one


def test_the_rules_see_something(tmp_path, monkeypatch):
    assert {p.name for p in LIBRARY.iterdir() if (p / "__init__.py").is_file()} == set(PACKAGES)
    assert ("dlkernels", "simd", "load") in set(known_to(LIBRARY / "cpulab" / "measure" / "bandwidth.py"))
    monkeypatch.setitem(globals(), "LIBRARY", tmp_path)
    (tmp_path / "simt" / "source").mkdir(parents=True)
    (tmp_path / "simt" / "policy.py").touch()
    file = tmp_path / "simt" / "source" / "tree.py"
    for text in ("import coursework", "from coursework import check", "def f():\n    from ..policy import start",
                 "import_module('cpulab.measure')", "FOLDER = 'coursework/hidden'", "from simt import policy"):  # fmt: skip
        file.write_text(text)
        said_by.cache_clear()
        assert len(list(wrong_arrows(file))) == 1, text
    file.write_text("from .names import Scope\nfrom ..errors import Unsupported\nx = 'the simt package'")
    said_by.cache_clear()
    assert not list(wrong_arrows(file))
