"""typeof of values and of what describes them."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp

TYPES = {
    "array": (lambda: jnp.zeros((2, 3)), "float32[2,3]", False),
    "NumPy": (lambda: np.arange(2), "int32[2]", False),
    "scalar": (lambda: 1.0, "float32[]", True),
    "description": (lambda: onax.ShapeDtypeStruct((2,), np.float32), "float32[2]", False),
    "weak description": (lambda: onax.ShapeDtypeStruct((2,), np.float32, weak_type=True), "float32[2]", True),
    "reference": (lambda: onax.ShapeDtypeStruct((2,), np.float32, is_ref=True), "Ref{float32[2]}", False),
}


@pytest.mark.parametrize("name", TYPES)
def test_typeof(name):
    make, text, weak = TYPES[name]
    aval = onax.typeof(make())
    assert aval.str_short() == text
    assert aval.weak_type == weak


def test_others_have_no_type():
    with pytest.raises(TypeError, match="is not a valid JAX type"):
        onax.typeof([1.0])
