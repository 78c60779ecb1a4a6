"""onax.scipy imports its modules on first access."""

import ast
from pathlib import Path

import pytest

from onax import scipy


@pytest.mark.parametrize(
    "name", "cluster fft integrate interpolate linalg ndimage optimize signal special stats".split()
)
def test_modules(name):
    assert getattr(scipy, name).__name__ == f"onax.scipy.{name}" and name in dir(scipy)


def test_the_stub_has_all_modules():
    body = ast.parse(Path(scipy.__file__).with_suffix(".pyi").read_text()).body
    stub = {a.asname for node in body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert stub == {n for n in dir(scipy) if n[0] != "_" and n != "importlib"}


def test_what_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'odr'"):
        scipy.odr  # noqa: B018
