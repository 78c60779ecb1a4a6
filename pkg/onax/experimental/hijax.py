"""jax.experimental.hijax: operations with rules of the user's own (`VJPHiPrimitive`), and types of values.

onax traces arrays alone: the operands and results of operations are trees of arrays, and values of other types
(`HiType`) can be defined, but cannot be arguments of transformations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from onax._control.hi_call import GradAccum, call_hi_primitive, leaves_checked
from onax._core.axes import AxisData
from onax._core.refs import AbstractRef
from onax._core.trees import register_static
from onax._core.zeros import Zero, is_undefined_primal
from onax._native import context
from onax._native.avals import AbstractValue, ShapedArray
from onax._native.dispatch import Primitive
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.shaping import bdim_at_front, moveaxis
from onax._transforms.batching import batch_flat
from onax.numpy._ref_views import TransformedRef

MESSAGE = "onax has no types of values besides arrays (hijax)"


class HiType(AbstractValue):
    """The type of values that are not arrays."""


class MutableHiType(AbstractValue):
    """The type of values that are not arrays and change."""


class HiPrimitive(Primitive):
    """A primitive on values that are not arrays: it can be defined, and not applied."""

    def bind(self, *args, **params):
        raise NotImplementedError(f"{self.name}: {MESSAGE}")


class VJPHiPrimitive:
    """An operation on trees of arrays with rules of the user's own; subclasses define the rules.

    A subclass sets ``in_avals`` (a tuple with the tree of types of each argument), ``out_aval`` (the tree of types of
    the result) and ``params`` (a dict of hashable values, which become attributes) in its ``__init__`` and then calls
    this one.  An instance is the operation for these types, and is called with arguments of them.

    The rules:

    - ``expand(*args)``: the operation in terms of others.
    - ``jvp(primals, tangents)``: (result, tangent of the result); tangents may be `Zero`.
    - ``vjp_fwd(nzs_in, *args)``: (result, residuals), for reverse mode; ``nzs_in`` says for each argument whether it is
      differentiated.
    - ``vjp_bwd_retval(residuals, ct)``: a tuple with the cotangent of each argument; or
      ``vjp_bwd(residuals, ct, *accums)``, which gives it to ``accum.accum`` of each argument.
    - ``lin(nzs_in, *args)``: (result, residuals), and ``linearized(residuals, *tangents)``, for `linearize`.
    - ``batch(axis_data, args, dims)``: (result, mapped axes of the result); or ``batch_dim_rule(axis_data, dims)``, the
      mapped axes of the result alone.
    - ``dce(used)``: (used arguments, produced results, the operation that produces these or None).

    Examples:
      >>> from onax.experimental.hijax import VJPHiPrimitive
      >>> class Square(VJPHiPrimitive):
      ...     def __init__(self, aval):
      ...         self.in_avals, self.out_aval, self.params = (aval,), aval, {}
      ...         super().__init__()
      ...
      ...     def expand(self, x):
      ...         return x * x
      ...
      ...     def vjp_fwd(self, nzs_in, x):
      ...         return self(x), x
      ...
      ...     def vjp_bwd_retval(self, x, ct):
      ...         return (100 * x * ct,)
      >>> onax.grad(lambda x: Square(onax.typeof(x))(x))(3.0)
      Array(300., dtype=float32, weak_type=True)
    """

    effects: frozenset = frozenset()

    def __init__(self):
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(f"subclass __init__ should set `self.{name}`")
        if self.has_rule("vjp_bwd") and self.has_rule("vjp_bwd_retval"):
            raise AttributeError(f"subclass {type(self)} should not override both `vjp_bwd` and `vjp_bwd_retval`")
        self.in_avals_flat, self.in_tree = tree_flatten(tuple(self.in_avals))
        self.out_avals_flat, self.out_tree = tree_flatten(self.out_aval)
        self.__dict__.update(self.params)
        self.check(*self.in_avals)

    def __call__(self, *args):
        leaves = leaves_checked(self.in_tree, args, f"{self}: the arguments")
        if context.get_trace() is None:
            out = self.expand(*args)
            leaves_checked(self.out_tree, out, f"{self}: the results")
            return out
        return tree_unflatten(self.out_tree, call_hi_primitive(self, leaves))

    def has_rule(self, name):
        """Whether the subclass defines the rule."""
        return getattr(type(self), name) is not getattr(VJPHiPrimitive, name)

    def _missing(self, purpose, names):
        return NotImplementedError(f"for {purpose} support, subclass {type(self)} must implement {names}")

    def check(self, *arg_avals):
        """May raise an error for types of arguments that do not suit."""

    def expand(self, *args):
        """The operation in terms of others."""
        raise NotImplementedError(f"subclass {type(self)} must implement `expand`")

    def vjp_fwd(self, nzs_in, /, *args):
        """(result, residuals)."""
        raise self._missing("grad", "`vjp_fwd`")

    def vjp_bwd(self, res, outgrad, /, *arg_accums):
        """Gives each argument its cotangent."""
        grads = self.in_tree.flatten_up_to(self.vjp_bwd_retval(res, outgrad))
        for accum, ct in zip(tree_flatten(arg_accums)[0], grads):
            if isinstance(accum, GradAccum):
                accum.accum(ct)

    def vjp_bwd_retval(self, res, outgrad, /):
        """The cotangents of the arguments."""
        raise self._missing("grad", "`vjp_bwd` or `vjp_bwd_retval`")

    def jvp(self, primals, tangents):
        """(result, tangent of the result)."""
        raise self._missing("jvp", "`jvp`")

    def lin(self, nzs_in, *primals):
        """(result, residuals)."""
        raise self._missing("linearize", "`lin` and `linearized`")

    def linearized(self, residuals, *tangents):
        """The tangent of the result."""
        raise self._missing("linearize", "`lin` and `linearized`")

    def batch(self, axis_data, args, dims):
        """(result for several examples, its mapped axes)."""
        out_dims = self.batch_dim_rule(axis_data, dims)
        return VmapOf(self, axis_data, dims, out_dims)(*args), out_dims

    def batch_dim_rule(self, axis_data, dims, /):
        """The mapped axes of the result."""
        raise self._missing("vmap", "`batch` or `batch_dim_rule`")

    def dce(self, used_outs):
        """(used arguments, produced results, the operation that produces these or None)."""
        used = any(leaves_checked(self.out_tree, used_outs, "the flags"))
        return (True, True, self) if used else (False, False, None)

    def __repr__(self):
        return f"{type(self).__name__}[{self.params}]"

    def __hash__(self):
        return hash((type(self).__name__, tuple(self.params.items())))

    def __eq__(self, other):
        return type(self) is type(other) and self.params == other.params and self.effects == other.effects


class VmapOf(VJPHiPrimitive):
    """An operation on several examples; its rules are the batched rules of the operation on one."""

    prim: VJPHiPrimitive
    axis_data: AxisData

    def __init__(self, prim, axis_data, in_dims, out_dim):
        self.prim = prim
        self.dims_flat = prim.in_tree.flatten_up_to(in_dims)
        self.out_dims_flat = prim.out_tree.flatten_up_to(out_dim)
        unmapped = [_unmapped(a, d, axis_data.size) for a, d in zip(prim.in_avals_flat, self.dims_flat)]
        self.in_avals = tree_unflatten(prim.in_tree, unmapped)
        unmapped = [_unmapped(a, d, axis_data.size) for a, d in zip(prim.out_avals_flat, self.out_dims_flat)]
        self.out_aval = tree_unflatten(prim.out_tree, unmapped)
        self.params = {"prim": prim, "axis_data": axis_data, "in_dims": in_dims, "out_dim": out_dim}
        super().__init__()

    def has_rule(self, name):
        """Whether the operation on one example has the rule; there is none of `linearize`."""
        if name in ("lin", "linearized"):
            return False
        return super().has_rule(name) and (name in ("expand", "batch_dim_rule") or self.prim.has_rule(name))

    def _with_axes(self, fun, values, dims, targets):
        """The results of a function of flat examples, with the mapped axes that are asked for."""
        outs, out_dims = batch_flat(fun, self.axis_data, values, dims)
        return [_moved(x, d, target, self.axis_data.size) for x, d, target in zip(outs, out_dims, targets)], out_dims

    def expand(self, *args):
        """The operation on all examples."""
        fun = lambda *xs: tree_flatten(self.prim.expand(*tree_unflatten(self.prim.in_tree, xs)))[0]
        outs, _ = self._with_axes(fun, tree_flatten(args)[0], self.dims_flat, self.out_dims_flat)
        return tree_unflatten(self.out_tree, outs)

    def jvp(self, primals, tangents):
        """The batched rule."""
        values = [*tree_flatten(primals)[0], *map(instantiate_zeros, self.in_tree.flatten_up_to(tangents))]
        n, m, prim = len(self.dims_flat), len(self.out_dims_flat), self.prim

        def fun(*xs):
            outs, dots = prim.jvp(tree_unflatten(prim.in_tree, xs[:n]), tree_unflatten(prim.in_tree, xs[n:]))
            return [*tree_flatten(outs)[0], *map(instantiate_zeros, prim.out_tree.flatten_up_to(dots))]

        outs, _ = self._with_axes(fun, values, self.dims_flat * 2, self.out_dims_flat * 2)
        return tree_unflatten(self.out_tree, outs[:m]), tree_unflatten(self.out_tree, outs[m:])

    def vjp_fwd(self, nzs_in, /, *args):
        """The batched rule."""
        prim, m, kept = self.prim, len(self.out_dims_flat), []

        def fun(*xs):
            out, residuals, *nonzeros_out = prim.vjp_fwd(nzs_in, *tree_unflatten(prim.in_tree, xs))
            leaves, tree = tree_flatten(residuals)
            kept[:] = [tree, nonzeros_out]
            return [*tree_flatten(out)[0], *leaves]

        values = tree_flatten(args)[0]
        outs, dims = batch_flat(fun, self.axis_data, values, self.dims_flat)
        tree, nonzeros_out = kept
        moved = [_moved(x, d, t, self.axis_data.size) for x, d, t in zip(outs, dims, self.out_dims_flat)]
        residuals = (outs[m:], _Static((tree, dims[m:])))
        return tree_unflatten(self.out_tree, moved), residuals, *nonzeros_out

    def vjp_bwd_retval(self, res, outgrad, /):
        """The batched rule; cotangents of arguments that are not mapped are summed."""
        residuals, (tree, dims), prim = res[0], res[1].value, self.prim
        cts = list(map(instantiate_zeros, self.out_tree.flatten_up_to(outgrad)))
        n = len(residuals)

        def fun(*xs):
            accums = [GradAccum(a.to_tangent_aval()) for a in prim.in_avals_flat]
            residuals, cts = tree_unflatten(tree, xs[:n]), tree_unflatten(prim.out_tree, xs[n:])
            prim.vjp_bwd(residuals, cts, *tree_unflatten(prim.in_tree, accums))
            return [instantiate_zeros(accum.total) for accum in accums]

        values, targets = [*residuals, *cts], [*dims, *self.out_dims_flat]
        grads, grad_dims = batch_flat(fun, self.axis_data, values, targets)
        size = self.axis_data.size
        moved = [_summed(ct, d, target, size) for ct, d, target in zip(grads, grad_dims, self.dims_flat)]
        return tree_unflatten(self.in_tree, moved)

    def batch_dim_rule(self, axis_data, dims, /):
        """The mapped axes of the result under a further `vmap`."""
        inner = [
            d if d is None or own is None else d - (own < d)
            for d, own in zip(self.in_tree.flatten_up_to(dims), self.dims_flat)
        ]
        out = self.prim.batch_dim_rule(axis_data, tree_unflatten(self.in_tree, inner))
        out = [
            d if d is None or own is None else d + (own < d)
            for d, own in zip(self.out_tree.flatten_up_to(out), self.out_dims_flat)
        ]
        return tree_unflatten(self.out_tree, out)


@dataclass(frozen=True, slots=True)
class _Static:
    """A value among residuals that is no array."""

    value: Any


register_static(_Static)


def _unmapped(aval, dim, size):
    """The type of several examples, along an axis."""
    return aval if dim is None else aval.update(shape=(*aval.shape[:dim], size, *aval.shape[dim:]))


def _moved(x, dim, target, size):
    """A value with its mapped axis where it is asked for; None: it must not be mapped."""
    if target is None:
        if dim is not None:
            raise ValueError("a result that is mapped was said not to be")
        return x
    front = bdim_at_front(x, dim, size)
    return moveaxis(front, 0, target) if target else front


def _summed(ct, dim, target, size):
    return ct if target is None and dim is None else ct.sum(dim) if target is None else _moved(ct, dim, target, size)


class HiPspec:
    """How a value that is not an array is split over devices."""


class EArray:
    """The class of JAX's arrays of user-defined dtypes, which onax does not have."""


@dataclass(frozen=True, slots=True)
class AvalQDD:
    """A type with the state that a value of it is in.

    Args:
      aval: the type.
      qdd: the state, any value with equality.

    Examples:
      >>> from onax.experimental.hijax import AvalQDD
      >>> AvalQDD(onax.typeof(jnp.ones(2)), "open").qdd
      'open'
    """

    aval: AbstractValue
    qdd: object


@dataclass(frozen=True, slots=True)
class AvalMutableQDD:
    """A type with a state that changes.

    Args:
      aval: the type.
      mutable_qdd: what holds the state.

    Examples:
      >>> from onax.experimental.hijax import AvalMutableQDD
      >>> AvalMutableQDD(onax.typeof(jnp.ones(2)), ["open"]).mutable_qdd
      ['open']
    """

    aval: AbstractValue
    mutable_qdd: object


@dataclass(slots=True)
class aval_method:
    """A function that tracers of a type have as a method.

    Args:
      fun: the function; its first argument is the tracer.

    Examples:
      >>> from onax.experimental.hijax import aval_method
      >>> aval_method(len).fun is len
      True
    """

    fun: object


@dataclass(slots=True)
class aval_property:
    """A function that tracers of a type have as a property.

    Args:
      fget: the function of a tracer.

    Examples:
      >>> from onax.experimental.hijax import aval_property
      >>> aval_property(len).fget is len
      True
    """

    fget: object


class EffectTypes:
    """A set of classes of effects."""

    def __init__(self):
        self._types = set()

    def add_type(self, effect_type):
        """Adds a class."""
        self._types.add(effect_type)

    def contains(self, effect):
        """Whether an effect is of one of the classes."""
        return isinstance(effect, tuple(self._types))


control_flow_allowed_effects = EffectTypes()


def register_hitype(cls: type, typeof: Callable[[Any], Any]) -> None:
    """Accepts a class of values that are not arrays; nothing else follows from it.

    Args:
      cls: the class.
      typeof: a function from a value to its type.

    Examples:
      >>> from onax.experimental.hijax import register_hitype
      >>> class Money:
      ...     pass
      >>> register_hitype(Money, lambda value: onax.typeof(1.0))
    """


def cur_qdd(x: Any) -> NoReturn:
    """Raises NotImplementedError: there are no values whose type has a state.

    Args:
      x: a value.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> onax.experimental.cur_qdd(1)
      Traceback (most recent call last):
          ...
      NotImplementedError: cur_qdd: onax has no types of values besides arrays (hijax)
    """
    raise NotImplementedError(f"cur_qdd: {MESSAGE}")


__all__ = [
    "AbstractRef",
    "AbstractValue",
    "AvalMutableQDD",
    "AvalQDD",
    "EArray",
    "HiPrimitive",
    "HiPspec",
    "HiType",
    "MutableHiType",
    "ShapedArray",
    "TransformedRef",
    "VJPHiPrimitive",
    "Zero",
    "aval_method",
    "aval_property",
    "control_flow_allowed_effects",
    "instantiate_zeros",
    "is_undefined_primal",
    "register_hitype",
]
