"""The book without jupyter-book: conf.py says what _config.yml says, and `sphinx-build` makes every page."""

import subprocess
import sys

import pytest
from built import ROOT, pages

sys.path.insert(0, str(ROOT / "_ext"))
import sphinx_conf


@pytest.mark.quick
def test_conf_says_what_config_says():
    assert (ROOT / "conf.py").read_text(encoding="utf-8") == sphinx_conf.text(), "run `make conf`, and commit conf.py"


def test_conf_names_nothing_of_jupyter_book():
    conf = (ROOT / "conf.py").read_text(encoding="utf-8")
    assert "jupyter_book" not in conf.replace(sphinx_conf.HEAD, "")
    assert "jupyterbook" not in conf


@pytest.mark.rotates
def test_sphinx_build_writes_every_page(tmp_path):
    """Without running them: what running finds, `make html` finds."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "-b", "html"]
    options = ["-D", "nb_execution_mode=off", "-d", tmp_path / "doctrees", ROOT, tmp_path / "html"]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [name for name in pages() if not (tmp_path / "html" / f"{name}.html").exists()] == []
