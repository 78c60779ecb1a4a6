"""Resolves what a command line names: the function, its arguments, files of example arguments and of weights.

TARGET   path/to/file.py:function  or  package.module:function  (dots reach into classes and objects)
SPEC     f32[batch,8,8]   {w: f32[64,32], b: f32[32]}   [f32[3], (i32[], None)]     one for each parameter;
         NAME=SPEC for a keyword argument
"""

import ast
import importlib
import os
import re
import sys

import numpy as np

from onax._core.paths import tree_map_with_path
from onax._ground import lazy
from onax._ground.dims import free_variables, parse_dims
from onax._ground.errors import ExportError
from onax._native.tree import tree_leaves
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export.options import suggestion
from onax.export.specs import parse_spec

# --- finding the function -----------------------------------------------------------------------------------------


def find_function(target):
    """The function that a target names; ExportError if there is none."""
    module_name, colon, name = target.rpartition(":")
    if not colon or not module_name or not name:
        raise ExportError(f"{target!r} does not name a function: write path/to/file.py:function or module:function")
    result = module = _load_file(module_name) if module_name.endswith(".py") else _load_module(module_name)
    for part in name.split("."):
        try:
            result = getattr(result, part)
        except AttributeError:
            raise ExportError(f"{module_name} has no function {name!r}{_suggest_functions(module, name)}") from None
    if not callable(result):
        raise ExportError(f"{name} in {module_name} is not a function; its type is {type(result).__name__}")
    return result


def _suggest_functions(module, name):
    """A hint for messages: functions of the module with a similar name, else the functions that it defines."""
    own = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_") and not isinstance(v, type)]
    own = [n for n in own if getattr(vars(module)[n], "__module__", module.__name__) == module.__name__]
    return suggestion(name, own) or (f"; it has {', '.join(sorted(own)[:8])}" if own else "")


def _load_file(path):
    """Imports a file; its folder comes first on `sys.path`, as when Python runs the file."""
    if not os.path.isfile(path):
        raise ExportError(f"there is no file {path}")
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:
        name = f"exported_{name}"  # a file called random.py must not become the module `random`
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = lazy.importlib_util.spec_from_file_location(name, path)
    module = lazy.importlib_util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _load_module(name):
    """Imports a module by name, also from the working directory."""
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise ExportError(f"there is no module {name}") from None
        raise


def check_constraints(constraints, types, scope):
    """ExportError if a constraint names a variable that no dimension of the argument types has."""
    there = set()
    for struct in tree_leaves(types):
        there.update(*(free_variables(d) for d in struct.shape))
    for text in constraints:
        for side in re.split("==|>=|<=", text):
            for name in free_variables(parse_dims(side.strip(), scope)[0]):
                if name not in there:
                    has = f"; there are {', '.join(sorted(there))}" if there else ", nor any other"
                    hint = suggestion(name, there) or has
                    raise ExportError(f"--constraint {text!r}: no argument has a dimension {name}{hint}")


def check_fits(function, specs, static):
    """ExportError unless the function accepts these arguments."""
    try:
        signature = lazy.inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*specs, **static)
    except TypeError as error:
        name = getattr(function, "__name__", "the function")
        also = f" and {', '.join(static)}" if static else ""
        raise ExportError(f"{name}{signature} does not take {len(specs)} --arg{also}: {error}") from None


# --- arguments ----------------------------------------------------------------------------------------------------


def read_specs(texts, scope):
    """(types of the positional arguments, {name: type} of those written NAME=SPEC)."""
    positional, named = [], {}
    for text in texts:
        name, sign, spec = text.partition("=")
        if sign and name.strip().isidentifier():
            named[name.strip()] = parse_spec(spec.strip(), scope)
        else:
            positional.append(parse_spec(text, scope))
    return positional, named


def static_values(texts):
    """Keyword arguments from NAME=VALUE texts."""
    result = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ExportError(f"--static {text!r} is not of the form NAME=VALUE")
        try:
            result[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            raise ExportError(f"--static {text!r}: {value.strip()!r} is not a Python literal") from None
    return result


def bind_static_arguments(function, static):
    """The function with some keyword arguments fixed; it keeps its name."""

    def fixed(*args, **kwargs):
        return function(*args, **kwargs, **static)

    fixed.__name__ = getattr(function, "__name__", "function")
    fixed.__wrapped__ = function
    return fixed


def bind_first_argument(function, first):
    """The function with its first argument fixed, whose arrays become constants of the model."""

    def rest(*args, **kwargs):
        return function(first, *args, **kwargs)

    rest.__name__ = getattr(function, "__name__", "function")
    rest.__wrapped__ = function
    try:
        signature = lazy.inspect.signature(function)
        rest.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])
    except (TypeError, ValueError):
        pass  # a callable without a signature: its inputs are named args.0, args.1, ...
    return rest


def read_example(path):
    """Arguments from an .npz file: (positional, by name).

    Arrays named arr_0, arr_1, ... (as np.savez names them) are positional; others are named after the parameter.
    Names with dots make trees: `params.w`.
    """
    arrays = _read_npz(path, "--example")
    positional = [arrays.pop(f"arr_{i}") for i in range(len(arrays)) if f"arr_{i}" in arrays]
    return positional, unflatten_names(arrays)


def read_weights(path):
    """A tree of arrays from an .npz or .safetensors file; names with dots make dictionaries or lists.

    Raises ExportError for a file that cannot be read.  It unpickles nothing.
    """
    if not path.endswith(".safetensors"):
        return unflatten_names(_read_npz(path, "--params"))
    if not os.path.isfile(path):
        raise ExportError(f"--params: there is no file {path}")
    try:
        return unflatten_names(lazy.safetensors_numpy.load_file(path))
    except lazy.safetensors.SafetensorError as error:
        raise ExportError(f"--params: {path} is not a safetensors file: {error}") from error
    except ImportError as error:
        raise ExportError(f"--params: {error}") from None


def _read_npz(path, option):
    try:
        with np.load(path, allow_pickle=False) as stored:
            if isinstance(stored, np.ndarray):
                raise ExportError(f"{option}: {path} holds one array, not an .npz archive: write it with np.savez")
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, lazy.zipfile.BadZipFile) as error:
        raise ExportError(f"{option}: {path} cannot be read: {error}") from None


def unflatten_names(arrays):
    """{"layers.0.w": x} as {"layers": [{"w": x}]}; ExportError for names that contradict one another."""
    tree = {}
    for name, array in arrays.items():
        *folders, last = name.split(".")
        node = tree
        for folder in folders:
            node = node.setdefault(folder, {})
            if not isinstance(node, dict):
                raise ExportError(f"the names of the arrays conflict: {name} and {folder}")
        if last in node:
            raise ExportError(f"the names of the arrays conflict: {name}")
        node[last] = array
    return _with_lists(tree)


def _with_lists(tree):
    if not isinstance(tree, dict):
        return tree
    inner = {key: _with_lists(value) for key, value in tree.items()}
    if inner and set(inner) == {str(i) for i in range(len(inner))}:
        return [inner[str(i)] for i in range(len(inner))]
    return inner


def types_of(tree):
    """The types of the arrays of a tree."""
    return tree_map_with_path(lambda _, x: ShapeDtypeStruct(np.shape(x), np.asarray(x).dtype), tree)


def make_dynamic(types, choices, scope):
    """Makes some dimensions of argument types symbolic; `types` is a pair (positional, by name).

    Each of `choices` is `batch` (the leading dimension of every argument) or `PATH:AXIS=batch`, PATH being a prefix of
    an input's name such as `0`, `1.w` or the name of a keyword argument.
    """
    for text in choices:
        head, sign, name = text.rpartition("=")
        path, colon, axis = head.partition(":")
        if sign and not (colon and axis.lstrip("-").isdigit()):
            raise ExportError(f"--dynamic {text!r} is neither NAME nor PATH:AXIS=NAME")
        (dim,) = parse_dims(name.strip(), scope)
        changed = _with_dimension(types, path.strip(), int(axis) if sign else 0, dim)
        if all(a is b for a, b in zip(tree_leaves(types), tree_leaves(changed))):
            raise ExportError(f"--dynamic {text!r} matches no argument")
        types = changed
    return types


def _with_dimension(types, path, axis, dim):
    return tree_map_with_path(lambda key_path, struct: _replace_dimension(key_path, struct, path, axis, dim), types)


def _replace_dimension(path, struct, path_text, axis, dim):
    keys = [str(key.value) for key in path[1:]]  # the first key is positional or by name
    if path_text and keys[: path_text.count(".") + 1] != path_text.split("."):
        return struct
    if not -len(struct.shape) <= axis < len(struct.shape):
        return struct
    shape = list(struct.shape)
    shape[axis] = dim
    return ShapeDtypeStruct(tuple(shape), struct.dtype)
