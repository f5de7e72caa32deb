"""Configuration of Sphinx; `python -m tools.site` makes the site (CONTRIBUTING.md)."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import condor_pydagman

project = "condor_pydagman"
version = release = condor_pydagman.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "tools.site.man_pages",
    "tools.site.diagrams",
    "tools.site.references",
]
root_doc = "docs/README"
exclude_patterns = ["examples/*/**.md"]
default_role = "py:obj"  # docstrings have names in single backticks
smartquotes = False  # they make a dash of the two hyphens of an option
highlight_language = "text"

myst_heading_anchors = 4

autodoc_member_order = "bysource"
napoleon_use_ivar = True  # else attributes are described twice
python_use_unqualified_type_names = True
maximum_signature_line_length = 90
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"condor_pydagman {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_copyright = False
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "native"
