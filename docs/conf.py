"""The site: `make docs` builds it, runs its tutorials and gallery, and fails on every warning.

Pages are Markdown (MyST); those with a `kernelspec` are tutorials, whose cells run when the site is built.  `api_pages`
makes the reference of each public module from its docstrings.
"""

import importlib
import inspect
import os
import re
import shutil
import sys
from pathlib import Path
from typing import NewType

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")  # before onax starts: a program of the gallery has a mesh of devices

from onax.version import __version__

HERE = Path(__file__).resolve().parent

project = "onax"
author = copyright = "the onax authors"
release = version = __version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["requirements*.txt", "gallery", "_browser", "_gallery/*.ipynb", "_gallery/*.py.md"]
default_role = "code"
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}

html_theme = "furo"
html_title = f"onax {release}"
html_static_path = ["_static"]
html_favicon = "_static/onax.svg"
html_extra_path = ["_browser"]
html_copy_source = False
html_show_copyright = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

autodoc_member_order = "alphabetical"
autodoc_typehints = "none"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE / "gallery")],
    "gallery_dirs": ["_gallery"],
    "filename_pattern": r"/\w+\.py$",
    "abort_on_example_error": True,
    "show_memory": False,
    "min_reported_time": 1e9,
    "download_all_examples": False,
    "remove_config_comments": True,
}

# Public modules in the order of the reference: (module, title of its page)
MODULES = {
    "onax": "onax: transformations, devices, pytrees",
    "onax.numpy": "onax.numpy",
    "onax.numpy.linalg": "onax.numpy.linalg",
    "onax.numpy.fft": "onax.numpy.fft",
    "onax.lax": "onax.lax",
    "onax.lax.linalg": "onax.lax.linalg",
    "onax.nn": "onax.nn",
    "onax.random": "onax.random",
    "onax.scipy.linalg": "onax.scipy.linalg",
    "onax.scipy.optimize": "onax.scipy.optimize",
    "onax.scipy.special": "onax.scipy.special",
    "onax.scipy.stats": "onax.scipy.stats",
    "onax.image": "onax.image",
    "onax.tree_util": "onax.tree_util",
    "onax.export": "onax.export",
    "onax.onnx": "onax.onnx",
    "onax.interop": "onax.interop",
    "onax.debug": "onax.debug",
    "onax.profiler": "onax.profiler",
    "onax.test_util": "onax.test_util",
    "onax.errors": "onax.errors",
}


def public_members(module):
    """The functions and classes of a module that its reference lists, in alphabetical order."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if name[0] != "_"]
    members = {name: getattr(module, name) for name in sorted(names)}
    return [n for n, m in members.items() if callable(m) and inspect.getdoc(m) and not _foreign(m)]


def _foreign(value):
    """Whether another package documents it: a name that is handed on as it is, or a type of annotations."""
    package = (getattr(value, "__module__", None) or "").partition(".")[0]
    return isinstance(value, NewType) or package in ("numpy", "ml_dtypes", "typing")


def api_pages(folder):
    """Writes one page for each public module, and the page that lists them."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    index = ["# API reference", "", "```{toctree}", ":maxdepth: 1", ""]
    for name, title in MODULES.items():
        module = importlib.import_module(name)
        lines = [title, "=" * len(title), "", f".. automodule:: {name}", ""]
        for member in public_members(module):
            value = getattr(module, member)
            kind = "autoclass" if inspect.isclass(value) else "autofunction"
            lines += [f".. {kind}:: {name}.{member}", ""]
        (folder / f"{name}.rst").write_text("\n".join(lines))
        index.append(name)
    (folder / "index.md").write_text("\n".join([*index, "```", ""]))


def escape(app, what, name, value, options, lines):
    """Escapes, outside of code, what docstrings as plain text contain and reStructuredText would read as markup."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            parts = re.split(r"(``?[^`]*``?)", line)
            parts[::2] = [re.sub(r"([*|\\]|(?<=\w)_(?=\W|$))", r"\\\1", part) for part in parts[::2]]
            lines[i] = "".join(parts)


def setup(app):
    """Makes the reference and what the browser runs, and copies pages that lie elsewhere."""
    app.connect("autodoc-process-docstring", escape, priority=400)
    api_pages(HERE / "_api")
    page = importlib.import_module("onax.errors.explain").document()
    (HERE / "_api" / "errors.md").write_text(page)
    for name in ("CONTRIBUTING", "CHANGELOG"):
        shutil.copy(HERE.parent / f"{name}.md", HERE / "_api" / f"{name.lower()}.md")
    sys.path.insert(0, str(HERE))
    importlib.import_module("benchmark_pages").write(HERE / "benchmarks", HERE / "_api")
    packages = HERE.parent / "build" / "node" / "node_modules"
    importlib.import_module("browser_models").write(HERE / "_browser" / "browser", packages)
