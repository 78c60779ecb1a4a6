"""Names of JAX's that have no meaning here raise an error with the reason, and behave like names that are not there."""

import importlib

import pytest

from onax._ground.unavailable import UnavailableName, unavailable

get = unavailable("some.module", {"one two": "there is no such device", "three": "it is internal"})


@pytest.mark.parametrize(
    ("name", "reason"), [("one", "no such device"), ("two", "no such device"), ("three", "internal")]
)
def test_reason(name, reason):
    with pytest.raises(UnavailableName, match=rf"some\.module\.{name} is not available: .*{reason}") as caught:
        get(name)
    assert isinstance(caught.value, NotImplementedError)
    assert isinstance(caught.value, AttributeError)
    assert caught.value.name == name and reason in caught.value.reason


def test_other_names():
    with pytest.raises(AttributeError, match=r"module 'some\.module' has no attribute 'four'") as caught:
        get("four")
    assert not isinstance(caught.value, NotImplementedError)


@pytest.mark.parametrize("path", ["interpreters.mlir.ir_constant", "extend.sharding", "experimental.jet.jet_rules"])
def test_modules_use_it(path):
    module, _, name = path.rpartition(".")
    module = importlib.import_module(f"onax.{module}")
    with pytest.raises(NotImplementedError, match=name):
        getattr(module, name)
    assert not hasattr(module, name)
    with pytest.raises(ImportError):
        exec(f"from {module.__name__} import {name}")
