"""`make conf`: conf.py, so that `sphinx-build` makes this book without jupyter-book.

_config.yml stays the one place where the book is configured; a test sees that conf.py says the same. Whoever leaves
Jupyter Book behind deletes _config.yml and edits conf.py from then on.
"""

import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
HEAD = '''"""What _config.yml says, in Sphinx's words, for `make read` and for

    sphinx-build -W -n --keep-going . _build/html

Do not edit: `make conf` writes this file.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

'''
OF_A_REPOSITORY = ("repository_url", "repository_branch", "path_to_docs", "launch_buttons")
JUPYTER_BOOKS_OWN = ("use_jupyterbook_latex", "use_multitoc_numbering")  # known to its own extension only


def settings(root=ROOT):
    """What jupyter-book would tell Sphinx, less what only jupyter-book knows."""
    from jupyter_book.config import get_final_config

    path = list(sys.path)
    try:
        config, _ = get_final_config(
            user_yaml=root / "_config.yml",
            sourcedir=root,
            cli_config={"external_toc_path": "_toc.yml", "latex_individualpages": False},
        )
    finally:
        sys.path[:] = path
    config["extensions"] = [name for name in config["extensions"] if not name.startswith("jupyter_book")]
    config["extensions"].remove("sphinx_jupyterbook_latex")
    for kind in ("html_css_files", "html_js_files"):
        config[kind] = sorted(config[kind])  # found in the order of the disk
    options = config["html_theme_options"]
    if "executablebooks" in options["repository_url"]:  # not set: jupyter-book would name its own
        options = {name: value for name, value in options.items() if name not in OF_A_REPOSITORY}
    config["html_theme_options"] = {**options, "analytics": {}}  # there is none
    return {name: value for name, value in config.items() if name not in JUPYTER_BOOKS_OWN and not _unset(value)}


def _unset(value):
    return value in ("", None)


def text(root=ROOT):
    """conf.py, as the formatter leaves it."""
    titles = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config = {"project": titles["title"], **settings(root)}
    lines = "\n".join(f"{name} = {config[name]!r}" for name in sorted(config))
    command = [sys.executable, "-m", "ruff", "format", "--config", str(ROOT / "pyproject.toml"), "-"]
    return subprocess.run(command, input=HEAD + lines + "\n", capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    (ROOT / "conf.py").write_text(text(), encoding="utf-8")
