"""onax.scipy.special: special functions."""

from onax._core.public import publish as _publish
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
    gamma,
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
    zeta,
)

_publish(globals(), __name__, {"log_softmax": "axis", "logsumexp": "keepdims"})
