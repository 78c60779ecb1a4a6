"""What the distributions share: promotion, and logarithms of what is 0 outside the support."""

import re

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground import dtypes
from onax.numpy._promotion import promote_args_inexact

# What JAX's formulas give for complex numbers too.
_COMPLEX = re.compile("(cauchy|logistic)[.].*|(expon|pareto|uniform)[.]ppf|norm[.]logpdf")


# Where weakly typed arguments of any shape give a weakly typed result, as no constant of JAX's formulas has a dtype.
# Elsewhere weakly typed scalars do: constants beside them are weakly typed too (see `constant_like`).
_WEAK = re.compile(
    "(uniform|expon)[.](?!cdf).*|expon[.]cdf|(gumbel_l|gumbel_r)[.](?!sf).*|gumbel_l[.]sf|binom[.].*|"
    "poisson[.]log.*|pareto[.]logcdf|gamma[.](log)?sf|logistic[.](cdf|sf|logpdf)|gennorm[.](cdf|logpdf)|"
    "(vonmises|wrapcauchy)[.]logpdf"
)


def promote_parameters(name, *args):
    """The arguments as floats of one dtype.  Raises TypeError for complex numbers where nothing is known of them."""
    args = promote_args_inexact(name, *args)
    if args[0].weak_type and args[0].shape and not _WEAK.fullmatch(name):
        args = [lax.convert_element_type(x, x.dtype) for x in args]
    if dtypes.is_complex(args[0].dtype) and not _COMPLEX.fullmatch(name):
        raise TypeError(f"{name} takes real numbers, got dtype {args[0].dtype}")
    return args


def keep_inside(condition, value, outside=-np.inf):
    """value where the condition holds, elsewhere a number."""
    return jnp.where(condition, value, outside)


def mask_outside(condition, value, outside=-np.inf):
    """value, elsewhere than where the condition holds: comparisons are false for NaN, whose value is NaN."""
    return jnp.where(condition, outside, value)
