"""Indexing: gather and its adjoint scatter_add, with scatter, scatter_sub, scatter_mul, scatter_min, scatter_max.

`indexing_records.py` holds dimension numbers, modes and their checks; `indexing_kernels.py` holds the kernels and
explains windows and positions.  Derivatives:

    gather        linear in the operand; transposes to scatter_add with the same dimension numbers
    scatter_add   linear in operand and updates; the updates' cotangent is a gather
    scatter       the last of overlapping windows wins: scattering ids finds it; the rest is scatter_add of masked
    values

The batching rules of dynamic_slice and dynamic_update_slice are defined here, since they are a gather and a scatter.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onax._core.evaluate import eval_jaxpr
from onax._core.facts import DATA_MOVEMENT, ELEMENTWISE
from onax._core.jaxpr import Jaxpr, Var, new_jaxpr_eqn
from onax._core.programs import functions, programs
from onax._core.rules import InvalidOperands, add_tangents, tangent_zero
from onax._core.trace import as_array, typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground import dims, dtypes
from onax._ground.typing import ArrayLike, DimSize
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.dispatch import FIRST, Primitive
from onax._prims import indexing_kernels as kernels
from onax._prims.creation import broadcasted_iota, full, full_like, instantiate_zeros, zeros_like_aval
from onax._prims.elementwise import (
    add,
    add_p,
    div,
    eq,
    lt,
    max_p,
    min_p,
    mul,
    mul_p,
    neg,
    rem,
    select_n,
    sub_p,
)
from onax._prims.indexing_records import (
    CLAMPED,
    FILL_OR_DROP,
    KERNEL_MODE,
    PROMISE_IN_BOUNDS,
    GatherDimensionNumbers,
    GatherScatterMode,
    ScatterDimensionNumbers,
    check_gather_axes,
    check_indices,
    check_scatter_axes,
    check_windows,
    checked_layout,
    has_windows,
    window_sizes,
)
from onax._prims.shaping import (
    bdim_at_front,
    broadcast_in_dim,
    canonical_shape,
    expand_dims,
    moveaxis,
    reshape,
    shape_of,
)
from onax._prims.slicing import concatenate, dynamic_slice_p, dynamic_update_slice_p

# ---- gather ----


def _gather_abstract(
    x, indices, *, dimension_numbers, slice_sizes, unique_indices, indices_are_sorted, mode, fill_value
):
    d = dimension_numbers
    check_indices("gather", indices)
    check_gather_axes(x, indices, d, slice_sizes)
    return ShapedArray(_gather_shape(indices, d, slice_sizes), x.dtype, x.weak_type)


def _gather_shape(indices, d, slice_sizes):
    dropped = (*d.collapsed_slice_dims, *d.operand_batching_dims)
    windows = iter([n for a, n in enumerate(slice_sizes) if a not in dropped])
    batch = iter(indices.shape[:-1])
    out_rank = len(d.offset_dims) + indices.ndim - 1
    return tuple(next(windows) if o in d.offset_dims else next(batch) for o in range(out_rank))


def _gather_kernel(x, indices, *, dimension_numbers, slice_sizes, unique_indices, indices_are_sorted, mode, fill_value):
    layout = checked_layout(dimension_numbers, x.ndim, indices.ndim)
    if not _check_gather(x, indices, dimension_numbers, slice_sizes):
        raise InvalidOperands
    if not has_windows(indices):
        return np.empty(_gather_shape(indices, dimension_numbers, slice_sizes), x.dtype)
    indices = kernels.to_intp(indices)
    out = kernels.gather(x, indices, layout, slice_sizes)
    if mode is FILL_OR_DROP:
        ok = kernels.in_bounds(indices, layout, x.shape, slice_sizes)
        out = kernels.fill(out, ok, layout, fill_array(fill_value, x.dtype))
    return out


def _check_gather(x, indices, d, slice_sizes):
    """Whether shapes and dimension numbers fit, for what NumPy would not notice."""
    return (
        indices.ndim > 0
        and indices.shape[-1] == len(d.start_index_map)
        and len(slice_sizes) == x.ndim
        and len(slice_sizes) == len(d.offset_dims) + len(d.collapsed_slice_dims) + len(d.operand_batching_dims)
        and all(0 <= n and (n <= size or not has_windows(indices)) for n, size in zip(slice_sizes, x.shape))
        and all(slice_sizes[a] <= 1 for a in (*d.collapsed_slice_dims, *d.operand_batching_dims))
        and _have_equal_batches(x, indices, d.operand_batching_dims, d.start_indices_batching_dims)
    )


def _have_equal_batches(x, indices, axes, index_axes):
    return all(x.shape[a] == indices.shape[i] for a, i in zip(axes, index_axes))


def fill_array(value, dtype):
    """Converts the fill value to an ndarray of rank 0; for keys all bits are set."""
    if dtype.kind == "V" and dtype.names is None and not dtypes.issubdtype(dtype, np.number):
        return np.frombuffer(b"\xff" * dtype.itemsize, dtype)[0]
    return np.asarray(value).astype(dtype)


def default_fill(dtype):
    """The value of out-of-bounds reads: NaN, the lowest signed or highest unsigned integer, True; None for keys."""
    if isinstance(dtype, dtypes.ExtendedDType):
        return None
    if dtypes.issubdtype(dtype, np.inexact):
        return np.nan
    if dtype == np.bool_:
        return True
    if dtypes.issubdtype(dtype, np.unsignedinteger):
        return int(dtypes.iinfo(dtype).max)
    return int(dtypes.iinfo(dtype).min)


def _gather_jvp(primals, tangents, *, fill_value, **params):
    (x, indices), (g, _) = primals, tangents
    out = gather_p.bind(x, indices, fill_value=fill_value, **params)
    if type(g) is Zero:
        return out, tangent_zero(out)
    return out, gather_p.bind(g, indices, fill_value=0, **params)


def _zeros(aval, dtype):
    """Zeros of the shape of a type, which the same explicit axes split."""
    sharding = aval.stated_sharding
    if sharding is not None:
        sharding = sharding.update(spec=sharding.spec.update(unreduced=frozenset(), reduced=frozenset()))
    return zeros_like_aval(ShapedArray(aval.shape, dtype, sharding=sharding))


def _gather_transpose(
    ct, x, indices, *, dimension_numbers, slice_sizes, unique_indices, indices_are_sorted, mode, fill_value
):
    if not is_undefined_primal(x):
        raise TypeError("gather is linear in its first operand only")
    if type(ct) is Zero:
        return [Zero(x.aval), None]
    d = dimension_numbers
    zeros = _zeros(x.aval, ct.dtype)
    numbers = ScatterDimensionNumbers(
        update_window_dims=d.offset_dims,
        inserted_window_dims=d.collapsed_slice_dims,
        scatter_dims_to_operand_dims=d.start_index_map,
        operand_batching_dims=d.operand_batching_dims,
        scatter_indices_batching_dims=d.start_indices_batching_dims,
    )
    out = scatter_add_p.bind(
        zeros,
        indices,
        ct,
        dimension_numbers=numbers,
        indices_are_sorted=indices_are_sorted,
        unique_indices=unique_indices,
        mode=mode,
        update_jaxpr=_combiner(add_p, ct.dtype, backward=True),
        update_consts=(),
    )
    return [out, None]


def _shift_axes(axes):
    return tuple(a + 1 for a in axes)


def _gather_batch(axis_data, operands, mapped, *, dimension_numbers, slice_sizes, **params):
    """Adds a window axis for a mapped operand, a batch axis for mapped indices, a batching axis if both are mapped."""
    (x, indices), (dx, di) = operands, mapped
    d = dimension_numbers
    lead, slice_lead, index_batching = (), (), d.start_indices_batching_dims
    on_operand = tuple
    if dx is not None:
        x, on_operand = moveaxis(x, dx, 0), _shift_axes
    if di is not None:
        indices, index_batching = moveaxis(indices, di, 0), _shift_axes(index_batching)
    offsets = _shift_axes(d.offset_dims)
    batching = on_operand(d.operand_batching_dims)
    if di is None:
        lead, slice_lead = (0,), (x.shape[0],)
    elif dx is None:
        params |= {"indices_are_sorted": False, "unique_indices": False}
    else:
        slice_lead, batching, index_batching = (1,), (0, *batching), (0, *index_batching)
        if dims.equal(x.shape[0], 0):
            return _empty_batch(operands, mapped, d, slice_sizes, **params), 0
    numbers = GatherDimensionNumbers(
        offset_dims=(*lead, *offsets),
        collapsed_slice_dims=on_operand(d.collapsed_slice_dims),
        start_index_map=on_operand(d.start_index_map),
        operand_batching_dims=batching,
        start_indices_batching_dims=index_batching,
    )
    sizes = (*slice_lead, *slice_sizes)
    return gather_p.bind(x, indices, dimension_numbers=numbers, slice_sizes=sizes, **params), 0


def _empty_batch(operands, mapped, d, slice_sizes, **params):
    """The result of a gather mapped over an axis of length 0."""
    avals = []
    for x, dim in zip(operands, mapped):
        shape = (*x.shape[:dim], *x.shape[dim + 1 :])
        avals.append(ShapedArray(shape, x.dtype))
    one = _gather_abstract(*avals, dimension_numbers=d, slice_sizes=slice_sizes, **params)
    return zeros_like_aval(ShapedArray((0, *one.shape), one.dtype))


gather_p = Primitive(
    "gather",
    kernel=_gather_kernel,
    abstract_eval=_gather_abstract,
    jvp=_gather_jvp,
    transpose=_gather_transpose,
    batch=_gather_batch,
    weak=FIRST,
    facts=frozenset({DATA_MOVEMENT}),
)


def gather(
    operand: ArrayLike,
    start_indices: ArrayLike,
    dimension_numbers: Any,
    slice_sizes: Sequence[DimSize],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: ArrayLike | None = None,
) -> Array:
    """Returns windows of an array, one for each index vector.

    Args:
      operand: array.
      start_indices: integer array; its last axis holds index vectors.
      dimension_numbers: `lax.GatherDimensionNumbers`, the roles of axes.
      slice_sizes: ints, the lengths of a window along each axis of the operand.
      unique_indices, indices_are_sorted: promises about the indices that make derivatives quicker; wrong ones make them
        undefined.
      mode: a `lax.GatherScatterMode` or its name, for windows that leave the operand: "fill" (default), "clip" or
        "promise_in_bounds".
      fill_value: value of windows out of bounds in mode "fill"; default: NaN, the lowest signed or the largest unsigned
        integer.

    Returns:
      Array of the axes of the indices and of the windows.

    Raises:
      TypeError: shapes, dtypes and dimension numbers do not fit.

    Examples:
      >>> rows = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))
      >>> lax.gather(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0], [1]]), rows, (1, 2))
      Array([[3, 4],
             [1, 2],
             [3, 4]], dtype=int32)
    """
    mode = _check_mode(mode)
    operand, start_indices = _as_arrays(operand, start_indices)
    if mode is not FILL_OR_DROP:
        fill_value = None
    elif fill_value is None:
        fill_value = default_fill(operand.dtype)
    return gather_p.bind(
        operand,
        start_indices,
        dimension_numbers=dimension_numbers,
        slice_sizes=canonical_shape(slice_sizes),
        unique_indices=bool(unique_indices),
        indices_are_sorted=bool(indices_are_sorted),
        mode=mode,
        fill_value=fill_value,
    )


def _check_mode(mode):
    mode = GatherScatterMode.from_any(mode)
    if mode is GatherScatterMode.ONE_HOT:
        raise NotImplementedError("gather and scatter have no ONE_HOT mode; multiply with onax.nn.one_hot instead")
    return mode


def _as_arrays(*xs):
    return [x if isinstance(x, Array) else as_array(x) for x in xs]


# ---- the scatters ----


def _scatter_abstract(
    x,
    indices,
    updates,
    *,
    dimension_numbers,
    indices_are_sorted,
    unique_indices,
    mode,
    update_jaxpr,
    update_consts,
):
    check_indices("scatter", indices)
    if x.dtype != updates.dtype:
        raise TypeError(f"lax.scatter requires arguments to have the same dtypes, got {x.dtype}, {updates.dtype}.")
    check_scatter_axes(x, indices, updates, dimension_numbers)
    check_windows(x, indices, updates, dimension_numbers)
    return ShapedArray(x.shape, x.dtype, x.weak_type)


def _scatter_kernel(op):
    """Makes the kernel that combines updates by a ufunc, or overwrites if `op` is None."""

    def kernel(x, indices, updates, *, dimension_numbers, mode, update_jaxpr, update_consts, **_):
        d = dimension_numbers
        layout = checked_layout(d, x.ndim, indices.ndim)
        _check_shapes(x, indices, updates, d)
        sizes = window_sizes(x.ndim, d, updates.shape)
        combine = op
        if op is None and update_jaxpr is not None:
            combine = _JaxprUfunc(update_jaxpr, update_consts)
        indices = kernels.to_intp(indices)
        return kernels.scatter(x, indices, updates, layout, sizes, KERNEL_MODE[mode], combine)

    return kernel


def _check_shapes(x, indices, updates, d):
    """Raises InvalidOperands for wrong shapes that NumPy would not notice."""
    if not indices.ndim or indices.shape[-1] != len(d.scatter_dims_to_operand_dims):
        raise InvalidOperands
    if updates.ndim != indices.ndim - 1 + len(d.update_window_dims):
        raise InvalidOperands
    if len(d.update_window_dims) + len(d.inserted_window_dims) + len(d.operand_batching_dims) != x.ndim:
        raise InvalidOperands
    if not _have_equal_batches(x, indices, d.operand_batching_dims, d.scatter_indices_batching_dims):
        raise InvalidOperands
    check_windows(x, indices, updates, d)


class _JaxprUfunc:
    """Gives a jaxpr of two scalars the interface of a ufunc; `scatter_apply` combines values with it."""

    def __init__(self, jaxpr, consts):
        self.jaxpr, self.consts = jaxpr, consts
        self.whole = all(ELEMENTWISE in eqn.primitive.facts for eqn in jaxpr.eqns)

    def __call__(self, old, new):
        """Combines two arrays element by element."""
        if self.whole:  # an elementwise jaxpr can be evaluated on whole arrays
            out = self._run(old, new)
            return np.broadcast_to(out, old.shape)
        out = np.empty_like(old)
        for at in np.ndindex(old.shape):
            out[at] = self._run(old[at], new[at])
        return out

    def at(self, flat, rows, values):
        """Combines values into rows in order and in place; rows may repeat."""
        for row, value in zip(rows, values):
            flat[row] = self._run(flat[row], value)

    def _run(self, old, new):
        out = eval_jaxpr(self.jaxpr, self.consts, as_array(np.asarray(old)), as_array(np.asarray(new)))[0]
        return np.asarray(out)


@functools.cache
def _combiner(primitive, dtype, backward=False):
    """The jaxpr of two scalars with which a scatter combines values; it is printed as the parameter `update_jaxpr`.

    Scatters that share it print it once; JAX shares it within the forward pass and within the backward pass, not
    between them.
    """
    aval = ShapedArray((), dtype)
    x, y, out = Var(aval), Var(aval), Var(primitive.abstract_eval(aval, aval))
    return Jaxpr([], [x, y], [out], [new_jaxpr_eqn([x, y], [out], primitive, {})])


def _scatter_batch(primitive):
    def batch(axis_data, operands, mapped, *, dimension_numbers, **params):
        (x, indices, updates), (dx, di, du), d = operands, mapped, dimension_numbers
        x = bdim_at_front(x, dx, axis_data.size)
        updates = bdim_at_front(updates, du, axis_data.size)
        window, batching = _shift_axes(d.update_window_dims), _shift_axes(d.operand_batching_dims)
        index_batching = d.scatter_indices_batching_dims
        if di is None:
            window = (0, *window)
        else:
            indices = moveaxis(indices, di, 0)
            batching, index_batching = (0, *batching), (0, *_shift_axes(index_batching))
        numbers = ScatterDimensionNumbers(
            update_window_dims=window,
            inserted_window_dims=_shift_axes(d.inserted_window_dims),
            scatter_dims_to_operand_dims=_shift_axes(d.scatter_dims_to_operand_dims),
            operand_batching_dims=batching,
            scatter_indices_batching_dims=index_batching,
        )
        return primitive.bind(x, indices, updates, dimension_numbers=numbers, **params), 0

    return batch


def _primitive(name, op):
    p = Primitive(
        name,
        kernel=_scatter_kernel(op),
        abstract_eval=_scatter_abstract,
        weak=FIRST,
        facts=frozenset({DATA_MOVEMENT}) if op is None else frozenset(),
    )
    p.batch = _scatter_batch(p)
    programs.set(p, functions)
    return p


scatter_p = _primitive("scatter", None)
scatter_add_p = _primitive("scatter-add", np.add)
scatter_sub_p = _primitive("scatter-sub", np.subtract)
scatter_mul_p = _primitive("scatter-mul", np.multiply)
scatter_min_p = _primitive("scatter-min", np.minimum)
scatter_max_p = _primitive("scatter-max", np.maximum)


def _bind(primitive, combine, operand, indices, updates, numbers, indices_are_sorted, unique_indices, mode):
    operand, indices, updates = _as_arrays(operand, indices, updates)
    return primitive.bind(
        operand,
        indices,
        updates,
        dimension_numbers=numbers,
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=_check_mode(mode),
        update_jaxpr=None if combine is None else _combiner(combine, operand.dtype),
        update_consts=(),
    )


def _public_function(name, primitive, combine, what, output) -> Callable[..., Array]:
    def function(
        operand: ArrayLike,
        scatter_indices: ArrayLike,
        updates: ArrayLike,
        dimension_numbers: Any,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
    ) -> Array:
        return _bind(
            primitive,
            combine,
            operand,
            scatter_indices,
            updates,
            dimension_numbers,
            indices_are_sorted,
            unique_indices,
            mode,
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Returns an array with windows of updates {what}.

    Args:
      operand: array.
      scatter_indices: integer array; its last axis holds index vectors.
      updates: array of the dtype of the operand.
      dimension_numbers: `lax.ScatterDimensionNumbers`, the roles of axes.
      indices_are_sorted, unique_indices: promises about the indices; wrong ones make the result undefined.
      mode: a `lax.GatherScatterMode` or its name, for windows that leave the operand: "drop" (default), "clip" or
        "promise_in_bounds".

    Returns:
      Array of the shape and dtype of the operand.

    Raises:
      TypeError: shapes, dtypes and dimension numbers do not fit.
      ValueError: the indices are not integers.

    Examples:
      >>> elements = lax.ScatterDimensionNumbers((), (0,), (0,))
      >>> lax.{name}(jnp.array([1.0, 2.0, 3.0]), jnp.array([[0], [2]]), jnp.array([5.0, 2.0]), elements)
      Array({output}, dtype=float32)
    """
    return function


scatter = _public_function("scatter", scatter_p, None, "written (the last one, where windows overlap)", "[5., 2., 2.]")
scatter_add = _public_function("scatter_add", scatter_add_p, add_p, "added", "[6., 2., 5.]")
scatter_sub = _public_function("scatter_sub", scatter_sub_p, sub_p, "subtracted", "[-4.,  2.,  1.]")
scatter_mul = _public_function("scatter_mul", scatter_mul_p, mul_p, "multiplied in", "[5., 2., 6.]")
scatter_min = _public_function("scatter_min", scatter_min_p, min_p, "combined by minimum", "[1., 2., 2.]")
scatter_max = _public_function("scatter_max", scatter_max_p, max_p, "combined by maximum", "[5., 2., 3.]")


# ---- derivatives of the scatters ----


def _gather_numbers(d):
    """The dimension numbers of the gather that reads the windows to which the scatter writes."""
    return GatherDimensionNumbers(
        offset_dims=d.update_window_dims,
        collapsed_slice_dims=d.inserted_window_dims,
        start_index_map=d.scatter_dims_to_operand_dims,
        operand_batching_dims=d.operand_batching_dims,
        start_indices_batching_dims=d.scatter_indices_batching_dims,
    )


def _gather_windows(x, indices, updates_shape, params, mode=None, fill_value=None):
    """Gathers the windows of x to which a scatter with these parameters writes."""
    d = params["dimension_numbers"]
    return gather(
        x,
        indices,
        _gather_numbers(d),
        window_sizes(len(shape_of(x)), d, updates_shape),
        mode=params["mode"] if mode is None else mode,
        fill_value=fill_value,
    )


def _public_params(params):
    return {key: params[key] for key in ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")}


def _additive_jvp(primitive):
    """Makes the jvp of a scatter that is linear in operand and updates together."""

    def jvp(primals, tangents, **params):
        (x, indices, updates), (gx, _, gu) = primals, tangents
        out = primitive.bind(x, indices, updates, **params)
        if type(gx) is Zero and type(gu) is Zero:
            return out, tangent_zero(out)
        return out, primitive.bind(instantiate_zeros(gx), indices, instantiate_zeros(gu), **params)

    primitive.jvp = jvp


def _additive_transpose(sign):
    def transpose(ct, x, indices, updates, **params):
        linear_x, linear_u = is_undefined_primal(x), is_undefined_primal(updates)
        if type(ct) is Zero:
            return [Zero(x.aval) if linear_x else None, None, Zero(updates.aval) if linear_u else None]
        ct_u = None
        if linear_u:
            ct_u = sign(_gather_windows(ct, indices, updates.aval.shape, params, fill_value=0))
        return [ct if linear_x else None, None, ct_u]

    return transpose


_additive_jvp(scatter_add_p)
_additive_jvp(scatter_sub_p)
scatter_add_p.transpose = _additive_transpose(lambda g: g)
scatter_sub_p.transpose = _additive_transpose(neg)


def _scatter_jvp(primals, tangents, **params):
    (x, indices, updates), (gx, _, gu) = primals, tangents
    if type(gx) is Zero and type(gu) is Zero:
        out = scatter_p.bind(x, indices, updates, **params)
        return out, tangent_zero(out)
    if params["update_jaxpr"] is not None:
        raise NotImplementedError("scatter_apply JVP not implemented; gather, apply and scatter instead")
    gx, gu = instantiate_zeros(gx), instantiate_zeros(gu)
    if params["unique_indices"]:
        out = scatter_p.bind(x, indices, updates, **params)
        return out, scatter_p.bind(gx, indices, gu, **params)
    return _overlapping_jvp(x, indices, updates, gx, gu, params)


def _overlapping_jvp(x, indices, updates, gx, gu, params):
    """The jvp for overlapping windows: scatters ids to find which window each element keeps, then adds masked
    values."""
    shape, d = shape_of(updates), params["dimension_numbers"]
    batch = tuple(n for o, n in enumerate(shape) if o not in d.update_window_dims)
    ids = broadcasted_iota(np.uint32, (dims.prod(batch),), 0)
    ids = reshape(ids, tuple(1 if o in d.update_window_dims else n for o, n in enumerate(shape)))
    ids = add(ids, full(shape, 1, np.uint32))
    public = _public_params(params)
    scattered = scatter(full(shape_of(x), 0, np.uint32), indices, ids, **public)
    surviving = _gather_windows(scattered, indices, shape, params, mode=PROMISE_IN_BOUNDS)

    def masked(value, change):
        value = select_n(eq(scattered, full_like(scattered, 0)), full_like(value, 0), value)
        return value, select_n(eq(ids, surviving), full_like(change, 0), change)

    primal, tangent = masked(x, updates), masked(gx, gu)
    out = scatter_add(primal[0], indices, primal[1], **public)
    return out, scatter_add(tangent[0], indices, tangent[1], **public)


def _scatter_transpose(ct, x, indices, updates, **params):
    """Transposes a scatter with unique indices; only such scatters appear in tangents."""
    if not params["unique_indices"]:
        raise NotImplementedError("scatter transpose is only implemented where unique_indices=True")
    if is_undefined_primal(indices):
        raise TypeError("scatter is linear in its operand and updates only")
    linear_x, linear_u = is_undefined_primal(x), is_undefined_primal(updates)
    if type(ct) is Zero:
        return [Zero(x.aval) if linear_x else None, None, Zero(updates.aval) if linear_u else None]
    aval = updates.aval if linear_u else typeof(updates)
    ct_x = ct_u = None
    if linear_x:
        ct_x = scatter(ct, indices, _zeros(aval, ct.dtype), **_public_params(params))
    if linear_u:
        ct_u = _gather_windows(ct, indices, aval.shape, params, fill_value=0)
    return [ct_x, None, ct_u]


scatter_p.jvp = _scatter_jvp
scatter_p.transpose = _scatter_transpose


def _scatter_mul_jvp(primals, tangents, **params):
    (x, indices, updates), (gx, _, gu) = primals, tangents
    out = scatter_mul_p.bind(x, indices, updates, **params)
    total = tangent_zero(out)
    if type(gx) is not Zero:
        total = scatter_mul_p.bind(gx, indices, updates, **params)
    if type(gu) is not Zero:
        if not params["unique_indices"]:
            raise NotImplementedError("scatter_mul gradients are only implemented if `unique_indices=True`")
        change = scatter_add(full_like(x, 0), indices, gu, **_public_params(params))
        total = add_tangents(total, mul(x, change))
    return out, total


def _scatter_mul_transpose(ct, x, indices, updates, **params):
    if not is_undefined_primal(x) or is_undefined_primal(updates):
        raise TypeError("scatter-mul is linear in its first operand only")
    if type(ct) is Zero:
        return [Zero(x.aval), None, None]
    params["update_jaxpr"] = _combiner(mul_p, ct.dtype, backward=True)
    return [scatter_mul_p.bind(ct, indices, updates, **params), None, None]


scatter_mul_p.jvp = _scatter_mul_jvp
scatter_mul_p.transpose = _scatter_mul_transpose


def _extremal_jvp(primitive):
    """Makes the jvp of scatter_min and scatter_max: operands that attain the result share its tangent equally."""

    def jvp(primals, tangents, **params):
        (x, indices, updates), (gx, _, gu) = primals, tangents
        out = primitive.bind(x, indices, updates, **params)
        if type(gx) is Zero and type(gu) is Zero:
            return out, tangent_zero(out)
        gx, gu = instantiate_zeros(gx), instantiate_zeros(gu)
        public, shape = _public_params(params), shape_of(updates)

        def read(value):
            return _gather_windows(value, indices, shape, params, mode=PROMISE_IN_BOUNDS)

        before, after = read(x), read(out)
        attained, unchanged = eq(updates, after), eq(before, after)
        zeros, ones = full_like(x, 0), full_like(updates, 1)
        marks = select_n(attained, full_like(updates, 0), ones)
        winners = read(scatter_add(zeros, indices, marks, **public))
        tries = read(scatter_add(full_like(x, 0), indices, full_like(updates, 1), **public))
        one = np.ones((), winners.dtype)
        tied = div(one, add(winners, one))
        share = select_n(unchanged, div(one, winners), tied)
        of_updates = select_n(attained, full_like(updates, 0), share)
        tied = div(one, add(winners, one))
        of_operand = select_n(unchanged, full_like(winners, 0), tied)
        of_operand = div(add(-one, of_operand), tries)
        change = add(mul(read(gx), of_operand), mul(gu, of_updates))
        return out, scatter_add(gx, indices, change, **public)

    primitive.jvp = jvp


_extremal_jvp(scatter_min_p)
_extremal_jvp(scatter_max_p)


# ---- index_take ----


def index_take(src: ArrayLike, idxs: Sequence[ArrayLike], axes: Sequence[int]) -> Array:
    """Returns the windows of an array at indices along several axes.

    Args:
      src: array.
      idxs: integer arrays of shape (n,), one for each of the axes; they wrap around.
      axes: ints.

    Returns:
      Array of shape (n, ...), in which the other axes follow.

    Examples:
      >>> lax.index_take(jnp.array([[1, 2], [3, 4]]), (jnp.array([0, -1]),), (0,))
      Array([[1, 2],
             [3, 4]], dtype=int32)
    """
    indices = concatenate([expand_dims(i, (1,)) for i in idxs], 1)
    sizes = np.array([src.shape[a] for a in axes], indices.dtype)
    bound = broadcast_in_dim(as_array(np.maximum(sizes, 1)), indices.shape, (1,))
    left = rem(indices, bound)
    indices = select_n(lt(left, full_like(left, 0)), left, add(left, bound))
    shape = list(src.shape)
    for a in axes:
        shape[a] = 1
    numbers = GatherDimensionNumbers(
        offset_dims=tuple(range(1, src.ndim - indices.shape[1] + 1)),
        collapsed_slice_dims=tuple(axes),
        start_index_map=tuple(axes),
    )
    return gather(src, indices, numbers, tuple(shape), mode=PROMISE_IN_BOUNDS)


# ---- batching of dynamic_slice and dynamic_update_slice (slicing.py) ----


def _stack_indices(indices, mapped, size):
    """Stacks scalar indices, some of them mapped, to index vectors; returns (array, dim)."""
    if all(d is None for d in mapped):
        return concatenate([broadcast_in_dim(i, (1,), ()) for i in indices], 0), None
    columns = [broadcast_in_dim(i, (size, 1), () if d is None else (0,)) for i, d in zip(indices, mapped)]
    return concatenate(columns, 1), 0


def _dynamic_slice_batch(axis_data, operands, mapped, *, slice_sizes):
    (x, *indices), (dx, *rest) = operands, mapped
    if not indices:
        return x, dx
    vectors, di = _stack_indices(indices, rest, axis_data.size)
    axes = tuple(range(len(slice_sizes)))
    params = {
        "dimension_numbers": GatherDimensionNumbers(axes, (), axes),
        "slice_sizes": slice_sizes,
        "unique_indices": True,
        "indices_are_sorted": True,
        "mode": CLAMPED,
        "fill_value": None,
    }
    return _gather_batch(axis_data, (x, vectors), (dx, di), **params)


def _dynamic_update_slice_batch(axis_data, operands, mapped):
    (x, updates, *indices), (dx, du, *rest) = operands, mapped
    if not indices:
        return updates if du is not None else bdim_at_front(updates, None, axis_data.size), du or 0
    vectors, di = _stack_indices(indices, rest, axis_data.size)
    axes = tuple(range(len(indices)))
    params = {
        "dimension_numbers": ScatterDimensionNumbers(axes, (), axes),
        "unique_indices": True,
        "indices_are_sorted": True,
        "mode": CLAMPED,
        "update_jaxpr": None,
        "update_consts": (),
    }
    return scatter_p.batch(axis_data, (x, vectors, updates), (dx, di, du), **params)


dynamic_slice_p.batch = _dynamic_slice_batch
dynamic_update_slice_p.batch = _dynamic_update_slice_batch
