"""Operators on single elements: arithmetic, comparisons, logic, and functions of one number.

The other direction: `export/lower/elementwise.py`.
"""

import functools

import onax.numpy as jnp
from onax import lax
from onax.onnx.operators import operator
from onax.scipy import special

UNARY = {
    "Abs": jnp.abs,
    "Acos": jnp.arccos,
    "Acosh": jnp.arccosh,
    "Asin": jnp.arcsin,
    "Asinh": jnp.arcsinh,
    "Atan": jnp.arctan,
    "Atanh": jnp.arctanh,
    "BitwiseNot": jnp.invert,
    "Ceil": jnp.ceil,
    "Cos": jnp.cos,
    "Cosh": jnp.cosh,
    "Erf": special.erf,
    "Exp": jnp.exp,
    "Floor": jnp.floor,
    "Identity": lambda x: x,
    "IsNaN": jnp.isnan,
    "Log": jnp.log,
    "Neg": jnp.negative,
    "Not": jnp.logical_not,
    "Reciprocal": jnp.reciprocal,
    "Round": jnp.round,
    "Sign": jnp.sign,
    "Sin": jnp.sin,
    "Sinh": jnp.sinh,
    "Sqrt": jnp.sqrt,
    "Tan": jnp.tan,
    "Tanh": jnp.tanh,
}


def _divide(x, y):
    """The quotient; of integers, rounded toward zero."""
    return lax.div(*jnp.broadcast_arrays(x, y)) if jnp.issubdtype(x.dtype, jnp.integer) else jnp.divide(x, y)


BINARY = {
    "Add": jnp.add,
    "And": jnp.logical_and,
    "BitwiseAnd": jnp.bitwise_and,
    "BitwiseOr": jnp.bitwise_or,
    "BitwiseXor": jnp.bitwise_xor,
    "Div": _divide,
    "Equal": jnp.equal,
    "Greater": jnp.greater,
    "GreaterOrEqual": jnp.greater_equal,
    "Less": jnp.less,
    "LessOrEqual": jnp.less_equal,
    "Mul": jnp.multiply,
    "Or": jnp.logical_or,
    "Sub": jnp.subtract,
    "Xor": jnp.logical_xor,
}

for _name, _function in UNARY.items():
    operator(_name)(lambda call, x, _function=_function: _function(jnp.asarray(x)))
for _name, _function in BINARY.items():
    operator(_name)(lambda call, x, y, _function=_function: _function(jnp.asarray(x), jnp.asarray(y)))


@operator("Max", "Min", "Sum", "Mean")
def _variadic(call, *xs):
    kind = call.node.op_type
    combine = {"Max": jnp.maximum, "Min": jnp.minimum}.get(kind, jnp.add)
    result = functools.reduce(combine, [jnp.asarray(x) for x in xs])
    return result / len(xs) if kind == "Mean" else result


@operator("Pow")
def _pow(call, x, y):
    x, y = jnp.asarray(x), jnp.asarray(y)
    if x.dtype == y.dtype or jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.power(x, y).astype(x.dtype)
    if jnp.issubdtype(y.dtype, jnp.integer):
        return jnp.power(x, y.astype(x.dtype))
    return jnp.power(x.astype(y.dtype), y).astype(x.dtype)


@operator("Mod")
def _mod(call, x, y):
    return jnp.fmod(x, y) if call.get("fmod", 0) else jnp.mod(x, y)


@operator("BitShift")
def _bit_shift(call, x, y):
    x, y = jnp.broadcast_arrays(x, y)
    if call["direction"] == "LEFT":
        return lax.shift_left(x, y)
    signed = jnp.issubdtype(x.dtype, jnp.signedinteger)
    return (lax.shift_right_arithmetic if signed else lax.shift_right_logical)(x, y)


@operator("IsInf")
def _is_inf(call, x):
    found = jnp.zeros(jnp.shape(x), bool)
    if call.get("detect_positive", 1):
        found |= jnp.isposinf(x)
    if call.get("detect_negative", 1):
        found |= jnp.isneginf(x)
    return found


@operator("Where")
def _where(call, condition, x, y):
    return jnp.where(condition, jnp.asarray(x), jnp.asarray(y))


@operator("Clip")
def _clip(call, x, low=None, high=None):
    x = jnp.asarray(x)
    low = call.get("min") if low is None else low
    high = call.get("max") if high is None else high
    x = x if low is None else jnp.maximum(x, jnp.asarray(low, x.dtype))
    return x if high is None else jnp.minimum(x, jnp.asarray(high, x.dtype))


@operator("PRelu")
def _prelu(call, x, slope):
    return jnp.where(x < 0, jnp.multiply(slope, x).astype(x.dtype), x)
