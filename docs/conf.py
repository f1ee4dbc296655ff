"""The documentation site: ``make docs`` builds it into ``docs/_build/html``."""

import os
import sys
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

project = "cocomplete"
author = "cocomplete maintainers"
project_copyright = author
version = release = metadata.version("cocomplete")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
exclude_patterns = ["_build", "_extensions", "examples", "Thumbs.db"]
templates_path = ["_templates"]

# -- pages ---------------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# -- reference -----------------------------------------------------------------------------------------

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # numpydoc's sections say more
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()  # ruff's pydocstyle has them

# -- gallery -------------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,  # times are those of the machine that builds
    "write_computation_times": False,
    "abort_on_example_error": True,
    "copyfile_regex": r".*\.csv",
}
warnings.filterwarnings("error", module="cocomplete")

# -- HTML ----------------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "cocomplete"
toc_object_entries_show_parents = "hide"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": [],
    "footer_end": [],
    "pygments_light_style": "default",
    "pygments_dark_style": "github-dark",
}


def not_ours(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:  # noqa: FBT001
    """Leave out what scikit-learn gives to every estimator: its own pages describe it."""
    home = getattr(obj, "__module__", None) or ""
    return True if home.startswith("sklearn") or name.endswith("_request") else None


def setup(app: Any) -> None:
    """Connect it."""
    app.connect("autodoc-skip-member", not_ours)
