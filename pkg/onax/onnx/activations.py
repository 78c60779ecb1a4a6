"""Activation functions; where ONNX and `onax.nn` mean the same, the function of `onax.nn`.

The other direction: `export/recognize/activations.py`.
"""

import math

import onax.numpy as jnp
from onax import nn
from onax.onnx.operators import operator


def _define(name, **defaults):
    """Enters an operator whose attributes are numbers: `function(x, *attributes)`."""

    def enter(function):
        def evaluate(call, x):
            return function(jnp.asarray(x), *[call.get(key, value) for key, value in defaults.items()])

        operator(name)(evaluate)
        return function

    return enter


# Those that recurrent layers know, too: name -> (function of x and numbers, defaults of the numbers).
ACTIVATIONS: dict = {}


def _activation(name, **defaults):
    def enter(function):
        ACTIVATIONS[name] = function, tuple(defaults.values())
        return _define(name, **defaults)(function)

    return enter


_activation("Relu")(lambda x: jnp.maximum(x, jnp.zeros((), x.dtype)))
_activation("Sigmoid")(nn.sigmoid)
_activation("Softplus")(nn.softplus)
_activation("Softsign")(nn.soft_sign)
_activation("LeakyRelu", alpha=0.01)(lambda x, alpha: jnp.where(x < 0, alpha * x, x))
_activation("ThresholdedRelu", alpha=1.0)(lambda x, alpha: jnp.where(x > alpha, x, jnp.zeros((), x.dtype)))
_activation("Elu", alpha=1.0)(nn.elu)
ACTIVATIONS["Tanh"] = jnp.tanh, ()
ACTIVATIONS["Affine"] = (lambda x, alpha, beta: alpha * x + beta), (1.0, 0.0)
ACTIVATIONS["ScaledTanh"] = (lambda x, alpha, beta: alpha * jnp.tanh(beta * x)), (1.0, 1.0)
_define("Celu", alpha=1.0)(nn.celu)
_define("HardSwish")(lambda x: x * jnp.clip(x / 6 + 0.5, 0, 1))
_define("Mish")(nn.mish)


@_activation("HardSigmoid", alpha=0.2, beta=0.5)
def _hard_sigmoid(x, alpha, beta):
    return jnp.clip(alpha * x + beta, 0, 1)


@_define("Selu", alpha=1.67326319217681884765625, gamma=1.05070102214813232421875)
def _selu(x, alpha, gamma):
    negative = alpha * jnp.expm1(jnp.minimum(x, 0))
    return gamma * jnp.where(x > 0, x, negative)


@_define("Shrink", bias=0.0, lambd=0.5)
def _shrink(x, bias, lambd):
    zero = jnp.zeros((), x.dtype)
    bias = jnp.asarray(bias, x.dtype)
    return jnp.where(x < -lambd, x + bias, jnp.where(x > lambd, x - bias, zero))


@_define("Gelu", approximate="none")
def _gelu(x, approximate):
    return nn.gelu(x, approximate=approximate == "tanh")


@_define("Swish", alpha=1.0)
def _swish(x, alpha):
    return x * nn.sigmoid(alpha * x)


@operator("Softmax", "LogSoftmax", "Hardmax", since=1)
def _softmax_of_matrix(call, x):
    axis = call.get("axis", 1) % max(x.ndim, 1)
    rows = jnp.reshape(x, (-1, math.prod(x.shape[axis:])) if x.size else x.shape)
    return jnp.reshape(_along(call, rows, 1), x.shape)


@operator("Softmax", "LogSoftmax", "Hardmax", since=13)
def _softmax(call, x):
    return _along(call, x, call.get("axis", -1))


def _along(call, x, axis):
    kind = call.node.op_type
    if kind == "Hardmax":
        return nn.one_hot(jnp.argmax(x, axis), x.shape[axis], dtype=x.dtype, axis=axis % x.ndim)
    return (nn.softmax if kind == "Softmax" else nn.log_softmax)(x, axis)
