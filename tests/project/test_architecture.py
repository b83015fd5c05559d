"""The rules of docs/DESIGN.md about who may import whom, read from the source."""

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "lib" / "dlkernels"
OPERATIONS = ("vector", "matrix", "convolution", "recurrent", "attention")  # each may use those before it
SHARED = ("arguments", "device", "implementations", "simd", "wide")


def part_of(path):
    """The folder or module below dlkernels that a file belongs to."""
    return path.relative_to(LIBRARY).parts[0].removesuffix(".py")


def imports_of(path):
    """The parts of dlkernels that a file imports, whatever the form of the import."""
    package = ("dlkernels", *path.relative_to(LIBRARY).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            names = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for name in names:
            if name[0] == "dlkernels" and len(name) > 1:
                yield name[1]


def allowed(part):
    if part in OPERATIONS:
        return {*SHARED, *OPERATIONS[: OPERATIONS.index(part) + 1]}
    return {
        "simt": {"simt"},
        "simd": {"simd"},
        "schedules": {"schedules", "simd"},
        "xray": {"xray", "simt", "figures"},
        "device": {"simt"},
        "arguments": {"device", "arguments"},
        "implementations": {"device", "implementations"},
        "wide": {"simt", "wide", "device"},
        "figures": {"figures"},
        "threads": {"threads", "figures"},
        "measure": {"measure", "simd", "device", "implementations", "figures"},
    }.get(part)


FILES = sorted(LIBRARY.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(LIBRARY)))
def test_imports_follow_the_design(path):
    part = part_of(path)
    found = {
        name for name in imports_of(path) if (LIBRARY / name).exists() or (LIBRARY / f"{name}.py").exists()
    }
    if part != "coursework":
        assert "coursework" not in found, f"{path.name} imports coursework; nothing may"
    rules = allowed(part)
    if rules is not None:
        assert found <= rules, f"{part} may import {sorted(rules)}, and imports {sorted(found - rules)} too"


def test_the_rules_see_something():
    assert len(FILES) > 20
    assert "simt" in set(imports_of(LIBRARY / "wide.py"))
    assert {"implementations", "device"} <= set(imports_of(LIBRARY / "vector" / "gpu.py"))
