"""Functions mapped over axes: apply_along_axis, apply_over_axes, vectorize, piecewise."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from onax import lax
from onax._compile.jit import jit
from onax._ground.typing import AnyFunction, ArrayLike
from onax._native.array import Array
from onax._transforms.vmap import vmap
from onax.numpy._creation import asarray
from onax.numpy._cumulative import cumsum
from onax.numpy._promotion import (
    canonical_axis,
    check_arraylike,
    ensure_arraylike,
    ensure_arraylikes,
    report_promotion,
)
from onax.numpy._shaping import expand_dims


def apply_along_axis(func1d: AnyFunction, axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """Returns the results of a function of vectors, applied along an axis.

    Args:
      func1d: function of a vector that returns an array; it is mapped by `vmap`.
      axis: int.
      arr: array.
      *args: further positional arguments of func1d.
      **kwargs: keyword arguments of func1d.

    Returns:
      Array in which the axes of a result replace the axis.

    Raises:
      ValueError: there is no such axis.

    Examples:
      >>> jnp.apply_along_axis(jnp.sum, 1, jnp.array([[1, 2], [3, 4]]))
      Array([3, 7], dtype=int32)
    """
    arr = ensure_arraylike("apply_along_axis", arr)
    axis = canonical_axis(axis, arr.ndim)

    def function(vector):
        return func1d(vector, *args, **kwargs)

    for i in range(1, arr.ndim - axis):
        function = vmap(function, in_axes=i, out_axes=-1)
    for _ in range(axis):
        function = vmap(function, in_axes=0, out_axes=0)
    return function(arr)


def apply_over_axes(func: AnyFunction, a: ArrayLike, axes: Sequence[int]) -> Array:
    """Returns the result of a function applied over one axis after the other.

    Args:
      func: function `func(a, axis)` whose result has the rank of `a`, or one less.
      a: array.
      axes: sequence of ints.

    Returns:
      Array of the rank of `a`; an axis that the function removed has length 1.

    Raises:
      ValueError: a result has another rank.

    Examples:
      >>> jnp.apply_over_axes(jnp.sum, jnp.ones((2, 3)), (0, 1))
      Array([[6.]], dtype=float32)
    """
    a = ensure_arraylike("apply_over_axes", a)
    for axis in axes:
        b = func(a, axis)
        if b.ndim == a.ndim:
            a = b
        elif b.ndim == a.ndim - 1:
            a = expand_dims(b, axis)
        else:
            raise ValueError("function is not returning an array of the correct shape")
    return a


def piecewise(
    x: ArrayLike,
    condlist: ArrayLike | Sequence[ArrayLike],
    funclist: Sequence[ArrayLike | Callable[..., Any]],
    *args: Any,
    **kw: Any,
) -> Array:
    """Returns values of the functions whose conditions hold, element by element.

    A function that is not chosen for an element has no influence on its derivative.

    Args:
      x: array of points.
      condlist: sequence of bools, or of bool arrays of the shape of `x`; where several hold, the last one counts.
      funclist: sequence of functions of one element, or constants: one for each condition, and optionally a default
        (otherwise 0).
      *args: further positional arguments of the functions.
      **kw: keyword arguments of the functions.

    Returns:
      Array of the shape and dtype of `x`.

    Raises:
      ValueError: the number of functions does not fit.

    Examples:
      >>> x = jnp.array([-2.0, 3.0])
      >>> jnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: 10 * v])
      Array([ 2., 30.], dtype=float32)
    """
    x = ensure_arraylike("piecewise", x)
    count, given = len(condlist), len(funclist)
    if given not in (count, count + 1):
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected; got {given}"
        )
    if not count:
        raise ValueError("condlist must be non-empty")
    pieces = dict(enumerate([funclist[-1] if given == count + 1 else 0, *funclist[:count]]))
    constants = {i: c for i, c in pieces.items() if not callable(c)}
    functions = frozenset((i, f) for i, f in pieces.items() if callable(f))
    return _piecewise(x, asarray(condlist, dtype=bool), constants, functions, *args, **kw)


@functools.partial(jit, static_argnames=("funcs",))
def _piecewise(x, condlist, consts, funcs, *args, **kw):
    """Applies the piece whose number is one more than that of the last condition that holds; piece 0 is the default."""
    conditions = lax.concatenate([lax.full_like(condlist[:1], False), condlist], 0)
    counts = cumsum(conditions, 0)
    chosen = lax.argmax(counts, 0, np.int32)  # the last condition that holds: there the count reaches its maximum
    pieces = {**consts, **dict(funcs)}
    functions = [_make_piece(pieces[i], x.dtype, args, kw) for i in range(len(pieces))]
    return vectorize(lax.switch, excluded={1})(chosen, functions, x)


def _make_piece(function, dtype, args, kw):
    def value(v):
        result = function(v, *args, **kw) if callable(function) else function
        return lax.convert_element_type(ensure_arraylike("piecewise", result), dtype)

    if callable(function):
        value.__wrapped__ = function  # error messages then name the user's function
    return value


# --- vectorize ----------------------------------------------------------------------------------------------------

_NAME = r"\w+"
_CORE = rf"\((?:{_NAME}(?:,{_NAME})*)?\)"
_SIGNATURE = rf"{_CORE}(?:,{_CORE})*->{_CORE}(?:,{_CORE})*"


def _parse_signature(signature):
    """'(m,n),(n)->(m)' as lists of tuples of names for inputs and outputs."""
    text = signature.replace(" ", "")
    if not re.fullmatch(_SIGNATURE, text):
        raise ValueError(f"not a valid gufunc signature: {signature}")
    return tuple([tuple(re.findall(_NAME, core)) for core in re.findall(_CORE, side)] for side in text.split("->"))


def vectorize(
    pyfunc: AnyFunction, *, excluded: Collection[int | str] = frozenset(), signature: str | None = None
) -> Callable[..., Any]:
    """Returns a function that broadcasts, made from one of scalars or small arrays by `vmap`.

    Args:
      pyfunc: function of arrays.
      excluded: set of positions and names of arguments that are passed on unchanged.
      signature: a string such as '(m,n),(n)->(m)' that names the trailing axes of arguments and results; default:
        scalars.

    Returns:
      Function of arrays whose leading axes broadcast.

    Raises:
      ValueError: shapes of arguments do not fit the signature (when it is called).
      TypeError: `excluded` holds something else than indices and names.

    Examples:
      >>> jnp.vectorize(jnp.dot, signature="(n),(n)->()")(jnp.ones((2, 3)), jnp.ones(3))
      Array([3., 3.], dtype=float32)
    """
    for item in excluded:
        if not isinstance(item, (str, int)):
            raise TypeError(
                f"jax.numpy.vectorize can only exclude integer or string arguments, but excluded={excluded!r}"
            )
        if isinstance(item, int) and item < 0:
            raise ValueError(f"excluded={excluded!r} contains negative numbers")

    @functools.wraps(pyfunc)
    def wrapped(*args, **kwargs):
        hint = f"on vectorized function with {excluded=!r} and {signature=!r}"
        apart = {*excluded, *(i for i, a in enumerate(args) if a is None), *(k for k, a in kwargs.items() if a is None)}
        mapped, values, fixed = _close_over_excluded(pyfunc, args, kwargs, apart)
        if signature is None:
            inputs, outputs = [()] * len(values), None
        else:
            inputs, outputs = _parse_signature(signature)
        if signature is not None and len(inputs) == len(args):
            given = {i for i, a in enumerate(args) if a is None}
            if any(inputs[i] for i in given):
                raise ValueError(f"Cannot pass None at locations {given} with {signature=}")
            inputs = [core for i, core in enumerate(inputs) if i not in given]
        if len(inputs) != len(values):
            raise TypeError(f"wrong number of positional arguments: expected {len(inputs)}, got {len(values)} {hint}")
        check_arraylike("vectorize", *values)
        values = ensure_arraylikes("vectorize", *values)
        leads, sizes = _leading_shapes(values, inputs, hint)
        _check_ranks(values, leads, signature)
        checked = _check_results_of(mapped, fixed, outputs, sizes, hint)
        return _broadcast_map(checked, values, leads)

    return wrapped


def _close_over_excluded(function, args, kwargs, excluded):
    """Returns a function of the mapped arguments only, those arguments, and the excluded keyword arguments."""
    static = {i: a for i, a in enumerate(args) if i in excluded}
    names = [k for k in kwargs if k not in excluded]
    fixed = {k: v for k, v in kwargs.items() if k in excluded}
    values = [a for i, a in enumerate(args) if i not in static] + [kwargs[k] for k in names]
    positional = len(args) - len(static)

    def call(*mapped, **more):
        rest = iter(mapped[:positional])
        full = [static[i] if i in static else next(rest) for i in range(len(args))]
        return function(*full, **dict(zip(names, mapped[positional:])), **more)

    return call, values, fixed


def _leading_shapes(values, inputs, hint):
    """The shape before the core axes of each argument, and the size of each named axis."""
    sizes, leads = {}, []
    for x, core in zip(values, inputs):
        if x.ndim < len(core):
            raise ValueError(
                f"input with shape {x.shape} does not have enough dimensions for all core dimensions {core} {hint}"
            )
        split = x.ndim - len(core)
        leads.append(x.shape[:split])
        _record_sizes(sizes, x.shape[split:], core, hint)
    return leads, sizes


def _check_ranks(values, leads, signature):
    """Raises or warns if arrays that are no scalars have unequal numbers of leading axes, as the option says."""
    if len({len(lead) for x, lead in zip(values, leads) if x.ndim}) > 1:
        shapes = [x.shape for x in values]
        report_promotion(
            f"operands with shapes {shapes} require rank promotion for jnp.vectorize function with {signature=}."
        )


def _record_sizes(sizes, shape, core, hint):
    for name, n in zip(core, shape):
        if sizes.setdefault(name, n) != n:
            raise ValueError(f"inconsistent size for core dimension {name!r}: {n} vs {sizes[name]} {hint}")


def _check_results_of(function, fixed, outputs, sizes, hint):
    """Wraps the function so that its results are checked against the signature."""

    def call(*args):
        out = function(*args, **fixed)
        if outputs is None:
            return out
        if len(outputs) > 1 and not isinstance(out, tuple):
            raise TypeError(f"output must be a tuple when multiple outputs are expected, got: {out!r}\n{hint}")
        sequence = out if isinstance(out, tuple) else (out,)
        if len(sequence) != len(outputs):
            raise TypeError(f"wrong number of output arguments: expected {len(outputs)}, got {len(sequence)} {hint}")
        known = dict(sizes)
        for x, core in zip(sequence, outputs):
            if np.ndim(x) != len(core):
                raise ValueError(f"output shape {np.shape(x)} does not match core dimensions {core} {hint}")
            _record_sizes(known, np.shape(x), core, hint)
        return out

    return call


def _broadcast_map(function, values, leads):
    """vmap over the broadcast leading axes; an axis of length 1 of some argument is not mapped there."""
    shape = lax.broadcast_shapes(*leads) if leads else ()
    padded = [(1,) * (len(shape) - len(lead)) + tuple(lead) for lead in leads]
    squeezed, mapped_axes = [], []
    for x, lead, full in zip(values, leads, padded):
        own = [i for i, d in enumerate(lead) if d == 1]
        squeezed.append(lax.squeeze(x, tuple(own)) if own else x)
        mapped_axes.append([d != 1 for d in full])
    ones = []
    for axis in reversed(range(len(shape))):
        in_axes = tuple(0 if flags[axis] else None for flags in mapped_axes)
        if all(i is None for i in in_axes):
            ones.append(axis)
        else:
            function = vmap(function, in_axes=in_axes)
    out = function(*squeezed)
    if not ones:
        return out
    ones = tuple(sorted(ones))
    if isinstance(out, tuple):
        return tuple(expand_dims(x, ones) for x in out)
    return expand_dims(out, ones)
