"""Operators, methods and properties of arrays, set once when `onax.numpy` is imported.

The operators are the jnp functions; plain cases of equal dtypes go from the compiled type slots straight to a
primitive (`fast_operators`).  A method is the function of the same name with the array as its first argument (`SAME`),
where jnp has it, or one of the functions below.
"""

import importlib

import numpy as np

from onax import lax
from onax._core.refs import Ref, is_ref
from onax._core.slots import Slot
from onax._core.trace import as_array
from onax._ground import config, dtypes
from onax._ground.source import api_boundary
from onax._native.array import Array, ArrayImpl, install_method
from onax._native.dispatch import set_same_rank_options
from onax._native.hooks import hooks
from onax.numpy import (
    _arithmetic,
    _creation,
    _cumulative,
    _gathering,
    _logic,
    _products,
    _reductions,
    _repeat,
    _searching,
    _shaping,
    _sorting,
    _ufuncs,
)
from onax.numpy._array_api import __array_api_version__
from onax.numpy._at import at
from onax.numpy._indexing import getitem
from onax.numpy._notebook_display import array_mimebundle

# ---- operators ----


def _iterate(x):
    """The elements along the first axis; those of an array that is split over devices lie on the default device."""
    if type(x) is ArrayImpl and x._shards is not None and not x.is_fully_replicated and not dtypes.is_extended(x.dtype):
        return map(as_array, np.asarray(x))
    return iter([x[i] for i in range(x.shape[0])])


OPERATORS = {
    "add": _ufuncs.add,
    "sub": _ufuncs.subtract,
    "mul": _ufuncs.multiply,
    "truediv": _ufuncs.divide,
    "floordiv": _arithmetic.floor_divide,
    "mod": _arithmetic.remainder,
    "divmod": _arithmetic.divmod,
    "pow": _arithmetic.power,
    "matmul": _products.matmul,
    "and": _ufuncs.bitwise_and,
    "or": _ufuncs.bitwise_or,
    "xor": _ufuncs.bitwise_xor,
    "lshift": _ufuncs.left_shift,
    "rshift": _ufuncs.right_shift,
    "eq": _ufuncs.equal,
    "ne": _ufuncs.not_equal,
    "lt": _ufuncs.less,
    "le": _ufuncs.less_equal,
    "gt": _ufuncs.greater,
    "ge": _ufuncs.greater_equal,
    "neg": _ufuncs.negative,
    "pos": _ufuncs.positive,
    "abs": _ufuncs.absolute,
    "invert": _ufuncs.invert,
    "getitem": getitem,
    "iter": _iterate,
}


fast_operators = Slot(
    "array_operator",
    "(operator, kinds of dtypes): the primitive is the operator where both operands have one such dtype",
    "Operators of arrays reach the primitive through jnp functions.",
    "onax.numpy",
)
# Kinds as in NumPy; V: the dtypes of ml_dtypes.
fast_operators.set(lax.add_p, ("add", "iufcV"))
fast_operators.set(lax.sub_p, ("sub", "iufcV"))
fast_operators.set(lax.mul_p, ("mul", "iufcV"))
fast_operators.set(lax.div_p, ("truediv", "fc"))
fast_operators.set(lax.and_p, ("and", "biu"))
fast_operators.set(lax.or_p, ("or", "biu"))
fast_operators.set(lax.xor_p, ("xor", "biu"))
fast_operators.set(lax.eq_p, ("eq", "biufcV"))
fast_operators.set(lax.ne_p, ("ne", "biufcV"))
fast_operators.set(lax.lt_p, ("lt", "biufV"))
fast_operators.set(lax.le_p, ("le", "biufV"))
fast_operators.set(lax.gt_p, ("gt", "biufV"))
fast_operators.set(lax.ge_p, ("ge", "biufV"))
fast_operators.set(lax.neg_p, ("neg", "iufcV"))

# ---- methods ----

# Methods that are the function of that name in one of these modules.
SAME = (
    "all any argmax argmin argpartition argsort choose clip compress conj conjugate cumprod cumsum diagonal dot max "
    "mean min nonzero prod ptp ravel repeat round searchsorted sort squeeze std sum swapaxes take trace var"
).split()
MODULES = (
    _reductions, _shaping, _gathering, _repeat, _arithmetic, _products, _ufuncs, _creation, _logic, _sorting,
    _cumulative, _searching,
)  # fmt: skip


def astype(self, dtype, copy=False, device=None):
    """The elements converted to dtype (None: the default float).

    Floats become integers by truncation, complex numbers real ones by dropping the imaginary part.
    """
    return _creation.astype(self, dtype, copy=copy, device=device)


def compress(self, condition, axis=None, *, out=None, size=None, fill_value=0):
    """The slices along an axis (None: elements of the flattened array) where the vector condition is True."""
    return _searching.compress(condition, self, axis, out=out, size=size, fill_value=fill_value)


def copy(self):
    """The same elements in memory of their own."""
    return _creation.copy(self)


def flatten(self, order="C", *, out_sharding=None):
    """The elements along one axis, in row-major ("C") or column-major ("F") order."""
    return _shaping.ravel(self, order=order, out_sharding=out_sharding)


def reshape(self, *args, order="C", out_sharding=None):
    """The elements in another shape, given as a tuple or as arguments; one length may be -1."""
    if is_ref(self):
        return Ref.view_of(self).reshape(*args)
    given = args[0] if len(args) == 1 else args
    shape = args if type(given) is int and given == self.size else given
    return _shaping.reshape(self, shape, order=order, out_sharding=out_sharding)


def transpose(self, *args):
    """The array with its axes in the given order (a tuple or arguments), reversed without one."""
    if is_ref(self):
        return Ref.view_of(self).transpose(*args)
    if not args or (len(args) == 1 and args[0] is None):
        return _shaping.transpose(self)
    sequence = len(args) == 1 and (np.ndim(args[0]) > 0 or not hasattr(args[0], "__index__"))
    axes = args[0] if sequence else args
    return _shaping.transpose(self, axes)


def transposed(self):
    """The array with its axes reversed."""
    return Ref.view_of(self).T if is_ref(self) else _shaping.transpose(self)


def to_device(self, device, *, stream=None):
    """The array on another device."""
    if stream is not None:
        raise NotImplementedError("stream argument of array.to_device()")
    return _creation.on_device(self, device)


def view(self, dtype=None, type=None):
    """The bits read as another dtype.

    A narrower dtype makes the last axis longer, a wider one shorter; ValueError when it does not divide.
    """
    if type is not None:
        raise NotImplementedError("`type` argument of array.view() is not supported.")
    if dtype is None:
        return self
    dtype = dtypes.check_user_dtype(dtype, "view")
    if dtype == self.dtype:
        return self
    if self.dtype.kind == "c":
        parts = lax.concatenate([lax.expand_dims(part(self), (self.ndim,)) for part in (lax.real, lax.imag)], self.ndim)
        return view(_merge_last_two_axes(parts, self.shape), dtype)
    if dtype.kind == "c":
        real = view(self, dtypes.real_dtype(dtype))
        if not real.ndim or real.shape[-1] % 2:
            raise _view_error(self, dtype)
        pairs = lax.reshape(real, (*real.shape[:-1], real.shape[-1] // 2, 2))
        return lax.complex(lax.index_in_dim(pairs, 0, -1, False), lax.index_in_dim(pairs, 1, -1, False))
    if self.dtype == np.bool_:
        return view(lax.convert_element_type(self, np.uint8), dtype)
    if dtype == np.bool_:
        return lax.ne(view(self, np.uint8), np.zeros((), np.uint8))
    return _view_bits(self, dtype)


def byteswap(self):
    """The elements with their bytes in reverse order; the parts of complex numbers each.

    Returns:
      An array of the same shape and dtype; elements of one byte and less stay as they are.

    Examples:
      >>> import onax.numpy as jnp
      >>> print(jnp.array([1, 258], "int16").byteswap())
      [256 513]
    """
    if dtypes.is_extended(self.dtype):
        raise NotImplementedError("Cannot call abstract method byteswap")
    if self.dtype.kind == "c":
        return lax.complex(byteswap(lax.real(self)), byteswap(lax.imag(self)))
    if self.dtype.itemsize == 1:
        return lax.copy_p.bind(self)
    octets = lax.bitcast_convert_type(self, np.uint8)
    return lax.bitcast_convert_type(lax.rev(octets, (self.ndim,)), self.dtype)


def _view_bits(x, dtype):
    size, new_size = dtypes.itemsize_bits(x.dtype), dtypes.itemsize_bits(dtype)
    if size == new_size:
        return lax.bitcast_convert_type(x, dtype)
    if not x.ndim:
        raise _view_error(x, dtype)
    if size > new_size:
        return _merge_last_two_axes(lax.bitcast_convert_type(x, dtype), x.shape)
    ratio = new_size // size
    if x.shape[-1] % ratio:
        raise _view_error(x, dtype)
    return lax.bitcast_convert_type(lax.reshape(x, (*x.shape[:-1], x.shape[-1] // ratio, ratio)), dtype)


def _merge_last_two_axes(x, shape):
    """Merges the last axis of x, which has one axis more than `shape`, into the one before it."""
    if not shape:
        raise ValueError("cannot view a 0-d array as a dtype of another size")
    return lax.reshape(x, (*shape[:-1], shape[-1] * x.shape[-1]))


def _view_error(x, dtype):
    return ValueError(
        f"When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of "
        f"the array; got an array of shape {x.shape} of {x.dtype} and {dtype}."
    )


_namespace = "onax.numpy"


def set_array_namespace(name):
    """Sets the name of the module that arrays give as their namespace: that under which the user imports this one."""
    global _namespace
    _namespace = name


def array_namespace(self, *, api_version=None):
    """The module `onax.numpy`, which follows the Python array API standard; ValueError for an unknown version."""
    namespace = importlib.import_module(_namespace)
    if api_version is not None and api_version != __array_api_version__:
        raise ValueError(f"{api_version=} is not available; available versions are: {[__array_api_version__]}")
    return namespace


def round_to(self, ndigits=None):
    """The elements rounded to a number of decimal places; with none given, as integers."""
    if ndigits is None:
        return _creation.astype(_arithmetic.round(self), int)
    return _arithmetic.round(self, decimals=ndigits)


def _flat(self):
    raise NotImplementedError("JAX Arrays do not implement the arr.flat property: consider arr.flatten() instead.")


def _itemsize(self):
    """Bytes of an element."""
    return self.dtype.itemsize


def _nbytes(self):
    """Bytes of all elements."""
    return self.size * self.dtype.itemsize


METHODS = {
    "astype": astype,
    "byteswap": byteswap,
    "compress": compress,
    "copy": copy,
    "flatten": flatten,
    "reshape": reshape,
    "to_device": to_device,
    "transpose": transpose,
    "view": view,
    "__array_namespace__": array_namespace,
    "__round__": round_to,
    "_repr_mimebundle_": array_mimebundle,
}
PROPERTIES = {
    "T": transposed,
    "at": at,
    "flat": _flat,
    "imag": _ufuncs.imag,
    "itemsize": _itemsize,
    "mT": _shaping.matrix_transpose,
    "nbytes": _nbytes,
    "real": _ufuncs.real,
}

# What the subclasses of Array define: the class itself has these names too, as in JAX.
ABSTRACT_METHODS = ("addressable_data", "copy_to_host_async", "item")
ABSTRACT_PROPERTIES = (
    *("addressable_shards", "committed", "device", "dtype", "global_shards", "is_fully_addressable"),
    *("is_fully_replicated", "ndim", "shape", "sharding", "size"),
)


def _abstract(name):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"Cannot call abstract method {name}")

    refuse.__name__ = name
    return refuse


def _install():
    for name in ABSTRACT_METHODS:
        install_method(Array, name, _abstract(name))
    for name in ABSTRACT_PROPERTIES:
        install_method(Array, name, property(_abstract(name)))
    functions = {name: getattr(module, name) for module in reversed(MODULES) for name in SAME if hasattr(module, name)}
    for name, function in {**functions, **METHODS}.items():
        install_method(Array, name, api_boundary(function))
    for name, function in PROPERTIES.items():
        install_method(Array, name, property(api_boundary(function)))
    rank_promotion = config.find_row("jax_numpy_rank_promotion")
    set_same_rank_options(rank_promotion.mask << rank_promotion.shift)


_install()
hooks.operators = OPERATORS
hooks.operator_primitives = {
    operator: (primitive, kinds) for primitive in fast_operators for operator, kinds in [fast_operators[primitive]]
}
