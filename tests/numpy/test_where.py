"""where of three arguments and select, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.arange(6.0).reshape(2, 3)
I = np.array([1, 0, -2])
CALLS = [
    call("where", X > 2, X, -X), call("where", X[0] > 0, X, 5.0), call("where", True, I, 0.5), call("where", I, I, X),
    call("where", X > 9, 1j, X),
    call("where", X[:, :1] > 1, I, I > 0), call(lambda xp, x: xp.select([x < 1, x > 3], [x, -x], 9.0), X),
    call(lambda xp, x, i: xp.select([x < 1, i > 0], [i, x]), X, I),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


TYPES = [
    (lambda: jnp.where(True, 1, 2), "int32", True),
    (lambda: jnp.where(True, 1, 2.0), "float32", True),
    (lambda: jnp.where(True, jnp.int8(1), 2), "int8", False),
    (lambda: jnp.where(True, jnp.bfloat16(1), np.float16(2)), "float32", False),
]


@pytest.mark.parametrize(("run", "dtype", "weak"), TYPES)
def test_types(run, dtype, weak):
    for way in (run, jax.jit(run)):
        assert (str(way().dtype), way().weak_type) == (dtype, weak)


def test_slopes_of_what_is_chosen():
    slope = jax.jit(jax.grad(lambda x: jnp.where(x > 1, x**2, 3 * x).sum()))(jnp.arange(4.0))
    assert slope.tolist() == [3, 3, 4, 6]


REFUSED = [
    (lambda: jnp.where(X > 1, X), TypeError, "requires ndarray"),
    (lambda: jnp.where([True], 1, 2), TypeError, "requires ndarray"),
    (lambda: jnp.where(X > 1, I[:2], X), ValueError, "shapes|broadcast"),
    (lambda: jnp.select([X > 1], [X, X]), ValueError, "length"),
    (lambda: jnp.select([], []), ValueError, "empty|at least"),
    (lambda: jnp.where(jax.random.key(0), 1, 2), TypeError, "key"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
