"""Operands and options of uncommon shape that jnp functions take, with what NumPy or real JAX says of them."""

import numpy as np
import pytest

import onax
from onax import numpy as jnp

X = np.arange(6, dtype=np.float32).reshape(2, 3)
MASK = np.array([[True, False, True], [False, True, True]])
COLUMN, ROW = np.array([[1.0], [2.0]], np.float32), np.array([4.0, 8.0, 16.0], np.float32)
KNOWN = jnp.array([0, 1])
REPEATS = jnp.array([2, 1])
CALLS = {
    "geomspace of a column and a row": (lambda: jnp.geomspace(COLUMN, ROW, 3), lambda: np.geomspace(COLUMN, ROW, 3)),
    "geomspace along the last axis": (
        lambda: jnp.geomspace(ROW, COLUMN[None], 4, axis=-1),
        lambda: np.geomspace(ROW, COLUMN[None], 4, axis=-1),
    ),
    "take at bools": (lambda: jnp.take(X, MASK), lambda: np.take(X, MASK.astype(int))),
    "take at nothing": (lambda: jnp.take(X, np.zeros((0, 2))), lambda: np.zeros((0, 2))),
    "repeat by a matrix": (lambda: jnp.repeat(X, MASK), lambda: np.repeat(X, MASK.ravel())),
    "var over an array of axes": (lambda: jnp.var(X, axis=KNOWN), lambda: np.var(X)),
    "std over a list of axes": (lambda: jnp.std(X, axis=[0]), lambda: np.std(X, axis=0)),
    "tile by an array": (lambda: jnp.tile(X, REPEATS), lambda: np.tile(X, [2, 1])),
    "nan_to_num by a list": (lambda: jnp.nan_to_num(X * np.nan, nan=[1, 2, 3]), lambda: [[1, 2, 3], [1, 2, 3]]),
    "size of a list": (lambda: np.array(jnp.size([[1, 2], [3, 4]])), lambda: 4),
    "frombuffer of 64 bits": (lambda: jnp.frombuffer(np.arange(4.0).tobytes()), lambda: np.arange(4.0)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("staged", [False, True])
def test_takes(name, staged):
    call, wanted = CALLS[name]
    np.testing.assert_allclose((onax.jit(call) if staged else call)(), wanted(), rtol=1e-5)
