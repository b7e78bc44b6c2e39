"""The documentation site: `make docs` builds it, warnings are errors, nothing is fetched."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE / "_ext", HERE.parent / "packages" / "fewer-papers" / "src", HERE.parent / "src"):
    sys.path.insert(0, str(folder))

import fewer  # noqa: E402

project = "fewer"
author = "The fewer developers"
copyright = "the fewer developers, BSD-3-Clause"
release = version = fewer.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "generated_pages",
    "notebooks",
]
# Names of other projects link to their pages where those can be reached; a build without a network has plain names.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "scipy": ("https://docs.scipy.org/doc/scipy", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
} if "CI" in os.environ else {}  # fmt: skip
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
exclude_patterns = ["_build", "Thumbs.db"]
default_role = "py:obj"
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"fewer {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e5f", "color-brand-content": "#0b6e5f"},
    "dark_css_variables": {"color-brand-primary": "#5fd3bf", "color-brand-content": "#5fd3bf"},
}
