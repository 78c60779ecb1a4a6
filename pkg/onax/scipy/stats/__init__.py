"""onax.scipy.stats: distributions."""

from types import ModuleType as _ModuleType

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.scipy.stats import (
    bernoulli,
    beta,
    betabinom,
    binom,
    cauchy,
    chi2,
    dirichlet,
    expon,
    gamma,
    gennorm,
    geom,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    multinomial,
    multivariate_normal,
    nbinom,
    norm,
    pareto,
    poisson,
    t,
    truncnorm,
    uniform,
    vonmises,
    wrapcauchy,
)
from onax.scipy.stats._documentation import document as _document
from onax.scipy.stats._kde import gaussian_kde
from onax.scipy.stats._samples import mode, rankdata, sem

for _name, _distribution in [(n, x) for n, x in globals().items() if isinstance(x, _ModuleType)]:
    _document(_name, vars(_distribution))
    _wrap_api_functions(
        vars(_distribution), _distribution.__name__, ("keep_inside", "mask_outside", "promote_parameters")
    )
_wrap_api_functions(globals(), __name__)

__all__ = [
    "bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet", "expon", "gamma", "gaussian_kde",
    "gennorm", "geom", "gumbel_l", "gumbel_r", "laplace", "logistic", "mode", "multinomial", "multivariate_normal",
    "nbinom", "norm", "pareto", "poisson", "rankdata", "sem", "t", "truncnorm", "uniform", "vonmises", "wrapcauchy",
]  # fmt: skip
