"""Arrays of Python's objects: with a dtype given, NumPy converts or refuses them, as in JAX (answers are JAX's)."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

VALUES = [
    ("jnp.float32('2.5')", "Array(2.5, dtype=float32)"),
    ("jnp.int32('7')", "Array(7, dtype=int32)"),
    ("jnp.bool_('')", "Array(False, dtype=bool)"),
    ("jnp.array(['1.5', 2], 'float32')", "Array([1.5, 2. ], dtype=float32)"),
    ("jnp.float32(np.array(['1', '2']))", "Array([1., 2.], dtype=float32)"),
    ("jnp.complex64('1+2j')", "Array(1.+2.j, dtype=complex64)"),
    ("jnp.array({1}, 'bool')", "Array(True, dtype=bool)"),
    ("jnp.array([2**70], 'float32')", "Array([1.1805916e+21], dtype=float32)"),
    ("jnp.array(1j, 'bool')", "Array(True, dtype=bool)"),
    ("jnp.array([1j, 0], 'bool')", "Array([ True, False], dtype=bool)"),
    ("jnp.bool_(np.array([1j]))", "Array([ True], dtype=bool)"),
    ("jnp.array([1j, 0]).astype(bool)", "Array([ True, False], dtype=bool)"),
    ("jax.jit(lambda x: x.astype(bool))(jnp.array([1j, 0]))", "Array([ True, False], dtype=bool)"),
    ("jax.lax.convert_element_type(jnp.array([1j]), bool)", "Array([False], dtype=bool)"),
    ("jax.lax.convert_element_type(1j, bool)", "Array(True, dtype=bool)"),
    ("jnp.full(2, 1j, bool)", "Array([ True,  True], dtype=bool)"),
]
ERRORS = [
    ("jnp.float32(1j)", "TypeError", "float() argument must be a string or a real number, not 'complex'"),
    ("jnp.array([1, 2j], 'int32')", "TypeError", "int() argument must be a string"),
    ("jnp.full(2, 1j, dtype='float32')", "TypeError", "float() argument must be a string or a real number"),
    ("jnp.full_like(jnp.ones(2), 1j)", "TypeError", "float() argument must be a string or a real number"),
    ("jnp.array([2**70])", "OverflowError", "Python int too large"),
    ("jnp.array([float('nan')], 'int32')", "ValueError", "cannot convert float NaN to integer"),
    ("jnp.array([300.5], 'int8')", "OverflowError", "Python integer 300 out of bounds for int8"),
    ("jnp.array('1.5', 'int32')", "ValueError", "invalid literal for int()"),
    ("jnp.float32('x')", "ValueError", "could not convert string to float: 'x'"),
]


def run(expression):
    return eval(expression, {"jax": jax, "jnp": jnp, "np": np})


@pytest.mark.parametrize("expression, answer", VALUES)
def test_value(expression, answer):
    assert repr(run(expression)) == answer


@pytest.mark.parametrize("expression, kind, words", ERRORS)
def test_error(expression, kind, words):
    with pytest.raises(Exception) as caught:
        run(expression)
    assert type(caught.value).__name__ == kind
    assert str(caught.value).startswith(words)
