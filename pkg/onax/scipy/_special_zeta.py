"""Implementation of onax.scipy.special: Hurwitz' zeta function with its derivatives in both arguments."""

from __future__ import annotations

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.custom_jvp import custom_jvp
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax._prims.special_series import euler_maclaurin
from onax._transforms.autodiff import jvp
from onax.numpy._promotion import promote_args_inexact
from onax.scipy._special_common import broadcast_arguments

_DIRECT = 10  # terms summed one by one
_CORRECTIONS = euler_maclaurin(8)


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """Returns Hurwitz' zeta function, the sum of (k + q)**-x over k = 0, 1, ....

    Unlike in SciPy `q` must be given; Riemann's function has q = 1.

    Args:
      x: an array of numbers above 1.
      q: an array that broadcasts with `x`.

    Returns:
      Float array of the common shape.

    Raises:
      NotImplementedError: `q` is None.

    Examples:
      >>> onax.scipy.special.zeta(jnp.array([2.0]), 1.0).round(4)
      Array([1.6449], dtype=float32)
    """
    if q is None:
        raise NotImplementedError(
            "Riemann zeta function not implemented; pass q != None to compute the Hurwitz Zeta function."
        )
    return _zeta(*broadcast_arguments("zeta", *promote_args_inexact("zeta", x, q)))


@custom_jvp
def _zeta(x, q):
    return lax.zeta(x, q)


@_zeta.defjvp
def _zeta_jvp(primals, tangents):
    return _zeta(*primals), jvp(_euler_maclaurin, primals, tangents)[1]


def _euler_maclaurin(x, q):
    """The zeta function by the Euler-Maclaurin formula (DLMF 25.11.28), which can be differentiated."""
    k = np.arange(_DIRECT, dtype=x.dtype)
    direct = jnp.sum((q[..., None] + k) ** -x[..., None], axis=-1)
    far = q + _DIRECT
    last = far**-x
    factor, correction = x / far, 0.5
    for j, coefficient in enumerate(_CORRECTIONS):
        correction = correction + coefficient * factor
        factor = factor * (x + 2 * j + 1) * (x + 2 * j + 2) / far**2
    return direct + last * (far / (x - 1) + correction)
