"""Products of matrices.

The other direction: `export/lower/dot.py`.
"""

import onax.numpy as jnp
from onax.onnx.operators import operator


@operator("MatMul")
def _matmul(call, x, y):
    return jnp.matmul(jnp.asarray(x), jnp.asarray(y))


@operator("Gemm")
def _gemm(call, x, y, z=None):
    x, y = jnp.asarray(x), jnp.asarray(y)
    x, y = (x.T if call.get("transA", 0) else x), (y.T if call.get("transB", 0) else y)
    alpha, beta = call.get("alpha", 1.0), call.get("beta", 1.0)
    result = jnp.matmul(x, y)
    if alpha != 1:
        result = _scaled(alpha, result)
    if z is None:
        return result
    return result + (jnp.asarray(z) if beta == 1 else _scaled(beta, jnp.asarray(z)))


def _scaled(factor, x):
    return jnp.asarray(factor, x.dtype) * x


@operator("Einsum")
def _einsum(call, *xs):
    return jnp.einsum(call["equation"].replace(" ", ""), *[jnp.asarray(x) for x in xs])


@operator("MatMulInteger")
def _matmul_integer(call, x, y, x_zero=None, y_zero=None):
    return jnp.matmul(centered(x, x_zero, -2), centered(y, y_zero, -1))


def centered(x, zero, axis):
    """An integer matrix, or a stack of them, as int32 less its zero point: one number, or one per row or column."""
    x = jnp.asarray(x).astype(jnp.int32)
    if zero is None:
        return x
    zero = jnp.asarray(zero).astype(jnp.int32)
    if zero.ndim == 1 and zero.shape[0] > 1:
        zero = jnp.expand_dims(zero, -1 if axis == -2 else -2)
    return x - zero
