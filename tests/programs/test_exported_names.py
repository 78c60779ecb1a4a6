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
