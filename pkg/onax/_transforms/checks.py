"""Comparison of derivatives with finite differences: check_jvp, check_vjp, check_grads.

A derivative is compared along one random direction, a pullback through the inner product with one random cotangent, so
that each check costs two evaluations of the function whatever its size.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from onax._core.paths import keystr, tree_flatten_with_path
from onax._core.trace import as_array, typeof
from onax._ground import dtypes
from onax._ground.typing import AnyFunction
from onax._native.tree import tree_flatten, tree_map
from onax._transforms.autodiff import jvp, linearize, vjp

# JAX's tolerances of derivatives; types of 8 bits have 0.1, those with hardly a mantissa 1.
_TOLERANCES = {
    "bfloat16": 1e-1,
    "float16": 1e-2,
    "float32": 2e-3,
    "float64": 1e-5,
    "complex64": 1e-3,
    "complex128": 1e-5,
    "float4_e2m1fn": 1.0,
    "float8_e8m0fnu": 1.0,
}
_EPS = 1e-4

Tolerance: TypeAlias = float | Mapping[Any, float] | None  # one for all dtypes, or by dtype


def check_jvp(
    f: AnyFunction,
    f_jvp: AnyFunction,
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float = _EPS,
    err_msg: str = "",
) -> None:
    """Raises AssertionError unless a derivative in forward mode agrees with a central difference.

    Args:
      f: a function of arrays.
      f_jvp: a function (args, tangents) -> (value, derivative).
      args: a tuple of arguments.
      atol: the absolute tolerance, a number or a dict by dtype; default None, by dtype.
      rtol: the relative tolerance, likewise.
      eps: the distance of each of the two points; default 1e-4.
      err_msg: the beginning of the message.

    Returns:
      None.

    Raises:
      AssertionError: they differ.

    Examples:
      >>> onax.test_util.check_jvp(jnp.sin, lambda x, t: onax.jvp(jnp.sin, x, t), (1.0,), rtol=0.01, eps=0.01)
    """
    tangents = tree_map(_random_like(np.random.RandomState(0)), args)
    value, moved = f_jvp(args, tangents)
    expected = f(*args)
    _assert_same_dtypes(value, expected, err_msg)
    _assert_tangent_dtypes(value, moved, err_msg)
    _assert_close(value, expected, atol, rtol, _append_words(err_msg, "primal"))
    _assert_close(moved, _difference(f, args, tangents, eps), atol, rtol, _append_words(err_msg, "tangent"))


def check_vjp(
    f: AnyFunction,
    f_vjp: AnyFunction,
    args: Sequence[Any],
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float = _EPS,
    err_msg: str = "",
) -> None:
    """Raises AssertionError unless a derivative in reverse mode is the transpose of a central difference.

    Args:
      f: a function of arrays.
      f_vjp: a function (*args) -> (value, pullback).
      args: a tuple of arguments.
      atol: the absolute tolerance, a number or a dict by dtype; default None, by dtype.
      rtol: the relative tolerance, likewise.
      eps: the distance of each of the two points; default 1e-4.
      err_msg: the beginning of the message.

    Returns:
      None.

    Raises:
      AssertionError: they differ.

    Examples:
      >>> onax.test_util.check_vjp(jnp.sin, lambda x: onax.vjp(jnp.sin, x), (1.0,), rtol=0.01, eps=0.01)
    """
    random_like = _random_like(np.random.RandomState(0))
    value, pull = f_vjp(*args)
    _assert_close(value, f(*args), atol, rtol, _append_words(err_msg, "primal"))
    tangents = tree_map(random_like, args)
    out_tangents = _difference(f, args, tangents, eps)
    cotangents = tree_map(random_like, out_tangents)
    pulled = pull(_conjugate(cotangents))
    actual, expected = _inner_product(tangents, _conjugate(pulled)), _inner_product(out_tangents, cotangents)
    given = [typeof(x).dtype for x in tree_flatten((args, value))[0]]
    coarsest = max(given, key=_tolerance, default=np.dtype(np.float64))
    what = _append_words(err_msg, "cotangent projection")
    np.testing.assert_allclose(actual, expected, atol=_bound(atol, coarsest), rtol=_bound(rtol, coarsest), err_msg=what)


def check_grads(
    f: AnyFunction,
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: Tolerance = None,
    rtol: Tolerance = None,
    eps: float | None = None,
) -> None:
    """Raises AssertionError unless derivatives up to an order agree with finite differences.

    Args:
      f: a function of arrays.
      args: a tuple of arguments.
      order: the highest order.
      modes: "fwd" checks forward mode, "rev" reverse mode, "lin" `linearize`; default the first two.
      atol: the absolute tolerance, a number or a dict by dtype; default None, by dtype.
      rtol: the relative tolerance, likewise.
      eps: the distance of each of two points; default None, 1e-4 or, where derivatives differ from these differences,
        the cube root of the precision of the arguments.

    Returns:
      None.

    Raises:
      AssertionError: they differ.

    Examples:
      >>> onax.test_util.check_grads(jnp.sin, (1.0,), order=2)
    """
    args = tuple(args)
    steps = (_EPS, _balanced_eps(args)) if eps is None else (eps,)
    _check_orders(f, args, order, modes, atol, rtol, steps, "")


def _balanced_eps(args):
    given = [typeof(x).dtype for x in tree_flatten(args)[0]]
    return max([float(dtypes.finfo(d).eps) ** (1 / 3) for d in given if dtypes.issubdtype(d, np.inexact)], default=_EPS)


def _check_orders(f, args, order, modes, atol, rtol, steps, message):
    pushes = {"fwd": functools.partial(jvp, f), "lin": functools.partial(_push_by_linearize, f)}
    for mode in ("fwd", "lin"):
        if mode in modes:
            push = pushes[mode]
            what = _name_mode("JVP" if mode == "fwd" else "LIN", message)
            _check_at_steps(check_jvp, f, push, args, atol, rtol, steps, what)
            if order > 1:
                point = (args, tree_map(_as_tangent, args))
                _check_orders(push, point, order - 1, modes, atol, rtol, steps, what)
    if "rev" in modes:
        what = _name_mode("VJP", message)
        _check_at_steps(check_vjp, f, functools.partial(vjp, f), args, atol, rtol, steps, what)
        if order > 1:

            def pulled(*xs):
                out, pull = vjp(f, *xs)
                return _inexact(pull(out))

            _check_orders(pulled, args, order - 1, modes, atol, rtol, steps, what)


def _push_by_linearize(f, args, tangents):
    value, linear = linearize(f, *args)
    return value, linear(*tangents)


def _as_tangent(x):
    """The argument as a tangent, at which JAX's checks take second derivatives; zero for an integer."""
    aval = typeof(x)
    return np.zeros(aval.shape, dtypes.float0) if aval.to_tangent_aval().dtype == dtypes.float0 else x


def _check_at_steps(check, f, derivative, args, atol, rtol, steps, message):
    """Checks with the first step; where differences disagree, truncation or rounding may be why, with the next one."""
    for step in steps[:-1]:
        try:
            return check(f, derivative, args, atol, rtol, step, message)
        except AssertionError:
            continue
    return check(f, derivative, args, atol, rtol, steps[-1], message)


def _name_mode(mode, message):
    return f"{mode} of {message}" if message else mode


def _append_words(message, what):
    return f"{message} {what}" if message else what


def _inexact(tree):
    """The leaves of inexact dtype, which have derivatives."""
    return [x for x in tree_flatten(tree)[0] if typeof(x).dtype != dtypes.float0]


def _random_like(generator):
    """Makes random tangents; the tangent of an integer is zero."""

    def make(x):
        aval = typeof(x)
        tangent = aval.to_tangent_aval().dtype
        if tangent == dtypes.float0:
            return np.zeros(aval.shape, tangent)
        value = generator.randn(*aval.shape)
        if dtypes.is_complex(tangent):
            value = value + 1j * generator.randn(*aval.shape)
        return as_array(np.asarray(value).astype(tangent))

    return make


def _difference(f, args, tangents, eps):
    """(f(args + eps tangents) - f(args - eps tangents)) / (2 eps), in the precision of the computation or double."""
    high, low = (f(*tree_map(lambda x, t, s=s: _step_along(x, t, s * eps), args, tangents)) for s in (1, -1))
    return tree_map(lambda a, b: _difference_quotient(a, b, eps), high, low)


def _step_along(x, t, step):
    if typeof(t).dtype == dtypes.float0:
        return x
    dtype = typeof(x).dtype
    return as_array(
        (np.asarray(x).astype(_wide_dtype(dtype)) + step * np.asarray(t).astype(_wide_dtype(dtype))).astype(dtype)
    )


def _difference_quotient(a, b, eps):
    dtype = typeof(a).to_tangent_aval().dtype
    if dtype == dtypes.float0:
        return np.zeros(typeof(a).shape, dtype)
    a, b = (np.asarray(x).astype(_wide_dtype(dtype)) for x in (a, b))
    difference = np.subtract(a, b, out=np.zeros_like(a), where=a != b)  # equal infinities differ by 0
    return (difference / (2 * eps)).astype(dtype)


def _wide_dtype(dtype):
    return np.complex128 if dtypes.is_complex(dtype) else np.float64


def _conjugate(tree):
    return tree_map(lambda x: as_array(np.conj(np.asarray(x))) if dtypes.is_complex(typeof(x).dtype) else x, tree)


def _inner_product(one, other):
    """The inner product of the inexact leaves of two trees, in double precision."""
    total = 0.0
    for a, b in zip(_inexact(one), _inexact(other)):
        total += np.real(
            np.vdot(
                np.asarray(b).astype(_wide_dtype(typeof(b).dtype)), np.asarray(a).astype(_wide_dtype(typeof(a).dtype))
            )
        )
    return total


def _tolerance(dtype):
    """The default tolerance of a dtype; 0 for integers, bools and float0."""
    if not dtypes.issubdtype(dtype, np.inexact):
        return 0.0
    return _TOLERANCES.get(dtype.name, 1e-1)


def _bound(tolerance, dtype):
    """The tolerance for values of a dtype, from a number, a dict from dtypes to numbers, or None.

    A dict has no key for some dtypes; these have their default tolerance.
    """
    if isinstance(tolerance, Mapping):
        given = {np.dtype(key): bound for key, bound in tolerance.items()}
        return given.get(np.dtype(dtype), _tolerance(dtype))
    return _tolerance(dtype) if tolerance is None else tolerance


def _assert_same_dtypes(one, other, message):
    _assert_dtypes(one, other, message, lambda aval: aval.dtype)


def _assert_tangent_dtypes(value, moved, message):
    _assert_dtypes(value, moved, message, lambda aval: aval.to_tangent_aval().dtype)


def _assert_dtypes(value, other, message, expected_dtype):
    """Raises AssertionError where a leaf of `other` has not the dtype that the value's leaf makes expected."""
    for a, b in zip(tree_flatten(value)[0], tree_flatten(other)[0]):
        if expected_dtype(typeof(a)) != typeof(b).dtype:
            raise AssertionError(_append_words(message, f"dtypes differ: {typeof(a)} and {typeof(b)}"))


def _assert_close(actual, expected, atol, rtol, message):
    pairs, tree = tree_flatten_with_path(actual)
    others, other_tree = tree_flatten(expected)
    if tree != other_tree:
        raise AssertionError(f"{message}: the structures {tree} and {other_tree} differ")
    for (path, a), b in zip(pairs, others):
        dtype = typeof(a).dtype
        if dtype == dtypes.float0:
            continue
        bounds = [_bound(t, dtype) * np.size(a) for t in (atol, rtol)]  # JAX's grow with the size
        kind = _wide_dtype(dtype)
        np.testing.assert_allclose(
            np.asarray(a).astype(kind),
            np.asarray(b).astype(kind),
            atol=bounds[0],
            rtol=bounds[1],
            err_msg=f"{message}{f' at {keystr(path)}' if path else ''}",
        )


__all__ = ["check_grads", "check_jvp", "check_vjp"]
