"""Lowering of dot_general: transposes to (batch, free, contracted) and (batch, contracted, free), then MatMul.

Transposes and reshapes that change nothing emit no node; Gemm reads a transposed matrix without a Transpose.

The other direction: `pkg/onax/onnx/dot.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax._ground.dtypes import real_dtype
from onax._native.avals import ShapedArray
from onax._prims.dot import dot_general_p
from onax._prims.dot_ragged import masked_dot_general, ragged_dot_general_p
from onax.export.graph import ops
from onax.export.lower.convert import F32, F64, FLOATS, convert
from onax.export.lower.registry import decompose, lowers, lowers_components

BOOL = np.dtype(np.bool_)


def _free(ndim, *taken):
    """The axes that are in none of these lists, in order."""
    return tuple(i for i in range(ndim) if not any(i in t for t in taken))


def _working_type(lhs, rhs, out):
    """The element type to multiply in: the widest of operands and result; float32 for 16-bit floats and bools."""
    if out.dtype == BOOL:
        return F32
    floats = [d for d in (lhs.dtype, rhs.dtype, out.dtype) if d in FLOATS]
    if not floats:
        return max((lhs.dtype, rhs.dtype, out.dtype), key=lambda d: (d.itemsize, d == out.dtype))
    return F64 if F64 in floats else F32


def _is_matrix_product(lhs, rhs, lc, rc, batch):
    """Whether MatMul takes the operands as they are: it contracts lhs's last with the first axis of a vector or matrix.

    A Transpose and a vector are excluded: the runtime (1.31) fuses them to a wrong product.
    """
    if batch or len(lc) != 1 or lc[0] != lhs.ndim - 1 or rc[0] != 0 or rhs.ndim > 2:
        return False
    return rhs.ndim == 2 or lhs.ndim == 1 or not _is_transposed(lhs)


def _is_gemm(lhs, rhs, lc, batch, dtype):
    """Whether one Gemm suffices: two matrices of floats with one contracted axis."""
    return not batch and lhs.ndim == rhs.ndim == 2 and len(lc) == 1 and dtype in (F32, F64)


def _is_transposed(x):
    """Whether x is the result of a Transpose, perhaps through nodes that the runtime may remove."""
    while x.node is not None and x.node.op_type in ("Cast", "Identity", "Reshape", "Expand", "Unsqueeze", "Squeeze"):
        x = x.node.inputs[0]
    return x.node is not None and x.node.op_type == "Transpose"


def _arrange_axes(g, x, order, groups):
    """Transposes x to this order of axes, and merges each group of axes into one."""
    shape = [dim_rules.prod([x.shape[i] for i in group]) for group in groups]
    return ops.reshape(g, ops.transpose(g, x, order), shape)


def _product(g, lhs, rhs, dims, shape):
    """The general case, with batch axes and several free or contracted axes."""
    (lc, rc), (lb, rb) = dims
    lf, rf = _free(lhs.ndim, lc, lb), _free(rhs.ndim, rc, rb)
    dtype = lhs.dtype
    singles = [(i,) for i in lb], [(i,) for i in rb]
    batch = tuple(lhs.shape[i] for i in lb)
    if not lc:  # an outer product
        x = ops.reshape(g, ops.transpose(g, lhs, (*lb, *lf)), [*batch, *[lhs.shape[i] for i in lf], *[1] * len(rf)])
        y = ops.reshape(g, ops.transpose(g, rhs, (*rb, *rf)), [*batch, *[1] * len(lf), *[rhs.shape[i] for i in rf]])
        return g.node("Mul", x, y, out=(shape, dtype))
    # Without batch axes the free axes of the left operand need not be merged: MatMul broadcasts a matrix on the right.
    left_groups = [(i,) for i in lf] if lf and not lb else [lf]
    x = _arrange_axes(g, lhs, (*lb, *lf, *lc), [*singles[0], *left_groups, lc])
    # The right operand is always a matrix, see `_is_matrix_product`.
    y = _arrange_axes(g, rhs, (*rb, *rc, *rf), [*singles[1], rc, rf])
    result = (*x.shape[:-1], y.shape[-1])
    return ops.reshape(g, g.node("MatMul", x, y, out=(result, dtype)), shape)


@lowers(dot_general_p)
def _dot_general(g, out, lhs, rhs, *, dimension_numbers, **_):
    (lc, rc), (lb, rb) = ((tuple(map(int, a)), tuple(map(int, b))) for a, b in dimension_numbers)
    if dim_rules.definitely_empty((*lhs.shape, *rhs.shape)):
        return ops.full(g, out.shape, 0, out.dtype)
    dtype = _working_type(lhs, rhs, out)
    lhs, rhs = ops.cast(g, lhs, dtype), ops.cast(g, rhs, dtype)
    if _is_matrix_product(lhs, rhs, lc, rc, lb):
        result = g.node("MatMul", lhs, rhs, out=(out.shape, dtype))
    elif _is_gemm(lhs, rhs, lc, lb, dtype):
        turns = {"transA": 1 - lc[0], "transB": rc[0]}
        result = g.node("Gemm", lhs, rhs, out=(out.shape, dtype), **{k: v for k, v in turns.items() if v})
    else:
        result = _product(g, lhs, rhs, ((lc, rc), (lb, rb)), out.shape)
    return result if result.dtype == out.dtype else convert(g, result, out.dtype)


@lowers_components(dot_general_p)
def _complex_dot_general(g, out, lhs, rhs, *, dimension_numbers, **_):
    """Four products of real and imaginary parts, or two if one operand is real."""
    part = ShapedArray(out.shape, real_dtype(out.dtype))
    times = lambda x, y: _dot_general(g, part, x, y, dimension_numbers=dimension_numbers)
    if type(lhs) is not tuple and type(rhs) is not tuple:
        return times(lhs, rhs), ops.full(g, out.shape, 0, part.dtype)
    if type(lhs) is not tuple or type(rhs) is not tuple:
        pairs = [(lhs, y) for y in rhs] if type(rhs) is tuple else [(x, rhs) for x in lhs]
        return tuple([times(x, y) for x, y in pairs])
    (a, b), (c, d) = lhs, rhs
    ac, bd, ad, bc = times(a, c), times(b, d), times(a, d), times(b, c)
    return ops.sub(g, ac, bd), ops.add(g, ad, bc)


decompose(ragged_dot_general_p, masked_dot_general, components=True)
