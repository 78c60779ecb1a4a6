"""Modules of onax.experimental are imported on first access."""

import ast
from pathlib import Path

import pytest

from onax import experimental
from onax._control.callbacks import io_callback


@pytest.mark.parametrize("name", ["checkify", "layout", "mesh_utils", "multihost_utils", "ode", "pjit", "shard_map"])
def test_modules(name):
    assert getattr(experimental, name).__name__ == f"onax.experimental.{name}" and name in dir(experimental)


def test_functions():
    assert "io_callback" in dir(experimental) and experimental.io_callback.__name__ == io_callback.__name__


def test_the_stub_has_the_names_that_dir_names():
    body = ast.parse(Path(experimental.__file__).with_suffix(".pyi").read_text()).body
    stub = {a.asname for node in body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert stub == {*experimental._LAZY_MODULES, *experimental._LAZY_ATTRIBUTES}


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="has no attribute 'palace'"):
        experimental.palace  # noqa: B018


@pytest.mark.parametrize("name, reason", [("pallas", "kernels for TPUs"), ("jax2tf", "onax.export writes ONNX")])
def test_what_has_no_meaning_here_says_why(name, reason):
    with pytest.raises(NotImplementedError, match=f"onax.experimental.{name} is not available: .*{reason}"):
        getattr(experimental, name)
