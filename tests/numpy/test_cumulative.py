"""Running sums and products, against NumPy."""

import numpy as np
import pytest

import onax as jax
from agreement import assert_as_numpy, call
from onax import numpy as jnp

X = np.array([[1.0, np.nan, -2.0, 3.0], [0.5, 4.0, np.inf, -1.0]])
I = np.array([[3, -1, 2], [5, 0, 4]], np.int16)
CALLS = [
    *[call(name, X, axis=axis) for name in "cumsum cumprod nancumsum nancumprod".split() for axis in (None, 0, -1)],
    *[call(name, I, axis=axis, dtypes=False) for name in "cumsum cumprod nancumsum".split() for axis in (None, 1)],
    call("cumsum", I > 0), call("cumsum", I, dtype=np.int16), call("cumprod", I, 0, np.float32), call("cumsum", X[:0]),
    *[call(name, I, axis=1, include_initial=True, dtypes=False) for name in ("cumulative_sum", "cumulative_prod")],
    call("cumulative_sum", I[0], dtypes=False), call("cumulative_prod", I[0], dtype=np.float32),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args", "options"), CALLS)
def test_as_in_numpy(function, args, options):
    assert_as_numpy(function, args, options)


def test_slopes():
    x = jnp.array([2.0, 3.0, 5.0])
    assert jax.grad(lambda x: jnp.cumprod(x)[2])(x).tolist() == [15, 10, 6]
    assert jax.jit(jax.grad(lambda x: jnp.cumsum(x) @ jnp.arange(3.0)))(x).tolist() == [3, 3, 2]


REFUSED = [
    (lambda: jnp.cumsum(X, axis=2), ValueError, "out of bounds"),
    (lambda: jnp.cumulative_sum(X), ValueError, "axis"),
    (lambda: jnp.cumsum([1, 2]), TypeError, "requires ndarray"),
    (lambda: jnp.cumsum(X, out=1), NotImplementedError, "out"),
]


@pytest.mark.parametrize(("refused", "error", "words"), REFUSED)
def test_refusals(refused, error, words):
    with pytest.raises(error, match=words):
        refused()
