"""call_hi_primitive: one operation that an object of the user's defines, with a rule for each transformation.

    call_hi_primitive_p.bind(*leaves, _prim, call_jaxpr)

The object has the operation as a function of other operations, `expand`.  Where programs are staged the equation holds
that of `expand`, so that compilers inline it; under other transformations the object's rules are used, and `expand`
runs as it is, on values that Python can look at.
"""

from functools import partial

from onax._control.custom_vjp import apply_fwd_rule
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import CUSTOM_RULE, Call, programs
from onax._core.zeros import SymbolicZero, Zero, is_undefined_primal
from onax._ground import source
from onax._native import context
from onax._native.avals import AbstractValue, ShapedArray
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_leaves, tree_map, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.elementwise import add_any_p
from onax._prims.reductions import reduce_sum
from onax._transforms.staging import trace_to_jaxpr
from onax._transforms.vmap import vmap

NO_HITYPES = "onax has no types of values besides arrays (hijax)"


def _is_zero(x):
    return type(x) is Zero


class VJPHiPrimitive:
    """An operation that a subclass defines, with rules for those transformations that are used.

    The constructor of a subclass sets `in_avals`, a tuple with the type, or the tree of types, of each argument,
    `out_aval`, the type or tree of types of the result, and `params`, a dict of hashable static parameters, which
    become attributes; then it calls ``super().__init__()``.  The object is called with arrays.  Its rules are methods:

    - ``expand(*args)``: the result, as a function of other operations; always needed.
    - ``vjp_fwd(nzs_in, *args) -> (result, residuals)`` and ``vjp_bwd_retval(residuals, ct)``, which returns a
      cotangent (or None) for each argument, or ``vjp_bwd(residuals, ct, *accumulators)``, which calls their ``accum``:
      reverse mode.  `nzs_in` says which arguments are differentiated; cotangents may be `Zero`.
    - ``jvp(primals, tangents) -> (result, its tangent)``: forward mode; tangents may be `Zero`.
    - ``lin(nzs_in, *args) -> (result, residuals)`` and ``linearized(residuals, *tangents)``: linearization, and reverse
      mode where there is no `vjp_fwd`.
    - ``transpose(ct, *accumulators)``: transposition, for operations that are linear in some arguments.
    - ``batch_dim_rule(axis_data, dims) -> dim``: where the mapped axis of the result lies, for `vmap`; or
      ``batch(axis_data, args, dims) -> (result, dim)``.

    Raises:
      AttributeError: the constructor of a subclass did not set an attribute.
      NotImplementedError: a transformation needs a rule that the subclass lacks, or a type is no type of arrays.

    Examples:
      >>> from onax.experimental.hijax import VJPHiPrimitive
      >>> class Double(VJPHiPrimitive):
      ...     def __init__(self, aval):
      ...         self.in_avals, self.out_aval, self.params = (aval,), aval, {}
      ...         super().__init__()
      ...
      ...     def expand(self, x):
      ...         return x + x
      ...
      ...     def vjp_fwd(self, nzs_in, x):
      ...         return self(x), None
      ...
      ...     def vjp_bwd_retval(self, residuals, ct):
      ...         return (2 * ct,)
      >>> double = lambda x: Double(onax.typeof(x))(x)
      >>> double(1.5), onax.grad(double)(1.5)
      (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """

    effects = frozenset()

    def __init__(self):
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(f"subclass __init__ should set `self.{name}`")
        if self._has("vjp_bwd") and self._has("vjp_bwd_retval"):
            raise AttributeError(f"subclass {type(self)} should not override both `vjp_bwd` and `vjp_bwd_retval`")
        self.in_avals_flat, self.in_tree = tree_flatten(self.in_avals)
        self.out_avals_flat, self.out_tree = tree_flatten(self.out_aval)
        for aval in (*self.in_avals_flat, *self.out_avals_flat):
            if isinstance(aval, AbstractValue) and type(aval) is not ShapedArray:
                raise NotImplementedError(f"{type(self).__name__}: {NO_HITYPES}")
        vars(self).update(self.params)
        self._program = None
        self.check(*self.in_avals)

    def _has(self, method):
        return getattr(type(self), method) is not getattr(VJPHiPrimitive, method)

    def _missing(self, transformation, rules):
        return NotImplementedError(f"for {transformation} support, subclass {type(self)} must implement {rules}")

    def check(self, *arg_tys):
        """Raises an error for types of arguments that the operation does not take; none by default."""

    def expand(self, *args):
        """The result, as a function of other operations."""
        raise NotImplementedError(f"subclass {type(self)} must implement `expand`")

    def vjp_fwd(self, nzs_in, /, *args):
        """The forward pass of reverse mode: the result and residuals."""
        raise self._missing("grad", "`vjp_fwd`")

    def vjp_bwd(self, res, outgrad, /, *arg_accums):
        """The backward pass: adds the cotangents of the arguments to accumulators."""
        cts = self.vjp_bwd_retval(res, outgrad)
        for accumulator, ct in zip(tree_leaves(arg_accums), self._flatten_up_to_inputs(cts)):
            accumulator.accum(ct)

    def vjp_bwd_retval(self, res, outgrad, /):
        """The backward pass: the cotangents of the arguments."""
        raise self._missing("grad", "`vjp_bwd` or `vjp_bwd_retval`")

    def jvp(self, primals, tangents):
        """Forward mode: the result and its tangent."""
        raise self._missing("jvp", "`jvp`")

    def lin(self, nzs_in, *primals):
        """Linearization: the result and residuals."""
        raise self._missing("linearize", "`lin` and `linearized`")

    def linearized(self, residuals, *tangents):
        """Linearization: the tangent of the result."""
        raise self._missing("linearize", "`lin` and `linearized`")

    def transpose(self, out_ct, *maybe_accums):
        """Transposition: adds the cotangents of the arguments in which the operation is linear to accumulators."""
        raise self._missing("transpose", "`transpose`")

    def batch(self, axis_data, args, dims):
        """The operation on batched arguments: its result and where the mapped axis of it lies."""
        out_dim = self.batch_dim_rule(axis_data, dims)
        return _Batched(self, axis_data, dims, out_dim)(*args), out_dim

    def batch_dim_rule(self, axis_data, dims, /):
        """Where the mapped axis of the result lies."""
        raise self._missing("vmap", "`batch` or `batch_dim_rule`")

    def __call__(self, *args):
        leaves = self._leaves(self.in_tree, args)
        trace = context.get_trace()
        program = self._staged() if trace is not None and trace.staging else None
        return tree_unflatten(self.out_tree, call_hi_primitive_p.bind(*leaves, _prim=self, call_jaxpr=program))

    def _leaves(self, tree, values):
        """The leaves of values, which must have a certain structure."""
        leaves, given = tree_flatten(values)
        if given != tree:
            raise ValueError(f"{self}: expected values of structure {tree}, got {given}")
        return leaves

    def _flatten_up_to_inputs(self, cts):
        """A cotangent, None or Zero for each leaf of the arguments; None stands for all leaves of a subtree."""
        flat = []
        for ct, aval in zip(cts, self.in_avals, strict=True):
            append = lambda x, part: flat.extend([x] * tree_structure(part).num_leaves) or 0
            tree_map(append, ct, aval, is_leaf=lambda x: x is None or _is_zero(x))
        return flat

    def _staged(self):
        """The program of `expand`, which is staged once."""
        if self._program is None:

            def run(*leaves):
                return self._leaves(self.out_tree, self.expand(*tree_unflatten(self.in_tree, leaves)))

            self._program = trace_to_jaxpr(run, self.in_avals_flat)
        return self._program

    def __repr__(self):
        return f"{type(self).__name__}[{self.params}]"

    def __hash__(self):
        return hash((type(self).__name__, tuple(self.params.items())))

    def __eq__(self, other):
        return type(self) is type(other) and self.params == other.params


class _Batched(VJPHiPrimitive):
    """An operation on batched arguments, whose rules are those of the operation under `vmap`."""

    def __init__(self, prim, axis_data, in_dims, out_dim):
        batched = lambda aval, dim: aval if dim is None else _with_axis(aval, dim, axis_data.size)
        dims = prim.in_tree.flatten_up_to(in_dims) if prim.in_tree.num_leaves else []
        self.in_avals = tree_unflatten(prim.in_tree, map(batched, prim.in_avals_flat, dims))
        out_dims = _broadcast_dims(prim.out_tree, out_dim)
        self.out_aval = tree_unflatten(prim.out_tree, map(batched, prim.out_avals_flat, out_dims))
        self.params = {"prim": prim, "axis_data": axis_data, "in_dims": in_dims, "out_dim": out_dim}
        super().__init__()
        self._dims = dims

    def _map(self, fun, in_axes, out_axes):
        return vmap(fun, in_axes, out_axes, axis_size=self.axis_data.size, axis_name=self.axis_data.name)

    def expand(self, *args):
        return self._map(self.prim.expand, self.in_dims, self.out_dim)(*args)

    def jvp(self, primals, tangents):
        tangents = tree_map(instantiate_zeros, tangents, is_leaf=_is_zero)
        rule = lambda *both: self.prim.jvp(both[: len(primals)], both[len(primals) :])
        return self._map(rule, (*self.in_dims, *self.in_dims), (self.out_dim, self.out_dim))(*primals, *tangents)

    def vjp_fwd(self, nzs_in, *args):
        return self._map(partial(self.prim.vjp_fwd, nzs_in), self.in_dims, (self.out_dim, 0))(*args)

    def vjp_bwd_retval(self, res, g):
        """The cotangents of one example at a time; those of arguments that are not mapped are summed."""
        prim = self.prim

        def rule(res, g):
            accumulators = [_Accumulator(aval) for aval in prim.in_avals_flat]
            prim.vjp_bwd(res, g, *tree_unflatten(prim.in_tree, accumulators))
            return [instantiate_zeros(a.total()) for a in accumulators]

        g = tree_map(instantiate_zeros, g, is_leaf=_is_zero)
        cts = self._map(rule, (0, self.out_dim), [0 if d is None else d for d in self._dims])(res, g)
        return tree_unflatten(prim.in_tree, [reduce_sum(x, (0,)) if d is None else x for x, d in zip(cts, self._dims)])

    def batch_dim_rule(self, axis_data, in_dims):
        """The rule of the operation, with positions of the new axis among those without this one."""
        without = lambda d, own: d if d is None or own is None else d - (own < d)
        given = self.prim.in_tree.flatten_up_to(in_dims)
        dims = tree_unflatten(self.prim.in_tree, map(without, given, self._dims))
        out_dim = self.prim.batch_dim_rule(axis_data, dims)
        return tree_map(lambda d, own: d + (own <= d), out_dim, self.out_dim)


def _with_axis(aval, dim, size):
    return aval.update(shape=(*aval.shape[:dim], size, *aval.shape[dim:]))


def _broadcast_dims(tree, dim):
    """The mapped axis of each leaf; an int or None is that of all leaves."""
    return [dim] * tree.num_leaves if dim is None or isinstance(dim, int) else tree.flatten_up_to(dim)


class _Accumulator:
    """Where a backward rule adds cotangents of one argument."""

    __slots__ = ("_aval", "_total")

    def __init__(self, aval):
        self._aval = aval
        self._total = None

    @property
    def aval(self):
        return self._aval

    def accum(self, ct):
        """Adds a cotangent; None and Zero add nothing."""
        if ct is not None and not _is_zero(ct):
            self._total = ct if self._total is None else add_any_p.bind(self._total, ct)

    def total(self):
        """The sum, or Zero."""
        return Zero(self._aval.to_tangent_aval()) if self._total is None else self._total


def _impl(*leaves, _prim, call_jaxpr):
    if call_jaxpr is not None:
        return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *leaves)
    return _prim._leaves(_prim.out_tree, source.call_user_rule(_prim.expand, *tree_unflatten(_prim.in_tree, leaves)))


def _abstract_eval(*_, _prim, call_jaxpr):
    return list(_prim.out_avals_flat)


def _jvp(primals, tangents, *, _prim, call_jaxpr):
    primals, tangents = tree_unflatten(_prim.in_tree, primals), tree_unflatten(_prim.in_tree, tangents)
    out, tangents_out = source.call_user_rule(_prim.jvp, primals, tangents)
    return _prim._leaves(_prim.out_tree, out), _prim.out_tree.flatten_up_to(tangents_out)


def _linearize(nonzeros, *primals, _prim, call_jaxpr):
    """Reverse mode's forward rule, whose tangents have the backward rule as their transpose; else the linear rules."""
    args, nzs_in = tree_unflatten(_prim.in_tree, primals), tree_unflatten(_prim.in_tree, nonzeros)
    if _prim._has("lin") and not _prim._has("vjp_fwd"):
        out, residuals = source.call_user_rule(_prim.lin, nzs_in, *args)[:2]
        outs = _prim._leaves(_prim.out_tree, out)

        def linear(residuals, *tangents):
            tangents_out = _prim.linearized(residuals, *tree_unflatten(_prim.in_tree, tangents))
            return _prim.out_tree.flatten_up_to(tangents_out)

        return outs, None, residuals, linear
    out, residuals = source.call_user_rule(_prim.vjp_fwd, nzs_in, *args)[:2]
    outs = _prim._leaves(_prim.out_tree, out)
    flat, residual_tree = tree_flatten(residuals)

    def bwd(n_residuals, *values):
        accumulators = [_Accumulator(aval) for aval in _prim.in_avals_flat]
        cts = [Zero(ct.aval) if type(ct) is SymbolicZero else ct for ct in values[n_residuals:]]
        res, outgrad = tree_unflatten(residual_tree, values[:n_residuals]), tree_unflatten(_prim.out_tree, cts)
        source.call_user_rule(_prim.vjp_bwd, res, outgrad, *tree_unflatten(_prim.in_tree, accumulators))
        return [a.total() for a in accumulators]

    def linear(flat, *tangents):
        values = [*outs, *flat]
        return apply_fwd_rule(lambda *_: values, bwd, lambda: len(outs), primals, list(tangents), True)[1]

    return outs, None, flat, linear


def _transpose(cts, *operands, _prim, call_jaxpr):
    undefined = list(map(is_undefined_primal, operands))
    given = [_Accumulator(x.aval) if flag else x for x, flag in zip(operands, undefined)]
    args = tree_unflatten(_prim.in_tree, given)
    source.call_user_rule(_prim.transpose, tree_unflatten(_prim.out_tree, cts), *args)
    return [x.total() if flag else None for x, flag in zip(given, undefined)]


def _batch(axis_data, operands, dims, *, _prim, call_jaxpr):
    args, in_dims = tree_unflatten(_prim.in_tree, operands), tree_unflatten(_prim.in_tree, dims)
    out, out_dim = source.call_user_rule(_prim.batch, axis_data, args, in_dims)
    return _prim._leaves(_prim.out_tree, out), _broadcast_dims(_prim.out_tree, out_dim)


call_hi_primitive_p = Primitive(
    "call_hi_primitive",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    pretty=lambda eqn, names: {"_prim": eqn.params["_prim"]},
    weak=NEVER,
)
programs.set(call_hi_primitive_p, Call("call_jaxpr", CUSTOM_RULE))

__all__ = ["NO_HITYPES", "VJPHiPrimitive", "call_hi_primitive_p"]
