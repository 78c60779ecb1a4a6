"""Tracing functions on types without values: ShapeDtypeStruct, eval_shape, make_jaxpr."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onax._core.axes import named_axes_in_scope
from onax._core.layout import Format
from onax._core.meshes import PartitionSpec
from onax._core.paths import keystr, tree_leaves_with_path
from onax._core.refs import AbstractRef
from onax._core.sharding import NamedSharding, Sharding, resolve_spec
from onax._core.trace import Tracer, typeof
from onax._ground import dtypes, source
from onax._ground.typing import AnyFunction
from onax._native.array import Array
from onax._native.avals import ShapedArray
from onax._native.hooks import hooks
from onax._native.jit_function import JitFunction
from onax._native.tree import tree_flatten, tree_unflatten
from onax._transforms import key_reuse
from onax._transforms.flatten import (
    FlatFunction,
    check_callable,
    debug_info,
    fun_source_info,
)
from onax._transforms.staging import trace_to_jaxpr, valueless

_NEEDS_MESH = (
    "When specifying PartitionSpec to `ShapeDtypeStruct`, the context mesh cannot be empty. Please use `jax.set_mesh` "
    "to set the mesh context."
)


class ShapeDtypeStruct:
    """The type of an array without its values.

    Args:
      shape: a tuple of ints or symbolic dimensions.
      dtype: the dtype.
      sharding: a Sharding, a PartitionSpec over the mesh in context, or a Format; default None.
      weak_type: whether a Python number stands for it; default False.
      manual_axis_type: types of mesh axes inside `shard_map`; default None.
      is_ref: whether it is the type of a reference; default False.

    Examples:
      >>> onax.ShapeDtypeStruct((2, 3), jnp.float32)
      ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("_layout", "_sharding", "dtype", "is_ref", "manual_axis_type", "shape", "weak_type")
    dtype: Any
    is_ref: bool
    manual_axis_type: Any
    shape: tuple[Any, ...]
    weak_type: bool

    def __init__(self, shape, dtype, *, sharding=None, weak_type=False, manual_axis_type=None, is_ref=False):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        if sharding is not None and not isinstance(sharding, (Sharding, PartitionSpec, Format)):
            raise ValueError(
                "sharding should be an instance of `jax.sharding.Sharding`, `jax.sharding.PartitionSpec` or "
                f"`jax.experimental.layout.Format`. Got {sharding} of type {type(sharding)}."
            )
        layout = None
        if isinstance(sharding, Format):
            layout, sharding = sharding.layout, sharding.sharding
        _check_rank(sharding, len(shape))
        # as it was given: without 64 bits, or of no array at all, where the structure only describes something
        dtype = dtype if dtypes.issubdtype(dtype, dtypes.extended) else np.dtype(dtype)
        fields = (layout, sharding, dtype, is_ref, manual_axis_type, tuple(shape), weak_type)
        for name, value in zip(self.__slots__, fields):
            object.__setattr__(self, name, value)

    @property
    def sharding(self):
        """The sharding, over the mesh in context if a PartitionSpec was given.

        Raises:
          TypeError: there is a PartitionSpec, but no mesh in context.
        """
        given = self._sharding
        return resolve_spec(given, TypeError, _NEEDS_MESH) if isinstance(given, PartitionSpec) else given

    def __setattr__(self, name, value):
        if name in (*self.__slots__, "sharding"):
            raise RuntimeError(f"Cannot reassign attributes ({name}) of immutable ShapeDtypeStruct objects")
        super().__setattr__(name, value)  # raises an AttributeError

    def __reduce__(self):
        sharding = self._sharding if self._layout is None else self.format
        return _restore_type, (self.shape, self.dtype, sharding, self.weak_type, self.manual_axis_type, self.is_ref)

    @classmethod
    def like(cls, x):
        """The type of a value, or of anything with a shape and a dtype.

        The sharding is that of x if x is committed, or has one that is not of a single device.
        """
        if isinstance(x, ShapeDtypeStruct):
            return x
        aval = abstractify(x)
        known = not isinstance(x, Tracer) and getattr(x, "committed", True)  # where traced values will lie is not
        given = getattr(x, "sharding", None) if known else None
        return cls.of_aval(aval, given)

    @classmethod
    def of_aval(cls, aval, sharding=None):
        """The type of an abstract array; `sharding`: by default that which its type states."""
        if aval.is_high:
            return aval
        sharding = getattr(aval, "stated_sharding", None) if sharding is None else sharding
        varies = aval.manual_axis_type if getattr(aval, "varying", None) else None
        return cls(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type, manual_axis_type=varies)

    @property
    def format(self):
        """The layout, which is known where a Format was given, and the sharding."""
        return Format(self._layout, self.sharding)

    ndim = property(lambda self: len(self.shape))

    @property
    def size(self):
        """The number of elements."""
        return ShapedArray(self.shape, self.dtype).size

    def update(self, **changes):
        """A copy with some fields replaced; ValueError for a sharding in place of a Format with a known layout."""
        given = changes.get("sharding")
        if self._layout is not None and isinstance(given, Sharding):
            raise ValueError(
                f"You are updating ShapeDtypeStruct with a {type(given)} when the original ShapeDtypeStruct had a "
                f"concrete layout {self.format}. This might lead to bugs. If you want to do this, create a new "
                "ShapeDtypeStruct via the constructor."
            )
        fields = {name: getattr(self, name) for name in self.__slots__ if not name.startswith("_")}
        fields["sharding"] = self._sharding if self._layout is None else self.format
        fields.update(changes)
        return ShapeDtypeStruct(**fields)

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self):
        extra = f", sharding={self._sharding}" if self._sharding is not None else ""
        extra += f", format={self._layout}" if self._layout is not None else ""
        extra += ", weak_type=True" if self.weak_type else ""
        extra += f", manual_axis_type={self.manual_axis_type}" if self.manual_axis_type is not None else ""
        extra += ", is_ref=True" if self.is_ref else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{extra})"

    def __eq__(self, other):
        if not isinstance(other, ShapeDtypeStruct):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    def __hash__(self):
        return hash((self.shape, self.dtype, self._sharding, self.weak_type, self.is_ref))


def _check_rank(sharding, ndim):
    """Raises ValueError for a sharding with more dimensions than a type has."""
    spec = sharding if isinstance(sharding, PartitionSpec) else getattr(sharding, "spec", ())
    if len(spec) > ndim:
        raise ValueError(
            f"Sharding {sharding} is only valid for values of rank at least {len(spec)}, but was applied to a value of "
            f"rank {ndim}"
        )


def _restore_type(shape, dtype, sharding, weak_type, manual_axis_type, is_ref):
    return ShapeDtypeStruct(
        shape, dtype, sharding=sharding, weak_type=weak_type, manual_axis_type=manual_axis_type, is_ref=is_ref
    )


def abstractify(x):
    """The aval of a value or of anything with a shape and a dtype; raises TypeError for other objects."""
    if isinstance(x, (ShapeDtypeStruct, ShapedArray)):
        dtype = dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True)
        given = x.stated_sharding if isinstance(x, ShapedArray) else x.sharding
        stated = given if isinstance(given, NamedSharding) and given.mesh.explicit_axes else None
        aval = ShapedArray(x.shape, dtype, x.weak_type, sharding=stated, manual_axis_type=x.manual_axis_type)
        return AbstractRef(aval) if getattr(x, "is_ref", False) else aval
    try:
        return typeof(x)
    except TypeError:
        if isinstance(x, (Array, type)) or not (hasattr(x, "shape") and hasattr(x, "dtype")):
            raise
        return ShapedArray(tuple(x.shape), dtypes.canonicalize_dtype(x.dtype, allow_extended_dtype=True))


valueless[ShapeDtypeStruct] = abstractify


def argument_avals(fun, leaves, names):
    """The avals of flat arguments; raises a TypeError that names the invalid argument."""
    avals = []
    for i, x in enumerate(leaves):
        try:
            avals.append(_checked_aval(x))
        except OverflowError:
            raise OverflowError(
                "An overflow was encountered while parsing an argument to a jitted computation, whose argument path "
                f"is {_argument_path(names(), i)}. Got {type(x)} with value {x}"
            ) from None
        except TypeError as error:
            where = _argument_path(names(), i)
            raise TypeError(
                f"Error interpreting argument to {fun} as an abstract array. The problematic value is of type "
                f"{type(x)} and was passed to the function at path {where}.\nThis typically means that a jit-wrapped "
                "function was called with a non-array argument, and this argument was not marked as static using "
                "the static_argnums or static_argnames parameters of jax.jit."
            ) from error
    return avals


def _argument_path(paths, i):
    return paths[i] if i < len(paths) else f"argument {i}"


def _checked_aval(x):
    """The aval of an argument; raises an error for objects with a dtype or an integer type that are not arrays."""
    if type(x) is int:
        np.asarray(x, dtype=dtypes.canonicalize_dtype(int))
    elif isinstance(x, (np.ndarray, np.generic)):
        dtypes.canonicalize_dtype(dtypes.dtype(x))
    elif hasattr(type(x), "__jax_array__") and not (isinstance(x, Array) or type(x) in dtypes.python_scalar_dtypes):
        raise ValueError(
            "Triggering __jax_array__() during abstractification is no longer supported. To avoid this error, either "
            "explicitly convert your object using jax.numpy.array(), or register your object as a pytree."
        )
    return abstractify(x)


class CheckedFlatFunction(FlatFunction):
    """A flat function whose results must be arrays."""

    __slots__ = ("traced_for",)

    def __init__(self, fun, in_tree, traced_for="jit"):
        super().__init__(fun, in_tree)
        self.traced_for = traced_for

    def __call__(self, *flat):
        leaves = super().__call__(*flat)
        for i, x in enumerate(leaves):
            if isinstance(x, Array):
                continue
            try:
                abstractify(x) if type(x) in valueless else typeof(x)
            except TypeError:
                component = keystr(tree_leaves_with_path(self.out_tree.unflatten(range(len(leaves))))[i][0])
                at = f" at output component {component}" if component else ""
                raise TypeError(
                    f"function {fun_source_info(self.fun)} traced for {self.traced_for} returned a value of type "
                    f"{type(x)}{at}, which is not a valid JAX type"
                ) from None
        return leaves


def bind_static(fun, num_args, by_position, by_name):
    """The function of the dynamic arguments; `by_position` and `by_name` hold the static ones."""
    if not by_position and not by_name:
        return fun

    @functools.wraps(fun, updated=())
    def of_dynamic_arguments(*dynamic, **kwargs):
        rest = iter(dynamic)
        args = [by_position[i] if i in by_position else next(rest) for i in range(num_args)]
        return fun(*args, **by_name, **kwargs)

    return of_dynamic_arguments


def with_static(fun, args, static_argnums):
    """(function of the dynamic positional arguments, those arguments)."""
    n = len(args)
    fixed = {i % n: args[i] for i in static_argnums if -n <= i < n}
    return bind_static(fun, n, fixed, {}), tuple(a for i, a in enumerate(args) if i not in fixed)


def stage_flat(fun, in_tree, avals, info, traced_for="jit"):
    """Stages a function on flat types; returns (closed jaxpr, tree of the results).

    in_tree   structure of (args, kwargs) as the function takes them
    info      DebugInfo of the function; it is completed with the tree of the results
    """
    flat_fun = CheckedFlatFunction(fun, in_tree, traced_for)
    jaxpr = trace_to_jaxpr(flat_fun, avals, info)
    if key_reuse.checking():
        key_reuse.check_jaxpr(jaxpr)
    return jaxpr, flat_fun.out_tree


def stage(fun, args, kwargs, static_argnums=(), static_argnames=(), traced_for="jit"):
    """Stages a call on values or types; returns (closed jaxpr, tree of the results, tree of the dynamic arguments)."""
    info = debug_info(traced_for, fun, args, kwargs, static_argnums, static_argnames)
    n = len(args)
    by_position = {i % n: args[i] for i in static_argnums if -n <= i < n}
    by_name = {k: v for k, v in kwargs.items() if k in static_argnames}
    dynamic = tuple(a for i, a in enumerate(args) if i not in by_position)
    leaves, tree = tree_flatten((dynamic, {k: v for k, v in kwargs.items() if k not in by_name}))
    avals = argument_avals(fun, leaves, lambda: info.arg_names)
    return *stage_flat(bind_static(fun, n, by_position, by_name), tree, avals, info, traced_for), tree


def _result_structs(jaxpr, out_tree):
    return tree_unflatten(
        out_tree,
        list(map(ShapeDtypeStruct.of_aval, jaxpr.out_avals)),
    )


@source.api_boundary
def eval_shape(fun: AnyFunction, *args: Any, **kwargs: Any) -> Any:
    """Returns the types of a function's results; nothing is computed.

    Args:
      fun: a function; it may return ShapeDtypeStructs itself.
      args: arguments, trees of arrays or of ShapeDtypeStructs.
      kwargs: keyword arguments, likewise.

    Returns:
      A tree of ShapeDtypeStructs.

    Raises:
      TypeError: `fun` is not callable.

    Examples:
      >>> onax.eval_shape(lambda x: x @ x.T, onax.ShapeDtypeStruct((2, 3), jnp.float32))
      ShapeDtypeStruct(shape=(2, 2), dtype=float32)
    """
    check_callable(fun)
    jitted = fun if isinstance(fun, JitFunction) else hooks.jit_function(fun)
    return jitted.eval_shape(*args, **kwargs)


def make_jaxpr(
    fun: AnyFunction,
    static_argnums: int | Sequence[int] = (),
    axis_env: Any = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """Returns a function that stages `fun` as a program, a jaxpr.

    Args:
      fun: a function.
      static_argnums: indices of arguments that are Python values for `fun`.
      axis_env: (name, size) pairs of the axes that collectives in `fun` use; default None.
      return_shape: True: the result is (jaxpr, tree of ShapeDtypeStructs); default False.

    Returns:
      A function of arguments of `fun`, or their types, that returns a ClosedJaxpr.

    Raises:
      TypeError: `fun` is not callable.

    Examples:
      >>> onax.make_jaxpr(lambda x: 2 * x)(1.0)
      { lambda ; a:f32[]. let b:f32[] = mul 2.0:f32[] a in (b,) }
    """
    if not callable(fun):
        raise TypeError(f"the first argument must be callable, got {fun!r}")
    jitted = hooks.jit_function(fun, static_argnums=static_argnums)
    names, sizes = zip(*axis_env) if axis_env else ((), ())

    @functools.wraps(fun, updated=())
    @source.api_boundary
    def make(*args, **kwargs):
        with named_axes_in_scope(names, sizes):
            jaxpr, out_tree = jitted._make_jaxpr(args, kwargs)
        return (jaxpr, _result_structs(jaxpr, out_tree)) if return_shape else jaxpr

    make.__name__ = f"make_jaxpr({getattr(fun, '__name__', 'fun')})"
    make.__qualname__ = f"make_jaxpr({getattr(fun, '__qualname__', 'fun')})"
    make.__module__ = "jax"
    return make
