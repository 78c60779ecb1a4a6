"""What the distributions share: promotion, and logarithms of what is 0 outside the support."""

import numpy as np

from onax import numpy as jnp
from onax.numpy._promotion import promote_args_inexact


def promoted(name, *args):
    """The arguments as floats of one dtype."""
    return promote_args_inexact(name, *args)


def inside(condition, value, outside=-np.inf):
    """value where the condition holds, elsewhere a number."""
    return jnp.where(condition, value, outside)
