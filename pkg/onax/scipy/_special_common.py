"""Helpers that the files of special functions share."""

import numpy as np

from onax import numpy as jnp
from onax._ground import dtypes
from onax.numpy._promotion import promote_args_inexact


def promote_real_floats(name, *args):
    """Promotes the arguments to real floats of one dtype.  Raises ValueError for complex numbers."""
    args = promote_args_inexact(name, *args)
    if dtypes.is_complex(args[0].dtype):
        raise ValueError(f"{name} does not support complex-valued inputs.")
    return args


def broadcast_arguments(name, *args):
    """Broadcasts the arguments to one shape.  Raises TypeError for shapes that do not fit."""
    try:
        return jnp.broadcast_arrays(*args)
    except ValueError:
        shapes = ", ".join(str(x.shape) for x in args)
        raise TypeError(f"{name} got incompatible shapes for broadcasting: {shapes}.") from None


def gamma_sign(x):
    """The sign of the gamma function, 1 at its poles."""
    return jnp.where((x > 0) | (jnp.floor(x) % 2 == 0), 1, -1).astype(x.dtype)


def compute_in_float32(function):
    """Wraps a function of floats: computes float16 and bfloat16 in float32 and returns the arguments' dtype."""

    def call(*args):
        dtype = args[0].dtype
        if dtype.itemsize >= 4:
            return function(*args)
        outs = function(*(x.astype(np.float32) for x in args))
        return tuple(o.astype(dtype) for o in outs) if isinstance(outs, tuple) else outs.astype(dtype)

    return call


def polynomial(coefficients, x):
    """The polynomial with these coefficients, the constant one first, by Horner's rule in one loop."""
    return jnp.polyval(np.asarray(coefficients[::-1], x.real.dtype), x)
