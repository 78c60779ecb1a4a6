"""What the distributions share: promotion, and logarithms of what is 0 outside the support."""

import re

import numpy as np

from onax import numpy as jnp
from onax._ground import dtypes
from onax.numpy._promotion import promote_args_inexact

# What JAX's formulas give for complex numbers too.
_COMPLEX = re.compile("(cauchy|logistic)[.].*|(expon|pareto|uniform)[.]ppf|norm[.]logpdf")


def promoted(name, *args):
    """The arguments as floats of one dtype.  Raises TypeError for complex numbers where nothing is known of them."""
    args = promote_args_inexact(name, *args)
    if dtypes.is_complex(args[0].dtype) and not _COMPLEX.fullmatch(name):
        raise TypeError(f"{name} takes real numbers, got dtype {args[0].dtype}")
    return args


def inside(condition, value, outside=-np.inf):
    """value where the condition holds, elsewhere a number."""
    return jnp.where(condition, value, outside)
