"""onax.nn: activation functions and other parts of neural networks."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.nn import initializers
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

__all__ = [
    "celu", "dot_product_attention", "elu", "gelu", "get_scaled_dot_general_config", "glu", "hard_sigmoid", "hard_silu",
    "hard_swish", "hard_tanh", "identity", "initializers", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax",
    "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "scaled_dot_general", "scaled_matmul", "selu",
    "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize",
    "swish", "tanh",
]  # fmt: skip
