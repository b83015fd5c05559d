"""What a page gives to those who pass it on, in a small book: with an address, and without one."""

import json
import os
import sys
from urllib.parse import parse_qs, urlsplit

import pytest
from axe import violations
from bs4 import BeautifulSoup
from built import ROOT
from test_source_pages import sphinx

sys.path.insert(0, str(ROOT / "_ext"))
import share
import sphinx_conf

HEADER = "---\nfile_format: mystnb\nkernelspec: {name: python3, display_name: Python 3, language: python}\n---\n"
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT / "_ext")!r})
extensions = ["myst_nb", "book", "share"]
nb_execution_mode = "off"
html_title = "A book"
html_theme = "sphinx_book_theme"
html_context = {{"default_mode": "auto"}}
html_static_path = [{str(ROOT / "_static")!r}]
html_css_files = ["book.css"]
exclude_patterns = ["_build"]
"""
PLACES = {
    "notebook_interface": "jupyterlab",
    "colab_url": "https://colab.research.google.com",
    "binderhub_url": "https://mybinder.org",
    "jupyterhub_url": "https://hub.example.org",
}
ADDRESS = f"""
html_baseurl = "https://anna.github.io/book"
html_theme_options = {{
    "repository_url": "https://github.com/anna/main",
    "repository_branch": "main",
    "launch_buttons": {PLACES},
}}
"""
PAGE = f"""{HEADER}# A `page` & more

```{{admonition}} After this page you can
read a box.
```

See [the start](../index.md), of which nobody needs a description.

The text of a "page" begins. It goes on. {"And it goes on much longer than anybody reads. " * 5}

<figure class="drawing">

```{{raw}} html
:file: {ROOT / "_static" / "one-kernel.svg"}
```

<figcaption>A picture.</figcaption>
</figure>

```{{raw}} html
<figure class="drawing" id="mine"><figcaption>Another.</figcaption></figure>
<svg class="figure" role="img" aria-label="Ratio 3.5 of two sizes" viewBox="0 0 9 9"><path d="M0 0"/></svg>
<svg class="figure" role="img" aria-label="Ratio 7.1 of two sizes" viewBox="0 0 9 9"><path d="M0 0"/></svg>
```

```{{code-cell}} ipython3
6 * 7
```
"""
SAID = HEADER.replace("---\n", "---\ndescription: What its author says.\n", 1) + "# Said\n\nThe text.\n"


def build(root, conf):
    (root / "conf.py").write_text(conf)
    (root / "index.md").write_text(
        "# Start\n\nThe start.\n\n```{toctree}\nchapters/page\nchapters/said\nexercises/one\n```\n"
    )
    (root / "chapters").mkdir()
    (root / "exercises").mkdir()
    (root / "chapters" / "page.md").write_text(PAGE)
    (root / "chapters" / "said.md").write_text(SAID)
    notebook = json.loads((ROOT / "exercises" / "try.ipynb").read_text(encoding="utf-8"))
    notebook["cells"] = notebook["cells"][:3]
    (root / "exercises" / "one.ipynb").write_text(json.dumps(notebook))
    with sphinx(root) as (app, warnings):
        app.build()
    assert warnings.getvalue() == ""
    return root / "_build" / "html"


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return build(tmp_path_factory.mktemp("alone"), CONF)


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return build(tmp_path_factory.mktemp("published"), CONF + ADDRESS)


def soup(built, page):
    return BeautifulSoup((built / f"{page}.html").read_text(encoding="utf-8"), "html.parser")


def meta(page):
    tags = [tag for tag in page.find_all("meta") if tag.get("content")]
    return {tag.get("name") or tag.get("property"): tag["content"] for tag in tags}


def buttons(page):
    links = (a for a in page.find_all("a", href=True) if a["href"].startswith(tuple(PLACES.values())[1:]))
    return {urlsplit(a["href"]).netloc: a["href"] for a in links}


def test_a_page_says_what_it_is_about(alone):
    said = meta(soup(alone, "chapters/page"))
    assert said["description"].startswith("The text of a “page” begins. It goes on. And it")
    assert 100 < len(said["description"]) <= share.LONGEST
    assert said["description"] == said["og:description"]
    assert (said["og:title"], said["og:site_name"]) == ("A page & more", "A book")
    assert meta(soup(alone, "chapters/said"))["description"] == "What its author says."
    assert meta(soup(alone, "index"))["description"] == "The start."


def test_without_an_address_nothing_leads_away(alone):
    for name in ("chapters/page", "exercises/one"):
        page = soup(alone, name)
        assert buttons(page) == {}
        assert "og:image" not in meta(page)
    assert "page-install" not in (alone / "_sources" / "chapters" / "page.ipynb").read_text()


def test_a_preview_has_a_picture_that_is_there(published):
    said = meta(soup(published, "chapters/page"))
    assert said["og:url"] == "https://anna.github.io/book/chapters/page.html"
    path = said["og:image"].removeprefix("https://anna.github.io/book/")
    assert (published / path).read_bytes()[:4] == b"\x89PNG"


def test_buttons_open_the_notebook_of_a_page(published):
    for name in ("chapters/page", "exercises/one"):
        path, found = f"{name}.ipynb", buttons(soup(published, name))
        assert found["colab.research.google.com"].endswith(f".com/github/anna/main/blob/{share.BRANCH}/{path}")
        assert found["mybinder.org"].endswith(f".org/v2/gh/anna/main/{share.BRANCH}?urlpath=lab/tree/{path}")
        asked = parse_qs(urlsplit(found["hub.example.org"]).query)
        wanted = {"repo": "https://github.com/anna/main", "branch": share.BRANCH, "urlpath": f"lab/tree/main/{path}"}
        assert asked == {key: [value] for key, value in wanted.items()}


def test_the_notebook_of_a_page_is_plain_and_finds_the_library(published):
    cells = json.loads((published / "_sources" / "chapters" / "page.ipynb").read_text(encoding="utf-8"))["cells"]
    first, *_ = (cell for cell in cells if cell["cell_type"] == "code")
    assert 'ADDRESS, VERSION = "git+https://github.com/anna/main"' in "".join(first["source"])
    assert "{admonition}" not in json.dumps(cells)


def test_publishing_puts_them_where_the_buttons_look():
    told = (ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    assert "_ext/share.py" in told
    assert f"HEAD:{share.BRANCH}" in told


def test_config_and_conf_know_the_same_address(tmp_path):
    """What _config.yml says once its lines are uncommented, for `make html` and for `make read`."""
    text = (ROOT / "_config.yml").read_text(encoding="utf-8")
    for line in (
        "repository:",
        "  url:",
        "  branch:",
        "launch_buttons:",
        "  notebook_interface:",
        "  colab_url:",
        "  binderhub_url:",
    ):
        assert f"\n# {line}" in text
        text = text.replace(f"\n# {line}", f"\n{line}")
    assert "\n  # baseurl:" in text
    (tmp_path / "_config.yml").write_text(text.replace("\n  # baseurl:", "\n  baseurl:"))
    os.symlink(ROOT / "_ext", tmp_path / "_ext")
    os.symlink(ROOT / "_static", tmp_path / "_static")
    os.symlink(ROOT / "_toc.yml", tmp_path / "_toc.yml")
    config = sphinx_conf.settings(tmp_path)
    options = config["html_theme_options"]
    assert options["repository_url"] == "https://github.com/OWNER/REPOSITORY"
    assert options["launch_buttons"]["binderhub_url"] == PLACES["binderhub_url"]
    assert options["launch_buttons"]["jupyterhub_url"] == ""
    assert options["launch_buttons"]["notebook_interface"] == "jupyterlab"
    assert config["html_baseurl"] == "https://OWNER.github.io/REPOSITORY"


def test_each_figure_has_a_link_of_its_own(alone, browser):
    page = soup(alone, "chapters/page")
    links = page.select("a.figure-link")
    names = [link["href"][1:] for link in links]
    assert names == ["one-kernel", "mine", "figure-ratio-of-two-sizes", "figure-ratio-of-two-sizes-2"]
    for link, name in zip(links, names, strict=True):
        assert link.parent["id"] == name
        assert len(page.find_all(id=name)) == 1
    opened = browser.open((alone / "chapters" / "page.html").as_uri() + "#figure-ratio-of-two-sizes")
    assert opened.evaluate("document.querySelector(':target svg') !== null")
    assert [wrong for wrong in violations(opened) if "figure-link" in wrong] == []
