"""Every parameter and result of a public function has a type."""

import ast
import importlib
import inspect
import types
from pathlib import Path

import pytest

from public_members import is_function, members, names_of_jax, public_modules


def missing(value):
    """Names of the parameters without an annotation, and "return"; empty if Python knows no signature."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return []
    named = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name[0] != "_"]
    return named + ["return"] * (signature.return_annotation is signature.empty)


@pytest.mark.parametrize("module", public_modules())
def test_functions_have_types(module):
    found = {name: missing(value) for name, value in members(module).items() if is_function(value)}
    assert not any(found.values()), f"{module}: without annotations: { {n: m for n, m in found.items() if m} }"


def exported(path):
    """The names that type checkers let users take from a module: own ones, those in `__all__`, and `import x as x`."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            names |= {a.name for a in node.names if a.asname == a.name}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
            if "__all__" in {getattr(target, "id", "") for target in targets}:
                names |= {*ast.literal_eval(node.value)}
    return names


@pytest.mark.parametrize("name", public_modules())
def test_names_are_exported(name):
    module = importlib.import_module(name)
    source = Path(module.__file__)
    stub = source.with_suffix(".pyi")
    there = {n for n in names_of_jax(name) if not isinstance(getattr(module, n, types), types.ModuleType)}
    found = exported(stub if stub.exists() else source)
    missing = set() if "__getattr__" in found else there - found
    assert not missing, f"type checkers refuse {name}.{min(missing)}: list it in `__all__`"


def test_missing_annotations_are_found():
    def function(x, y: int, *rest, axis=0, _private=None):
        return x

    def typed(x: int, *rest: int, _private=None) -> int:
        return x

    assert missing(function) == ["x", "rest", "axis", "return"]
    assert missing(typed) == []
