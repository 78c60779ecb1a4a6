"""What special functions share: promotion, broadcasting, halves computed in float32, polynomials."""

import numpy as np
import pytest

import onax as jax
from onax import numpy as jnp
from onax.scipy import _special_common as common


def test_real_floats():
    promoted = common.promote_real_floats("test", 1, np.int8(2), jnp.bfloat16(3))
    assert {str(x.dtype) for x in promoted} == {"bfloat16"}
    assert common.promote_real_floats("test", 1)[0].dtype == np.float32
    with pytest.raises(ValueError, match="test does not support complex"):
        common.promote_real_floats("test", 1.0, 1j)


def test_broadcasting():
    x, y = common.broadcast_arguments("test", jnp.ones((2, 1)), jnp.ones(3))
    assert x.shape == y.shape == (2, 3)
    with pytest.raises(TypeError, match=r"test got incompatible shapes for broadcasting: \(2,\), \(3,\)"):
        common.broadcast_arguments("test", jnp.ones(2), jnp.ones(3))


def test_sign_of_gamma():
    x = jnp.array([2.5, -0.5, -1.5, -2.5, 0.0, -1.0])
    assert common.gamma_sign(x).tolist() == [1, -1, 1, -1, 1, -1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_halves(dtype):
    seen = []

    @common.compute_in_float32
    def both(x, y):
        seen.append(x.dtype)
        return x * y, x + y

    found = both(jnp.ones(2, dtype), jnp.ones(2, dtype))
    assert {str(f.dtype) for f in found} == {dtype} and seen == [np.dtype("float32")]


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_polynomials(dtype):
    x = np.array([0.0, 1.0, -2.0], dtype) * (1j if dtype is np.complex64 else 1)
    got = jax.jit(lambda x: common.polynomial([1.0, -3.0, 0.5], x))(x.astype(dtype))
    np.testing.assert_allclose(got, 1 - 3 * x + 0.5 * x**2, rtol=1e-6)
    assert got.dtype == dtype
