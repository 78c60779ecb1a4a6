"""jnp.ufunc: elementwise functions as objects with `reduce`, `accumulate`, `outer` and `at`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from onax import lax
from onax._compile.jit import jit
from onax._control.jit_call import staged
from onax._ground import dtypes
from onax._ground.source import api_class
from onax._ground.typing import ArrayLike, DTypeLike
from onax._native.array import Array
from onax.numpy import _arithmetic, _cumulative, _reductions, _ufuncs
from onax.numpy._creation import array, asarray
from onax.numpy._mapping import vectorize
from onax.numpy._promotion import check_arraylike, ensure_arraylike, ensure_arraylikes, promote_args_inexact
from onax.numpy._shaping import expand_dims
from onax.numpy._ufunc_docstrings import INEXACT, describe
from onax.numpy._ufunc_loops import accumulate_by_loop, reduce_by_loop, reduceat_by_loop, update_by_loop
from onax.numpy._where import where as select


@api_class
class ufunc:
    """An elementwise function of `nin` arrays, with `reduce`, `accumulate`, `outer`, `at` and `reduceat`.

    `jnp.frompyfunc` makes one from a function of scalars.  Calls broadcast.

    Args:
      func: function of `nin` scalars, which is mapped by `vmap`; of arrays if `call` is given.
      nin: int, the number of arguments.
      nout: int, the number of results.
      name: str; default: the name of the function.
      nargs: int, the number of arguments with an `out`, which there is not; default: nin.
      identity: the value of a reduction of no elements; default: there is none.
      call: anything but None says that the function takes arrays that broadcast.
      reduce: function of (array, axis, dtype, keepdims, initial, where) that replaces the general loop.
      accumulate: function of (array, axis, dtype) that replaces the general loop.
      at: function of (x.at[indices], operand) that replaces the general loop.
      reduceat: accepted as in JAX; the general loop is used.

    Examples:
      >>> jnp.add.reduce(jnp.array([1, 2, 3])), jnp.add.outer(jnp.array([1, 2]), jnp.array([10, 20])).shape
      (Array(6, dtype=int32), (2, 2))
    """

    def __init__(
        self, func, /, nin, nout, *, name=None, nargs=None, identity=None, call=None, reduce=None, accumulate=None,
        at=None, reduceat=None,
    ):  # fmt: skip
        self.__doc__ = func.__doc__
        self.__name__ = name or func.__name__
        self._numbers = operator.index(nin), operator.index(nout), operator.index(nin if nargs is None else nargs)
        self._fixed = func, identity
        self._call = func if call is not None else functools.partial(_call_elementwise, self)
        self._reduce, self._accumulate, self._at, self._reduceat = reduce, accumulate, at, reduceat

    __module__ = "onax.numpy"

    nin = property(lambda self: self._numbers[0], doc="The number of arguments.")
    nout = property(lambda self: self._numbers[1], doc="The number of results.")
    nargs = property(lambda self: self._numbers[2], doc="The number of arguments.")
    identity = property(lambda self: self._fixed[1], doc="The value of a reduction of no elements, or None.")
    _func = property(lambda self: self._fixed[0])

    def __repr__(self):
        return f"<jnp.ufunc '{self.__name__}'>"

    def __hash__(self):
        return hash(self._key())

    def __eq__(self, other):
        return isinstance(other, ufunc) and self._key() == other._key()

    def _key(self):
        return self._func, self.__name__, self.identity, self.nin, self.nout

    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            args = check_arraylike(self.__name__, *args)
        if out is not None:
            raise NotImplementedError(f"out argument of {self}")
        if where is not None:
            raise NotImplementedError(f"where argument of {self}")
        return self._call(*args)

    def _require_binary(self, method):
        if self.nin != 2:
            raise ValueError(f"{method} only supported for binary ufuncs")
        if self.nout != 1:
            raise ValueError(f"{method} only supported for functions returning a single value")

    def reduce(
        self,
        a: ArrayLike,
        axis: int | None = 0,
        dtype: DTypeLike | None = None,
        out: None = None,
        keepdims: bool = False,
        initial: ArrayLike | None = None,
        where: ArrayLike | None = None,
    ) -> Array:
        """The elements along an axis (None: all), combined from left to right."""
        self._require_binary("reduce")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.reduce()")
        if initial is not None:
            (initial,) = check_arraylike(f"{self.__name__}.reduce", initial)
        if where is not None and self.identity is None and initial is None:
            raise ValueError(
                f"reduction operation {self.__name__!r} does not have an identity, so to use a where mask one has to "
                "specify 'initial'."
            )
        if where is not None and asarray(where).dtype != bool:
            raise ValueError(f"where argument must have dtype=bool; got dtype={asarray(where).dtype}")
        return _reduce(a, initial, where, ufunc=self, axis=axis, dtype=dtype, keepdims=keepdims)

    def accumulate(self, a: ArrayLike, axis: int = 0, dtype: DTypeLike | None = None, out: None = None) -> Array:
        """The running results of `reduce` along an axis."""
        self._require_binary("accumulate")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.accumulate()")
        return _accumulate(a, ufunc=self, axis=axis, dtype=dtype)

    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """The function on all pairs of elements of A and B: the axes of A, then those of B."""
        self._require_binary("outer")
        return _outer(*ensure_arraylikes(f"{self.__name__}.outer", A, B), ufunc=self)

    def at(self, a: ArrayLike, indices: Any, b: ArrayLike | None = None, /, *, inplace: bool = True) -> Array:
        """a with the function applied at the indices (to b's elements, too, if it is binary), again for repeated ones.

        Raises NotImplementedError unless inplace=False: arrays cannot be overwritten.
        """
        if inplace:
            raise NotImplementedError(
                "Because JAX arrays are immutable, jnp.ufunc.at() cannot operate inplace like\nnp.ufunc.at(). Instead, "
                "you can pass inplace=False and capture the result; e.g.\n"
                ">>> arr = jnp.add.at(arr, ind, val, inplace=False)\n"
            )
        return _at(a, indices, b, ufunc=self)

    def reduceat(
        self, a: ArrayLike, indices: Any, axis: int = 0, dtype: DTypeLike | None = None, out: None = None
    ) -> Array:
        """For each of the increasing `indices` the elements along an axis from it up to the next one, combined.

        Args:
          a: array of rank 1 or more.
          indices: integers of shape (k,).
          axis: the axis along which elements are combined.
          dtype: accepted for compatibility; the result has the dtype of a.
          out: not supported.

        Returns:
          An array with k elements along the axis.
        """
        self._require_binary("reduceat")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.reduceat()")
        return _reduceat(a, indices, ufunc=self, axis=axis, dtype=dtype)


def _call_elementwise(ufunc, *args):
    return _call_vectorized(ufunc, *check_arraylike(ufunc.__name__, *args))


@functools.partial(jit, static_argnums=0)
def _call_vectorized(ufunc, *args):
    return vectorize(ufunc._func)(*args)


@staged("reduce", static_argnames=("ufunc", "axis", "dtype", "keepdims"))
def _reduce(a, initial, where, *, ufunc, axis, dtype, keepdims):
    if ufunc._reduce is not None:
        return ufunc._reduce(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)
    initial = ufunc.identity if initial is None else initial
    return reduce_by_loop(ufunc, ufunc.__name__, a, axis, dtype, keepdims, initial, where)


@staged("accumulate", static_argnames=("ufunc", "axis", "dtype"))
def _accumulate(a, *, ufunc, axis, dtype):
    if ufunc._accumulate is not None:
        return ufunc._accumulate(a, axis=axis, dtype=dtype)
    return accumulate_by_loop(ufunc, ufunc.__name__, a, axis, dtype)


def _at(a, indices, b, *, ufunc):
    operands = () if b is None else (b,)
    if ufunc._at is not None:
        return ufunc._at(array(a).at[indices], *operands)
    return update_by_loop(ufunc, ufunc.__name__, a, indices, *operands)


@staged("reduceat", static_argnames=("ufunc", "axis", "dtype"))
def _reduceat(a, indices, *, ufunc, axis, dtype):
    return reduceat_by_loop(ufunc, ufunc.__name__, a, indices, axis, dtype)


@staged("outer", static_argnames=("ufunc",))
def _outer(A, B, *, ufunc):
    B = expand_dims(B, tuple(range(A.ndim)))
    return ufunc(expand_dims(A, tuple(range(A.ndim, B.ndim))), B)


def _extreme_reduce(function):
    def reduce(a, axis, dtype, keepdims, initial, where):
        a = ensure_arraylike("reduce", a)
        out = function(a, axis=axis, keepdims=keepdims, initial=initial, where=where)
        return out if dtype is None else lax.convert_element_type(out, dtype)

    return reduce


def _truth_reduce(function, combine):
    def reduce(a, axis, dtype, keepdims, initial, where):
        out = function(a, axis=axis, keepdims=keepdims, where=where)
        out = out if initial is None else combine(out, initial)
        return out if dtype is None else lax.convert_element_type(out, dtype)

    return reduce


def _bit_reduce(function, combine, identity):
    def reduce(a, axis, dtype, keepdims, initial, where):
        a = ensure_arraylike("reduce", a)
        a = a if dtype is None else lax.convert_element_type(a, dtype)
        if not (a.dtype == np.bool_ or dtypes.is_integer(a.dtype)):
            raise ValueError(f"integer argument required; got dtype={a.dtype}")
        if where is not None:
            a = select(where, a, lax.full_like(a, identity))
        axes = _reductions.reduction_axes(axis, a.ndim)
        out = function(a, axes)
        out = expand_dims(out, axes) if keepdims else out
        return out if initial is None else combine(out, lax.convert_element_type(initial, out.dtype))

    return reduce


def _logical_xor_reduce(a, axis, dtype, keepdims, initial, where):
    a = ensure_arraylike("reduce", a)
    truth = lax.ne(a, lax.full_like(a, 0))
    out = _bit_reduce(lax.reduce_xor, lax.bitwise_xor, False)(truth, axis, None, keepdims, initial, where)
    return out if dtype is None else lax.convert_element_type(out, dtype)


def _log_sum_reduce(combine, exponential, logarithm):
    """The logarithm of the sum of exponentials, of numbers reduced by the largest one."""

    def reduce(a, axis, dtype, keepdims, initial, where):
        (a,) = promote_args_inexact("reduce", a)
        axes = _reductions.reduction_axes(axis, a.ndim)
        real = lax.real(a) if a.dtype.kind == "c" else a
        largest = _reductions.max(real, axes, keepdims=True, initial=-np.inf, where=where)
        largest = lax.stop_gradient(select(lax.is_finite(largest), largest, lax.full_like(largest, 0))).astype(a.dtype)
        total = _reductions.sum(exponential(a - largest), axes, keepdims=True, where=where)
        out = logarithm(total) + largest
        out = out if keepdims else lax.squeeze(out, axes)
        return out if initial is None else combine(initial, out)

    return reduce


def _update(name):
    return lambda at, *operands: getattr(at, name)(*operands)


def _update_of_numbers(name):
    """The same for operations that bools do not have: what they make of 0 and 1, as a bool."""

    def update(at, operand):
        if at.array.dtype != np.bool_:
            return getattr(at, name)(operand)
        numbers, operand = (lax.convert_element_type(x, np.int32) for x in (at.array, asarray(operand, np.bool_)))
        return lax.convert_element_type(getattr(numbers.at[at.index], name)(operand), np.bool_)

    return update


def _make_ufunc(function, identity, reduce=None, accumulate=None, at=None, nin=2) -> ufunc:
    return ufunc(
        function, nin, 1, name=function.__name__, identity=identity, call=function, reduce=reduce,
        accumulate=accumulate, at=at,
    )  # fmt: skip


def _log_of_sum(name, function, doc):
    def logarithm(x1, x2, /):
        return function(*promote_args_inexact(name, x1, x2))

    return _ufuncs._set_signature(logarithm, name, "x1 x2", doc)


_logaddexp = _log_of_sum("logaddexp", _arithmetic.logaddexp, describe(
    "Returns log(exp(x1) + exp(x2)) without overflow.", "jnp.array([0.0, 1000.0]), jnp.array([0.0, 1000.0])",
    "Array([6.9309998e-01, 1.0006932e+03], dtype=float32)", digits=4, result=INEXACT, is_ufunc=True
))  # fmt: skip
_logaddexp2 = _log_of_sum("logaddexp2", _arithmetic.logaddexp2, describe(
    "Returns log2(2**x1 + 2**x2) without overflow.", "jnp.array([0.0, 1000.0]), jnp.array([0.0, 1000.0])",
    "Array([1.000e+00, 1.001e+03], dtype=float32)", digits=4, result=INEXACT, is_ufunc=True
))  # fmt: skip

add = _make_ufunc(_ufuncs.add, 0, _reductions.sum, _cumulative.cumsum, _update_of_numbers("add"))
subtract = _make_ufunc(_ufuncs.subtract, None, at=_update("subtract"))
multiply = _make_ufunc(_ufuncs.multiply, 1, _reductions.prod, _cumulative.cumprod, _update_of_numbers("multiply"))
maximum = _make_ufunc(_ufuncs.maximum, None, _extreme_reduce(_reductions.max))
minimum = _make_ufunc(_ufuncs.minimum, None, _extreme_reduce(_reductions.min))
negative = _make_ufunc(_ufuncs.negative, None, nin=1)
bitwise_and = _make_ufunc(_ufuncs.bitwise_and, -1, _bit_reduce(lax.reduce_and, lax.bitwise_and, -1))
bitwise_or = _make_ufunc(_ufuncs.bitwise_or, 0, _bit_reduce(lax.reduce_or, lax.bitwise_or, 0))
bitwise_xor = _make_ufunc(_ufuncs.bitwise_xor, 0, _bit_reduce(lax.reduce_xor, lax.bitwise_xor, 0))
logical_and = _make_ufunc(_ufuncs.logical_and, True, _truth_reduce(_reductions.all, _ufuncs.logical_and))
logical_or = _make_ufunc(_ufuncs.logical_or, False, _truth_reduce(_reductions.any, _ufuncs.logical_or))
logical_xor = _make_ufunc(_ufuncs.logical_xor, False, _logical_xor_reduce)
logaddexp = _make_ufunc(_logaddexp, -np.inf, _log_sum_reduce(_logaddexp, lax.exp, lax.log))
logaddexp2 = _make_ufunc(_logaddexp2, -np.inf, _log_sum_reduce(_logaddexp2, lax.exp2, _ufuncs.log2))


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Returns a `jnp.ufunc` made from a function of scalars.

    Args:
      func: function of `nin` scalars.
      nin: int, the number of arguments.
      nout: int, the number of results.
      identity: the value of a reduction of no elements; default: there is none.

    Returns:
      jnp.ufunc, which broadcasts and has reduce, accumulate, outer, at and reduceat.

    Raises:
      TypeError: `func` is not callable.

    Examples:
      >>> add = jnp.frompyfunc(lambda x, y: x + y, 2, 1, identity=0)
      >>> add(jnp.array([1, 2]), 10), add.reduce(jnp.array([1, 2, 3]))
      (Array([11, 12], dtype=int32), Array(6, dtype=int32))
    """
    if not callable(func):
        raise TypeError(f"func must be callable; got {type(func)}")
    return ufunc(func, nin, nout, identity=identity)
