"""onax.scipy.special: special functions."""

import warnings as _warnings

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.nn._normalization import logsumexp
from onax.scipy._special import (
    beta,
    betainc,
    betaln,
    digamma,
    entr,
    erf,
    erfc,
    erfinv,
    expit,
    factorial,
    gammainc,
    gammaincc,
    gammaln,
    gammasgn,
    i0,
    i0e,
    i1,
    i1e,
    kl_div,
    log_ndtr,
    log_softmax,
    logit,
    multigammaln,
    ndtr,
    ndtri,
    polygamma,
    rel_entr,
    softmax,
    xlog1py,
    xlogy,
)
from onax.scipy._special_errors import dawsn, erfcinv, erfcx, owens_t, wofz
from onax.scipy._special_gamma import bernoulli, boxcox, boxcox1p, comb, gamma, loggamma, poch
from onax.scipy._special_integrals import exp1, expi, expn, fresnel, sici, spence
from onax.scipy._special_series import bessel_jn, hyp1f1, hyp2f1, sph_harm_y
from onax.scipy._special_series import lpmn as _lpmn
from onax.scipy._special_series import lpmn_values as _lpmn_values
from onax.scipy._special_zeta import zeta

_wrap_api_functions(globals(), __name__)


def __getattr__(name):
    if name in ("lpmn", "lpmn_values"):
        words = f"onax.scipy.special.{name} is deprecated; no replacement is planned."
        _warnings.warn(words, DeprecationWarning, stacklevel=2)
        return _lpmn if name == "lpmn" else _lpmn_values
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "bernoulli", "bessel_jn", "beta", "betainc", "betaln", "boxcox", "boxcox1p", "comb", "dawsn", "digamma", "entr",
    "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp1", "expi", "expit", "expn", "factorial", "fresnel", "gamma",
    "gammainc", "gammaincc", "gammaln", "gammasgn", "hyp1f1", "hyp2f1", "i0", "i0e", "i1", "i1e", "kl_div", "log_ndtr",
    "log_softmax", "loggamma", "logit", "logsumexp", "multigammaln", "ndtr", "ndtri", "owens_t", "poch", "polygamma",
    "rel_entr", "sici", "softmax", "spence", "sph_harm_y", "wofz", "xlog1py", "xlogy", "zeta",
]  # fmt: skip
