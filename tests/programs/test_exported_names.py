"""Public modules have what `__all__` names: also those that only give JAX's names to functions of other modules."""

import importlib
import pkgutil

import pytest

import onax
from onax import export


def public_modules():
    """Dotted names of all modules without an underscore in any part."""
    yield from ("onax", "onax.export")
    for package, prefix in ((onax, "onax."), (export, "onax.export.")):
        for found in pkgutil.walk_packages(package.__path__, prefix):
            if "._" not in found.name:
                yield found.name


MODULES = sorted(set(public_modules()))


def test_there_are_modules():
    assert {"onax.numpy.linalg", "onax.scipy.stats.norm", "onax.export", "onax.typing"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_named_things_are_there(name):
    module = importlib.import_module(name)
    names = getattr(module, "__all__", ())
    assert len(names) == len(set(names))
    assert [n for n in names if getattr(module, n, None) is None and n != "newaxis"] == []


# Names under which users find things of NumPy, or of modules that all others use.
OTHERS_NAMES = {
    "onax.errors": (),
    "onax.numpy.linalg": (),
    "onax.nn.initializers": (),
    "onax.numpy": (
        "ComplexWarning array_repr array_str can_cast character complexfloating dtype finfo flexible floating generic "
        "get_printoptions iinfo index_exp inexact integer ndarray number object_ printoptions s_ save savez "
        "set_printoptions signedinteger unsignedinteger"
    ).split(),
    "onax.tree_util": (
        "DictKey FlattenedIndexKey GetAttrKey KeyEntry KeyPath PyTreeDef SequenceKey default_registry"
    ).split(),
}


@pytest.mark.parametrize("name", OTHERS_NAMES)
def test_listed_things_say_that_they_are_of_the_module(name):
    """As in JAX; `dir` lists no names that the module imports for itself."""
    module = importlib.import_module(name)
    listed = {n: getattr(module, n) for n in dir(module) if not n.startswith("_")}
    plain = (bool, int, float, complex, type(module), type(None))
    others = [n for n, x in listed.items() if not isinstance(x, plain) and x.__module__ != name]
    assert sorted(others) == sorted(OTHERS_NAMES[name])
