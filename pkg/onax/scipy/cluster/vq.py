"""onax.scipy.cluster.vq: which vector of a code book is nearest."""

from onax import numpy as jnp
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.numpy._promotion import check_arraylike, promote_dtypes_inexact

__all__ = ["vq"]


def vq(obs, code_book, check_finite=True):
    """(index of the nearest row of the code book, distance to it) for each row of the observations.

    A vector is a column of scalars.  The distances are floats of the promoted dtype, the indices int32.
    Raises ValueError for ranks that differ or are not 1 or 2.  `check_finite` is accepted and checks nothing.
    """
    check_arraylike("scipy.cluster.vq.vq", obs, code_book)
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
