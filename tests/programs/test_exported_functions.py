"""scipy functions exported to files of standard operators give the same values."""

import numpy as np
import pytest

import onax as jax
import onax.export
import onax.numpy as jnp
import onax.scipy.special as special
from onax import lax
from onax.scipy import ndimage, optimize, signal, stats
from onax.scipy.sparse import linalg
from onax.scipy.spatial.transform import Rotation

X = np.linspace(0.1, 3, 7).astype(np.float32)
A = (np.eye(7) * 4 + np.ones((7, 7))).astype(np.float32)
FUNCTIONS = {
    "expi": special.expi, "expn": lambda v: special.expn(2, v), "fresnel": special.fresnel, "dawsn": special.dawsn,
    "owens_t": lambda v: special.owens_t(v, v), "hyp2f1": lambda v: special.hyp2f1(1.0, 2.0, 3.0, v / 4),
    "bessel_jn": lambda v: special.bessel_jn(v, v=2), "poch": lambda v: special.poch(v, v),
    "cg": lambda v: linalg.cg(A, v)[0], "gmres": lambda v: linalg.gmres(A, v)[0],
    "minimize": lambda v: optimize.minimize(lambda y: ((y - v) ** 2).sum(), 0 * v, method="BFGS").x,
    "rankdata": stats.rankdata, "mode": lambda v: stats.mode(v)[0], "kde": lambda v: stats.gaussian_kde(v)(v),
    "truncnorm": lambda v: stats.truncnorm.logcdf(v, -1, 4.0), "welch": lambda v: signal.welch(v, nperseg=4)[1],
    "map_coordinates": lambda v: ndimage.map_coordinates(A, [v, v], 1),
    "Rotation": lambda v: Rotation.from_rotvec(v[:3]).as_euler("xyz"),
    "ragged_dot": lambda v: lax.ragged_dot(v[:, None] * A, jnp.ones((2, 7, 3)), jnp.array([2, 3])),
    "approx_min_k": lambda v: lax.approx_min_k(v, 2),
    "mulhi": lambda v: lax.mulhi((v * 6e8).astype("int32"), jnp.int32(2**31 - 1)),
    "composite": lambda v: lax.composite(lambda x: jnp.sin(x), "my.sin")(v),
    "rng_bit_generator": lambda v: lax.rng_bit_generator(v[:4].astype("uint32"), (5,)),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exported(name):
    function = FUNCTIONS[name]
    exported = onax.export.export(jax.jit(function))(jax.ShapeDtypeStruct(X.shape, X.dtype))
    for got, want in zip(jax.tree.leaves(exported.call(X)), jax.tree.leaves(function(X)), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, 2e-5, 2e-6)
