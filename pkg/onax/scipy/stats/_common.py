"""Helpers that the distributions share: promotion, and values outside the support."""

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground import dtypes
from onax.numpy._promotion import promote_args_inexact


def promote_parameters(name, *args, keeps_weak_type=False, takes_complex=False):
    """Promotes the arguments to floats of one dtype; TypeError for complex numbers unless the function takes them.

    Args:
      name: the name of the function, for messages.
      keeps_weak_type: whether weak arguments of any shape give a weak result, because no constant in JAX's formula has
        a dtype.  In other functions only weak scalars do: constants beside them are weak too (see `constant_like`).
      takes_complex: whether JAX evaluates the function's formula for complex numbers too.
    """
    args = promote_args_inexact(name, *args)
    if args[0].weak_type and args[0].shape and not keeps_weak_type:
        args = [lax.convert_element_type(x, x.dtype) for x in args]
    if dtypes.is_complex(args[0].dtype) and not takes_complex:
        raise TypeError(f"{name} takes real numbers, got dtype {args[0].dtype}")
    return args


def keep_inside(condition, value, outside=-np.inf):
    """value where the condition holds, `outside` elsewhere."""
    return jnp.where(condition, value, outside)


def mask_outside(condition, value, outside=-np.inf):
    """`outside` where the condition holds, value elsewhere; conditions are False for NaN, so the result is NaN."""
    return jnp.where(condition, outside, value)
