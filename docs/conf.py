"""Sphinx configuration of the site, built by ``make docs`` without network access."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
os.environ.setdefault("MPLBACKEND", "agg")

import structlearn  # noqa: E402

project = "structlearn"
author = "The structlearn developers"
copyright = author
version = release = structlearn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "labs",
    "mathml",
    "pictures",
]
exclude_patterns = ["_build", "_extensions", "_templates"]
templates_path = ["_templates"]
nitpicky = True
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

# -- Markdown ------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# -- docstrings ----------------------------------------------------------------------------------

autosummary_generate = True
autodoc_typehints = "none"  # docstrings describe arguments in words
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
napoleon_google_docstring = False
napoleon_use_param = False  # types are plain words, not references
napoleon_use_rtype = False
napoleon_preprocess_types = False
napoleon_custom_sections = [("Score blocks", "params_style"), ("Attributes", "params_style")]

# -- gallery -------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "subsection_order": [
        f"../examples/{folder}" for folder in ("search", "learning", "probabilities", "inspection")
    ],
    "filename_pattern": r"\.py$",  # every example runs
    # Programs for the shell, which need PyTorch or the C library.
    "ignore_pattern": r"__init__\.py|examples/(torch|library)/",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "write_computation_times": False,
    "reference_url": {},
}

# -- looks ---------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "structlearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"tables": []}
html_context = {"default_mode": "auto"}  # otherwise every page logs that it has none
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
