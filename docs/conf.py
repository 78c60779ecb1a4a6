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

os.environ.setdefault("JAX_NUM_CPU_DEVICES", "8")  # before onax starts: a program of the gallery has a mesh of devices

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

from onax.version import __version__
from public_members import members

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
    "write_computation_times": False,  # these pages load scripts from other hosts
    "download_all_examples": False,
    "remove_config_comments": True,
}

# The reference: group -> module -> title of its page, where that is not the module's name
GROUPS = {
    "Transformations, arrays, mathematics": {
        "onax": "onax: transformations, devices, pytrees",
        "onax.numpy": "",
        "onax.numpy.linalg": "",
        "onax.numpy.fft": "",
        "onax.lax": "",
        "onax.lax.linalg": "",
        "onax.nn": "",
        "onax.nn.initializers": "",
        "onax.random": "",
        "onax.image": "",
        "onax.ops": "",
        "onax.tree": "",
        "onax.tree_util": "",
        "onax.flatten_util": "",
        "onax.ref": "",
        "onax.dtypes": "",
    },
    "SciPy": {
        "onax.scipy.cluster.vq": "",
        "onax.scipy.fft": "",
        "onax.scipy.integrate": "",
        "onax.scipy.interpolate": "",
        "onax.scipy.linalg": "",
        "onax.scipy.ndimage": "",
        "onax.scipy.optimize": "",
        "onax.scipy.signal": "",
        "onax.scipy.sparse.linalg": "",
        "onax.scipy.spatial.transform": "",
        "onax.scipy.special": "",
        "onax.scipy.stats": "onax.scipy.stats, and its distributions",
    },
    "ONNX and programs written for JAX": {"onax.export": "", "onax.onnx": "", "onax.interop": "", "onax.stages": ""},
    "Seeing what happens": {
        "onax.debug": "",
        "onax.profiler": "",
        "onax.monitoring": "",
        "onax.errors": "",
        "onax.test_util": "",
        "onax.experimental.checkify": "",
    },
    "Devices and processes": {
        "onax.sharding": "",
        "onax.distributed": "",
        "onax.experimental.mesh_utils": "",
        "onax.experimental.multihost_utils": "",
        "onax.experimental.layout": "",
    },
    "Experimental": {
        "onax.experimental.jet": "",
        "onax.experimental.ode": "",
        "onax.experimental.rnn": "",
        "onax.experimental.random": "",
        "onax.experimental.sparse": "",
        "onax.example_libraries.optimizers": "",
        "onax.example_libraries.stax": "",
    },
    "For libraries": {
        "onax.core": "",
        "onax.ffi": "",
        "onax.dlpack": "",
        "onax.ad_checkpoint": "",
        "onax.custom_batching": "",
        "onax.custom_derivatives": "",
        "onax.api_util": "",
        "onax.extend.core": "",
        "onax.extend.linear_util": "",
        "onax.extend.random": "",
        "onax.interpreters.ad": "",
        "onax.interpreters.batching": "",
        "onax.interpreters.partial_eval": "",
    },
}


def module_lines(name, title, underline, documented):
    """The part of a page that documents a module, below a heading.

    A class is documented once, in the first module that lists it; `documented` is the set of those that are.
    """
    lines = [title, underline * len(title), "", f".. automodule:: {name}", ""]
    for member, value in members(name).items():
        if not inspect.isclass(value):
            lines += [f".. autofunction:: {name}.{member}", ""]
        elif value not in documented:
            lines += [f".. autoclass:: {name}.{member}", ""]
            documented.add(value)
    return lines


def distributions(module):
    """The modules within a module that the reference describes on the same page: those of scipy.stats."""
    inner = [name for name in dir(module) if inspect.ismodule(getattr(module, name)) and name[0] != "_"]
    return [f"{module.__name__}.{name}" for name in inner] if module.__name__ == "onax.scipy.stats" else []


def api_pages(folder):
    """Writes one page for each public module, and the page that lists them by group."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    index, documented = ["# API reference", ""], set()
    for caption, modules in GROUPS.items():
        index += [f"## {caption}", "", "```{toctree}", ":maxdepth: 1", "", *modules, "```", ""]
        for name, title in modules.items():
            lines = module_lines(name, title or name, "=", documented)
            for inner in distributions(importlib.import_module(name)):
                lines += module_lines(inner, inner, "-", documented)
            (folder / f"{name}.rst").write_text("\n".join(lines))
    (folder / "index.md").write_text("\n".join(index))


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
    importlib.import_module("benchmark_pages").write(HERE / "benchmarks", HERE / "_api")
    packages = HERE.parent / "build" / "node" / "node_modules"
    importlib.import_module("browser_models").write(HERE / "_browser" / "browser", packages)
