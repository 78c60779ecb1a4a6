"""onax.random: random numbers from explicit keys, under JAX's names and with JAX's bits.

A key is an immutable value: drawing from one twice gives the same numbers, so programs split keys
(`key, subkey = split(key)`) and use each once.  Unlike in NumPy there is no hidden state and no generator object.

On the same key the numbers are JAX's: bits, integers and counts are equal, floats within four units in the last place.
They are further apart where a formula takes the difference of nearly equal numbers, since exp, log and erf_inv of XLA
and ours differ by a unit or two.  The most seen in the table of tests: truncated_normal 159, double_sided_maxwell
32, gumbel 31, uniform between bounds, wald, loggamma and multivariate_normal 16 (22 by eigh), beta 13, logistic, f and
chisquare 8, dirichlet 7, lognormal, gamma and ball 6, orthogonal 136; in 20000 draws of gamma 86.
"""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._prims.random import random_gamma_p
from onax.random._bits import bits
from onax.random._continuous import (
    cauchy,
    double_sided_maxwell,
    exponential,
    gumbel,
    laplace,
    logistic,
    lognormal,
    maxwell,
    normal,
    pareto,
    rayleigh,
    triangular,
    truncated_normal,
    uniform,
    wald,
    weibull_min,
)
from onax.random._counts import binomial, multinomial, poisson
from onax.random._discrete import bernoulli, categorical, choice, geometric, permutation, rademacher, randint
from onax.random._gamma import (
    ball,
    beta,
    chisquare,
    dirichlet,
    f,
    gamma,
    generalized_normal,
    loggamma,
    t,
)
from onax.random._keys import (
    Key,
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_dtype,
    key_impl,
    split,
    wrap_key_data,
)
from onax.random._matrices import multivariate_normal, orthogonal

__all__ = [
    "Key",
    "PRNGKey",
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "loggamma",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "random_gamma_p",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]

# Those whose own checks name them in errors.
_wrap_api_functions(globals(), __name__, frozenset("bits fold_in key_data normal split uniform".split()))
