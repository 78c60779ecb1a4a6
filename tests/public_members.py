"""The functions and classes of the public modules of onax."""

import functools
import importlib
import types
import warnings
from typing import NewType

import public_names
from onax._ground.config import Option
from onax._native.dispatch import Primitive

OWN = {  # functions that neither `__all__` nor the record of JAX's names lists
    "onax": ("explain", "visualize"),
    "onax.experimental.checkify": ("Error", "check", "check_error", "checkify", "debug_check"),
    "onax.scipy.special": ("erfcinv",),
}
OWN_MODULES = (  # others whose names no record has
    "onax.experimental.compilation_cache.compilation_cache", "onax.experimental.compute_on", "onax.experimental.hijax",
    "onax.experimental.layout", "onax.experimental.random", "onax.experimental.shard_alike",
    "onax.experimental.shard_map", "onax.interop", "onax.onnx",
)  # fmt: skip


def public_modules():
    """The modules of onax that users import: those whose names JAX has in any recorded version, and its own."""
    of_jax = {name.replace("jax", "onax", 1) for names in public_names.recorded().values() for name in names}
    return sorted(name for name in {*of_jax, *OWN_MODULES} if find_module(name) is not None and members(name))


def find_module(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith(error.name or " "):
            raise
        return None


@functools.cache
def members(name):
    """name -> value of the functions and classes of a public module."""
    module = importlib.import_module(name)
    listed = {*getattr(module, "__all__", ()), *OWN.get(name, ()), *names_of_jax(name)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {n: getattr(module, n) for n in sorted(listed) if hasattr(module, n)}
    return {n: v for n, v in found.items() if is_function(v) or (isinstance(v, type) and is_ours(v))}


def names_of_jax(name):
    """The names that JAX's module of this name has in any recorded version."""
    versions = public_names.recorded().values()
    return {n for modules in versions for n in modules.get(name.replace("onax", "jax", 1), ())}


def is_ours(value):
    return (getattr(value, "__module__", None) or "").partition(".")[0] in ("onax", "jax")


def is_function(value):
    """Whether a value is called as a function: data that has `__call__` (primitives, options, dtypes) is not."""
    data = (type, NewType, Primitive, Option, types.GenericAlias)
    return callable(value) and is_ours(value) and not isinstance(value, data) and not hasattr(value, "dtype")
