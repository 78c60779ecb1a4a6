"""Sections `Raises` of the docstrings of public functions.

A function documents each class of errors that a `raise` in its own body names, and the class that it raises for an axis
that is not there (calls of `error_calls.py`).  What it documents are classes of errors.  The mistakes that users make,
`mistakes.txt`, raise the class that is documented: each line of that file is a call and the class of its error, or one
that it derives from; JAX 0.10.2 raises that class, too, or one that it derives from.
"""

import ast
import builtins
import gzip
import importlib
import inspect
import json
import re
import textwrap
import types
import warnings
from pathlib import Path

import pytest

import error_calls
import fuzzing_errors
import onax
from onax import dtypes, errors, export, lax, nn, random, scipy, tree_util
from onax import numpy as jnp
from onax._core.linear_util import StoreException
from onax.experimental import checkify, sparse
from public_members import is_function, members, public_modules

PLACES = (builtins, errors, dtypes, export, onax.onnx, checkify, sparse.util)  # of the classes that docstrings name
ELSEWHERE = {"StoreException": StoreException}
MISTAKES = [tuple(line.split(" | ")) for line in Path(__file__).with_name("mistakes.txt").read_text().splitlines()]
NAMES = {"onax": onax, "jnp": jnp, "lax": lax, "nn": nn, "random": random, "scipy": scipy, "tree_util": tree_util}


def arguments():
    """The arguments of mistaken calls: a matrix, a vector, a key."""
    return {"x": jnp.ones((2, 3)), "v": jnp.arange(3.0), "key": random.key(0)}


def named_error(name):
    """The class of errors of a name; None if there is none."""
    found = [getattr(place, name) for place in PLACES if hasattr(place, name)] + [ELSEWHERE.get(name)]
    return found[0] if isinstance(found[0], type) and issubclass(found[0], BaseException) else None


def documented(value):
    """Names in front of the colons of a docstring's section `Raises`."""
    text = inspect.cleandoc(value.__doc__ or "")
    section = re.search(r"^Raises:\n((?:(?: .*)?\n?)*)", text, re.MULTILINE)
    rows = re.findall(r"^  ([A-Z]\w*(?:(?:, | or )[A-Z]\w*)*):", section[1], re.MULTILINE) if section else []
    return [name for row in rows for name in re.split(", | or ", row)]


def is_documented(error, value):
    """Whether a docstring names a class, or one that it derives from."""
    listed = [named_error(name) for name in documented(value)]
    return any(issubclass(error, known) for known in listed if known)


def python_function(value):
    """The function in Python below the layers of a public one; None if there is none."""
    function = inspect.unwrap(value)
    function = getattr(function, "fun", function)
    is_ours = isinstance(function, types.FunctionType) and Path(function.__code__.co_filename).is_file()
    return function if is_ours else None


def raised(function):
    """The classes that `raise` statements of a function's own body name; those of functions inside it are theirs."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    rest, found = list(ast.iter_child_nodes(tree)), []
    while rest:
        node = rest.pop()
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            continue
        rest += ast.iter_child_nodes(node)
        if isinstance(node, ast.Raise) and node.exc is not None:
            thrown = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            value = eval(ast.unparse(thrown), {**vars(builtins), **function.__globals__}, {})
            found += [value] if isinstance(value, type) else []  # a function that makes the error may make any
    return found


@pytest.mark.parametrize("module", public_modules())
def test_what_functions_raise_is_documented(module):
    functions = {n: v for n, v in members(module).items() if is_function(v) and python_function(v)}
    missing = {
        name: [e.__name__ for e in raised(python_function(value)) if not is_documented(e, value)]
        for name, value in functions.items()
    }
    lacking = {name: found for name, found in missing.items() if found}
    assert not lacking, f"{module}: no entry in the section Raises: {lacking}"


@pytest.mark.parametrize("module", public_modules())
def test_documented_errors_are_classes(module):
    named = {name: documented(value) for name, value in members(module).items()}
    wrong = {name: [n for n in listed if named_error(n) is None] for name, listed in named.items()}
    assert not any(wrong.values()), f"{module}: no classes of errors: { {n: w for n, w in wrong.items() if w} }"


@pytest.mark.parametrize(("call", "error"), MISTAKES)
def test_mistakes_raise_what_is_documented(call, error):
    called = ast.parse(call, mode="eval").body.func
    while isinstance(called, ast.Call):  # the mistake is in the call of what the function returned
        called = called.func
    function = eval(ast.unparse(called), NAMES)
    with warnings.catch_warnings(), pytest.raises(named_error(error)) as caught:
        warnings.simplefilter("ignore")
        eval(call, NAMES | arguments())
    assert is_documented(caught.type, function), f"{ast.unparse(called)} does not document {error}"


RECORDED = json.loads(gzip.decompress(error_calls.RECORDING.read_bytes()))
AXES = ("axis=9", "axis=-7", "axes=9", "dimension=9", "dimension=-7")  # there are no such axes


def calls_without_such_an_axis(name):
    """The lines of `error_calls.py` in which nothing but an axis is wrong."""
    lines = [line for line, wanted in RECORDED[name].items() if wanted and line.endswith(AXES)]
    return [line for line in lines if fuzzing_errors.has_one_fault(line, RECORDED[name])]


@pytest.mark.parametrize("name", [name for name in RECORDED if calls_without_such_an_axis(name)])
def test_wrong_axes_are_documented(name):
    importlib.import_module(f"onax.{name}".rpartition(".")[0])
    function, values = error_calls.resolve(onax, name), error_calls.pool(onax)
    found = [error_calls.attempt(onax, function, line, values) for line in calls_without_such_an_axis(name)]
    missing = {type(error).__name__ for error in found if not is_documented(type(error), function)}
    assert found and not missing


def _sample(x):
    """Returns x.

    Raises:
      TypeError, KeyError: often.
      LookupError or NoError: sometimes.
    """
    if x > 3:
        raise ValueError("large")

    def inner():
        raise IndexError

    if x > 2:
        raise KeyError
    raise importlib.import_module("onax").errors.TracerBoolConversionError(inner)


def test_what_is_missing_is_found():
    assert documented(_sample) == ["TypeError", "KeyError", "LookupError", "NoError"]
    assert named_error("NoError") is None and named_error("print") is None
    assert [is_documented(e, _sample) for e in (KeyError, IndexError, ValueError)] == [True, True, False]
    assert {e.__name__ for e in raised(_sample) if e} >= {"ValueError", "KeyError"}
