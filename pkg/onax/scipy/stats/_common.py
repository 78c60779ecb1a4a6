"""Helpers that the distributions share: promotion, and values outside the support."""

import re

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._ground import dtypes
from onax.numpy._promotion import promote_args_inexact

# Functions whose formulas JAX evaluates for complex numbers too.
_COMPLEX = re.compile("(cauchy|logistic)[.].*|(expon|pareto|uniform)[.]ppf|norm[.]logpdf")


# Functions whose result is weakly typed for weak arguments of any shape: no constant in JAX's formula has a dtype.
# In other functions only weak scalars keep the type: constants beside them are weak too (see `constant_like`).
_WEAK = re.compile(
    "(uniform|expon)[.](?!cdf).*|expon[.]cdf|(gumbel_l|gumbel_r)[.](?!sf).*|gumbel_l[.]sf|binom[.].*|"
    "poisson[.]log.*|pareto[.]logcdf|gamma[.](log)?sf|logistic[.](cdf|sf|logpdf)|gennorm[.](cdf|logpdf)|"
    "(vonmises|wrapcauchy)[.]logpdf"
)


def promote_parameters(name, *args):
    """Promotes the arguments to floats of one dtype.  Raises TypeError for complex numbers where JAX has no meaning."""
    args = promote_args_inexact(name, *args)
    if args[0].weak_type and args[0].shape and not _WEAK.fullmatch(name):
        args = [lax.convert_element_type(x, x.dtype) for x in args]
    if dtypes.is_complex(args[0].dtype) and not _COMPLEX.fullmatch(name):
        raise TypeError(f"{name} takes real numbers, got dtype {args[0].dtype}")
    return args


def keep_inside(condition, value, outside=-np.inf):
    """value where the condition holds, `outside` elsewhere."""
    return jnp.where(condition, value, outside)


def mask_outside(condition, value, outside=-np.inf):
    """`outside` where the condition holds, value elsewhere; conditions are False for NaN, which so stays NaN."""
    return jnp.where(condition, outside, value)
