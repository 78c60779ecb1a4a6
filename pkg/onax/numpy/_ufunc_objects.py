"""jnp.ufunc: elementwise functions as objects with `reduce`, `accumulate`, `outer` and `at`."""

import operator

from onax import lax
from onax._control.jit_call import staged
from onax._ground.source import api_class
from onax.numpy import _arithmetic, _cumulative, _reductions, _ufuncs
from onax.numpy._creation import array
from onax.numpy._mapping import vectorize
from onax.numpy._promotion import check_arraylike, ensure_arraylike, ensure_arraylikes, promote_args_inexact
from onax.numpy._shaping import expand_dims


@api_class
class ufunc:
    """An elementwise function of `nin` arrays.  `jnp.frompyfunc` makes one from a function of scalars.

    `identity` is the result of a reduction of no elements.  Calls broadcast; `out=` and `where=` are not supported.
    """

    def __init__(
        self, func, /, nin, nout, *, name=None, nargs=None, identity=None, call=None, reduce=None, accumulate=None,
        at=None, reduceat=None,
    ):  # fmt: skip
        self.__doc__ = func.__doc__
        self.__name__ = name or func.__name__
        self._function = func
        self.nin, self.nout = operator.index(nin), operator.index(nout)
        self.nargs = self.nin + self.nout if nargs is None else operator.index(nargs)
        self.identity = identity
        self._call = func if call is not None else vectorize(func)
        self._reduce, self._accumulate = reduce, accumulate

    def __repr__(self):
        return f"<jnp.ufunc '{self.__name__}'>"

    def __hash__(self):
        return hash((self._function, self.__name__, self.identity, self.nin, self.nout))

    def __eq__(self, other):
        return isinstance(other, ufunc) and self._key() == other._key()

    def _key(self):
        return self._function, self.__name__, self.identity, self.nin, self.nout

    def __call__(self, *args, out=None, where=None):
        if out is not None:
            raise NotImplementedError(f"out argument of {self}")
        if where is not None:
            raise NotImplementedError(f"where argument of {self}")
        return self._call(*args)

    def _require_binary(self, method):
        if self.nin != 2:
            raise ValueError(f"jnp.ufunc.{method} only supported for binary ufuncs")
        if self.nout != 1:
            raise ValueError(f"jnp.ufunc.{method} only supported for functions returning a single value")

    def reduce(self, a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
        """The elements along an axis (None: all), combined from left to right."""
        self._require_binary("reduce")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.reduce()")
        if initial is not None:
            check_arraylike(f"{self.__name__}.reduce", initial)
        if where is not None and self.identity is None and initial is None:
            raise ValueError(
                f"reduction operation {self.__name__!r} does not have an identity, so to use a where mask one has to "
                "specify 'initial'."
            )
        if self._reduce is None:
            raise NotImplementedError(
                f"{self.__name__}.reduce needs a loop over the axis; write it with lax.scan or lax.reduce."
            )
        return _reduce(a, initial, where, ufunc=self, axis=axis, dtype=dtype, keepdims=keepdims)

    def accumulate(self, a, axis=0, dtype=None, out=None):
        """The running results of `reduce` along an axis."""
        self._require_binary("accumulate")
        if out is not None:
            raise NotImplementedError(f"out argument of {self.__name__}.accumulate()")
        if self._accumulate is None:
            raise NotImplementedError(f"{self.__name__}.accumulate needs a loop over the axis; write it with lax.scan.")
        return _accumulate(a, ufunc=self, axis=axis, dtype=dtype)

    def outer(self, A, B, /):
        """The function on all pairs of elements of A and B: the axes of A, then those of B."""
        self._require_binary("outer")
        return _outer(*ensure_arraylikes(f"{self.__name__}.outer", A, B), ufunc=self)

    def at(self, a, indices, b=None, /, *, inplace=True):
        """a with the function applied at the indices, repeatedly for repeated ones."""
        if inplace:
            raise NotImplementedError("JAX arrays are immutable: use inplace=False and the array that it returns.")
        at = array(a).at[indices]
        name = {"add": "add", "subtract": "subtract", "multiply": "multiply", "minimum": "min", "maximum": "max"}.get(
            self.__name__
        )
        if self.nin == 1:
            return at.apply(self)
        if name is None:
            raise NotImplementedError(f"{self.__name__}.at needs a loop over the indices; write it with lax.scan.")
        return getattr(at, name)(b)


@staged("reduce", static_argnames=("ufunc", "axis", "dtype", "keepdims"))
def _reduce(a, initial, where, *, ufunc, axis, dtype, keepdims):
    return ufunc._reduce(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


@staged("accumulate", static_argnames=("ufunc", "axis", "dtype"))
def _accumulate(a, *, ufunc, axis, dtype):
    return ufunc._accumulate(a, axis=axis, dtype=dtype)


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


def _truth_reduce(function):
    def reduce(a, axis, dtype, keepdims, initial, where):
        if initial is not None:
            raise NotImplementedError("initial argument of a logical reduction")
        out = function(a, axis=axis, keepdims=keepdims, where=where)
        return out if dtype is None else lax.convert_element_type(out, dtype)

    return reduce


def _bit_reduce(function):
    def reduce(a, axis, dtype, keepdims, initial, where):
        if initial is not None or where is not None:
            raise NotImplementedError("initial and where arguments of a bitwise reduction")
        a = ensure_arraylike("reduce", a)
        if dtype is not None:
            a = lax.convert_element_type(a, dtype)
        axes = _reductions.reduction_axes(axis, a.ndim)
        out = function(a, axes)
        return expand_dims(out, axes) if keepdims else out

    return reduce


def _make_ufunc(function, identity, reduce=None, accumulate=None, nin=2):
    return ufunc(
        function, nin, 1, name=function.__name__, identity=identity, call=function, reduce=reduce, accumulate=accumulate
    )


def _log_of_sum(name, function, doc):
    def logarithm(x1, x2, /):
        return function(*promote_args_inexact(name, x1, x2))

    return _ufuncs._set_signature(logarithm, name, "x1 x2", doc)


_logaddexp = _log_of_sum("logaddexp", _arithmetic.logaddexp, "log(exp(x1) + exp(x2)), without overflow.")
_logaddexp2 = _log_of_sum("logaddexp2", _arithmetic.logaddexp2, "log2(2**x1 + 2**x2), without overflow.")

add = _make_ufunc(_ufuncs.add, 0, _reductions.sum, _cumulative.cumsum)
subtract = _make_ufunc(_ufuncs.subtract, None)
multiply = _make_ufunc(_ufuncs.multiply, 1, _reductions.prod, _cumulative.cumprod)
maximum = _make_ufunc(_ufuncs.maximum, None, _extreme_reduce(_reductions.max))
minimum = _make_ufunc(_ufuncs.minimum, None, _extreme_reduce(_reductions.min))
negative = _make_ufunc(_ufuncs.negative, None, nin=1)
bitwise_and = _make_ufunc(_ufuncs.bitwise_and, -1, _bit_reduce(lax.reduce_and))
bitwise_or = _make_ufunc(_ufuncs.bitwise_or, 0, _bit_reduce(lax.reduce_or))
bitwise_xor = _make_ufunc(_ufuncs.bitwise_xor, 0, _bit_reduce(lax.reduce_xor))
logical_and = _make_ufunc(_ufuncs.logical_and, True, _truth_reduce(_reductions.all))
logical_or = _make_ufunc(_ufuncs.logical_or, False, _truth_reduce(_reductions.any))
logical_xor = _make_ufunc(_ufuncs.logical_xor, False)
logaddexp = _make_ufunc(_logaddexp, None)
logaddexp2 = _make_ufunc(_logaddexp2, None)


def frompyfunc(func, /, nin, nout, *, identity=None):
    """A `jnp.ufunc` from a function of `nin` scalars that gives `nout` scalars."""
    if not callable(func):
        raise TypeError(f"func must be callable; got {type(func)}")
    return ufunc(func, nin, nout, identity=identity)
