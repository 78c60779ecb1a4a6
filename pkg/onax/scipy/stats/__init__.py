"""onax.scipy.stats: distributions."""

from types import ModuleType as _ModuleType

from onax._core.public import publish as _publish
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
from onax.scipy.stats._kde import gaussian_kde
from onax.scipy.stats._samples import mode, rankdata, sem

for _distribution in [x for x in globals().values() if isinstance(x, _ModuleType)]:
    _publish(vars(_distribution), _distribution.__name__, ("inside", "promoted"))
_publish(globals(), __name__)
