"""Primitives that a program defines as classes: a function of arrays with rules for derivatives and batching.

    call_hi_primitive_p.bind(*operands, _prim, jaxpr)

`_prim` is an instance of the class.  Traces that transform use its rules; `jaxpr` is the program of its function, which
is staged where the operation becomes part of a program, and None elsewhere: outside of programs the function itself is
called, so that it may use Python's control flow.
"""

from dataclasses import dataclass, field
from typing import Any

from onax._core.evaluate import eval_jaxpr
from onax._core.explicit_axes import with_mapped_axis
from onax._core.lists import select
from onax._core.paths import broadcast_prefix
from onax._core.programs import CUSTOM_RULE, Call, programs
from onax._core.rules import add_tangents
from onax._core.trace import as_array, find_cur_trace, set_current_trace, typeof, valid_jaxtype
from onax._core.zeros import SymbolicZero, Zero, is_undefined_primal
from onax._ground.dtypes import float0
from onax._ground.errors import UnexpectedTracerError
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten
from onax._prims.convert import convert
from onax._prims.creation import instantiate_zeros
from onax._prims.elementwise import add
from onax._prims.shaping import moveaxis, reduce_sum
from onax._transforms.autodiff import linear_transpose
from onax._transforms.discharge import discharge_call
from onax._transforms.flatten import debug_info
from onax._transforms.lower_hitypes import to_lo
from onax._transforms.staging import DynamicJaxprTrace, hoist_tracers, trace_to_jaxpr
from onax._transforms.vmap import vmap

# ---- gradient accumulators


@dataclass(slots=True, eq=False)
class GradAccum:
    """Where a backward rule leaves the cotangent of an operand.

    Args:
      aval: the type of the cotangent.

    Examples:
      >>> from onax.experimental.hijax import NullAccum
      >>> NullAccum(onax.typeof(jnp.ones(2))).aval
      ShapedArray(float32[2])
    """

    aval: object

    def accum(self, ct):
        """Adds a contribution."""
        raise NotImplementedError


@dataclass(slots=True, eq=False)
class ValAccum(GradAccum):
    """Adds contributions to a value.

    Args:
      aval: the type of the cotangent.

    Examples:
      >>> from onax.experimental.hijax import ValAccum
      >>> accumulator = ValAccum(onax.typeof(1.0))
      >>> accumulator.accum(2.0)
      >>> accumulator.accum(3.0)
      >>> accumulator.freeze()
      Array(5., dtype=float32, weak_type=True)
    """

    _value: object = field(init=False, repr=False)

    def __post_init__(self):
        self._value = Zero(self.aval)

    def accum(self, ct):
        """Adds a contribution."""
        if ct is None or type(ct) is Zero:
            return
        if type(self._value) is Zero:
            self._value = as_array(ct)
        else:
            self._value = (add_tangents if self.aval.is_high else add)(self._value, ct)

    def freeze(self):
        """The sum, a Zero if nothing was added."""
        return self._value


@dataclass(slots=True, eq=False)
class RefAccum(GradAccum):
    """Adds contributions to a mutable array reference, which a rule may also update itself.

    Args:
      aval: the type of the cotangent.
      ref: the reference.

    Examples:
      >>> from onax.experimental.hijax import RefAccum
      >>> ref = onax.new_ref(jnp.zeros(2))
      >>> RefAccum(onax.typeof(jnp.zeros(2)), ref).accum(jnp.ones(2))
      >>> ref
      Ref([1., 1.], dtype=float32)
    """

    ref: object

    def accum(self, ct):
        """Adds a contribution."""
        if not (ct is None or type(ct) is Zero):
            self.ref[...] += ct


@dataclass(slots=True, eq=False)
class NullAccum(GradAccum):
    """Drops contributions: nobody wants this cotangent.

    Args:
      aval: the type of the cotangent.

    Examples:
      >>> from onax.experimental.hijax import NullAccum
      >>> NullAccum(onax.typeof(1.0)).accum(2.0)
    """

    def accum(self, ct):
        """Does nothing."""


# ---- the class


class VJPHiPrimitive:
    """The base class of primitives that a program defines.

    The `__init__` of a subclass sets three attributes and calls this one: `in_avals`, a tuple with the type, or a tree
    of types, of each argument; `out_aval`, the type or tree of types of the result; `params`, a dictionary of hashable
    constants, which become attributes.  The methods of a subclass are its rules; only `expand` is required.

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
      ...         return (2 * x * ct,)
      >>> square = lambda x: Square(onax.typeof(x))(x)
      >>> square(3.0), onax.grad(square)(3.0)
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """

    effects = frozenset()

    def __init__(self):
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(f"subclass __init__ should set `self.{name}`")
        if _overrides(self, "vjp_bwd") and _overrides(self, "vjp_bwd_retval"):
            raise AttributeError(f"subclass {type(self)} should not override both `vjp_bwd` and `vjp_bwd_retval`")
        self.in_avals_flat, self.in_tree = tree_flatten(self.in_avals)
        self.out_avals_flat, self.out_tree = tree_flatten(self.out_aval)
        self._is_high = any(getattr(a, "is_high", False) for a in (*self.in_avals_flat, *self.out_avals_flat))
        self.__dict__.update(self.params)
        self.check(*self.in_avals)

    def __call__(self, *args):
        leaves = _leaves_like(self.in_tree, args, f"the arguments of {self}")
        outs = call_hi_primitive_p.bind(*map(as_array, leaves), _prim=self, jaxpr=None)
        return tree_unflatten(self.out_tree, outs)

    def check(self, *arg_tys):
        """Raises an error for types that do not fit; by default none."""

    def expand(self, *args):
        """The function, of other operations."""
        raise NotImplementedError(f"subclass {type(self)} must implement `expand`")

    def vjp_fwd(self, nzs_in, /, *args):
        """(result, residuals) or (result, residuals, which results have a tangent); `nzs_in`: which arguments have."""
        raise NotImplementedError(f"for grad support, subclass {type(self)} must implement `vjp_fwd`")

    def vjp_bwd(self, res, outgrad, /, *arg_accums):
        """Leaves the cotangents of the arguments in their accumulators."""
        for accumulator, ct in zip(tree_leaves(arg_accums), _flat_cotangents(self, self.vjp_bwd_retval(res, outgrad))):
            accumulator.accum(ct)

    def vjp_bwd_retval(self, res, outgrad, /):
        """The cotangents of the arguments, None for one that vanishes."""
        raise NotImplementedError(
            f"for grad support, subclass {type(self)} must implement `vjp_bwd` or `vjp_bwd_retval`"
        )

    def jvp(self, primals, tangents):
        """(result, tangent of the result)."""
        raise NotImplementedError(f"for jvp support, subclass {type(self)} must implement `jvp`")

    def lin(self, nzs_in, *primals):
        """(result, residuals), as `vjp_fwd`."""
        raise NotImplementedError(f"for linearize support, subclass {type(self)} must implement `lin` and `linearized`")

    def linearized(self, residuals, *tangents):
        """The tangent of the result."""
        raise NotImplementedError(f"for linearize support, subclass {type(self)} must implement `lin` and `linearized`")

    def transpose(self, out_ct, *maybe_accums):
        """Leaves cotangents in the accumulators among the arguments, in which the function is linear."""
        raise NotImplementedError(f"for transpose support, subclass {type(self)} must implement `transpose`")

    def batch(self, axis_data, args, dims):
        """(batched result, its mapped axes); `dims` has that of each argument, None for one that is not mapped."""
        out_dim = self.batch_dim_rule(axis_data, dims)
        return VmapOf(self, axis_data, dims, out_dim)(*args), out_dim

    def batch_dim_rule(self, axis_data, dims, /):
        """The mapped axes of the result."""
        raise NotImplementedError(f"for vmap support, subclass {type(self)} must implement `batch` or `batch_dim_rule`")

    def dce(self, used_outs):
        """(used arguments, produced results, the primitive that produces these or None), given which results are used.

        Flags are trees or prefixes of trees.
        """
        used = any(_leaves_like(self.out_tree, used_outs, f"the flags of {self}"))
        return (True, True, self) if used else (False, False, None)

    def __repr__(self):
        return f"{type(self).__name__}[{self.params}]"

    def __hash__(self):
        return hash((type(self).__name__, tuple(self.params.items()), self.effects))

    def __eq__(self, other):
        return type(self) is type(other) and self.params == other.params and self.effects == other.effects


def _overrides(prim, name):
    return getattr(type(prim), name) is not getattr(VJPHiPrimitive, name)


def _leaves_like(tree, value, what):
    """The leaves of a value with this structure; TypeError for any other."""
    found = tree_structure(value)
    if found != tree:
        raise TypeError(f"{what} have the structure {found}, where their types have {tree}")
    return tree_leaves(value)


def _flat_cotangents(prim, cts):
    """A cotangent for each leaf of the arguments; None becomes a Zero."""
    trees = prim.in_tree.children()
    if len(cts) != len(trees):
        raise ValueError(f"the backward rule of {prim} returned {len(cts)} cotangents for {len(trees)} arguments")
    flat = []
    for tree, ct in zip(trees, cts):
        flat += [None] * tree.num_leaves if ct is None else tree.flatten_up_to(ct)
    return [
        Zero(a.to_tangent_aval()) if ct is None or isinstance(ct, SymbolicZero) else ct
        for a, ct in zip(prim.in_avals_flat, flat)
    ]


def _pull_back(prim, residuals, ct, nonzeros):
    """What the backward rule makes of the cotangent of the result: one for each leaf of the arguments."""
    if not _overrides(prim, "vjp_bwd"):
        return _flat_cotangents(prim, prim.vjp_bwd_retval(residuals, ct))
    accumulators = [
        (ValAccum if nonzero else NullAccum)(a.to_tangent_aval()) for a, nonzero in zip(prim.in_avals_flat, nonzeros)
    ]
    prim.vjp_bwd(residuals, ct, *tree_unflatten(prim.in_tree, accumulators))
    return [Zero(a.aval) if type(a) is NullAccum else a.freeze() for a in accumulators]


# ---- rules made of others


def _instantiated(tree):
    return tree_map(instantiate_zeros, tree, is_leaf=lambda x: type(x) is Zero)


def _lin_from_jvp(self, nzs_in, *primals):
    return self(*primals), primals


def _linearized_from_jvp(self, primals, *tangents):
    return self.jvp(primals, tangents)[1]


def _vjp_fwd_from_lin(self, nzs_in, *primals):
    return self.lin(nzs_in, *primals)


def _vjp_bwd_from_lin(self, residuals, ct):
    return _transposed(self, lambda *tangents: self.linearized(residuals, *tangents), ct)


def _vjp_fwd_from_jvp(self, nzs_in, *primals):
    return self(*primals), primals


def _vjp_bwd_from_jvp(self, primals, ct):
    return _transposed(self, lambda *tangents: self.jvp(primals, tangents)[1], ct)


def _transposed(prim, linear, ct):
    tangents = tree_unflatten(prim.in_tree, [a.to_tangent_aval() for a in prim.in_avals_flat])
    return linear_transpose(lambda *args: _instantiated(linear(*args)), *tangents)(_instantiated(ct))


linearize_from_jvp = _lin_from_jvp, _linearized_from_jvp
vjp_from_lin = _vjp_fwd_from_lin, _vjp_bwd_from_lin
vjp_from_jvp = _vjp_fwd_from_jvp, _vjp_bwd_from_jvp


def jvp_from_lin(self: VJPHiPrimitive, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """The rule `jvp` of a class that has `lin` and `linearized` of its own.

    Args:
      self: the primitive.
      primals: the arguments.
      tangents: their tangents.

    Returns:
      (result, tangent of the result).

    Raises:
      TypeError: the class has `lin` from `linearize_from_jvp`.

    Examples:
      >>> from onax.experimental.hijax import HiPrim, jvp_from_lin
      >>> class Sine(HiPrim):
      ...     def __init__(self, aval):
      ...         self.in_avals, self.out_aval, self.params = (aval,), aval, {}
      ...         super().__init__()
      ...
      ...     expand = lambda self, x: jnp.sin(x)
      ...     lin = lambda self, nzs_in, x: (self(x), jnp.cos(x))
      ...     linearized = lambda self, cosine, x_dot: cosine * x_dot
      ...     jvp = jvp_from_lin
      >>> onax.jvp(lambda x: Sine(onax.typeof(x))(x), (0.0,), (2.0,))[1]
      Array(2., dtype=float32, weak_type=True)
    """
    if type(self).lin is _lin_from_jvp:
        raise TypeError(
            f"{type(self)} defines `jvp = jvp_from_lin` and `lin, linearized = linearize_from_jvp`, each by the other"
        )
    out, residuals, *_ = self.lin(tree_map(lambda _: True, self.in_avals), *primals)
    return out, self.linearized(residuals, *tangents)


class VmapOf(VJPHiPrimitive):
    """A primitive mapped over one more axis."""

    def __init__(self, prim, axis_data, in_dims, out_dim):
        self._in_dims = prim.in_tree.flatten_up_to(in_dims)
        self._out_dims = prim.out_tree.flatten_up_to(out_dim)
        mapped = lambda avals, dims: [
            a if d is None else with_mapped_axis(a, d, axis_data) for a, d in zip(avals, dims)
        ]
        self.in_avals = tree_unflatten(prim.in_tree, mapped(prim.in_avals_flat, self._in_dims))
        self.out_aval = tree_unflatten(prim.out_tree, mapped(prim.out_avals_flat, self._out_dims))
        self.params = {"prim": prim, "axis_data": axis_data, "in_dims": in_dims, "out_dim": out_dim}
        super().__init__()

    def _vmap(self, fun, in_axes, out_axes):
        return vmap(fun, in_axes, out_axes, axis_name=self.axis_data.name, axis_size=self.axis_data.size)

    def expand(self, *args):
        """The mapped function."""
        return self._vmap(self.prim.expand, self.in_dims, self.out_dim)(*args)

    def jvp(self, primals, tangents):
        """The mapped rule."""
        rule = lambda p, t: _instantiated(self.prim.jvp(p, t))
        axes = (self.in_dims, self.in_dims), (self.out_dim, self.out_dim)
        return self._vmap(rule, *axes)(primals, _instantiated(tangents))

    def vjp_fwd(self, nzs_in, /, *args):
        """The mapped rule; residuals are mapped along their first axes."""
        rest = []

        def rule(*xs):
            out, residuals, *rest[:] = self.prim.vjp_fwd(nzs_in, *xs)
            return out, residuals

        return *self._vmap(rule, self.in_dims, (self.out_dim, 0))(*args), *rest

    def vjp_bwd_retval(self, res, outgrad, /):
        """The mapped rule; the cotangents of arguments that are not mapped are sums."""
        nonzeros = [True] * len(self._in_dims)
        rule = lambda r, ct: list(map(instantiate_zeros, _pull_back(self.prim, r, ct, nonzeros)))
        cts = self._vmap(rule, (0, self.out_dim), 0)(res, _instantiated(outgrad))
        cts = [reduce_sum(ct, (0,)) if d is None else moveaxis(ct, 0, d) for ct, d in zip(cts, self._in_dims)]
        return tree_unflatten(self.in_tree, cts)

    def batch_dim_rule(self, axis_data, dims, /):
        """The rule of the primitive, for the axes that are not mapped yet."""
        inner = [
            d if d is None or own is None else d - (own < d)
            for d, own in zip(self.in_tree.flatten_up_to(dims), self._in_dims)
        ]
        found = self.prim.batch_dim_rule(axis_data, tree_unflatten(self.in_tree, inner))
        outer = [
            d if d is None or own is None else d + (own <= d)
            for d, own in zip(self.out_tree.flatten_up_to(found), self._out_dims)
        ]
        return tree_unflatten(self.out_tree, outer)


# ---- the primitive


class _CallPrimitive(Primitive):
    """The primitive of all instances; where it becomes part of a program, the function is staged.

    One on values that are not arrays is staged only where these are replaced by arrays (`lower_hitypes`).
    """

    def is_high(self, *avals, **_):
        """Whether it is an operation that a program defines."""
        return True

    def takes_hitypes(self, *avals, _prim, **_):
        """Whether arguments or results are not arrays."""
        return _prim._is_high

    def bind(self, *args, **params):
        """Applies the operation under the current trace."""
        return super().bind(*args, **_staged(find_cur_trace(), args, params))

    def bind_with_trace(self, trace, args, avals, params=None):
        """As for any primitive."""
        params = avals if params is None else params
        with set_current_trace(trace):
            params = _staged(trace, args, params)
        return super().bind_with_trace(trace, args, params)


def _staged(trace, args, params):
    """The parameters, with the program of the function if the trace stages one."""
    if params["jaxpr"] is not None or params["_prim"]._is_high or not isinstance(trace, DynamicJaxprTrace):
        return params
    if type(trace) is not DynamicJaxprTrace and not any(map(trace.is_own, args)):
        return params
    return {**params, "jaxpr": _program(params["_prim"], list(map(typeof, args)))}


def _program(prim, avals):
    """The program of the function of a primitive."""

    def flat(*leaves):
        outs = _expand(prim, leaves)
        for out, aval in zip(map(typeof, outs), prim.out_avals_flat):
            if (out.shape, out.dtype) != (aval.shape, aval.dtype):
                raise TypeError(f"{prim}: `expand` gave a {out.str_short()}, `out_aval` says {aval.str_short()}")
        return [convert(x, a.dtype, a.weak_type) for x, a in zip(outs, prim.out_avals_flat)]

    closed, hoisted = hoist_tracers(trace_to_jaxpr(flat, avals, debug_info(type(prim).__name__, prim.expand)))
    if hoisted:
        raise UnexpectedTracerError(f"`expand` of {prim} closes over traced values; pass these as arguments")
    return closed


def _expand(prim, leaves):
    out = prim.expand(*tree_unflatten(prim.in_tree, leaves))
    return list(map(as_array, _leaves_like(prim.out_tree, out, f"the results of `expand` of {prim}")))


def _impl(*args, _prim, jaxpr):
    return _expand(_prim, args) if jaxpr is None else eval_jaxpr(jaxpr, jaxpr.consts, *args)


def _abstract_eval(*avals, _prim, jaxpr):
    return list(_prim.out_avals_flat if jaxpr is None else jaxpr.out_avals)


def _jvp(primals, tangents, *, _prim, jaxpr):
    args = [tree_unflatten(_prim.in_tree, x) for x in (primals, tangents)]
    out, tangent = _prim.jvp(*args)
    outs = _leaves_like(_prim.out_tree, out, f"the results of `jvp` of {_prim}")
    return list(map(as_array, outs)), list(map(_tangent, outs, _prim.out_tree.flatten_up_to(tangent)))


def _tangent(out, tangent):
    if tangent is None:
        return Zero(typeof(out).to_tangent_aval())
    return tangent if type(tangent) is Zero else as_array(tangent)


def _linearize(nonzeros, *primals, _prim, jaxpr):
    """By `lin` and `linearized` if there is no backward rule, or one that is made of these.

    With a backward rule an equation that counts as linear in the tangents keeps the residuals of both, for either use.
    """
    args, nzs = tree_unflatten(_prim.in_tree, primals), tree_unflatten(_prim.in_tree, nonzeros)
    by_lin = _overrides(_prim, "lin") and (not _overrides(_prim, "vjp_fwd") or type(_prim).vjp_fwd is _vjp_fwd_from_lin)
    out, residuals, *rest = (_prim.lin if by_lin else _prim.vjp_fwd)(nzs, *args)
    outs = list(map(as_array, _leaves_like(_prim.out_tree, out, f"the results of the forward rule of {_prim}")))
    flags = [True] * len(outs)
    if rest and isinstance(rest[0], bool):
        flags = [rest[0]] * len(outs)
    elif rest:
        flags = _prim.out_tree.flatten_up_to(rest[0])
    forward = None if by_lin or not _overrides(_prim, "lin") else _prim.lin(nzs, *args)[1]
    leaves, tree = tree_flatten((residuals, forward))
    held = [valid_jaxtype(x) and type(x) is not bool for x in leaves]
    fixed = [None if keep else x for x, keep in zip(leaves, held)]

    def restore(values):
        values = iter(values)
        return tree_unflatten(tree, [next(values) if keep else x for x, keep in zip(fixed, held)])

    def push(values, *tangents):
        tangent = _prim.linearized(restore(values)[0], *tree_unflatten(_prim.in_tree, tangents))
        found = map(_tangent, outs, _prim.out_tree.flatten_up_to(tangent))
        return [t if flag else Zero(typeof(x).to_tangent_aval()) for t, x, flag in zip(found, outs, flags)]

    def record(values, *tangents):
        avals = [a.to_tangent_aval() for a in map(typeof, outs)]
        kept = tuple(flag and a.dtype != float0 for flag, a in zip(flags, avals))
        if not any(kept):
            return list(map(Zero, avals))
        found = call_hi_primitive_linearized_p.bind(
            *values,
            *select(tangents, nonzeros),
            _prim=_prim,
            restore=restore,
            nonzeros=tuple(nonzeros),
            kept=kept,
            out_avals=tuple(avals),
        )
        found = iter(found)
        return [next(found) if keep else Zero(a) for keep, a in zip(kept, avals)]

    return outs, flags, [as_array(x) for x, keep in zip(leaves, held) if keep], push if by_lin else record


def _transpose(cts, *operands, _prim, jaxpr):
    accumulators = [ValAccum(x.aval.to_tangent_aval()) if is_undefined_primal(x) else x for x in operands]
    _prim.transpose(tree_unflatten(_prim.out_tree, cts), *tree_unflatten(_prim.in_tree, accumulators))
    return [x.freeze() if type(x) is ValAccum else None for x in accumulators]


def _batch(axis_data, operands, dims, *, _prim, jaxpr):
    args, dims = tree_unflatten(_prim.in_tree, operands), tree_unflatten(_prim.in_tree, dims)
    out, out_dims = _prim.batch(axis_data, args, dims)
    outs = _leaves_like(_prim.out_tree, out, f"the results of `batch` of {_prim}")
    return list(map(as_array, outs)), _prim.out_tree.flatten_up_to(out_dims)


def _dce(used, eqn):
    """Asks the primitive which operands it needs, and for one that has the used results alone."""
    prim = eqn.params["_prim"]
    needed, produced, new = prim.dce(tree_unflatten(prim.out_tree, used))
    if new is None:
        return ([True] * len(eqn.invars), eqn) if eqn.effects else ([False] * len(eqn.invars), None)
    needed, produced = broadcast_prefix(needed, prim.in_avals), broadcast_prefix(produced, prim.out_aval)
    if new is prim:
        return needed, eqn
    invars = select(eqn.invars, needed)
    params = {"_prim": new, "jaxpr": None if new._is_high else _program(new, [a.aval for a in invars])}
    return needed, eqn.replace(invars=invars, outvars=select(eqn.outvars, produced), params=params)


call_hi_primitive_p = _CallPrimitive(
    "call_hi_primitive",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    dce=_dce,
    pretty=lambda eqn, names: {"_prim": eqn.params["_prim"]},
    weak=NEVER,
)
programs.set(call_hi_primitive_p, Call("jaxpr", CUSTOM_RULE))
to_lo.set(call_hi_primitive_p, lambda args, *, _prim, jaxpr: _expand(_prim, args))
discharge_call(call_hi_primitive_p)


# ---- the linear equation


def _linearized_impl(*operands, _prim, restore, nonzeros, kept, out_avals):
    """The tangents of the results, by the rule `linearized`, which raises an error if there is none."""
    n = len(operands) - sum(nonzeros)
    given = iter(operands[n:])
    avals = [a.to_tangent_aval() for a in _prim.in_avals_flat]
    tangents = [next(given) if flag else Zero(a) for flag, a in zip(nonzeros, avals)]
    found = _prim.linearized(restore(operands[:n])[1], *tree_unflatten(_prim.in_tree, tangents))
    found = [Zero(a) if t is None else t for t, a in zip(_prim.out_tree.flatten_up_to(found), out_avals)]
    return [instantiate_zeros(t) for t in select(found, kept)]


def _linearized_transpose(cts, *operands, _prim, restore, nonzeros, kept, out_avals):
    n = len(operands) - sum(nonzeros)
    given = iter(cts)
    full = [next(given) if keep else Zero(a) for keep, a in zip(kept, out_avals)]
    pulled = _pull_back(_prim, restore(operands[:n])[0], tree_unflatten(_prim.out_tree, full), nonzeros)
    pulled = zip(select(pulled, nonzeros), operands[n:])
    return [None] * n + [ct if is_undefined_primal(x) else None for ct, x in pulled]


def _refuse(*_, **__):
    raise TypeError("can't apply forward-mode autodiff (jvp) to a custom_vjp function.")


call_hi_primitive_linearized_p = Primitive(
    "call_hi_primitive_linearized",
    multiple_results=True,
    impl=_linearized_impl,
    abstract_eval=lambda *_, kept, out_avals, **__: select(out_avals, kept),
    jvp=_refuse,
    batch=_refuse,
    transpose=_linearized_transpose,
    pretty=lambda eqn, names: {"_prim": eqn.params["_prim"]},
    weak=NEVER,
)
