"""Attention, from opset 23 on, without a mask or with an added one of numbers that are not too large.

Measured on ONNX Runtime 1.31: a mask of bools, and `is_causal`, add -inf where the formula selects, so NaN and
infinities of masked keys spread to all results; rows whose every element is masked, by -inf or by the lowest number,
are 0 where the formula gives NaN or the mean.  So masks that are selected keep the formula, and so do added ones unless
they are known to be smaller, such as (1 - keep) * -1e9.  Heads of keys and values that are repeated for several heads
of queries are not: the operator repeats them.

The other direction: `pkg/onax/onnx/definitions.py`.
"""

import numpy as np

from onax._ground import dims as dim_rules
from onax.export.graph import ops
from onax.export.graph.bounds import largest_magnitude
from onax.export.lower.convert import F32
from onax.export.recognize.layout import is_plain, reshaped
from onax.export.recognize.match import number, orders, producer, same_type
from onax.export.recognize.rewriting import Rewrite

_HEADS_SECOND = 0, 2, 1, 3
_LARGEST = 1e30  # of masks
_MOST_HEADS = 1024


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


def _is_mask(value):
    """Whether a value may be added by the operator: no row consists of -inf or of numbers near the lowest."""
    if value.const is not None and value.ndim and value.shape[-1] != 0:
        return bool(np.isfinite(value.const).all() and (value.const.max(-1) > -_LARGEST).all())
    return largest_magnitude(value) <= _LARGEST


def _masked(value):
    """(the scores, the mask that is added to them or None)."""
    node = producer(value, "Add")
    for a, b in orders(node) if node is not None else ():
        if same_type(a, value) and b is not a and b.ndim <= value.ndim and b.dtype == F32 and _is_mask(b):
            return a, b
    return value, None


def _mask_operand(m, mask, scores):
    """The mask with the axes that the operator wants: those of queries and keys, perhaps of examples and heads."""
    shape = (1,) * (4 - mask.ndim) + mask.shape
    if mask.ndim == 3:
        mask = ops.reshape(m.g, mask, shape)
    lengths = scores.shape[-2:]
    return ops.expand(m.g, mask, lengths if mask.ndim <= 2 else shape[:2] + lengths)


def _four_axes(m, value):
    """A value (batch, heads, length, size), or one of a single example with its batch of one."""
    return value if value.ndim == 4 else ops.reshape(m.g, value, (1, *value.shape))


def _one_of_repeated(m, value, copies):
    """The heads of which a value (batch, heads, length, size) has so many copies one after another, or None."""
    turned = producer(value, "Transpose")
    perm = tuple(turned.attributes["perm"]) if turned is not None else (0, 1, 2, 3)
    merged = producer(turned.inputs[0] if turned is not None else value, "Reshape")
    expanded = producer(merged.inputs[0], "Expand") if merged is not None else None
    parted = producer(expanded.inputs[0], "Reshape", "Unsqueeze") if expanded is not None else None
    if parted is None:
        return None
    axis, source, whole = perm[1], parted.inputs[0], merged.outputs[0].shape
    heads = source.shape[axis] if source.ndim == 4 else None
    lead, rest = whole[:axis], whole[axis + 1 :]
    if type(heads) is not int or whole[axis] != heads * copies or source.shape != (*lead, heads, *rest):
        return None
    shapes = (*lead, heads, 1, *rest), (*lead, heads, copies, *rest)
    if (expanded.inputs[0].shape, merged.inputs[0].shape) != shapes:
        return None
    return ops.transpose(m.g, source, perm)


def grouped_heads(m, node):
    """Attention whose keys and values are the same heads several times: once"""
    q, k, v, *rest = node.inputs
    heads = q.shape[1] if q.ndim == 4 else None
    for copies in range(2, heads + 1) if type(heads) is int and heads <= _MOST_HEADS else ():
        keys = _one_of_repeated(m, k, copies) if heads % copies == 0 else None
        values = _one_of_repeated(m, v, copies) if keys is not None else None
        if values is not None:
            return Rewrite("Attention", (q, keys, values, *rest), node.attributes)
    return None


def _swap(value, m):
    """A stack of matrices transposed; behind a Transpose it is another one of the same source."""
    first, last = value.ndim - 2, value.ndim - 1
    order = (*range(first), last, first)
    node = producer(value, "Transpose")
    if node is None:
        return ops.transpose(m.g, value, order)
    perm = node.attributes["perm"]
    return ops.transpose(m.g, node.inputs[0], [perm[i] for i in order])


def attention(m, node):
    """softmax(scale q k^T + mask) v for stacks (batch, heads, length, size), or (heads, length, size)"""
    weights, v = node.inputs
    softmax, rank = producer(weights, "Softmax"), weights.ndim
    if softmax is None or rank not in (3, 4) or softmax.attributes["axis"] != rank - 1 or not m.runs("Attention", F32):
        return None
    scores, mask = _masked(softmax.inputs[0])
    scores, scale = _scaled(scores)
    product = producer(scores, "MatMul")
    if product is None or any(x.ndim != rank or x.dtype != F32 for x in (*product.inputs, v)):
        return None
    q, turned = product.inputs
    if not q.shape[:-2] == turned.shape[:-2] == v.shape[:-2]:
        return None
    inputs = [_four_axes(m, x) for x in (q, _swap(turned, m), v)]
    if mask is not None:
        inputs.append(_mask_operand(m, mask, scores))
    attributes, interior = {"scale": scale}, (weights, scores)
    if rank == 4:
        return Rewrite("Attention", tuple(inputs), attributes, interior=interior)
    shape = node.outputs[0].shape
    if not is_plain(shape):
        return None
    out = m.g.node("Attention", *inputs, out=((1, *shape), F32), **attributes)
    return reshaped(m, out, shape, interior=interior)


def _merged_heads(m, value):
    """A value (batch, heads, length, size) as (batch, length, heads * size) without a transpose, or None."""
    turned = producer(value, "Transpose")
    if turned is None or tuple(turned.attributes["perm"]) != _HEADS_SECOND:
        return None
    b, t, h, d = turned.inputs[0].shape
    return ops.reshape(m.g, turned.inputs[0], (b, t, h * d))


def heads_last(m, node):
    """Attention between transposes that move heads: the form whose operands have them in the last axis"""
    result = node.inputs[0]
    inner = producer(result, "Attention")
    if inner is None or tuple(node.attributes["perm"]) != _HEADS_SECOND or result.ndim != 4:
        return None
    operands = inner.inputs[:3]
    if not all(is_plain(v.shape) and dim_rules.is_constant_shape(v.shape[1:]) for v in (*operands, result)):
        return None
    if not all(producer(v, "Transpose") for v in operands):
        return None
    merged = [_merged_heads(m, v) for v in operands]
    if None in merged:
        return None
    b, h, t, d = result.shape
    heads = {"q_num_heads": h, "kv_num_heads": operands[1].shape[1]}
    inputs = (*merged, *inner.inputs[3:])
    out = m.g.node("Attention", *inputs, out=((b, t, h * d), result.dtype), **inner.attributes, **heads)
    return reshaped(m, out, (b, t, h, d), interior=(result,))


def _turned(value, perm, *op_types):
    """What this permutation of axes turns into a value, behind a Reshape if `op_types` says so; else None."""
    merged = producer(value, *op_types) if op_types else None
    if op_types and merged is None:
        return None
    node = producer(merged.inputs[0] if merged is not None else value, "Transpose")
    return node.inputs[0] if node is not None and tuple(node.attributes["perm"]) == perm else None


def _product_behind(value):
    """The operands of the MatMul whose result a Reshape takes apart to a value, or (None, None)."""
    parted = producer(value, "Reshape")
    product = producer(parted.inputs[0], "MatMul") if parted is not None else None
    return product.inputs if product is not None else (None, None)


def grouped_queries(m, node):
    """The attention of groups of queries that `nn.dot_product_attention` writes: the groups are an axis of their own"""
    if tuple(node.attributes["perm"]) != (0, 4, 1, 3, 2) or not m.runs("Attention", F32):
        return None
    turned_values, flat_weights = _product_behind(node.inputs[0])
    values, weights = _turned(turned_values, (0, 2, 3, 1)), _turned(flat_weights, (1, 2, 4, 0, 3), "Reshape")
    softmax = producer(weights, "Softmax")
    if values is None or softmax is None or softmax.attributes["axis"] != 4:
        return None
    scores, scale = _scaled(softmax.inputs[0])
    turned_keys, flat_queries = _product_behind(_turned(scores, (4, 0, 1, 3, 2)))
    keys, queries = _turned(turned_keys, (0, 2, 1, 3)), _turned(flat_queries, (0, 2, 4, 1, 3), "Reshape")
    if keys is None or queries is None or any(v.dtype != F32 for v in (queries, keys, values)):
        return None
    b, t, k, each, d = queries.shape
    s = keys.shape[1]
    shapes = keys.shape, values.shape[:3], weights.shape
    if shapes != ((b, s, k, d), (b, s, k), (each, b, k, t, s)):
        return None
    g, size = m.g, values.shape[3]
    if not dim_rules.is_constant_shape((t, s, k, each, d, size)) or 0 in (t, s, size):
        return None
    heads = {"q_num_heads": k * each, "kv_num_heads": k}
    inputs = (ops.reshape(g, queries, (b, t, k * each * d)), ops.reshape(g, keys, (b, s, k * d)),
              ops.reshape(g, values, (b, s, k * size)))  # fmt: skip
    out = g.node("Attention", *inputs, out=((b, t, k * each * size), F32), scale=scale, **heads)
    return reshaped(m, out, (b, t, k, each, size), interior=(weights, scores))


RULES = (
    ("MatMul", attention),
    ("Transpose", grouped_queries),
    ("Transpose", heads_last),
    ("Attention", grouped_heads),
)
