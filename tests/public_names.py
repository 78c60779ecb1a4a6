"""The public names of JAX, module by module, recorded; and what becomes of each in onax.

Run by the Python that has real JAX, this file records the names of its version:

    .venv-oracle/bin/python tests/public_names.py

A name of a module is public if it has no leading underscore and `dir()` shows it, except for modules of other packages
and for what a module of `jax.experimental` merely imports.
"""

import importlib
import json
import pkgutil
import sys
import types
import warnings
from pathlib import Path

import recorded_versions

RECORDING = Path(__file__).resolve().parent / "golden" / "public_names.json"
# Folders of modules that are one with their meaning elsewhere: they are counted as one name each.
CLOSED = (
    "jax.experimental.pallas",
    "jax.experimental.mosaic",
    "jax.extend.mlir",
    "jax.experimental.jax2tf",
    "jax.tools",
)


def modules(package):
    """The names of all public modules of a package that can be imported, itself included."""
    found, folders = [package.__name__], [package]
    while folders:
        folder = folders.pop()
        for info in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
            if info.name.rpartition(".")[2].startswith("_") or info.name.startswith(CLOSED):
                continue
            try:
                module = importlib.import_module(info.name)
            except ImportError as error:
                print(f"{info.name} is left out: {error}", file=sys.stderr)
                continue
            found.append(info.name)
            if info.ispkg:
                folders.append(module)
    return sorted(found)


def is_own(module, name):
    """Whether a name of a module is its own, and not what it imports for itself."""
    value = getattr(module, name)
    if isinstance(value, types.ModuleType):
        return value.__name__ in (f"{module.__name__}.{name}", *CLOSED)
    home = getattr(value, "__module__", None)
    if not isinstance(home, str):
        return type(value).__module__ != "__future__"
    if home.partition(".")[0] not in ("jax", "jaxlib", "ml_dtypes", "numpy", "builtins"):
        return module.__name__ in ("jax.numpy", "jax.typing")
    writes_out = module.__name__.startswith("jax.experimental") and not hasattr(module, "__path__")
    return not writes_out or home == module.__name__ or not home.startswith("jax")


def names(package):
    """module -> its public names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {}
        for path in modules(package):
            module = importlib.import_module(path)
            found[path] = [n for n in sorted(dir(module)) if not n.startswith("_") and is_own(module, n)]
    return {path: listed for path, listed in found.items() if listed}


def recorded():
    """version of JAX -> module -> public names."""
    return json.loads(RECORDING.read_text()) if RECORDING.exists() else {}


def main():
    """Records the names of the JAX at hand."""
    import jax

    found = recorded() | {jax.__version__: names(jax)}
    RECORDING.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    recorded_versions.note(RECORDING, ", ".join(sorted(found)))
    print(f"JAX {jax.__version__}: {sum(map(len, found[jax.__version__].values()))} names")


if __name__ == "__main__":
    main()
