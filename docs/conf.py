"""The site: README, pages, notebooks and the reference of every public name.

Sources are taken from where they are, so that a link works in the repository as on the site:

    python -m sphinx -W -c docs . docs/_build        # make docs

Notebooks stand as they are committed, without outputs; ``-D nb_execution_mode=cache``
(``make docs-with-outputs``) runs those that need no model.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generated  # noqa: E402

project = "corecurves"
author = "the corecurves project"
copyright = f"2026, {author}"  # noqa: A001
release = version = importlib.metadata.version("corecurves")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
root_doc = "docs/index"
include_patterns = [
    "README.md", "CHANGELOG.md", "*/README.md",
    "docs/*.md", "docs/api.rst", "docs/api/*.rst", "notebooks/*.ipynb",
]  # fmt: skip
exclude_patterns = [".*", "docs/_build", "corecurves*", "tests", "build", "dist"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}

html_theme = "furo"
html_title = f"corecurves {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False
pygments_style = "friendly"

nitpicky = True
# A name in single backticks links to its page where it can be imported and has one.
default_role = "autolink"
nitpick_ignore_regex = [("py:obj", ".*")]
autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
nb_execution_mode = "off"
nb_execution_excludepatterns = ["*rose_transfer*", "*compressors_compared*"]
nb_execution_timeout = 120
nb_execution_raise_on_error = True
# What reports take from a notebook beside the figures themselves.
suppress_warnings = ["mystnb.unknown_mime_type"]
# The page that loads widgets would fetch them from another host.
nb_ipywidgets_js: dict[str, dict[str, str]] = {}
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]


def setup(app: Sphinx) -> None:
    """Write what is generated, before Sphinx looks for pages."""
    shutil.rmtree(HERE / "api", ignore_errors=True)
    (HERE / "api").mkdir()
    for name, text in generated.api_pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
    app.connect("source-read", generated.fill)
    app.connect("build-finished", _start_page)


def _start_page(app: Sphinx, error: Exception | None) -> None:
    """Lead from the folder's own address to the first page."""
    if error is None and app.builder.name == "html":
        target = f"{root_doc}.html"
        (Path(app.outdir) / "index.html").write_text(
            f'<!doctype html><meta charset="utf-8"><title>{project}</title>'
            f'<meta http-equiv="refresh" content="0; url={target}">'
            f'<a href="{target}">{project}</a>',
            encoding="utf-8",
        )
