"""Questions about values, against NumPy: of every kind of dtype; tolerances; equality of arrays."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([0.0, -1.5, np.nan, np.inf, -np.inf, 1 + 1e-9])
Z = np.array([1 + 0j, 2j, complex(0, np.nan), complex(np.inf, 1), -0.0 + 0j])
I = np.array([-2, 0, 3], np.int8)
CALLS = [
    *[call(name, x) for name in "isnan isfinite isinf iscomplex isreal".split() for x in (X, Z, I, I > 0)],
    *[call(name, x) for name in ("isposinf", "isneginf") for x in (X, I)],
    call("isclose", X, X), call("isclose", X, X, equal_nan=True), call("isclose", X, np.float64(1.0)),
    call("isclose", Z, Z * (1 + 1e-7)),
    call(lambda xp, x: xp.isclose(x, x + 0.05, rtol=0.0, atol=0.1), X),
    call(lambda xp, x: xp.isclose(x, x * 2, rtol=1.0), X),
    call("isclose", I, I + 1), call("isclose", I > 0, I > 1),
    call("allclose", X, X), call("allclose", X, X, equal_nan=True), call("allclose", X[:2], X[:2, None]),
    call("array_equal", X, X), call("array_equal", X, X, equal_nan=True), call("array_equal", I, I[None]),
    call("array_equal", I, I * 1.0),
    call("array_equiv", I, I[None]), call("array_equiv", I, I[:2]), call("array_equiv", I, I + 1),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


@pytest.mark.parametrize("x", [1, 2.5, 1j, True, np.float32(1), np.int8(3), [1], "a", None])
def test_kinds_of_values(x):
    assert jnp.isscalar(x) == np.isscalar(x) and jnp.iterable(x) == np.iterable(x)


def test_kinds_of_arrays():
    scalar, vector = jnp.float32(1), jnp.ones(2)
    assert jnp.isscalar(scalar) and not jnp.isscalar(vector) and jnp.iterable(vector) and not jnp.iterable(scalar)
    for x in (X, Z, I, 1j, 1.0, Z.astype(np.complex64)):
        assert jnp.iscomplexobj(x) == np.iscomplexobj(x) and jnp.isrealobj(x) == np.isrealobj(x)
    assert jax.jit(lambda z: jnp.int32(jnp.iscomplexobj(z)))(1j) == 1


REFUSED = [
    (lambda: jnp.isnan([1.0]), TypeError, "requires ndarray"),
    (lambda: jnp.isposinf(Z), (TypeError, ValueError), "complex"),
    (lambda: jnp.allclose("a", 1.0), TypeError, "str"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
