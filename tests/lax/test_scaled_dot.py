"""scaled_dot: against NumPy in bfloat16, compiled, mapped, and errors."""

import ml_dtypes
import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax

RNG = np.random.default_rng(0)
X, Y = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in ((3, 2, 8), (3, 8, 5)))
SX, SY = (2.0 ** RNG.integers(-2, 3, shape) for shape in ((3, 2, 2), (3, 4, 5)))


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_scaled_operands(way):
    f = way(
        lambda *xs: lax.scaled_dot(xs[0], xs[1], lhs_scale=xs[2], rhs_scale=xs[3], preferred_element_type="float32")
    )
    x, y = jnp.asarray(X, "float8_e4m3fn"), jnp.asarray(Y, "float8_e4m3fn")
    scales = jnp.asarray(SX, "float8_e8m0fnu"), jnp.asarray(SY, "float8_e8m0fnu")
    want = (X * np.repeat(SX, 4, 2)) @ (Y * np.repeat(SY, 2, 1))
    got = f(x, y, *scales)
    assert got.dtype == np.float32 and np.asarray(got).tolist() == want.tolist()
    rows = jax.vmap(lambda *xs: f(*xs))(x, y, *scales)
    assert np.asarray(rows).tolist() == want.tolist()


def test_defaults():
    got = lax.scaled_dot(X[0], Y[0])
    assert got.dtype == ml_dtypes.bfloat16 and np.asarray(got, np.float32).tolist() == (X[0] @ Y[0]).tolist()


REFUSED = [
    ((X[0, 0], Y[0]), {}, "does not support 0-rank and 1-rank operands"),
    ((X, Y), {"lhs_scale": np.ones((3, 2, 3))}, "must be divisible by its scale's dim size 3"),
    ((X, Y), {"rhs_scale": np.ones((3, 8, 5))}, r"its scale's dim size \(1\) must be at least 2"),
    ((X, Y), {"lhs_scale": np.ones((3, 1, 2))}, "LHS dim 1 of size 2 does not match scale dim size 1"),
    ((X, Y), {"lhs_scale": np.ones((2, 2))}, "must have the same rank. Got lhs rank: 3 rhs rank: 3 lhs_scale rank: 2"),
    ((X, Y[0]), {}, "must have the same rank"),
    ((X, Y[:2]), {}, r"must have the same batch dimension size for batch dims \(0, 0\)"),
    ((X, Y), {"lhs_scale": np.ones((2, 2, 1))}, "must have the same batch dimension size"),
    ((X, Y[:, 1:]), {}, "LHS contracting dim 2 of size 8 does not match RHS contracting dim 1 of size 7"),
    ((X, Y), {"dimension_numbers": (((2,), ()), ((), ()))}, "same number of contracting dimensions, got 1 and 0"),
    ((X, Y), {"dimension_numbers": (((2,), (1,)), ((0,), ()))}, "same number of batch dimensions, got 1 and 0"),
]


@pytest.mark.parametrize(("args", "options", "words"), REFUSED)
def test_shapes_that_do_not_fit(args, options, words):
    with pytest.raises(TypeError, match=words):
        lax.scaled_dot(*args, **options)
