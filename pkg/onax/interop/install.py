"""Puts onax in the place of jax in this process."""

import importlib
import os
import sys

from onax._ground import logs
from onax.interop.modules import ROOTS, Finder
from onax.numpy._array_methods import set_array_namespace

# Contains modules `jax` and `jaxlib`, which install onax, and the metadata of distributions of these names.
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "distributions")


def install_as_jax() -> None:
    """Makes ``import jax``, its submodules and ``jaxlib`` give onax, from now on and in this process.

    The objects are onax's own: one pytree registry, one config, one class Array.  ``jax.__version__`` is the version of
    JAX whose interface onax follows.  An installed JAX is not touched.  A second call changes nothing.

    Returns:
      None.

    Raises:
      ImportError: JAX itself is imported already.

    Examples:
      >>> import subprocess, sys
      >>> program = "import onax.interop; onax.interop.install_as_jax(); import jax; print(jax.numpy.cos(0.0))"
      >>> run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
      >>> float(run.stdout)
      1.0
    """
    for name in ROOTS:
        module = sys.modules.get(name)
        if module is not None and not isinstance(module.__spec__ and module.__spec__.loader, Finder):
            where = getattr(module, "__file__", None)
            raise ImportError(
                f"onax cannot take the place of {name!r}, which is imported already, from {where}: call "
                "onax.interop.install_as_jax() before the first import of jax, or run `python -m onax script.py`"
            )
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
    if FOLDER not in sys.path:  # where importlib.metadata finds the version
        sys.path.insert(0, FOLDER)
    for name in ROOTS:
        importlib.import_module(name)
    set_array_namespace("jax.numpy")
    logs.speak_for_jax()
