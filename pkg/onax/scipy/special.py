"""onax.scipy.special: special functions."""

from onax._core.public import publish as _publish
from onax.nn._normalization import logsumexp
from onax.scipy._special import (
    digamma,
    entr,
    erf,
    erfc,
    erfinv,
    expit,
    gammaln,
    kl_div,
    log_softmax,
    logit,
    ndtr,
    rel_entr,
    softmax,
    xlog1py,
    xlogy,
)

_publish(globals(), __name__, {"log_softmax": "axis", "logsumexp": "keepdims"})
