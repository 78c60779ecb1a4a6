"""fwd_and_bwd: reverse mode as two functions."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp

X = jnp.arange(1.0, 4.0)


def f(x, y):
    return {"a": jnp.sin(x) * y}


WANTED = (np.cos([1, 2, 3]) * 2 * [1, 2, 3], float(np.sum(np.sin([1, 2, 3]) * [1, 2, 3])))


def agree(cts):
    for got, wanted in zip(cts, WANTED, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("jitted", [True, False])
def test_forward_and_backward(jitted):
    fwd, bwd = jax.fwd_and_bwd(f, (0, 1), jitted=jitted)
    for _ in range(2):
        out, residuals = fwd(X, 2.0)
        np.testing.assert_allclose(out["a"], np.sin([1, 2, 3]) * 2, rtol=1e-6)
        agree(bwd(residuals, {"a": X}))


def test_forward_and_backward_of_one_argument_with_auxiliary_output():
    fwd, bwd = jax.fwd_and_bwd(lambda x, y: (f(x, y), x), 0, has_aux=True)
    _, residuals, aux = fwd(X, 2.0)
    np.testing.assert_array_equal(aux, X)
    np.testing.assert_allclose(bwd(residuals, {"a": X}), WANTED[0], rtol=1e-5)
    with pytest.raises(TypeError, match="requires at least 3 positional"):
        jax.fwd_and_bwd(f, 2)[0](X, 2.0)
