"""onax.nn: activation functions and other parts of neural networks."""

import importlib

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.nn._activations import (
    celu,
    elu,
    gelu,
    glu,
    hard_sigmoid,
    hard_silu,
    hard_swish,
    hard_tanh,
    identity,
    leaky_relu,
    log1mexp,
    log_sigmoid,
    logmeanexp,
    mish,
    one_hot,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    soft_sign,
    softplus,
    sparse_plus,
    sparse_sigmoid,
    squareplus,
    standardize,
    swish,
    tanh,
)
from onax.nn._attention import dot_product_attention
from onax.nn._normalization import log_softmax, logsumexp, softmax
from onax.nn._scaled_dot_general import get_scaled_dot_general_config, scaled_dot_general
from onax.nn._scaled_matmul import scaled_matmul

_wrap_api_functions(globals(), __name__)

_LAZY_MODULES = frozenset({"initializers"})  # imported on first access


def __getattr__(name):
    if name in _LAZY_MODULES:
        return importlib.import_module(f"onax.nn.{name}")
    raise AttributeError(f"module 'onax.nn' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LAZY_MODULES})
