"""vmap: maps a function over array axes."""

import contextlib
import functools
from typing import Any

from onax._core.axes import AxisData, named_axis, spread_axes_in_scope
from onax._core.explicit_axes import axes_of, seen, split_by
from onax._core.hitypes import MappingSpec
from onax._core.paths import keystr, prefix_errors, tree_leaves_with_path
from onax._core.refs import check_distinct, is_ref, is_view
from onax._core.sharding import names_in
from onax._core.trace import Tracer, as_array, typeof, valid_jaxtype
from onax._ground import source
from onax._ground.typing import Function
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._transforms.batching import batch_flat, give_mapped_axis
from onax._transforms.flatten import argument_names, check_callable, debug_info, fun_name, fun_signature
from onax._transforms.vmappable import MappedFunction, is_container, spec_types


def vmap(
    fun: Function,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Function:
    """Returns a function that maps `fun` over axes of its arguments, all examples at once.

    Keyword arguments are mapped over axis 0.  What is not mapped reaches `fun` as it is, so it may be anything.

    Args:
      fun: a function of trees of arrays.
      in_axes: an int, None (not mapped), or a tree of these that is a prefix of the arguments' tuple; default 0.
      out_axes: the axis of the examples in results: an int, None, or a prefix tree of the results; default 0.
      axis_name: a name for collectives over the examples; default None.
      axis_size: the number of examples, needed if nothing is mapped; default None.
      spmd_axis_name: the mesh axis that shards the examples; default None.
      sum_match: True: results that `out_axes` says are not mapped are summed over the examples; default False.

    Returns:
      A function of the arguments of `fun`.

    Raises:
      ValueError: sizes that disagree, or an axis that does not exist.
      TypeError: malformed axes.

    Examples:
      >>> onax.vmap(jnp.dot)(jnp.ones((3, 2)), jnp.ones((3, 2)))
      Array([2., 2., 2.], dtype=float32)
    """
    check_callable(fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if isinstance(in_axes, bool) or not (in_axes is None or isinstance(in_axes, (tuple, *spec_types()))):
        raise TypeError(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments "
            f"passed to the function, but got {in_axes}."
        )
    for name, axes in (("in_axes", in_axes), ("out_axes", out_axes)):
        if not all(isinstance(leaf, spec_types()) and not isinstance(leaf, bool) for leaf in tree_flatten(axes)[0]):
            raise TypeError(
                f"vmap {name} must be an int, None, or (nested) container with those types as leaves, but got {axes}."
            )

    @functools.wraps(fun, updated=())
    @source.api_boundary
    def mapped(*args, **kwargs):
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments "
                f"passed to the function, but got len(in_axes)={len(in_axes)}, len(args)={len(args)}"
            )
        leaves, tree = tree_flatten((args, kwargs), is_leaf=_is_leaf)
        if any(is_ref(x) or is_view(x) for x in leaves):
            _check_refs(debug_info("vmap", fun, args, kwargs), leaves)
        axes = tuple(in_axes) if isinstance(in_axes, tuple) else in_axes
        dims = flatten_axes("vmap in_axes", tree, (axes, 0), kws=True)
        leaves = [x if d is None else _as_argument(x) for x, d in zip(leaves, dims)]
        size = _mapped_size(fun, args, kwargs, leaves, dims, axis_size)
        specs = [d if _is_free(x, d) else d % typeof(x).ndim for x, d in zip(leaves, dims)]
        dims = [None if is_container(x) else d for x, d in zip(leaves, specs)]
        axis_data = _axis_data(axis_name, size, spmd_axis_name, leaves, dims)
        flat_fun = MappedFunction(fun, tree, specs, size, lambda tree: flatten_axes("vmap out_axes", tree, out_axes))
        checked = _with_checked_results(flat_fun)
        with _scope_of(axis_data):
            outs, out_dims = source.call_within(source.VMAP, batch_flat, checked, axis_data, leaves, dims)
        out_tree = flat_fun.out_tree
        flat_out_axes = flatten_axes("vmap out_axes", out_tree, out_axes)
        _check_unmapped(out_tree, outs, out_dims, flat_out_axes, axis_name)
        _check_specs(out_tree, outs, out_dims, flat_out_axes)
        flat_results = [_move_to_out_axis(x, d, w, axis_data) for x, d, w in zip(outs, out_dims, flat_out_axes)]
        return tree_unflatten(out_tree, flat_results)

    mapped.__doc__ = f"Vectorized version of {fun_name(fun)}: maps it over axes of its arguments."
    if getattr(fun, "__doc__", None):
        mapped.__doc__ += f"\n\nOriginal documentation:\n\n{fun.__doc__}"
    return mapped


def _scope_of(axis_data):
    """Context manager that binds the name of a mapped axis and says over which axes of the mesh it is sharded."""
    spread = names_in(axis_data.explicit_mesh_axis if axis_data.spmd_name is None else axis_data.spmd_name)
    if axis_data.name is None:
        return spread_axes_in_scope(spread) if spread else contextlib.nullcontext()
    return named_axis(axis_data.name, axis_data.size, spread)


def _is_leaf(x):
    return is_container(x) or is_view(x)


def _check_refs(info, leaves):
    """Raises TypeError for a view of a reference, ValueError for a reference that is passed twice."""
    for i, x in enumerate(leaves):
        if is_view(x):
            raise TypeError(
                f"When tracing {info.func_src_info} for vmap, TransformedRefs are not allowed, but got a "
                f"TransformedRef with name {info.arg_names[i]}."
            )
    check_distinct(info, leaves)


def _is_free(x, dim):
    """Whether an entry of `in_axes` is no number of an axis of an array."""
    return dim is None or is_container(x) or isinstance(dim, MappingSpec)


def _as_argument(x):
    if is_container(x):
        return x
    if not valid_jaxtype(x):
        typeof(x)  # raises the error
    return as_array(x)


def _with_checked_results(flat_fun):
    def run(*flat):
        leaves = flat_fun(*flat)
        for x in leaves:
            if not (valid_jaxtype(x) or is_container(x)):
                raise TypeError(f"Output from batched function {x!r} with type {type(x)} is not a valid JAX type")
        return leaves

    run.fun = flat_fun  # for messages
    return run


def _check_unmapped(out_tree, outs, dims, out_axes, axis_name):
    """Raises ValueError for a mapped result whose entry of `out_axes` is None."""
    for i, (x, dim, out_axis) in enumerate(zip(outs, dims, out_axes)):
        if out_axis is not None or dim is None or is_container(x):
            continue
        if axis_name is not None:
            raise ValueError(f"vmap has mapped output (axis_name={axis_name}) but out_axes is None")
        path = keystr(tree_leaves_with_path(tree_unflatten(out_tree, range(len(outs))))[i][0])
        raise ValueError(f"at vmap out_axes{path}, got axis spec None but output was batched on axis {dim}")


def _check_specs(out_tree, outs, dims, out_axes):
    """Raises ValueError for a result whose mapped axis is no axis of an array, and not that which `out_axes` states."""
    for i, (dim, out_axis) in enumerate(zip(dims, out_axes)):
        if (isinstance(dim, MappingSpec) or isinstance(out_axis, MappingSpec)) and dim != out_axis:
            path = keystr(tree_leaves_with_path(tree_unflatten(out_tree, range(len(outs))))[i][0])
            raise ValueError(f"at vmap out_axes{path}, got axis spec {out_axis} but output was batched on axis {dim}")


def _axis_data(name, size, spmd_axis_name, leaves, dims):
    """The AxisData of a call: with the explicit mesh axes that split the mapped dimensions.

    Raises ValueError where these differ, split a value that is not mapped, or are others than `spmd_axis_name` says.
    """
    if not seen.explicit_axes:
        return AxisData(name, size, spmd_axis_name)
    mapped = [(x, d) for x, d in zip(leaves, dims) if not _is_free(x, d)]
    axes = [split_by(typeof(x), d) for x, d in mapped]
    first = axes[0] if axes else None
    for other in axes:
        if other != first:
            raise ValueError(
                "Mapped away dimension of inputs passed to vmap should be sharded the same. Got inconsistent axis "
                f"specs: {first} vs {other}"
            )
    if first is None:
        return AxisData(name, size, spmd_axis_name)
    for x in (x for x, d in zip(leaves, dims) if d is None):
        if not set(names_in(first)).isdisjoint(axes_of(typeof(x))):
            raise ValueError(
                "Unmapped values passed to vmap cannot be sharded along the mesh axis you are vmapping over. Got type: "
                f"{typeof(x).str_short(True)}, in_axes: None and vmapped mesh axis: {tuple(names_in(first))}"
            )
    if spmd_axis_name is not None and names_in(spmd_axis_name) != names_in(first):
        raise ValueError(
            "Only one of spmd_axis_name or arrays sharded on `Explicit` mesh axis type is allowed. Got "
            f"spmd_axis_name={tuple(names_in(spmd_axis_name))} and arrays sharded on "
            f"explicit_mesh_axis={tuple(names_in(first))}"
        )
    sharding = typeof(mapped[0][0]).stated_sharding if isinstance(mapped[0][0], Tracer) else mapped[0][0].sharding
    return AxisData(name, size, mesh=sharding.mesh, explicit_mesh_axis=first)


def _move_to_out_axis(x, dim, out_axis, axis_data):
    """Moves the mapped axis of a result to its entry of `out_axes`; containers have it there."""
    if is_container(x) or out_axis is None or isinstance(out_axis, MappingSpec):
        return x
    ndim = typeof(x).ndim + (dim is None)
    if not -ndim <= out_axis < ndim:
        raise ValueError(f"axis {out_axis} is out of bounds for array of dimension {ndim}")
    return give_mapped_axis(x, dim, out_axis % ndim, axis_data)


_NONE = object()


class PytreeLeaf:
    """Stands for a leaf where only the structure of a tree is known; messages name this class."""

    def __repr__(self):
        return "pytree leaf"


def flatten_axes(name, tree, axes, kws=False):
    """One axis (int or None) for each leaf of `tree`, from a prefix tree of axes.

    `kws`: the trees are (positional, keywords), and messages are about the positional ones.
    Raises ValueError if `axes` is not a prefix of the tree.
    """
    dummy = tree_unflatten(tree, [PytreeLeaf() for _ in range(tree.num_leaves)])
    flat = []

    def extend(axis, subtree):
        flat.extend([None if axis is _NONE else axis] * tree_structure(subtree).num_leaves)

    marked = tree_map(lambda a: _NONE if a is None else a, axes, is_leaf=lambda a: a is None)
    try:
        tree_map(extend, marked, dummy)
    except ValueError:
        if kws:
            axes, dummy = axes[0], dummy[0]
        errors = prefix_errors(axes, dummy, lambda axis: axis is None)
        lead = f"Mismatch details ({len(errors)} found):"
        lines = [lead, *(str(error(name)) for error in errors)]
        if name.startswith("pjit "):  # the shardings of jit, for which JAX says no more
            raise ValueError("\n".join(lines)) from None
        text = "\n  ".join(lines)
        raise ValueError(f"{name} specification must be a tree prefix of the corresponding value; \n  {text}") from None
    return flat


def _mapped_size(fun, args, kwargs, leaves, dims, axis_size):
    """The common size of all mapped axes; raises a ValueError that lists different sizes."""
    if not leaves and axis_size is None:
        raise ValueError(
            "vmap wrapped function must be passed at least one argument containing an array or axis_size must be "
            f"specified, got empty *args={args} and **kwargs={kwargs}"
        )
    sizes = []
    for x, d in zip(leaves, dims):
        if d is None or (axis_size is not None and is_container(x)):  # whose spec may be anything
            continue
        if isinstance(d, MappingSpec):
            continue
        if not is_container(x) and typeof(x).is_high:
            raise ValueError(
                f"vmap was requested to map a value of non-array type {typeof(x)} along axis {d}; in the place of the "
                "number put a MappingSpec, and state axis_size"
            )
        shape = x.shape if is_container(x) else typeof(x).shape
        if not -len(shape) <= d < len(shape):
            rank = d + 1 if d >= 0 else -d
            raise ValueError(
                f"vmap was requested to map its argument along axis {d}, which implies that its rank should be at "
                f"least {rank}, but is only {len(shape)} (its shape is {shape})"
            )
        sizes.append(shape[d])
    if axis_size is not None:
        sizes.append(axis_size)
    if not sizes:
        raise ValueError("vmap must have at least one non-None value in in_axes or axis_size must be specified")
    if all(s == sizes[0] for s in sizes):
        return sizes[0]
    raise ValueError(_inconsistent_sizes(fun, args, kwargs, leaves, dims, axis_size))


def _inconsistent_sizes(fun, args, kwargs, leaves, dims, axis_size):
    named = argument_names(None, (), {key: kwargs[key] for key in sorted(kwargs)})
    names = argument_names(fun_signature(fun), args, kwargs)
    names = [f"argument {name}" for name in names[: len(names) - len(named)]] + list(named)
    groups = {}
    for name, x, d in zip(names, leaves, dims):
        if d is not None:
            aval = typeof(x)
            text = f"axis {d} of {name} of type {aval.str_short()}"
            groups.setdefault(aval.shape[d], []).append(text)
    ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
    lines = ["vmap got inconsistent sizes for array axes to be mapped:"]
    if axis_size is not None:
        lines.append(f"  * the `axis_size` argument was {axis_size}")
    for i, (size, where) in enumerate(ordered):
        if len(where) == 1:
            lines.append(f"  * one axis had size {size}: {where[0]}")
        else:
            share = "most" if i == 0 and (len(ordered) == 1 or len(where) > len(ordered[1][1])) else "some"
            lines.append(f"  * {share} axes ({len(where)} of them) had size {size}, e.g. {where[0]}")
    return ";\n".join(lines).replace("mapped:;", "mapped:")
