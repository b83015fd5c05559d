"""The table of rungs says where each stands, and every place is right."""

import re
from pathlib import Path

import pytest

from cpulab.gallery import Gallery, by_folder
from dlkernels import implementations, rungs

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("rung", implementations.everything(), ids=lambda rung: rung.name)
def test_place_is_where_the_rung_stands(rung):
    path, line = rung.place.split(":")
    below = (ROOT / path).read_text(encoding="utf-8").splitlines()[int(line) - 1 : int(line) + 20]
    assert re.search(r"^\s*(@|def )", below[0]), below[0]
    assert any(part.lstrip().startswith("def ") for part in below)


def test_table_names_every_rung_once_and_escapes():
    table = rungs.table("add", "axpy")
    html = table._repr_html_().replace("<wbr>", "")
    names = [rung.name for name in ("add", "axpy") for rung in implementations.of(name)]
    assert [html.count(f"<code>{name}</code>") for name in names] == [1] * len(names)
    assert all(name in repr(table) for name in names)
    assert "xray.html" in html
    assert "xray.html" not in rungs.table("add", device="cpu")._repr_html_()


def test_each_of_several_operations_has_its_name_above_its_rungs():
    html, text = rungs.table("add", "axpy")._repr_html_(), repr(rungs.table("add", "axpy"))
    assert re.findall("<caption>(.*?)</caption>", html) == ["<code>add</code>", "<code>axpy</code>"]
    assert [line for line in text.splitlines() if line.endswith(":")] == ["add:", "axpy:"]
    for one in (rungs.table("add")._repr_html_(), repr(rungs.table("add"))):
        assert "caption" not in one
        assert not one.startswith("add:")


def test_a_rung_of_a_gpu_leads_to_its_card_in_the_gallery():
    every = implementations.everything()
    led = re.findall(r'href="gallery.html#([^"]+)"', rungs.table(*{rung.operation for rung in every})._repr_html_())
    cards = "".join(map(Gallery._repr_html_, by_folder(rung for rung in every if rung.device == "gpu").values()))
    assert sorted(led) == sorted(re.findall(r'class="gallery-card" id="([^"]+)"', cards))
    assert len(set(led)) == sum(rung.device == "gpu" for rung in every)
