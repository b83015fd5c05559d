"""What _config.yml says, in Sphinx's words, for `make read` and for

    sphinx-build -W -n --keep-going . _build/html

Do not edit: `make conf` writes this file.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

author = "the authors of From Threads to Attention"
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"
comments_config = {"hypothesis": False, "utterances": False}
copyright = "2026"
exclude_patterns = ["**.ipynb_checkpoints", "**/.*", ".*", ".DS_Store", "Thumbs.db", "_build", "_vendor/**"]
extensions = [
    "sphinx_togglebutton",
    "sphinx_copybutton",
    "myst_nb",
    "sphinx_thebe",
    "sphinx_comments",
    "sphinx_external_toc",
    "sphinx.ext.intersphinx",
    "sphinx_design",
    "sphinx_book_theme",
    "book",
    "ways",
    "share",
    "predict",
    "claims",
    "api",
    "source_pages",
    "glossary",
    "sphinxcontrib.bibtex",
]
external_toc_exclude_missing = True
external_toc_path = "_toc.yml"
html_context = {"default_mode": "auto"}
html_css_files = ["book.css"]
html_favicon = "_static/favicon.svg"
html_js_files = ["access.js", "figures.js", "glossary.js", "predict.js", "ways.js"]
html_permalinks_icon = "#"
html_static_path = ["_static"]
html_theme = "sphinx_book_theme"
html_theme_options = {
    "search_bar_text": "Search this book...",
    "extra_footer": '<p>Text under <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>, code under the BSD 3-Clause License.</p>',
    "home_page_in_toc": False,
    "announcement": "",
    "analytics": {},
    "use_repository_button": False,
    "use_edit_page_button": False,
    "use_issues_button": False,
    "navbar_persistent": [],
    "show_toc_level": 2,
    "use_fullscreen_button": False,
}
html_title = "From Threads to Attention"
latex_engine = "pdflatex"
mathjax_path = "mathjax/tex-svg.js"
myst_dmath_double_inline = True
myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
myst_heading_anchors = 3
myst_url_schemes = ["mailto", "http", "https"]
nb_code_prompt_hide = "Hide the {type}"
nb_code_prompt_show = "Show the {type}"
nb_execution_allow_errors = False
nb_execution_excludepatterns = ["exercises/*"]
nb_execution_in_temp = False
nb_execution_mode = "cache"
nb_execution_raise_on_error = False
nb_execution_timeout = 300
nb_merge_streams = True
nb_output_stderr = "error"
numfig = False
project = "From Threads to Attention"
pygments_style = "sphinx"
suppress_warnings = ["myst.domains"]
toc_object_entries_show_parents = "hide"
