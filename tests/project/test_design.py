"""docs/DESIGN.md tells what is: its arrows are the imports, its paths exist, and a folder's head names its files."""

import ast
import functools
import re
from pathlib import Path

import pytest

from . import test_architecture as architecture

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "lib"
DESIGN = (ROOT / "docs" / "DESIGN.md").read_text(encoding="utf-8")
PRESENT = re.sub(r"## Where Part IV goes.*?(?=\n## )", "", DESIGN, flags=re.DOTALL)  # without what is not there yet
TRIPLE = re.compile(r"(\"\"\"|''').*?\1", re.DOTALL)
IMPORT = re.compile(r"^[ \t]*((?:from [\w.]+ )?import (?:\([^)]*\)|[^\n(]*))", re.MULTILINE)
MADE = ("_build/", "my_kernels.py")  # on a reader's machine
# The folders whose head lists all of their files.
HEADED = (
    *(f"dlkernels/{name}" for name in ("attention", "convolution", "layers", "loss", "matrix", "normalization", "optim")),
    *(f"dlkernels/{name}" for name in ("integer", "quantization", "recurrent", "reduce", "simd", "sparse", "vector")),
    *(f"simt/{name}" for name in ("compiled", "executor", "proof", "source", "typed", "xray")), "simt",
    *(f"cpulab/{name}" for name in ("explore", "measure", "tune", "watch")), "cpulab", "coursework/kinds", "training", "training/smaller",
    "training/fusion", "opencl", "opencl/read", "opencl/translate", "workers", "workers/simulate",
)  # fmt: skip


@functools.cache
def arrows():
    """{"cpulab": {"dlkernels.simd", ...}, "dlkernels/matrix": {"dlkernels/simd", ...}} as DESIGN has them."""
    block = re.search(r"```arrows\n(.*?)```", DESIGN, re.DOTALL)[1]
    known = {}
    for line in filter(None, block.splitlines()):
        name, _, targets = line.partition(" ->")
        folder = f"{name.split('/')[0]}/" if "/" in name else ""
        known[name] = {f"{folder}{target}" for target in targets.replace(",", " ").split()}
    return known


def imports_in(text):
    """The import statements of a source. A whole tree of each file would take ten times as long."""
    statements = IMPORT.findall(TRIPLE.sub("''", text))
    return ast.parse("\n".join(statements)).body


@functools.cache
def imported():
    """{module's name: modules it imports} of the whole library, inside functions too."""
    modules = architecture.modules()
    found = {}
    for name, path in modules.items():
        package, names = architecture.module_of(path)[:-1], set()
        for node in imports_in(path.read_text(encoding="utf-8")):
            if isinstance(node, ast.Import):
                names |= {tuple(alias.name.split(".")) for alias in node.names}
            else:
                base = package[: len(package) - node.level + 1] if node.level else ()
                base += tuple(node.module.split(".")) if node.module else ()
                names |= {(*base, alias.name) for alias in node.names}
        targets = (next((t[:n] for n in range(len(t), 0, -1) if t[:n] in modules), None) for t in names)
        found[name] = {target for target in targets if target}
    return found


def folder_of(name):
    """ "dlkernels/matrix" of a module in it, or None for a module beside the folders."""
    return "/".join(name[:2]) if len(name) > 1 and (LIBRARY / name[0] / name[1]).is_dir() else None


def between_packages():
    return {(name[0], target) for name, targets in imported().items() for target in targets if target[0] != name[0]}


def between_folders():
    pairs = {(folder_of(name), folder_of(target)) for name, targets in imported().items() for target in targets
             if target[0] == name[0]}  # fmt: skip
    return {(here, there) for here, there in pairs if here and there and here != there}


def covers(arrow, target):
    return ".".join(target[: arrow.count(".") + 1]) == arrow


@pytest.mark.parametrize("package", architecture.PACKAGES)
def test_arrows_between_packages_are_the_imports(package):
    drawn = arrows().get(package, set())
    there = {target for here, target in between_packages() if here == package}
    unknown = {".".join(target) for target in there if not any(covers(arrow, target) for arrow in drawn)}
    assert not unknown, f"draw in docs/DESIGN.md: {package} -> {sorted(unknown)}"
    unused = {arrow for arrow in drawn if not any(covers(arrow, target) for target in there)}
    assert not unused, f"nothing imports this any more: {package} -> {sorted(unused)}"


def test_arrows_between_folders_are_the_imports():
    drawn = {(here, there) for here, targets in arrows().items() if "/" in here for there in targets}
    assert between_folders() == drawn


def test_each_arrow_begins_at_something_there():
    assert all((LIBRARY / name).is_dir() for name in arrows())


def named():
    """The paths that DESIGN names in backquotes."""
    words = re.findall(r"`([^`\s]+)`", re.sub(r"```.*?```", "", PRESENT, flags=re.DOTALL))
    return sorted({word for word in words if re.fullmatch(r"[\w./*<>-]+", word)
                   and ("/" in word or re.search(r"\.(py|toml|md|json|yml)$", word))})  # fmt: skip


def exists(word):
    pattern = re.sub(r"<\w+>", "*", word).replace("cNN", "c[0-9]*").replace("NN_name", "[0-9]*").rstrip("/")
    return any(any(ROOT.glob(f"{base}{pattern}")) for base in ("", "lib/", "lib/*/", "lib/*/*/"))


@pytest.mark.parametrize("word", [word for word in named() if not word.startswith(MADE)])
def test_each_path_that_is_named_exists(word):
    assert exists(word), f"docs/DESIGN.md names {word}"


@pytest.mark.parametrize("file", ["coursework/check.py", "dlkernels/implementations.py", "simt/policy.py"])
def test_every_import_is_seen(file):
    text = (LIBRARY / file).read_text(encoding="utf-8")
    whole = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert sorted(map(ast.dump, imports_in(text))) == sorted(map(ast.dump, whole))


def test_the_rules_see_something():
    assert len(named()) > 40
    assert not exists("lib/simt/no_such.py")
    assert covers("dlkernels.simd", ("dlkernels", "simd", "cache"))
    assert not covers("dlkernels.simd", ("dlkernels", "device"))
    assert max(map(len, DESIGN.splitlines())) <= 120
    assert len(DESIGN) < 22_500


@pytest.mark.parametrize("folder", HEADED)
def test_the_head_of_a_folder_names_its_files(folder):
    head = ast.get_docstring(ast.parse((LIBRARY / folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    words = set(re.findall(r"(\w+)\.py\b", head))
    files = {path.stem for path in (LIBRARY / folder).glob("*.py")} - {"__init__"}
    assert not files - words, f"lib/{folder}/__init__.py does not say what these are: {sorted(files - words)}"
