"""onax.random: random numbers from explicit keys, under JAX's names and with JAX's bits.

A key is an immutable value: drawing from one twice gives the same numbers, so programs split keys
(`key, subkey = split(key)`) and use each once.  Unlike in NumPy there is no hidden state and no generator object.
"""

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
from onax.random._discrete import bernoulli, categorical, choice, geometric, permutation, rademacher, randint
from onax.random._keys import (
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

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "clone",
    "double_sided_maxwell",
    "exponential",
    "fold_in",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_dtype",
    "key_impl",
    "laplace",
    "logistic",
    "lognormal",
    "maxwell",
    "normal",
    "pareto",
    "permutation",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]
