"""conv_general_dilated_local: against sums over positions, in every order of axes, and its derivative."""

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.test_util import check_grads

X = np.random.default_rng(0).normal(size=(2, 3, 5, 6)).astype(np.float32)
W = np.random.default_rng(1).normal(size=(4, 18, 2, 4)).astype(np.float32)


def by_hand(x, w):
    """Windows of shape (2, 3) at strides (2, 1)."""
    out = np.zeros((2, 4, 2, 4))
    for i, j in np.ndindex(2, 4):
        out[..., i, j] = x[:, :, 2 * i : 2 * i + 2, j : j + 3].reshape(2, 18) @ w[:, :, i, j].T
    return out


ORDERS = [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC"), ("HNCW", "OWHI", "CWHN")]


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("orders", ORDERS)
def test_every_order_of_axes(orders, way):
    # The order of the filter's spatial axes is also that of strides, window, and positions within it.
    turned = orders[1].index("W") < orders[1].index("H")
    strides, window = ((1, 2), (3, 2)) if turned else ((2, 1), (2, 3))
    w = W.reshape(4, 3, 2, 3, 2, 4).swapaxes(2, 3).reshape(W.shape) if turned else W
    x, w = np.einsum(f"NCHW->{orders[0]}", X), np.einsum(f"OIHW->{orders[1]}", w)
    f = way(lambda x, w: lax.conv_general_dilated_local(x, w, strides, "VALID", window, dimension_numbers=orders))
    got = np.einsum(f"{orders[2]}->NCHW", np.asarray(f(x, w)))
    np.testing.assert_allclose(got, by_hand(X, W), rtol=1e-4, atol=1e-4)


def test_derivatives_and_mapped_filters():
    f = lambda x, w: lax.conv_general_dilated_local(x, w, (2, 1), "VALID", (2, 3))
    check_grads(f, (jnp.asarray(X), jnp.asarray(W)), 1, modes=("fwd", "rev"), rtol=1e-2, atol=1e-2)
    both = jax.vmap(f, (None, 0))(X, jnp.stack([W, 2 * W]))
    np.testing.assert_allclose(both[1], 2 * both[0], rtol=1e-5)


def test_a_precision_of_another_kind():
    with pytest.raises(ValueError, match="Unsupported precision for conv_general_dilated_local: F32_F32_F32"):
        lax.conv_general_dilated_local(X, W, (2, 1), "VALID", (2, 3), precision="F32_F32_F32")
