"""The costs of operations.

Sizes are counted per device.  Devices are taken for a torus, whose axes are those of the mesh, and collectives for
rings along each of them.
"""

from collections import Counter
from dataclasses import replace
from math import prod

import numpy as np

from onax._control.callbacks import debug_callback_p, io_callback_p, pure_callback_p
from onax._core.axes import names_of
from onax._native.avals import ShapedArray
from onax._prims import collectives, cumulative, indexing, special
from onax._prims import elementwise as ew
from onax._prims import elementwise_bits as bits
from onax._prims.conv import conv_dimension_numbers, conv_general_dilated_p
from onax._prims.dot import dot_general_p
from onax._prims.shaping import reduce_sum_p
from onax.experimental.roofline._analysis import RooflineResult, RooflineShape, program_costs, rooflines


def _bytes(*avals):
    return RooflineShape.total_bytes(avals)


def _elementwise(operands, operations):
    """Costs of an operation that reads its first operands and writes one result."""

    def rule(ctx, *shapes, **params):
        read = ctx.avals_in[:operands]
        return RooflineResult(
            unfused_flops=operations(shapes, params), unfused_hbm_bytes=_bytes(*read, *ctx.avals_out[:1])
        )

    return rule


_UNARY = _elementwise(1, lambda shapes, params: shapes[0].size)
_BINARY = _elementwise(2, lambda shapes, params: prod(np.broadcast_shapes(shapes[0].shape, shapes[1].shape)))
_SELECT = _elementwise(1, lambda shapes, params: shapes[-1].size)
_CUMULATIVE = _elementwise(1, lambda shapes, params: shapes[0].shape[params["axis"]])
_CUMLOGSUMEXP = _elementwise(1, lambda shapes, params: 2 * shapes[0].shape[params["axis"]])  # exp and add

rooflines.rule(
    ew.abs_p, ew.acos_p, ew.asin_p, ew.atan_p, ew.cbrt_p, ew.ceil_p, ew.conj_p, ew.cos_p, ew.cosh_p, ew.exp_p,
    ew.expm1_p, ew.floor_p, ew.imag_p, ew.integer_pow_p, ew.is_finite_p, ew.log_p, ew.log1p_p, ew.logistic_p,
    ew.neg_p, ew.real_p, ew.round_p, ew.rsqrt_p, ew.sign_p, ew.sin_p, ew.sinh_p, ew.sqrt_p, ew.square_p, ew.tan_p,
    bits.not_p, special.bessel_i0e_p, special.bessel_i1e_p, special.digamma_p, special.erf_inv_p, special.erf_p,
    special.erfc_p, special.lgamma_p,
)(_UNARY)  # fmt: skip
rooflines.rule(
    ew.add_p, ew.sub_p, ew.mul_p, ew.div_p, ew.rem_p, ew.gt_p, ew.lt_p, ew.ge_p, ew.le_p, ew.eq_p, ew.ne_p, ew.min_p,
    ew.max_p, bits.and_p, bits.or_p, bits.xor_p,
)(_BINARY)  # fmt: skip
rooflines.rule(ew.select_n_p)(_SELECT)
rooflines.rule(cumulative.cummax_p, cumulative.cummin_p, cumulative.cumprod_p, cumulative.cumsum_p)(_CUMULATIVE)
rooflines.rule(cumulative.cumlogsumexp_p)(_CUMLOGSUMEXP)


@rooflines.rule(reduce_sum_p)
def _reduce_sum(ctx, x, *, axes, **_):
    summed = prod([x.shape[i] for i in axes])
    results = prod([n for i, n in enumerate(x.shape) if i not in axes])
    return RooflineResult(unfused_flops=(summed - 1) * results, unfused_hbm_bytes=x.dtype.itemsize * (x.size + results))


@rooflines.rule(pure_callback_p, io_callback_p)
def _callback(ctx, *shapes, **_):
    return RooflineResult(unfused_hbm_bytes=_bytes(*ctx.avals_in, *ctx.avals_out))


@rooflines.rule(debug_callback_p)
def _debug_callback(ctx, *shapes, **_):
    return RooflineResult(unfused_hbm_bytes=_bytes(*ctx.avals_in))


# ---- products ----


@rooflines.rule(dot_general_p)
def _dot_general(ctx, lhs, rhs, *, dimension_numbers, **_):
    (contracting, _), (batch, _) = dimension_numbers
    flops = 2 * lhs.size * rhs.size // max(prod([lhs.shape[i] for i in (*contracting, *batch)]), 1)
    moved = 0 if ctx.pin_lhs_in_vmem else lhs.bytes + _bytes(ctx.avals_out[0])
    moved += 0 if ctx.pin_rhs_in_vmem else rhs.bytes
    return RooflineResult(flops=flops, unfused_flops=flops, hbm_bytes=moved, unfused_hbm_bytes=moved)


def _window_positions(size, kernel, results, stride, padding, dilation, kernel_dilation):
    """How many pairs (element of the kernel, result) along an axis meet an element, not padding and not a hole."""
    at = np.add.outer(np.arange(kernel) * kernel_dilation, np.arange(results) * stride) - padding[0]
    return int(np.sum((at >= 0) & (at % dilation == 0) & (at // dilation < size)))


@rooflines.rule(conv_general_dilated_p)
def _conv(
    ctx, lhs, rhs, *, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, batch_group_count, **_
):
    out = RooflineShape.from_aval(ctx.avals_out[0])
    numbers = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    axes = zip(numbers.lhs_spec[2:], numbers.rhs_spec[2:], numbers.out_spec[2:])
    windows = zip(window_strides, padding, lhs_dilation, rhs_dilation)
    positions = prod(
        _window_positions(lhs.shape[i], rhs.shape[j], out.shape[k], *window) for (i, j, k), window in zip(axes, windows)
    )
    features = rhs.shape[numbers.rhs_spec[1]] * out.shape[numbers.out_spec[1]]
    flops = 2 * positions * features * lhs.shape[numbers.lhs_spec[0]] // batch_group_count
    return RooflineResult(unfused_flops=flops, unfused_hbm_bytes=lhs.bytes + rhs.bytes + out.bytes)


# ---- indexing ----


@rooflines.rule(indexing.gather_p)
def _gather(ctx, operand, indices, *, mode, **_):
    out = RooflineShape.from_aval(ctx.avals_out[0])
    # four operations per index tell whether it is inside, and one per result chooses it or the filling
    flops = 4 * indices.size + out.size if mode.name == "FILL_OR_DROP" else 0
    return RooflineResult(unfused_flops=flops, unfused_hbm_bytes=2 * out.bytes + indices.bytes)


@rooflines.rule(
    indexing.scatter_p, indexing.scatter_add_p, indexing.scatter_sub_p, indexing.scatter_mul_p, indexing.scatter_min_p,
    indexing.scatter_max_p,
)  # fmt: skip
def _scatter(ctx, operand, indices, updates, *, update_jaxpr=None, **_):
    flops = 0 if update_jaxpr is None else program_costs(update_jaxpr).unfused_flops
    return RooflineResult(unfused_flops=flops * updates.size, unfused_hbm_bytes=3 * updates.bytes + indices.bytes)


# ---- collectives ----


def _same_for(axes, ici_bytes, ici_latency):
    return RooflineResult(
        ici_bytes=dict.fromkeys(axes, int(ici_bytes)), ici_latency=dict.fromkeys(axes, int(ici_latency))
    )


def _sizes(ctx, axes):
    return [ctx.mesh.shape[axis] for axis in axes]


def _ring(ctx, axes, reduces, times=1):
    """A phase for each axis, the longest first, in which shards go around; each phase makes them larger."""
    if prod(_sizes(ctx, axes)) == 1:
        return _same_for(axes, 0, 0)
    axes = sorted(axes, key=ctx.mesh.shape.get, reverse=True)
    sizes = _sizes(ctx, axes)
    shard = _bytes(*ctx.avals_in) / (prod(sizes) if reduces else 1) // len(axes)
    moved = 0
    for size in sizes:
        moved += shard * (size - 1)
        shard *= size
    return _same_for(axes, times * int(moved), times * sizes[0] * len(axes))


@rooflines.rule(collectives.all_gather_p)
def _all_gather(ctx, *shapes, axis_name, **_):
    return _ring(ctx, names_of(axis_name), False)


@rooflines.rule(collectives.reduce_scatter_p)
def _reduce_scatter(ctx, *shapes, axis_name, **_):
    return _ring(ctx, names_of(axis_name), True)


@rooflines.rule(collectives.psum_invariant_p, collectives.unreduced_psum_p)
def _psum(ctx, *shapes, axes, **_):
    return _ring(ctx, names_of(axes), True, times=2)


@rooflines.rule(collectives.pmin_p, collectives.pmax_p)
def _scalar_collective(ctx, *shapes, axes, **_):
    scalars = [ShapedArray((1,), x.dtype) for x in shapes]
    return _ring(replace(ctx, avals_in=scalars), names_of(axes), False)


@rooflines.rule(collectives.all_to_all_p)
def _all_to_all(ctx, *shapes, axis_name, **_):
    axes = names_of(axis_name)
    sizes = _sizes(ctx, axes)
    if prod(sizes) == 1:
        return _same_for(axes, 0, 0)
    least = min(sizes)
    links = least ** (len(axes) - 1) * (2 if least > 2 else 1)  # across the middle; a ring crosses it twice
    return _same_for(axes, _bytes(*ctx.avals_in) * prod(sizes) / 2 / links, sum(n / 2 for n in sizes))


def _hops(source, target, sizes):
    """The links between neighbours on the way, which goes along one axis after the other from the source."""
    for i, size in enumerate(sizes):
        ahead = (target[i] - source[i]) % size
        step = 1 if ahead <= size - ahead else -1
        at = source
        while at[i] != target[i]:
            after = (*at[:i], (at[i] + step) % size, *at[i + 1 :])
            yield tuple(sorted((at, after)))
            at = after


@rooflines.rule(collectives.ppermute_p)
def _ppermute(ctx, *shapes, axis_name, perm, **_):
    axes = names_of(axis_name)
    sizes = _sizes(ctx, axes)
    if prod(sizes) == 1:
        return _same_for(axes, 0, 0)
    ways = [list(_hops(*(tuple(map(int, np.unravel_index(i, sizes))) for i in pair), sizes)) for pair in perm]
    crowding = Counter(link for way in ways for link in way)
    most = max(crowding.values(), default=0)
    return _same_for(axes, _bytes(*ctx.avals_in) * most, max(map(len, ways), default=0))
