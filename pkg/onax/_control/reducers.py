"""reduce with any associative function, and associative_scan.

    reduce_p.bind(*operands, *init_values, computation, jaxpr, dimensions)
    jaxpr: (*scalars, *scalars) -> scalars

A reduction combines neighbours, halving the length in each step, so it takes logarithmically many steps; its
derivatives and batching are those of the operations of `computation`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onax._control.bodies import arrays_and_avals, convert_value
from onax._control.scan import scan
from onax._core.axes import AxisData
from onax._core.evaluate import eval_jaxpr
from onax._core.paths import skeleton
from onax._core.programs import functions, programs
from onax._core.trace import Tracer, is_concrete, to_concrete_value, typeof
from onax._ground import dims, dtypes
from onax._ground.typing import AnyFunction, Result, ShardingLike
from onax._native.api_boundary import unwrap
from onax._native.array import make_array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims import elementwise
from onax._prims import elementwise_bits as on_bits
from onax._prims.convert import convert
from onax._prims.creation import full
from onax._prims.padding import pad
from onax._prims.reductions import (
    highest,
    lowest,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_xor,
)
from onax._prims.shaping import reduce_sum, reshape, rev, transpose
from onax._prims.slicing import concatenate, slice_in_dim
from onax._transforms.abstract import CheckedFlatFunction
from onax._transforms.batching import batch_flat, batch_jaxpr, move_mapped_axis
from onax._transforms.flatten import debug_info
from onax._transforms.jvp import jvp_flat
from onax._transforms.staging import trace_to_jaxpr
from onax._transforms.varying_types import of_operands, varying_type


def _is_number(dtype):
    return dtypes.issubdtype(dtype, np.number)


def _has_bits(dtype):
    return dtype == np.bool_ or dtypes.issubdtype(dtype, np.integer)


_MONOIDS = {  # function: its reduction, the neutral element, the dtypes
    elementwise.add: (reduce_sum, lambda dtype: 0, _is_number),
    elementwise.mul: (reduce_prod, lambda dtype: 1, _is_number),
    elementwise.max: (reduce_max, lowest, lambda dtype: not dtypes.is_extended(dtype)),
    elementwise.min: (reduce_min, highest, lambda dtype: not dtypes.is_extended(dtype)),
    on_bits.bitwise_and: (reduce_and, lambda dtype: -1, _has_bits),
    on_bits.bitwise_or: (reduce_or, lambda dtype: 0, _has_bits),
    on_bits.bitwise_xor: (reduce_xor, lambda dtype: 0, _has_bits),
}


def reduce(
    operands: Any,
    init_values: Any,
    computation: AnyFunction,
    dimensions: Sequence[int],
    out_sharding: ShardingLike = None,
) -> Any:
    """Returns the reductions of all elements along axes.

    Args:
      operands: array, or tree of arrays of one shape.
      init_values: scalar, or tree of scalars, with which reductions begin.
      computation: associative function of two scalars (trees of scalars).
      dimensions: ints, the axes.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array or tree of arrays, without the axes.

    Raises:
      TypeError: structures, shapes or dtypes do not fit.
      ValueError: there are no operands, or the initial values have another structure.

    Examples:
      >>> lax.reduce(jnp.array([[3, 7], [9, 2]]), 0, lax.add, (0,))
      Array([12,  9], dtype=int32)
    """
    leaves, tree = tree_flatten(operands)
    init_leaves, init_tree = tree_flatten(init_values)
    if tree != init_tree:
        raise ValueError(f"Operands must have the same tree structure as init_values: {tree} vs. {init_tree}")
    if not leaves:
        raise ValueError("reduce found no operands")
    values, avals = arrays_and_avals(leaves)
    inits, init_avals = arrays_and_avals(init_leaves)
    dimensions = tuple(int(d) for d in dimensions)
    _check(avals, init_avals, dimensions)
    inits = [i if b.dtype == a.dtype else convert_value(i, a.dtype) for i, a, b in zip(inits, avals, init_avals)]
    if not dimensions:
        return tree_unflatten(tree, values)
    known = _find_monoid_reducer(computation, inits)
    if known is not None:
        weak_type = avals[0].weak_type and init_avals[0].weak_type
        return tree_unflatten(tree, [convert(known(values[0], dimensions), avals[0].dtype, weak_type)])
    jaxpr = _stage(computation, tree, avals)
    outs = reduce_p.bind(*values, *inits, computation=computation, jaxpr=jaxpr, dimensions=dimensions)
    return tree_unflatten(tree, outs)


def _check(avals, init_avals, dimensions):
    shapes = [a.shape for a in init_avals]
    if any(shapes):
        raise ValueError(f"reduce found non-scalar initial value: {[s for s in shapes if s]}")
    if any(a.shape != avals[0].shape for a in avals):
        raise ValueError(f"reduce needs operands of one shape, got {[a.str_short() for a in avals]}")
    if len(set(dimensions)) != len(dimensions):
        raise ValueError(f"duplicate value in 'axes' of reduction: {dimensions}")
    if not all(0 <= d < len(avals[0].shape) for d in dimensions):
        raise ValueError(f"reduction axes {dimensions} contains out-of-bounds indices for {avals[0].str_short()}.")
    for x, i in zip(avals, init_avals):
        if x.dtype != i.dtype and not i.weak_type:
            raise TypeError(f"reduce needs initial values of the operands' dtypes, got {i.dtype} for {x.dtype}")


def _find_monoid_reducer(computation, inits):
    """The function of the primitive that does this reduction, or None."""
    if not callable(computation) or len(inits) != 1 or not is_concrete(inits[0]):
        return None
    result, neutral, takes = _MONOIDS.get(unwrap(computation), (None, None, None))
    dtype = typeof(inits[0]).dtype
    if result is None or dtypes.is_extended(dtype) or (takes is _has_bits and not takes(dtype)):
        return None  # of bools there is no sum: `reduce_sum` says so
    return result if np.asarray(to_concrete_value(inits[0])) == np.asarray(neutral(dtype)).astype(dtype) else None


def find_monoid(jaxpr):
    """The reduction (operand, axes) that combines elements as a program of two scalars does, or None."""
    if len(jaxpr.eqns) != 1 or len(jaxpr.invars) != 2 or list(jaxpr.outvars) != list(jaxpr.eqns[0].outvars):
        return None
    (eqn,) = jaxpr.eqns
    if {id(v) for v in eqn.invars} != {id(v) for v in jaxpr.invars}:
        return None
    scalar = eqn.invars[0].aval
    if scalar.dtype.kind not in "iub" and not dtypes.is_float(scalar.dtype):
        return None
    for function, (result, _, takes) in _MONOIDS.items():
        if not takes(scalar.dtype):
            continue
        staged = trace_to_jaxpr(lambda *pair: [function(*pair)], [scalar, scalar])  # noqa: B023 (called at once)
        if staged.eqns[0].primitive is eqn.primitive:
            return result
    return None


def _stage(computation, tree, avals):
    """The jaxpr of the computation on scalars; it may close over arrays, not over values being traced."""
    scalars = [ShapedArray((), a.dtype) for a in avals]
    pair = skeleton(tree)
    flat = CheckedFlatFunction(computation, tree_structure(((pair, pair), {})), "reduce comp")
    jaxpr = trace_to_jaxpr(flat, [*scalars, *scalars], debug_info("reduce comp", computation, (pair, pair)))
    if any(isinstance(c, Tracer) for c in jaxpr.consts):
        raise NotImplementedError("Reduction computations can't close over Tracers: pass the value as an operand")
    if flat.out_tree != tree:
        raise TypeError(
            f"the computation of reduce must return the structure of its operands {tree}, not {flat.out_tree}"
        )
    wrong = [
        (o.str_short(), s.str_short()) for o, s in zip(jaxpr.out_avals, scalars) if (o.shape, o.dtype) != ((), s.dtype)
    ]
    if wrong:
        raise TypeError(
            f"the computation of reduce returned {wrong[0][0]} where the operand's element is {wrong[0][1]}"
        )
    return jaxpr


def reduce_by_pairs(*args, jaxpr, dimensions, **_):
    """The reduction, written with other operations."""
    n = len(args) // 2
    operands, inits = args[:n], args[n:]
    shape = typeof(operands[0]).shape
    remaining = [d for d in range(len(shape)) if d not in dimensions]
    rest = tuple(shape[d] for d in remaining)
    length, width = dims.prod([shape[d] for d in dimensions]), dims.prod(rest)
    rows = [reshape(transpose(x, (*dimensions, *remaining)), (length, width)) for x in operands]
    accumulated = [full((width,), i) for i in inits]
    if not dims.is_constant(length):
        step = lambda acc, x: (_combine(jaxpr, acc, x, width), None)
        accumulated, _ = scan(step, accumulated, rows)
    elif length:
        accumulated = _combine(jaxpr, accumulated, _combine_neighbours(jaxpr, rows, length, width), width)
    weak_types = [typeof(x).weak_type and typeof(i).weak_type for x, i in zip(operands, inits)]
    return [convert(reshape(x, rest), typeof(x).dtype, weak) for x, weak in zip(accumulated, weak_types)]


def _combine_neighbours(jaxpr, rows, length, width):
    while length > 1:
        half = length // 2
        left, right = ([slice_in_dim(x, i, 2 * half, 2) for x in rows] for i in (0, 1))
        flat = [[reshape(x, (half * width,)) for x in xs] for xs in (left, right)]
        new = [reshape(x, (half, width)) for x in _combine(jaxpr, *flat, half * width)]
        if length % 2:
            new = [concatenate([x, slice_in_dim(x0, length - 1, length)], 0) for x, x0 in zip(new, rows)]
        rows, length = new, half + length % 2
    return [reshape(x, (width,)) for x in rows]


def _combine(jaxpr, left, right, size):
    """The computation on vectors."""
    mapped = (0,) * len(jaxpr.invars)
    batched, _ = batch_jaxpr(jaxpr, AxisData(None, size), mapped, True)
    return eval_jaxpr(batched, batched.consts, *left, *right)


def _abstract_eval(*avals, jaxpr, dimensions, **_):
    shape = tuple(n for d, n in enumerate(avals[0].shape) if d not in dimensions)
    pairs = zip(avals[: len(avals) // 2], avals[len(avals) // 2 :])
    return [ShapedArray(shape, a.dtype, a.weak_type and init.weak_type) for a, init in pairs]


def _weak_types(flags, params):
    n = len(flags) // 2
    return tuple(a and init for a, init in zip(flags[:n], flags[n:]))


def _jvp(primals, tangents, **params):
    outs, tangents_out = jvp_flat(lambda *xs: reduce_by_pairs(*xs, **params), primals, tangents)
    return outs, tangents_out


def _batch(axis_data, operands, mapped, *, dimensions, **params):
    n = len(operands) // 2
    if any(d is not None for d in mapped[n:]):
        return batch_flat(
            lambda *xs: reduce_by_pairs(*xs, dimensions=dimensions, **params), axis_data, operands, mapped
        )
    values = [move_mapped_axis(x, d, 0, axis_data.size) for x, d in zip(operands[:n], mapped)]
    outs = reduce_p.bind(*values, *operands[n:], dimensions=tuple(d + 1 for d in dimensions), **params)
    return outs, [0] * n


reduce_p = Primitive(
    "reduce",
    multiple_results=True,
    impl=reduce_by_pairs,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    batch=_batch,
    weak=_weak_types,
)
varying_type.set(reduce_p, of_operands)
programs.set(reduce_p, functions)


# ---- associative_scan ----


def associative_scan(fn: AnyFunction, elems: Result, reverse: bool = False, axis: int = 0) -> Result:
    """Returns all partial results of an associative function along an axis.

    The number of steps that depend on each other is logarithmic in the length (Blelloch, 1990).

    Args:
      fn: associative function of two trees of arrays, which is applied to whole slices at once.
      elems: tree of arrays with one length along the axis.
      reverse: whether the results start at the end.
      axis: int.

    Returns:
      Tree of arrays of the shapes of `elems`.

    Raises:
      NotImplementedError: the length along the axis is symbolic.
      TypeError: `fn` is no function.
      ValueError: the arrays have other lengths along the axis, or no such axis.

    Examples:
      >>> lax.associative_scan(lax.add, jnp.array([1, 2, 3]))
      Array([1, 3, 6], dtype=int32)
    """
    if not callable(fn):
        raise TypeError("lax.associative_scan: fn argument should be callable.")
    leaves, tree = tree_flatten(elems)
    values, avals = arrays_and_avals(leaves)
    if not values:
        return elems
    axis = _canonicalize_axis(axis, len(avals[0].shape))
    length = avals[0].shape[axis]
    if not dims.is_constant(length):
        raise NotImplementedError(f"associative scan over axis of non-constant size: {length}.")
    if any(len(a.shape) <= axis or a.shape[axis] != length for a in avals):
        raise ValueError(
            f"Array inputs to associative_scan must have the same first dimension. (saw: {[a.shape for a in avals]})"
        )

    def combine(left, right):
        outs, out_tree = tree_flatten(fn(tree_unflatten(tree, left), tree_unflatten(tree, right)))
        if out_tree != tree:
            raise ValueError(f"lax.associative_scan: fn must return a tree like its operands', {tree}, not {out_tree}")
        return outs

    if reverse:
        values = [rev(x, (axis,)) for x in values]
    values = _scan_pairwise(combine, values, length, axis)
    if reverse:
        values = [rev(x, (axis,)) for x in values]
    return tree_unflatten(tree, values)


def _canonicalize_axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def _scan_pairwise(combine, elems, n, axis):
    """All partial results: those at odd positions from the scan of pairs, those at even positions from these."""
    if n < 2:
        return elems
    part = lambda xs, *bounds: [slice_in_dim(x, *bounds, axis=axis) for x in xs]
    pairs = combine(part(elems, 0, n - 1, 2), part(elems, 1, n, 2))
    odd = _scan_pairwise(combine, pairs, n // 2, axis)
    before = part(odd, 0, n // 2 - 1) if n % 2 == 0 else odd
    even = combine(before, part(elems, 2, n, 2))
    even = [concatenate([x, e], axis) for x, e in zip(part(elems, 0, 1), even)]
    return [_interleave(a, b, axis) for a, b in zip(even, odd)]


def _interleave(even, odd, axis):
    """Interleaves the elements of two arrays."""
    dtype = typeof(even).dtype
    longer = typeof(even).shape[axis] - typeof(odd).shape[axis]
    gaps = lambda low, high: [(low, high, 1) if d == axis else (0, 0, 0) for d in range(typeof(even).ndim)]
    both = pad(even, _zero_scalar(dtype), gaps(0, 1 - longer)), pad(odd, _zero_scalar(dtype), gaps(1, longer))
    return on_bits.bitwise_or(*both) if dtype == np.bool_ else elementwise.add(*both)


def _zero_scalar(dtype):
    return make_array(np.zeros((), dtype), dtype, False)
