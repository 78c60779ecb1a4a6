"""Attention, from opset 23 on, without a mask or with an added constant of finite numbers.

Measured on ONNX Runtime 1.31: a mask of bools, and `is_causal`, add -inf where the formula selects, so NaN and
infinities of masked keys spread to all results; rows whose every element is masked are 0 where the formula gives NaN.
So masks that are selected, or not known, keep the formula.

The other direction: `pkg/onax/onnx/definitions.py`.
"""

import numpy as np

from onax.export.graph import ops
from onax.export.lower.convert import F32
from onax.export.recognize.match import number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite


def _scaled(value):
    """(the product, the factor) of a product of matrices times a number."""
    node = producer(value, "Mul", "Div")
    if node is None:
        return value, 1.0
    for a, b in orders(node) if node.op_type == "Mul" else (node.inputs,):
        factor = number(b)
        if factor is not None and factor > 0 and same_type(a, value):
            return a, float(factor) if node.op_type == "Mul" else 1 / float(factor)
    return value, 1.0


def _masked(value):
    """(the scores, the constant of finite numbers added to them or None)."""
    node = producer(value, "Add")
    for a, b in orders(node) if node is not None else ():
        if (
            b.const is not None
            and np.isfinite(b.const).all()
            and same_type(a, value)
            and b.shape == value.shape[-b.ndim :]
        ):
            return a, b
    return value, None


def _swap(value, m):
    """A stack of matrices transposed; behind a Transpose it is another one of the same source."""
    node = producer(value, "Transpose")
    if node is None:
        return ops.transpose(m.g, value, (0, 1, 3, 2))
    perm = node.attributes["perm"]
    return ops.transpose(m.g, node.inputs[0], [perm[i] for i in (0, 1, 3, 2)])


def attention(m, node):
    """softmax(scale q k^T + mask) v for stacks (batch, heads, length, size)"""
    weights, v = node.inputs
    softmax = producer(weights, "Softmax")
    if softmax is None or weights.ndim != 4 or softmax.attributes["axis"] != 3 or not m.runs("Attention", F32):
        return None
    scores, mask = _masked(softmax.inputs[0])
    scores, scale = _scaled(scores)
    product = producer(scores, "MatMul")
    if product is None or any(x.ndim != 4 or x.dtype != F32 for x in (*product.inputs, v)):
        return None
    q, turned = product.inputs
    if not q.shape[:2] == turned.shape[:2] == v.shape[:2]:
        return None
    inputs = (q, _swap(turned, m), v) if mask is None else (q, _swap(turned, m), v, mask)
    return Rewrite("Attention", inputs, {"scale": scale}, interior=(weights, scores))


RULES = (("MatMul", attention),)
