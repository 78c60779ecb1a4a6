"""The tree of errors, and their texts: fault, place, remedy, pointer."""

import numpy as np
import pytest

from onax import errors as public
from onax._ground import errors
from onax._native.avals import ShapedArray

BASES = {
    "ConcretizationTypeError": TypeError,
    "TracerBoolConversionError": errors.ConcretizationTypeError,
    "TracerArrayConversionError": TypeError,
    "TracerIntegerConversionError": TypeError,
    "UnexpectedTracerError": TypeError,
    "KeyReuseError": TypeError,
    "NonConcreteBooleanIndexError": IndexError,
    "JaxprTypeError": TypeError,
    "LoweringError": NotImplementedError,
    "BackendError": errors.JaxRuntimeError,
    "JaxRuntimeError": RuntimeError,
    "ArtifactError": errors.ExportError,
    "ExportError": ValueError,
}


class FakeTracer:
    aval = ShapedArray((2, 5), np.dtype("float32"))

    def _origin_msg(self):
        return "It arose in f."


@pytest.mark.parametrize("name, base", BASES.items())
def test_bases(name, base):
    kind = getattr(public, name)
    assert issubclass(kind, base) and kind.__module__ == "onax.errors" and kind is getattr(errors, name)


@pytest.mark.parametrize(
    "name, parts",
    [
        ("ConcretizationTypeError", ["Abstract tracer value encountered where concrete value is expected", "why"]),
        ("TracerBoolConversionError", ["Attempted boolean conversion of traced array"]),
        ("TracerArrayConversionError", ["__array__() was called on traced array"]),
        ("TracerIntegerConversionError", ["__index__() method was called on traced array"]),
        ("NonConcreteBooleanIndexError", ["Array boolean indices must be concrete"]),
    ],
)
def test_texts(name, parts):
    arguments = (FakeTracer(), "why") if name == "ConcretizationTypeError" else (FakeTracer(),)
    text = str(getattr(errors, name)(*arguments))
    for part in [*parts, "float32[2,5]", "It arose in f.", f"See docs/errors.md#{name}"]:
        assert part in text
    assert text.splitlines()[-1].startswith("See ")


@pytest.mark.parametrize("name", ["UnexpectedTracerError", "KeyReuseError"])
def test_from_message(name):
    assert str(getattr(errors, name)("told you so")).startswith("told you so\nSee ")
