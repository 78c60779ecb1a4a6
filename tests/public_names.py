"""The public names of JAX, module by module, recorded; and what becomes of each in onax.

Run by the Python that has real JAX, this file records the names of its version:

    .venv-oracle/bin/python tests/public_names.py

A name of a module is public if it has no leading underscore and `dir()` shows it, except for modules of other packages
and for what a module of `jax.experimental` merely imports.
"""

import ast
import importlib
import inspect
import json
import pkgutil
import sys
import textwrap
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


def find(package, path):
    """The object of this package at a path of JAX's; None if there is none, the error if it cannot be had."""
    module, _, name = path.replace("jax", package.__name__, 1).rpartition(".")
    try:
        home = importlib.import_module(module)
    except ModuleNotFoundError:
        reason = find(package, path.rpartition(".")[0]) if "." in module else None
        return reason if isinstance(reason, NotImplementedError) else None
    try:
        return getattr(home, name)
    except NotImplementedError as error:
        return error
    except AttributeError:
        return _submodule(f"{module}.{name}")


def _submodule(path):
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return None


def refusal(value):
    """The reason that the object states if all it does is raise NotImplementedError, else None."""
    if isinstance(value, NotImplementedError):
        return getattr(value, "reason", str(value))
    function = value.__init__ if isinstance(value, type) else inspect.unwrap(value) if callable(value) else None
    if not isinstance(function, types.FunctionType) or not Path(function.__code__.co_filename).is_file():
        return None  # not written in Python, or made by a dataclass
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    body = [node for node in getattr(tree, "body", ()) if not (isinstance(node, ast.Expr) and is_text(node.value))]
    if len(body) != 1 or not isinstance(body[0], ast.Raise) or not isinstance(body[0].exc, ast.Call):
        return None
    error = body[0].exc
    if getattr(error.func, "id", None) != "NotImplementedError" or not error.args:
        return None
    texts = [node.value for node in ast.walk(error.args[0]) if is_text(node)]
    return "...".join(texts) or ast.unparse(error.args[0])


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def standing(package):
    """module of JAX's -> (number of names, missing names, name -> reason of those that only raise)."""
    table = {}
    for module, listed in recorded()[recorded_versions.REFERENCE].items():
        found = {name: find(package, f"{module}.{name}") for name in listed}
        missing = [name for name, value in found.items() if value is None and not is_none(package, module, name)]
        reasons = {name: reason for name, value in found.items() if (reason := refusal(value)) is not None}
        table[module] = len(listed), missing, reasons
    return table


def is_none(package, module, name):
    """Whether a name is there and means None, as jnp.newaxis does."""
    home = sys.modules.get(module.replace("jax", package.__name__, 1))
    return home is not None and name in vars(home)


def main():
    """Records the names of the JAX at hand."""
    import jax

    found = recorded() | {jax.__version__: names(jax)}
    RECORDING.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    recorded_versions.note(RECORDING, ", ".join(sorted(found)))
    print(f"JAX {jax.__version__}: {sum(map(len, found[jax.__version__].values()))} names")


if __name__ == "__main__":
    main()
