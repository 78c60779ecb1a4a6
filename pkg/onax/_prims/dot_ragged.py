"""ragged_dot_general: a product in which one axis of the left operand is divided into groups of consecutive elements.

    ragged_dot_general_p.bind(lhs, rhs, group_sizes, ragged_dot_dimension_numbers=..., ...)

The meaning of the groups depends on the kind of the ragged axis:

    free         each group of rows is multiplied by its own slice of rhs; rows beyond the groups give zeros
    contracted   each group is summed separately: the result has the groups as first axis
    batch        the product of dot_general

group_sizes has one axis, or one more for each batch axis and each axis of lhs before the ragged one of its kind.
"""

import operator
from typing import Any

import numpy as np

from onax._core.rules import tangent_zero
from onax._core.trace import as_array
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DTypeLike, PrecisionLike, ShardingLike
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import Primitive
from onax._prims import dot as plain
from onax._prims.convert import convert, convert_element_type
from onax._prims.creation import broadcasted_iota, full_like
from onax._prims.cumulative import cumsum
from onax._prims.elementwise import add, ge, lt, select_n, sub
from onax._prims.elementwise_bits import bitwise_and
from onax._prims.placement import with_out_sharding
from onax._prims.shaping import bdim_at_front, broadcast_in_dim, moveaxis, transpose


class RaggedDotDimensionNumbers:
    """The roles of axes in a product whose operands are divided into groups.

    Args:
      dot_dimension_numbers: as for `dot_general`: ((contracted axes of lhs, of rhs), (batch axes of lhs, of rhs)).
      lhs_ragged_dimensions: the one axis of lhs that is divided into groups, as a sequence.
      rhs_group_dimensions: the axis of rhs with one element for each group, as a sequence; none if the divided axis is
        contracted or a batch axis.

    Examples:
      >>> numbers = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
      >>> lax.ragged_dot_general(jnp.ones((4, 3)), jnp.ones((2, 3, 5)), jnp.array([3, 1]), numbers).shape
      (4, 5)
    """

    __slots__ = ("dot_dimension_numbers", "lhs_ragged_dimensions", "rhs_group_dimensions")

    def __init__(self, dot_dimension_numbers, lhs_ragged_dimensions, rhs_group_dimensions):
        contract, batch = dot_dimension_numbers
        self.dot_dimension_numbers = tuple(map(_axis_tuple, contract)), tuple(map(_axis_tuple, batch))
        self.lhs_ragged_dimensions = _axis_tuple(lhs_ragged_dimensions)
        self.rhs_group_dimensions = _axis_tuple(rhs_group_dimensions)

    def _key(self):
        return self.dot_dimension_numbers, self.lhs_ragged_dimensions, self.rhs_group_dimensions

    def __eq__(self, other):
        return isinstance(other, RaggedDotDimensionNumbers) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self.__slots__)
        return f"RaggedDotDimensionNumbers({shown})"


def _axis_tuple(axes):
    return tuple([operator.index(a) for a in axes])


_BASIC = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


# ---- dimension numbers


class _AxisRoles:
    """The axes of a product by their roles.

    kind      "free", "contracted" or "batch": what the ragged axis is
    prefix    axes of lhs that group_sizes may have before the groups
    """

    __slots__ = ("group", "kind", "lb", "lc", "lf", "prefix", "ragged", "rb", "rc", "rf")

    def __init__(self, numbers, lhs_rank, rhs_rank):
        (self.lc, self.rc), (self.lb, self.rb) = numbers.dot_dimension_numbers
        self.ragged = numbers.lhs_ragged_dimensions[0]
        self.group = numbers.rhs_group_dimensions[0] if numbers.rhs_group_dimensions else None
        self.lf = plain._free_axes(lhs_rank, self.lc, self.lb)
        self.rf = plain._free_axes(rhs_rank, (*self.rc, *numbers.rhs_group_dimensions), self.rb)
        if self.ragged in self.lb:
            self.kind, self.prefix = "batch", self.lb[: self.lb.index(self.ragged)]
        elif self.ragged in self.lc:
            self.kind, self.prefix = "contracted", (*self.lb, *self.lc[: self.lc.index(self.ragged)])
        else:
            self.kind, self.prefix = "free", (*self.lb, *self.lf[: self.lf.index(self.ragged)])


def _check_axes(numbers, lhs, rhs):
    """Raises TypeError for axes that the operands do not have or that have two roles."""
    ragged, groups = numbers.lhs_ragged_dimensions, numbers.rhs_group_dimensions
    if len(ragged) != 1:
        raise TypeError("ragged_dot_general expects exactly one lhs ragged dimension.")
    for side, what, axes, rank in (("lhs", "ragged", ragged, lhs.ndim), ("rhs", "group", groups, rhs.ndim)):
        for a in axes:
            if not 0 <= a < rank:
                raise TypeError(
                    f"ragged_dot_general requires {side} {what} dimension numbers to be nonnegative and less than the "
                    f"number of axes of the {side} value, got {a} for {side} of rank {rank}."
                )
    (lc, rc), (lb, rb) = numbers.dot_dimension_numbers
    if any(a in rc or a in rb for a in groups):
        raise TypeError(
            "ragged_dot_general requires rhs group dimension numbers to be distinct from contracting and batch "
            "dimensions."
        )
    taken = ragged[0] in lc or ragged[0] in lb
    if taken and groups:
        raise TypeError(
            "ragged_dot_general requires zero group dimensions in the rhs when lhs ragged dimension is contracting or "
            "batch."
        )
    if not taken and len(groups) != 1:
        raise TypeError(
            "ragged_dot_general requires exactly one rhs group dimension when lhs ragged dimension is noncontracting."
        )


def _check_groups(roles, lhs, rhs, sizes):
    """Raises TypeError for group_sizes of a wrong dtype or shape."""
    if not dtypes.issubdtype(sizes.dtype, np.integer):
        raise TypeError("ragged_dot_general requires that group_sizes.dtype is subtype of np.integer.")
    if not sizes.ndim:
        raise TypeError("expected rank of group_sizes to be >=1.")
    n = sizes.shape[-1]
    if roles.kind != "batch" or sizes.ndim > 1:
        expected = (*plain._sizes(lhs.shape, roles.prefix), n)
        if sizes.ndim > 1 and not dims.equal_shapes(sizes.shape, expected):
            raise TypeError(f"expected group_sizes to have shape {expected}, got {sizes.shape}.")
    if roles.group is not None and not dims.equal(rhs.shape[roles.group], n):
        raise TypeError(f"expected rhs group dimension size to be {n}, got {rhs.shape[roles.group]}.")


def _abstract_eval(lhs, rhs, group_sizes, *, ragged_dot_dimension_numbers, **params):
    numbers = ragged_dot_dimension_numbers
    dot_params = _dot_params(params)
    _check_axes(numbers, lhs, rhs)
    roles = _AxisRoles(numbers, lhs.ndim, rhs.ndim)
    _check_groups(roles, lhs, rhs, group_sizes)
    of_dot = plain.dot_general_p.abstract_eval(lhs, rhs, dimension_numbers=numbers.dot_dimension_numbers, **dot_params)
    shape = (*plain._sizes(lhs.shape, (*roles.lb, *roles.lf)), *plain._sizes(rhs.shape, roles.rf))
    if roles.kind == "contracted":
        shape = (group_sizes.shape[-1], *shape)
    return ShapedArray(shape, of_dot.dtype, of_dot.weak_type)


def _dot_params(params):
    return {k: v for k, v in params.items() if k != "group_offset"}


# ---- kernel and decomposition


def _kernel(lhs, rhs, group_sizes, *, ragged_dot_dimension_numbers, **params):
    """Computes one product for each group from its rows alone, or with masks where groups differ between batches."""
    numbers, dot_params = ragged_dot_dimension_numbers, _dot_params(params)
    product = lambda x, y, axes: plain._kernel(x, y, dimension_numbers=axes, **dot_params)
    _check_axes(numbers, lhs, rhs)
    roles = _AxisRoles(numbers, lhs.ndim, rhs.ndim)
    _check_groups(roles, lhs, rhs, group_sizes)
    if roles.kind == "batch":
        return product(lhs, rhs, numbers.dot_dimension_numbers)
    dtype = plain.result_dtype(lhs.dtype, rhs.dtype, dot_params["preferred_element_type"])
    shape = (*plain._sizes(lhs.shape, (*roles.lb, *roles.lf)), *plain._sizes(rhs.shape, roles.rf))
    count = group_sizes.shape[-1]
    axes, contracted = _drop_group_axis(roles), roles.kind == "contracted"
    out = np.zeros((count, *shape) if contracted else shape, dtype)
    ends = np.cumsum(group_sizes, -1, dtype=np.int64)
    starts = ends - group_sizes
    for i in range(count):
        rows, whole = _group_index_and_mask(roles, lhs, starts[..., i], ends[..., i])
        rows_of_group = lhs[rows] if whole is None else np.where(whole, lhs, np.zeros((), lhs.dtype))
        at = [slice(None)] * (rhs.ndim if contracted else out.ndim)
        if contracted:
            at[roles.rc[roles.lc.index(roles.ragged)]] = rows[roles.ragged]
            out[i] = product(rows_of_group, rhs[tuple(at)], axes)
        else:
            at[len(roles.lb) + roles.lf.index(roles.ragged)] = rows[roles.ragged]
            out[tuple(at)] += product(rows_of_group, np.take(rhs, i, roles.group), axes)
    return out


def _drop_group_axis(roles):
    """The dimension numbers of the product of one group, for an rhs without the group axis."""
    less = lambda axes: axes if roles.group is None else tuple(a - (a > roles.group) for a in axes)
    return (roles.lc, less(roles.rc)), (roles.lb, less(roles.rb))


def _group_index_and_mask(roles, lhs, start, end):
    """Returns (an index into lhs that contains a group, a mask of its elements or None if the index is exact)."""
    rows, n = [slice(None)] * lhs.ndim, lhs.shape[roles.ragged]
    if not start.ndim:
        low = min(max(int(start), 0), n)
        rows[roles.ragged] = slice(low, max(low, min(int(end), n)))
        return tuple(rows), None
    position = np.arange(n).reshape([-1 if a == roles.ragged else 1 for a in range(lhs.ndim)])
    broadcast = [lhs.shape[a] if a in roles.prefix else 1 for a in range(lhs.ndim)]
    order = np.argsort(roles.prefix)
    low, high = (x.transpose(order).reshape(broadcast) for x in (start, end))
    return tuple(rows), (position >= low) & (position < high)


def masked_dot_general(lhs, rhs, group_sizes, *, ragged_dot_dimension_numbers, **params):
    """Computes the product by one dot_general over copies of lhs, one for each group, that are 0 outside the group.

    As in JAX, an infinity or NaN in one group can therefore make NaN in another.
    """
    roles = _AxisRoles(ragged_dot_dimension_numbers, lhs.ndim, rhs.ndim)
    dot = lambda x, y, *axes: plain.dot_general_p.bind(x, y, dimension_numbers=axes, **_dot_params(params))
    if roles.kind == "batch":
        return dot(lhs, rhs, *ragged_dot_dimension_numbers.dot_dimension_numbers)
    sizes = convert_element_type(group_sizes, np.int32)
    last = sizes.ndim - 1
    ends = cumsum(sizes, axis=last)
    count = sizes.shape[-1]
    shape = (count, *lhs.shape)
    order = sorted(range(last), key=roles.prefix.__getitem__)
    axes = (0, *[1 + roles.prefix[i] for i in order])
    starts, ends = (transpose(x, (last, *order)) if last else x for x in (sub(ends, sizes), ends))
    broadcast = lambda x: broadcast_in_dim(x, shape, axes)
    position = broadcasted_iota(np.int32, shape, 1 + roles.ragged)
    inside = bitwise_and(ge(position, broadcast(starts)), lt(position, broadcast(ends)))
    copies = broadcast_in_dim(lhs, shape, tuple(range(1, 1 + lhs.ndim)))
    masked = select_n(inside, full_like(copies, 0), copies)
    lc, lb = (tuple(1 + a for a in axes) for axes in (roles.lc, roles.lb))
    if roles.kind == "free":
        return dot(masked, rhs, ((0, *lc), (roles.group, *roles.rc)), (lb, roles.rb))
    out = dot(masked, rhs, (lc, roles.rc), (lb, roles.rb))
    return moveaxis(out, len(lb), 0)


# ---- rules


def _jvp(primals, tangents, **params):
    lhs, rhs, sizes = primals
    out = ragged_dot_general_p.bind(lhs, rhs, sizes, **params)
    parts = []
    for i, g in enumerate(tangents[:2]):
        if type(g) is not Zero:
            pair = (g, rhs) if i == 0 else (lhs, g)
            parts.append(ragged_dot_general_p.bind(*pair, sizes, **params))
    if not parts:
        return out, tangent_zero(out)
    return out, parts[0] if len(parts) == 1 else add(*parts)


def _transpose(ct, lhs, rhs, sizes, *, ragged_dot_dimension_numbers, **params):
    numbers = ragged_dot_dimension_numbers
    x_is_lhs = is_undefined_primal(lhs)
    x = lhs if x_is_lhs else rhs
    if type(ct) is Zero:
        out = Zero(x.aval)
    else:
        roles = _AxisRoles(
            numbers, len(lhs.aval.shape) if x_is_lhs else lhs.ndim, rhs.ndim if x_is_lhs else len(x.aval.shape)
        )
        rule = {"free": _free_cotangent, "contracted": _contracted_cotangent, "batch": _batch_cotangent}[roles.kind]
        out = rule(ct, lhs, rhs, sizes, x_is_lhs, roles, numbers, params)
        out = convert(out, x.aval.dtype, x.aval.weak_type)
    return [out, None, None] if x_is_lhs else [None, out, None]


def _restore_axis_order(out, order):
    """Transposes an array whose axis i is axis order[i] of an operand into the operand's order."""
    return transpose(out, tuple(sorted(range(len(order)), key=order.__getitem__)))


def _free_cotangent(ct, lhs, rhs, sizes, x_is_lhs, roles, numbers, params):
    nb, nl, nr = len(roles.lb), len(roles.lf), len(roles.rf)
    batch, left, right = (tuple(range(a, a + n)) for a, n in ((0, nb), (nb, nl), (nb + nl, nr)))
    if x_is_lhs:
        axes = ((right, roles.rf), (batch, roles.rb))
        ragged = nb + roles.lf.index(roles.ragged)
        new = RaggedDotDimensionNumbers(axes, (ragged,), (roles.group,))
        out = ragged_dot_general_p.bind(ct, rhs, sizes, ragged_dot_dimension_numbers=new, **params)
        contracted = sorted(range(len(roles.rc)), key=roles.rc.__getitem__)
        return _restore_axis_order(out, (*roles.lb, *roles.lf, *[roles.lc[i] for i in contracted]))
    new = RaggedDotDimensionNumbers(((roles.lf, left), (roles.lb, batch)), (roles.ragged,), ())
    out = ragged_dot_general_p.bind(lhs, ct, sizes, ragged_dot_dimension_numbers=new, **params)
    contracted = sorted(range(len(roles.lc)), key=roles.lc.__getitem__)
    return _restore_axis_order(out, (roles.group, *roles.rb, *[roles.rc[i] for i in contracted], *roles.rf))


def _contracted_cotangent(ct, lhs, rhs, sizes, x_is_lhs, roles, numbers, params):
    """Multiplies each group of the other operand with its part of ct, whose axes are groups, batch, free axes."""
    if sizes.ndim > 1 and len(roles.lc) > 1:
        raise NotImplementedError(
            "the derivative of ragged_dot_general with several contracted axes, one of them ragged, and group_sizes of "
            "more than one axis is not supported; contract one axis, after reshaping, or share the groups"
        )
    nb, nl, nr = len(roles.lb), len(roles.lf), len(roles.rf)
    batch, left, right = (tuple(range(a, a + n)) for a, n in ((1, nb), (1 + nb, nl), (1 + nb + nl, nr)))
    at = roles.lc.index(roles.ragged)
    if x_is_lhs:
        other, contract, own_batch, ragged, free, contracted = (
            rhs,
            (roles.rf, right),
            roles.rb,
            roles.rc[at],
            roles.rc,
            roles.lc,
        )
        x_batch, x_free = roles.lb, roles.lf
    else:
        other, contract, own_batch, ragged, free, contracted = (
            lhs,
            (roles.lf, left),
            roles.lb,
            roles.ragged,
            roles.lc,
            roles.rc,
        )
        x_batch, x_free = roles.rb, roles.rf
    new = RaggedDotDimensionNumbers((contract, (own_batch, batch)), (ragged,), (0,))
    out = ragged_dot_general_p.bind(other, ct, sizes, ragged_dot_dimension_numbers=new, **params)
    order = sorted(range(len(free)), key=free.__getitem__)
    return _restore_axis_order(out, (*x_batch, *[contracted[i] for i in order], *x_free))


def _batch_cotangent(ct, lhs, rhs, sizes, x_is_lhs, roles, numbers, params):
    rule = plain._lhs_cotangent if x_is_lhs else plain._rhs_cotangent
    return rule(ct, lhs, rhs, dimension_numbers=numbers.dot_dimension_numbers, **_dot_params(params))


def _batch(axis_data, operands, mapped, *, ragged_dot_dimension_numbers, **params):
    """Adds a batch axis in front of both operands; group_sizes that are not mapped stay shared by all examples."""
    lhs, rhs, sizes = operands
    lhs, rhs = (bdim_at_front(x, d, axis_data.size) for x, d in zip((lhs, rhs), mapped))
    numbers = ragged_dot_dimension_numbers
    roles = _AxisRoles(numbers, lhs.ndim - 1, rhs.ndim - 1)
    if mapped[2] is not None or sizes.ndim > 1:
        sizes = bdim_at_front(sizes, mapped[2], axis_data.size)
        prefix = [1 + a for a in roles.prefix]
        if sizes.ndim < 2 + len(prefix):  # the batches of one example shared its groups
            shape = (axis_data.size, *plain._sizes(lhs.shape, prefix), sizes.shape[-1])
            sizes = broadcast_in_dim(sizes, shape, (0, len(shape) - 1))
    shift = lambda axes: tuple(1 + a for a in axes)
    (lc, rc), (lb, rb) = numbers.dot_dimension_numbers
    axes = (shift(lc), shift(rc)), ((0, *shift(lb)), (0, *shift(rb)))
    new = RaggedDotDimensionNumbers(axes, shift(numbers.lhs_ragged_dimensions), shift(numbers.rhs_group_dimensions))
    out = ragged_dot_general_p.bind(lhs, rhs, sizes, ragged_dot_dimension_numbers=new, **params)
    return out, 1 if roles.kind == "contracted" else 0


ragged_dot_general_p = Primitive(
    "ragged_dot_general",
    kernel=_kernel,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    weak=lambda flags, params: all(flags[:2]) and params.get("preferred_element_type") is None,
)


def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    ragged_dot_dimension_numbers: Any,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: ArrayLike | None = None,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns the product of two arrays, one axis of which is divided into groups.

    Args:
      lhs: array of numbers, whose ragged axis is divided into groups of consecutive elements.
      rhs: array of numbers.
      group_sizes: integer array of shape (g,), or with the batch axes in front.
      ragged_dot_dimension_numbers: `lax.RaggedDotDimensionNumbers`: the axes that are contracted, ragged and grouped.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.
      group_offset: must be None.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array whose shape depends on the role of the ragged axis: free, contracted (a leading axis of length g) or batch.

    Raises:
      TypeError: axes or lengths do not fit.
      NotImplementedError: `group_offset` is given.

    Examples:
      >>> axes = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
      >>> lax.ragged_dot_general(jnp.ones((3, 2)), jnp.ones((2, 2, 4)), jnp.array([1, 2]), axes).shape
      (3, 4)
    """
    if out_sharding is not None:
        return with_out_sharding(
            out_sharding,
            ragged_dot_general,
            lhs,
            rhs,
            group_sizes,
            ragged_dot_dimension_numbers,
            precision,
            preferred_element_type,
            group_offset,
        )
    if group_offset is not None:
        raise NotImplementedError("ragged_dot_general with group_offset is not supported; slice group_sizes instead")
    if preferred_element_type is not None:
        preferred_element_type = dtypes.canonicalize_dtype(np.dtype(preferred_element_type))
    return ragged_dot_general_p.bind(
        as_array(lhs),
        as_array(rhs),
        as_array(group_sizes),
        ragged_dot_dimension_numbers=ragged_dot_dimension_numbers,
        precision=plain.canonical_precision(precision),
        preferred_element_type=preferred_element_type,
        group_offset=None,
        out_sharding=None,
    )


def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    group_offset: ArrayLike | None = None,
    out_sharding: ShardingLike = None,
) -> Array:
    """Returns groups of rows, each multiplied by the matrix of its group.

    Args:
      lhs: array of shape (m, k).
      rhs: array of shape (g, k, n).
      group_sizes: integer array of shape (g,), whose sum is at most m.
      precision: a `lax.Precision` or its name; it is checked and has no effect on a CPU.
      preferred_element_type: the dtype of the result and of the sums; default: that of the operands.
      group_offset: must be None.
      out_sharding: a sharding for the result; default: decided by the operands.

    Returns:
      Array of shape (m, n); rows of no group are 0.

    Raises:
      TypeError: lengths do not fit.

    Examples:
      >>> lax.ragged_dot(jnp.ones((3, 2)), jnp.array([[[1.0], [1.0]], [[5.0], [5.0]]]), jnp.array([1, 2]))
      Array([[ 2.],
             [10.],
             [10.]], dtype=float32)
    """
    return ragged_dot_general(
        lhs, rhs, group_sizes, _BASIC, precision, preferred_element_type, group_offset, out_sharding
    )
