"""onax.scipy.cluster.vq: which vector of a code book is nearest."""

from __future__ import annotations

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground.typing import ArrayLike
from onax._native.array import Array
from onax.numpy._promotion import check_arraylike, promote_dtypes_inexact

__all__ = ["vq"]


def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """Returns the nearest row of a code book for each observation.

    Args:
      obs: (m, n), or (m,) numbers.
      code_book: (k, n), or (k,).
      check_finite: accepted, without effect.

    Returns:
      (indices, distances): int32 (m,) and floats (m,).

    Raises:
      ValueError: ranks that differ, or are not 1 or 2.

    Examples:
      >>> onax.scipy.cluster.vq.vq(jnp.array([0.0, 4.0]), jnp.array([1.0, 5.0]))
      (Array([0, 1], dtype=int32), Array([1., 1.], dtype=float32))
    """
    obs, code_book = check_arraylike("scipy.cluster.vq.vq", obs, code_book)
    obs, code_book = promote_dtypes_inexact(jnp.asarray(obs), jnp.asarray(code_book))
    if obs.ndim != code_book.ndim:
        raise ValueError("Observation and code_book should have the same rank")
    if obs.ndim == 1:
        obs, code_book = obs[:, None], code_book[:, None]
    if obs.ndim != 2:
        raise ValueError("ndim different than 1 or 2 are not supported")
    distances = jnp.linalg.norm(obs[:, None] - code_book[None], axis=-1)
    code = jnp.argmin(distances, axis=1)
    return code, jnp.take_along_axis(distances, code[:, None], 1)[:, 0]


_wrap_api_functions(globals(), __name__, frozenset(globals()) - frozenset(__all__))
