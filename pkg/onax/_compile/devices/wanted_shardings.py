"""Which shardings the readers of a value want: the backward half of partitioning.

The forward walk (`spmd.py`) computes what follows from whole values on every device.  If all readers of such a value
want blocks of one sharding, because a result, a constraint or a sharded operand beside it says so, then every device
computes its block alone: `jit(init, out_shardings=...)` draws only a device's part of the weights.

    operand_axes    what an operation must read to give a result with these axes, without any exchange
    block           how an operation whose result has more dimensions than its operands makes a block
"""

from math import prod

import numpy as np

from onax._compile.devices.sharded_values import ShardedValue, axes_of_spec, spec_of_axes
from onax._compile.devices.sharding_propagation import factor_groups, shardings_of_variables
from onax._control.optimization_barrier import optimization_barrier_p
from onax._control.scan_rules import scan_p
from onax._control.shard_alike import shard_alike_p
from onax._control.while_loop import while_p
from onax._core.facts import ELEMENTWISE
from onax._core.jaxpr import Literal, jaxprs_in_params
from onax._core.programs import called_program
from onax._core.sharding import NamedSharding
from onax._core.slots import Slot
from onax._prims.collectives import index_along
from onax._prims.convert import convert_element_type
from onax._prims.creation import broadcasted_iota, copy_p, full_like, iota_p
from onax._prims.dot import dot_general_p
from onax._prims.elementwise import add, mul
from onax._prims.elementwise_bits import bitwise_or, bitwise_xor, shift_left
from onax._prims.placement import reshard_p, sharding_constraint_p
from onax._prims.random import UNSIGNED, random_bits_p, threefry2x32_p, unwrap_keys
from onax._prims.random_generators import threefry_impl
from onax._prims.reductions import reduce_max_p, reduce_min_p
from onax._prims.shaping import (
    broadcast_in_dim,
    broadcast_in_dim_p,
    reduce_sum_p,
    reshape_p,
    squeeze,
    squeeze_p,
    transpose_p,
)
from onax._prims.slicing import slice_in_dim

operand_axes = Slot(
    "operand_axes",
    "rule(mesh axes of each dimension of each result, eqn) -> mesh axes of each dimension of each operand",
    "An elementwise operation wants operands with the axes of its result; any other operation wants whole operands.",
    "onax._compile.devices",
)
block = Slot(
    "block",
    "rule(partitioner, whole operands, eqn, mesh axes of each dimension of the result) -> [ShardedValue] or None",
    "Operands get the axes that `operand_axes` wants; then the rule in `shard` holds.",
    "onax._compile.devices",
)


def wanted_axes(jaxpr, mesh, given, results):
    """{variable: mesh axes of each dimension} for variables that are whole while all their readers want one sharding.

    Args:
      jaxpr: a program.
      mesh: the Mesh over which it is partitioned.
      given: the axes of each dimension of each argument.
      results: for each result the axes that its reader wants, or None.
    """
    key = ("wanted axes", mesh, tuple(map(tuple, given)), tuple(results))
    if key not in jaxpr.cache:
        jaxpr.cache[key] = _wanted_axes(jaxpr, mesh, given, results)
    return jaxpr.cache[key]


def _wanted_axes(jaxpr, mesh, given, results):
    named = [NamedSharding(mesh, spec_of_axes(axes)) if any(axes) else None for axes in given]
    found = {v: axes_of_spec(s.spec, v.aval.ndim) for v, s in shardings_of_variables(jaxpr, named).items() if s}
    wishes, wanted = {}, {}
    for atom, axes in zip(jaxpr.outvars, results):
        _wish(wishes, atom, axes)
    for eqn in reversed(jaxpr.eqns):
        own = []
        for v in eqn.outvars:
            axes = found.get(v)
            if axes is None and (axes := _wanted_result(eqn, wishes.get(v))) is not None:
                wanted[v] = axes
            own.append(axes)
        operands = _wanted_operands(eqn, mesh, own, found) if any(own) else [None] * len(eqn.invars)
        for atom, axes in zip(eqn.invars, operands):
            _wish(wishes, atom, axes)
    for v in jaxpr.invars:
        if v not in found and (axes := _agreed(wishes.get(v))) is not None:
            wanted[v] = axes
    return wanted


def _wanted_result(eqn, wishes):
    """The axes that all readers of a result want; None for results of branches and loops, which have operands of one
    sharding in all steps."""
    is_call = called_program(eqn) is not None
    return None if not is_call and any(jaxprs_in_params(eqn.params)) else _agreed(wishes)


def _wish(wishes, atom, axes):
    if type(atom) is not Literal:
        wishes.setdefault(atom, []).append(tuple(map(tuple, axes)) if axes is not None and any(axes) else None)


def _agreed(wishes):
    """The axes that all readers want; None if one of them wants others, or the whole value."""
    return wishes[0] if wishes and len(set(wishes)) == 1 else None


def _wanted_operands(eqn, mesh, own, found):
    """For each operand of an equation, whose results get the axes `own` (None: whole), the axes that it wants."""
    callee = called_program(eqn)
    if callee is None:
        return axes_of_operands(eqn, own)
    given = [_found_axes(found, atom) for atom in eqn.invars]
    inner = wanted_axes(callee, mesh, given, tuple(own))
    return [inner.get(v) for v in callee.invars]


def axes_of_operands(eqn, own):
    """For each operand of an equation that is no call, whose results get the axes `own` (None: whole), the axes that
    it wants, or None."""
    rule = operand_axes.get(eqn.primitive)
    whole = [((),) * v.aval.ndim if axes is None else axes for v, axes in zip(eqn.outvars, own)]
    if rule is not None:
        return rule(whole, eqn)
    if ELEMENTWISE in eqn.primitive.facts:
        return [_within(whole[0], eqn.outvars[0].aval.shape, atom.aval.shape) for atom in eqn.invars]
    return [None] * len(eqn.invars)


def _found_axes(found, atom):
    axes = None if type(atom) is Literal else found.get(atom)
    return ((),) * atom.aval.ndim if axes is None else axes


def _within(axes, shape, operand):
    """The axes of an operand that is broadcast to a shape with these axes."""
    return tuple(own if n == size else () for own, n, size in zip(axes, shape, operand)) if operand else ()


# ---- what an operation wants to read


@operand_axes.rule(sharding_constraint_p, reshard_p, copy_p)
def _same(axes, eqn):
    return axes


@operand_axes.rule(optimization_barrier_p, shard_alike_p)
def _each(axes, eqn):
    return axes


@operand_axes.rule(transpose_p)
def _transpose(axes, eqn):
    operand = [()] * len(axes[0])
    for own, i in zip(axes[0], eqn.params["permutation"]):
        operand[i] = own
    return [operand]


@operand_axes.rule(broadcast_in_dim_p)
def _broadcast(axes, eqn):
    (x, *_), shape = eqn.invars, eqn.params["shape"]
    dims = eqn.params["broadcast_dimensions"]
    return [[axes[0][d] if n == shape[d] else () for n, d in zip(x.aval.shape, dims)]]


@operand_axes.rule(reshape_p)
def _reshape(axes, eqn):
    shape, new = eqn.invars[0].aval.shape, eqn.outvars[0].aval.shape
    operand = [()] * len(shape)
    if eqn.params["dimensions"] is None and 0 not in shape:
        for olds, news in factor_groups(shape, new):
            if olds and news:
                operand[olds[0]] = axes[0][news[0]]
    return [operand]


@operand_axes.rule(squeeze_p)
def _squeeze(axes, eqn):
    return [_with_whole(axes[0], eqn.params["dimensions"])]


@operand_axes.rule(reduce_sum_p, reduce_max_p, reduce_min_p)
def _reduce(axes, eqn):
    return [_with_whole(axes[0], eqn.params["axes"])]


def _with_whole(axes, dims):
    """The axes with whole dimensions in between, at the positions `dims` of the longer list."""
    rest = iter(axes)
    return [() if i in dims else next(rest) for i in range(len(axes) + len(dims))]


@operand_axes.rule(dot_general_p)
def _dot_general(axes, eqn):
    (lc, rc), (lb, rb) = eqn.params["dimension_numbers"]
    x, y = (a.aval.ndim for a in eqn.invars)
    left, right, rest = [()] * x, [()] * y, iter(axes[0])
    for i, j in zip(lb, rb):
        left[i] = right[j] = next(rest)
    for i in (i for i in range(x) if i not in (*lc, *lb)):
        left[i] = next(rest)
    for j in (j for j in range(y) if j not in (*rc, *rb)):
        right[j] = next(rest)
    return [left, right]


@operand_axes.rule(scan_p)
def _scan(axes, eqn):
    """The carry before the first step lies as that after the last."""
    n, m = eqn.params["num_consts"], eqn.params["num_carry"]
    return [*[None] * n, *axes[:m], *[None] * (len(eqn.invars) - n - m)]


@operand_axes.rule(while_p)
def _while(axes, eqn):
    return [*[None] * (eqn.params["cond_nconsts"] + eqn.params["body_nconsts"]), *axes]


# ---- blocks of results with new dimensions


@block.rule(broadcast_in_dim_p)
def _broadcast_block(p, operands, eqn, axes):
    own = _broadcast([axes], eqn)
    shape = p.block_shape(eqn.params["shape"], axes)
    return p.bind_like(eqn, operands, [*own, *[()] * (len(operands) - 1)], axes, shape=shape, sharding=None)


@block.rule(iota_p)
def _iota_block(p, operands, eqn, axes):
    params, (v,) = eqn.params, eqn.outvars
    split = axes[params["dimension"]]
    shape = p.block_shape(params["shape"], axes)
    count_from_zero = lambda dtype: broadcasted_iota(dtype, shape, params["dimension"])
    if not split:
        return [ShardedValue(count_from_zero(params["dtype"]), v.aval, axes)]
    start = _start(split, shape[params["dimension"]], np.dtype(np.int32))
    count = count_from_zero(np.dtype(np.int32))
    return [
        ShardedValue(
            convert_element_type(add(count, broadcast_in_dim(start, shape, ())), params["dtype"]), v.aval, axes
        )
    ]


def _start(names, size, dtype):
    """The position in a dimension at which the block of a device begins."""
    index = convert_element_type(index_along(names), dtype)
    return mul(index, full_like(index, size))


_COUNTERS = 2**32  # of one word; longer results are drawn whole


@block.rule(random_bits_p)
def _random_bits_block(p, operands, eqn, axes):
    """The counter of an element is its position in the whole result, so a block has the bits that it has there."""
    (keys,), params, (v,) = operands, eqn.params, eqn.outvars
    shape = params["shape"]
    partitionable = params.get("partitionable", True) and params.get("impl", threefry_impl) is threefry_impl
    if keys.aval.shape or not partitionable or prod(shape) >= _COUNTERS:
        return None
    size, stride, counter = p.block_shape(shape, axes), 1, None
    for dim in reversed(range(len(shape))):
        index = broadcasted_iota(np.dtype(np.uint32), size, dim)
        if axes[dim]:
            start = _start(axes[dim], size[dim], np.dtype(np.uint32))
            index = add(index, broadcast_in_dim(start, size, ()))
        index = mul(index, full_like(index, stride))
        counter = index if counter is None else add(counter, index)
        stride *= shape[dim]
    words = unwrap_keys(p.whole(keys))
    first, second = (squeeze(slice_in_dim(words, i, i + 1), (0,)) for i in range(2))
    high, low = threefry2x32_p.bind(first, second, np.uint32(0), counter)
    return [ShardedValue(_bits_of_words(high, low, params["bit_width"]), v.aval, axes)]


def _bits_of_words(high, low, width):
    """Numbers of `width` bits from the two words that the generator gives for each."""
    if width < 64:
        return convert_element_type(bitwise_xor(high, low), UNSIGNED[width])
    high, low = (convert_element_type(x, UNSIGNED[width]) for x in (high, low))
    return bitwise_or(shift_left(high, full_like(high, 32)), low)
