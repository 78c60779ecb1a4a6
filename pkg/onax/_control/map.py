"""map: applies a function to each slice along the leading axis, one after the other."""

from collections.abc import Callable
from typing import Any

from onax._control.scan import common_length, scan_adapted
from onax._core.explicit_axes import split_by
from onax._core.trace import typeof
from onax._ground.typing import PyTree, Result
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.shaping import reshape
from onax._prims.slicing import concatenate, slice
from onax._transforms.flatten import argument_names, fun_signature
from onax._transforms.vmap import vmap


def map_(f: Callable[[Any], Result], xs: PyTree, *, batch_size: int | None = None) -> Result:
    """Returns the results of a function of each slice along the leading axis, stacked.

    Args:
      f: function of a slice.
      xs: tree of arrays with one leading length.
      batch_size: int, how many slices are computed at a time by `vmap`; default: one.

    Returns:
      Tree of arrays with that leading length.

    Raises:
      ValueError: an array is a scalar, or lengths differ.

    Examples:
      >>> lax.map(lambda x: x * x, jnp.array([1, 2, 3]))
      Array([1, 4, 9], dtype=int32)
    """
    if batch_size is None:
        return _map_slices(f, xs, _make_scan_body)
    leaves, tree = tree_flatten(xs)
    total = common_length([typeof(x) for x in leaves], leaves, None)
    for x in leaves:
        if split_by(typeof(x), 0) is not None:
            types = f"({{Explicit: {typeof(x).stated_sharding.mesh.explicit_axes}}})"
            raise ValueError(
                "0th dimension of leaf passed to `jax.lax.map` should be replicated. Got "
                f"{typeof(x).str_short(short_dtypes=True)}{types}"
            )
    rows = total // batch_size if batch_size else 0
    if rows == 0:
        return vmap(f)(xs)
    whole = rows * batch_size
    grouped = [reshape(_slice_rows(x, 0, whole), (rows, batch_size, *x.shape[1:])) for x in leaves]
    rest = [_slice_rows(x, whole, total) for x in leaves]
    stacked = _map_slices(f, tree_unflatten(tree, grouped), _make_batched_scan_body)
    last = tree_flatten(vmap(f)(tree_unflatten(tree, rest)))[0] if whole < total else None
    flat = [reshape(y, (whole, *y.shape[2:])) for y in tree_flatten(stacked)[0]]
    if last is not None:
        flat = [concatenate([y, more], 0) for y, more in zip(flat, last)]
    return tree_unflatten(tree_structure(stacked), flat)


def _slice_rows(x, start, stop):
    return x if (start, stop) == (0, x.shape[0]) else slice(x, (start, *[0] * (x.ndim - 1)), (stop, *x.shape[1:]))


def _map_slices(f, xs, adapt):
    names = lambda fun, args: argument_names(fun_signature(fun), args[1:], {})
    return scan_adapted(f, (), xs, None, False, 1, "map", adapt, names)[1]


def _make_scan_body(f):
    return lambda _, x: ((), f(x))


def _make_batched_scan_body(f):
    return lambda _, x: ((), vmap(f)(x))
