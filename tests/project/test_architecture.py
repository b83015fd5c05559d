"""Who may know whom: the rules of lib/README.md, read from the source. A name in a string counts like an import."""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

LIBRARY = Path(__file__).parents[2] / "lib"
PACKAGES = ("simt", "dlkernels", "cpulab", "coursework")
OPERATIONS = ("vector", "matrix", "convolution", "recurrent", "attention")  # each may use those before it
SHARED = ("arguments", "device", "implementations", "simd", "wide")  # what operations may use besides

# Who may know which other package, or which room of it.
ARROWS = {
    "simt": (),
    "dlkernels": ("simt",),
    "cpulab": ("dlkernels.simd", "dlkernels.device"),
    "coursework": ("simt", "dlkernels", "cpulab"),
}
# Within a package: which rooms a room may know. A room that is not listed may know all of its package.
ROOMS = {
    "simt": {"source": ("errors", "numbers"), "xray": ("errors", "kernel", "retarget", "run", "trace", "source")},
    "cpulab": {"figures": (), "explore": ("figures",), "watch": ("figures",), "measure": ("figures",)},
    "dlkernels": {
        "simd": (),
        "device": (),
        "arguments": ("device",),
        "implementations": ("device",),
        "wide": ("device",),
        "schedules": ("simd",),
        **{name: (*SHARED, *OPERATIONS[:place]) for place, name in enumerate(OPERATIONS)},
    },
}
DOTTED = re.compile(rf"^({'|'.join(PACKAGES)})(\.[a-z_][a-z_0-9]*)+$")


def module_of(path):
    """("simt", "compiled", "launch") for lib/simt/compiled/launch.py."""
    return path.relative_to(LIBRARY).with_suffix("").parts


def known_to(path):
    """The modules of ours that a file names: by an import of any form, or in a string that is a dotted name or a
    path."""
    package = module_of(path)[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            names = [".".join([*base, alias.name]) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.strip().strip(".")
            folders = [p for p in PACKAGES if text.split("/")[0] == p or text.startswith(f"lib/{p}")]
            folders = [] if text == "dlkernels" else folders  # the name of the distribution
            names = [text] if DOTTED.match(text) else folders
        else:
            continue
        for name in names:
            if name.split(".")[0] in PACKAGES:
                yield tuple(name.split("."))


FILES = sorted(p for package in PACKAGES for p in (LIBRARY / package).rglob("*.py"))


def wrong_arrows(path):
    """What a file knows and should not, in words."""
    here = module_of(path)
    rooms = ROOMS.get(here[0], {})
    for there in set(known_to(path)):
        if there[0] != here[0]:
            allowed = [tuple(rule.split(".")) for rule in ARROWS[here[0]]]
            if not any(there[: len(rule)] == rule for rule in allowed):
                yield f"{'.'.join(here)} may know {', '.join(ARROWS[here[0]]) or 'no other package'}, not {'.'.join(there)}"
        elif len(there) > 1 and len(here) > 1 and here[1] in rooms and there[1] != here[1]:
            room = LIBRARY / there[0] / there[1]
            exists = room.is_dir() or room.with_suffix(".py").is_file()
            if exists and there[1] not in rooms[here[1]]:
                yield f"{here[0]}.{here[1]} may know {', '.join(rooms[here[1]]) or 'itself only'}, not {'.'.join(there)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_nobody_knows_more_than_the_map_allows(path):
    assert not list(wrong_arrows(path))


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
        assert len(list(wrong_arrows(file))) == 1, text
    file.write_text("from .names import Scope\nfrom ..errors import Unsupported\nx = 'the simt package'")
    assert not list(wrong_arrows(file))
