"""scan: a loop of known length over leading axes, with a carry.

This module stages the user's function and binds `scan_p`, which `scan_rules.py` defines.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from onax._control.bodies import arrays_and_avals, carry_name, check_carry, promote_weak_types, stage_body
from onax._control.scan_bodies import drop_forwarded
from onax._control.scan_rules import scan_p
from onax._core.evaluate import bind_with_refs
from onax._core.lists import merge_lists, reject, select
from onax._core.paths import skeleton
from onax._core.refs import AbstractRef, check_distinct, is_ref
from onax._core.trace import as_array, concrete_or_error, find_cur_trace, typeof
from onax._ground import dims, source
from onax._ground.config import DISABLE_JIT
from onax._ground.typing import PyTree
from onax._native import context
from onax._native.avals import ShapedArray
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.slicing import index_in_dim
from onax._prims.stacking import stack
from onax._transforms.sharding_types import slice_aval

Carry = TypeVar("Carry")
Y = TypeVar("Y")


@source.api_boundary
def scan(
    f: Callable[[Any, Any], tuple[Carry, Y]],
    init: Any,
    xs: PyTree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose=False,
) -> tuple[Carry, Y]:
    """Returns the last carry and the stacked outputs of a loop over the leading axis of arrays.

    Args:
      f: function (carry, x) -> (carry, y); the carry keeps its structure, shapes and dtypes.
      init: tree of arrays, the first carry.
      xs: tree of arrays with one leading length, or None.  In the place of an array may be a mutable reference, of
        which each step gets its slice as a reference.
      length: int, the number of steps; needed where there is no `xs`.
      reverse: whether the loop runs from the end.
      unroll: int or bool, how many steps are written out at a time.

    Returns:
      Tuple (last carry, ys stacked along a new leading axis).

    Raises:
      TypeError: the carry changes its type.
      ValueError: leading lengths differ.

    Examples:
      >>> lax.scan(lambda total, x: (total + x, total), 0, jnp.array([1, 2, 3]))
      (Array(6, dtype=int32), Array([0, 1, 3], dtype=int32, weak_type=True))
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    return scan_adapted(f, init, xs, length, reverse, unroll)


def scan_adapted(f, init, xs, length, reverse, unroll, what="scan", adapt=None, names=None, carry=None):
    """`scan` for functions that derive the body from the user's function; `stage_body` explains the last parameters."""
    xs_leaves, xs_tree = tree_flatten(xs)
    xs_values, xs_avals = arrays_and_avals(xs_leaves)
    length = common_length(xs_avals, xs_leaves, length)
    if context.option_word() & DISABLE_JIT and not any(map(is_ref, xs_values)):  # a slice of a reference is staged
        return _call_each_step(
            f if adapt is None else adapt(f), tree_map(as_array, init), xs_values, xs_tree, length, reverse
        )
    x_avals = [
        AbstractRef(slice_aval(a.inner_aval, length)) if type(a) is AbstractRef else slice_aval(a, length)
        for a in xs_avals
    ]
    init_leaves, init_tree = tree_flatten(init)
    values, avals = arrays_and_avals(init_leaves)
    in_tree = tree_structure(((init, skeleton(xs_tree)), {}))
    stage = lambda avals: stage_body(f, in_tree, [*avals, *x_avals], what, adapt, names)
    jaxpr, consts, out_tree = stage(avals)
    check_distinct(jaxpr.debug_info, [*values, *xs_values], consts)
    carry_tree = _carry_tree(out_tree, jaxpr)
    if carry_tree == init_tree:
        values, changed = promote_weak_types(values, avals, jaxpr.out_avals)
        if changed:
            avals = [typeof(v) for v in values]
            jaxpr, consts, out_tree = stage(avals)
            carry_tree = _carry_tree(out_tree, jaxpr)
    name = lambda: carry or carry_name(f)
    check_carry("scan body function", name, init_tree, carry_tree, avals, jaxpr.out_avals)
    params = {"length": length, "reverse": bool(reverse), "unroll": _check_unroll(unroll, length)}
    return tree_unflatten(out_tree, _bind_scan(jaxpr, consts, values, xs_values, params))


def _bind_scan(jaxpr, consts, values, xs_values, params):
    """Binds a scan; parts of the carry that no step changes become constants, and ys that are slices are `xs`."""
    n_consts, n_carry = len(consts), len(values)
    body, same, slices = drop_forwarded(jaxpr, n_consts, n_carry)
    carried, fixed = reject(values, same), select(values, same)
    outs = []
    if body.outvars or body.effects or find_cur_trace().staging:
        counts = {"num_consts": len(fixed) + n_consts, "num_carry": len(carried)}
        operands = [*fixed, *consts, *carried, *xs_values]
        outs = bind_with_refs(scan_p, operands, {"jaxpr": body, **counts, **params})
    ys = iter(outs[len(carried) :])
    return [
        *merge_lists(same, outs[: len(carried)], fixed),
        *(next(ys) if i is None else xs_values[i] for i in slices),
    ]


def _call_each_step(body, carry, xs, xs_tree, length, reverse):
    """Calls the body in a Python loop, for `jax_disable_jit`."""
    if length == 0:
        raise ValueError("zero-length scan is not supported in disable_jit() mode because the output type is unknown.")
    ys = []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        carry, y = body(carry, tree_unflatten(xs_tree, [index_in_dim(x, i, 0, False) for x in xs]))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree_map(lambda *parts: stack([as_array(y) for y in parts], 0), *ys)


def _carry_tree(tree, jaxpr):
    """The tree of the carry: the first element of the pair that the body returns."""
    data = tree.node_data()
    children = tree.children()
    if data is None or data[0] not in (tuple, list) or len(children) != 2:
        types = tree_unflatten(tree, list(map(_TypeText, jaxpr.out_avals)))
        raise TypeError(f"scan body output must be a pair, got {types}.")
    return children[0]


@dataclass(slots=True, eq=False, repr=False)
class _TypeText:
    """An aval whose repr is the short form for messages."""

    aval: ShapedArray

    def __repr__(self):
        return f"{'~' if self.aval.weak_type else ''}{self.aval.str_short()}"


_LENGTH = (
    "The `length` argument to `scan` expects a concrete `int` value. For scan-like iteration with a dynamic length, "
    "use `while_loop` or `fori_loop`."
)


def common_length(avals, leaves, length):
    """The length of the leading axes; raises ValueError if they disagree with each other or with `length`.

    Values that are not arrays do not tell it.
    """
    if any(a.is_high for a in avals):
        arrays = [(a, x) for a, x in zip(avals, leaves) if not a.is_high]
        if not arrays and length is None:
            raise ValueError("must provide `length` to `scan`")
        avals, leaves = [a for a, _ in arrays], [x for _, x in arrays]
    scalars = [str(leaf) for aval, leaf in zip(avals, leaves) if not aval.shape]
    if scalars:
        raise ValueError(f"scan got value with no leading axis to scan over: {', '.join(scalars)}.")
    sizes = list(dict.fromkeys(a.shape[0] for a in avals))
    if length is not None:
        length = concrete_or_error(None, length, _LENGTH)
        length = int(length) if dims.is_constant(length) else length
        if any(s != length for s in sizes):
            raise ValueError(f"scan got `length` argument of {length} which disagrees with leading axis sizes {sizes}.")
        return length
    if len(sizes) > 1:
        raise ValueError(
            f"scan got values with different leading axis sizes: {', '.join(str(a.shape[0]) for a in avals)}."
        )
    if not sizes:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    return sizes[0]


def _check_unroll(unroll, length):
    expected = "The `unroll` argument to `scan` expects a concrete `int` or `bool` value."
    unroll = concrete_or_error(None, unroll, expected)
    if isinstance(unroll, bool):
        return max(length, 1) if unroll else 1
    if operator.index(unroll) < 0:
        raise ValueError("`unroll` must be a `bool` or a non-negative `int`.")
    return unroll
