"""Sorting along an axis (`tape_sorting.c`)."""

from onax._prims.sorting import sort_p, top_k_p
from onax._prims.sorting_approximate import approx_top_k_p
from onax._tape.reductions import line_of
from onax._tape.rules import Unsupported, tape, type_number


@tape.rule(sort_p)
def _sort(b, outs, *operands, dimension, is_stable, num_keys):
    results = [b.buffer(out) for out in outs]
    types = [type_number(x.dtype) for x in operands[:num_keys]]
    sizes = [x.dtype.itemsize for x in operands[num_keys:]]
    b.emit("sort", results, operands, (len(outs), num_keys, *line_of(operands[0].shape, dimension), *types, *sizes))
    return results


@tape.rule(top_k_p)
def _top_k(b, outs, x, *, k, axis):
    results = [b.buffer(out) for out in outs]
    b.emit("top_k", results, [x], (type_number(x.dtype), *line_of(x.shape, axis), k))
    return results


@tape.rule(approx_top_k_p)
def _approx_top_k(b, outs, x, *, is_max_k, reduction_dimension, **_):
    if not is_max_k:
        raise Unsupported("the smallest elements have no instruction")
    axis = reduction_dimension % len(x.shape)
    return _top_k(b, outs, x, k=outs[0].shape[axis], axis=axis)
