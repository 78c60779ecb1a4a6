"""custom_vjp: functions with user-defined reverse-mode rules.

A call is a `custom_vjp_call` equation of a jaxpr.  Linearizing it runs the forward rule and records one `custom_lin`
equation, which counts as linear in the tangents and whose transpose is the backward rule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onax._control.custom_rules import (
    CustomFunction,
    call_plainly,
    flatten_call,
    refuse_closed_over,
    refuse_returned_refs,
    shown_consts,
    stage_call,
)
from onax._core.evaluate import eval_jaxpr
from onax._core.facts import RULES_TAKE_REFS, STATES_TYPES
from onax._core.lists import reject
from onax._core.paths import broadcast_prefix, keystr, skeleton, tree_leaves_with_path
from onax._core.programs import CUSTOM_RULE, Call, programs
from onax._core.refs import AbstractRef, discharge, is_ref
from onax._core.trace import find_cur_trace, typeof
from onax._core.zeros import SymbolicZero, Zero, drop_zeros, is_undefined_primal, nonzero_flags
from onax._ground import source
from onax._ground.config import config
from onax._ground.dtypes import float0
from onax._ground.typing import Arguments, Result
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.reductions import reduce_sum
from onax._prims.shaping import bdim_at_front, moveaxis
from onax._transforms.batching import batch_flat, batch_jaxpr, bring_to_front, unbatch_symbolic_zero
from onax._transforms.discharge import discharge_refs, split_results
from onax._transforms.flatten import fun_name
from onax._transforms.varying_types import OWN_TYPES, varying_type


@source.api_class
class custom_vjp(CustomFunction[Arguments, Result]):
    """A function with a derivative of the user's own, given as rules of reverse mode.

    ``f.defvjp(fwd, bwd)``: ``fwd(*args) -> (out, residuals)`` and ``bwd(*nondiff_args, residuals, ct)``, which returns
    a tuple with one cotangent for each argument, None for zero.  Forward mode is not possible.

    Args:
      fun: a function.
      nondiff_argnums: indices of arguments without derivative, which come first in `bwd`.
      nondiff_argnames: names of such arguments.

    Examples:
      >>> @onax.custom_vjp
      ... def f(x):
      ...     return x * x
      >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (100 * ct,))
      >>> onax.grad(f)(3.0)
      Array(100., dtype=float32, weak_type=True)
    """

    kind = "custom_vjp"

    def __init__(
        self,
        fun: Callable[Arguments, Result],
        nondiff_argnums: Sequence[int] = (),
        nondiff_argnames: Sequence[str] = (),
    ) -> None:
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.fwd = self.bwd = None
        self.symbolic_zeros = self.optimize_remat = False

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Sets the rules.

        `optimize_remat` is kept without effect: `checkpoint` stores only the arguments of a rule in any case.  With
        `symbolic_zeros`, `fwd` gets a CustomVJPPrimal for every array, which says whether the array is differentiated,
        and `bwd` gets a SymbolicZero for every cotangent that is known to vanish.
        """
        self.fwd = fwd
        self.bwd = bwd
        self.symbolic_zeros = symbolic_zeros
        self.optimize_remat = optimize_remat

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {fun_name(self.fun)} using defvjp.")
        if context.get_trace() is None:
            return call_plainly(self, args, kwargs)
        call, leaves = flatten_call(self, args, kwargs)
        rules = _FlatRules(call, [typeof(x) for x in leaves])
        params = {"name": fun_name(self.fun), "fun": self.fun, "fwd": self.fwd, "bwd": self.bwd, "call": call}
        outs = find_cur_trace().process_custom_vjp_call(
            custom_vjp_call_p,
            call.fun,
            rules.fwd,
            _FlatBwd(rules),
            leaves,
            out_trees=rules.n_outs,
            symbolic_zeros=self.symbolic_zeros,
            params=params,
        )
        return tree_unflatten(call.out_tree, outs)


@dataclass(slots=True, eq=False)
class CustomVJPPrimal:
    """An argument of the forward rule of a `custom_vjp` with ``symbolic_zeros=True``.

    Args:
      value: an array.
      perturbed: whether it is differentiated.

    Examples:
      >>> onax.custom_derivatives.CustomVJPPrimal(1.0, True).perturbed
      True
    """

    value: object
    perturbed: bool


def custom_vjp_primal_tree_values(tree: Any) -> Any:
    """Returns a tree with the values of its CustomVJPPrimals.

    Args:
      tree: a tree of CustomVJPPrimals.

    Returns:
      A tree of arrays.

    Raises:
      TypeError: other leaves.

    Examples:
      >>> primal = onax.custom_derivatives.CustomVJPPrimal(1.0, True)
      >>> onax.custom_derivatives.custom_vjp_primal_tree_values([primal])
      [1.0]
    """

    def value(leaf):
        if type(leaf) is not CustomVJPPrimal:
            raise TypeError(f"unexpected leaf type {type(leaf)}")
        return leaf.value

    return tree_map(value, tree)


class _FlatRules:
    """The rules of one call on flat values.

    `fwd(perturbed, *leaves)`, where `perturbed` says for each argument whether it has a tangent, and
    `bwd(n_residuals, *residuals, *cotangents)`, in which cotangents may be SymbolicZero.
    """

    __slots__ = ("_call", "custom", "in_avals", "residual_tree")

    def __init__(self, call, in_avals):
        self._call = call
        self.custom = call.custom
        self.in_avals = in_avals
        self.residual_tree = None

    def fwd(self, perturbed, *leaves):
        """Flat results followed by flat residuals."""
        custom, refs = self.custom, [x for x in leaves if is_ref(x)]
        if len(refs) > 1:
            self._call.refuse_same_reference(leaves)
        if custom.symbolic_zeros:
            leaves = [CustomVJPPrimal(x, p) for x, p in zip(leaves, perturbed)]
        pair = source.call_user_rule(custom.fwd, *self._call.arguments(leaves))
        rule, fun = fun_name(custom.fwd), fun_name(custom.fun)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"Custom VJP fwd rule {rule} for function {fun} must produce a pair (list or tuple of length two) "
                "where the first element represents the primal output (equal to those of the custom_vjp-decorated "
                f"function {fun}) and the second element represents residuals (i.e. values stored from the forward "
                f"pass for use on the backward pass), but instead of a pair the fwd rule {rule} produced {pair}."
            )
        outs, self._call.out_tree = tree_flatten(pair[0])
        self._call.check_rule_result(custom.fwd, self._call.out_tree, outs)
        residuals, self.residual_tree = tree_flatten(pair[1])
        if any(map(is_ref, residuals)):
            refuse_returned_refs("custom_vjp fwd function", custom.fwd, *tree_flatten(tuple(pair)), allowed=refs)
        return [*outs, *residuals]

    def n_outs(self):
        """The number of flat results."""
        return self._call.out_tree.num_leaves

    def bwd(self, n_residuals, *values):
        """Flat cotangents of the differentiated arguments from flat residuals and cotangents."""
        call = self._call
        residuals = tree_unflatten(self.residual_tree, values[:n_residuals])
        cts = tree_unflatten(call.out_tree, values[n_residuals:])
        given = source.call_user_rule(self.custom.bwd, *call.fixed, residuals, cts)
        dummy = skeleton(call.in_tree)
        if not isinstance(given, (tuple, list)) or len(given) != len(dummy):
            raise _structure_error(given, call.in_tree)
        flat = []
        try:
            for ct, argument in zip(given, dummy):
                flat.extend(_flatten_cotangent(ct, argument))
        except ValueError:
            raise _structure_error(given, call.in_tree) from None
        path = lambda i: keystr(tree_leaves_with_path(tuple(dummy))[i][0])
        return [_check_cotangent(ct, aval, path, i) for i, (ct, aval) in enumerate(zip(flat, self.in_avals))]


@dataclass(slots=True, eq=False, repr=False)
class _FlatBwd:
    """The backward rule of one call on flat values, which has the name of the user's rule."""

    _rules: object

    @property
    def __name__(self):
        return fun_name(self._rules.custom.bwd)

    def __call__(self, n_residuals, *values):
        return self._rules.bwd(n_residuals, *values)


def _structure_error(given, in_tree):
    return TypeError(
        "Custom VJP bwd rule must produce an output with the same container (pytree) structure as the args tuple of "
        "the primal function, and in particular must produce a tuple of length equal to the number of arguments to the "
        f"primal function, but got bwd output structure {tree_structure(given)} for primal input structure {in_tree}."
    )


def _flatten_cotangent(ct, argument):
    """The leaves of the cotangent of one argument; a leaf stands for each leaf of a subtree, None for zero.

    Raises ValueError for a cotangent of another structure.
    """
    return broadcast_prefix(ct, argument, is_leaf=lambda x: x is None)


def _check_cotangent(ct, aval, path, i):
    tangent = (aval.inner_aval if type(aval) is AbstractRef else aval).to_tangent_aval()
    if ct is None or tangent.dtype == float0:
        return Zero(tangent)
    if isinstance(ct, SymbolicZero):
        if (ct.shape, ct.dtype) != (tangent.shape, tangent.dtype):
            raise ValueError(
                "Custom VJP bwd rule produced a SymbolicZero with a shape/dtype that does not match the corresponding "
                f"input tangent shape/dtype: at output{path(i)} the SymbolicZero had shape/dtype {ct.aval.str_short()} "
                f"while the corresponding input had shape/dtype {aval.str_short()}. Consider just returning a None "
                "here instead of a SymbolicZero object."
            )
        return Zero(tangent)
    got = typeof(ct)
    differ = got.shape != tangent.shape
    if (differ or got.varying != tangent.varying) and not config.jax_disable_bwd_checks:
        raise ValueError(
            "Custom VJP bwd rule must produce an output with the same type as the args tuple of the primal function, "
            f"but at output{path(i)} the bwd rule produced an output of type {got.str_short()} corresponding to an "
            f"input of type {aval.str_short()}, so the {'shapes' if differ else 'manual axis types'} do not match"
        )
    return ct


def apply_fwd_rule(fwd, bwd, n_outs, primals, tangents, symbolic_zeros):
    """Runs the forward rule; returns its results, and their tangents from one `custom_lin` equation.

    The equation is bound under the current trace.  Its evaluation raises an error, because there is no forward-mode
    rule.
    """
    perturbed = nonzero_flags(tangents)
    values = fwd(tuple(perturbed), *primals)
    outs, residuals = values[: n_outs()], values[n_outs() :]
    fixed = {i: x for i, x in enumerate(residuals) if type(x) is bool}
    if fixed:  # flags stay Python values, because a rule may branch on them
        residuals = [x for x in residuals if type(x) is not bool]
        bwd = _with_fixed_residuals(bwd, fixed)
    out_avals = [typeof(x).to_tangent_aval() for x in outs]
    given = drop_zeros(tangents)
    differentiable = [a for a in out_avals if a.dtype != float0]
    results = iter(
        custom_lin_p.bind(
            *residuals,
            *given,
            n_residuals=len(residuals),
            bwd=bwd,
            in_zeros=tuple([not flag for flag in perturbed]),
            out_avals=tuple(out_avals),
            symbolic_zeros=symbolic_zeros,
        )
        if differentiable
        else ()
    )
    return outs, [Zero(a) if a.dtype == float0 else next(results) for a in out_avals]


def _with_fixed_residuals(bwd, fixed):
    """A backward rule; `fixed` holds the residuals, by position, that are not operands of the equation."""

    def call(n_residuals, *values):
        rest = iter(values)
        residuals = [fixed[i] if i in fixed else next(rest) for i in range(n_residuals + len(fixed))]
        return bwd(len(residuals), *residuals, *rest)

    call.__name__ = fun_name(bwd)
    return call


# ---- the linear equation ----


def _lin_impl(*_, **__):
    raise TypeError("can't apply forward-mode autodiff (jvp) to a custom_vjp function.")


def _lin_abstract(*_, out_avals, **__):
    return [a for a in out_avals if a.dtype != float0]


def _lin_transpose(cts, *operands, n_residuals, bwd, in_zeros, out_avals, symbolic_zeros):
    residuals = operands[:n_residuals]
    given = iter(cts)
    full = [Zero(a) if a.dtype == float0 else next(given) for a in out_avals]
    make = _symbolic_zero if symbolic_zeros else instantiate_zeros
    flat = bwd(n_residuals, *residuals, *map(make, full))
    cotangents = iter(reject(flat, in_zeros))
    return [None] * n_residuals + [next(cotangents) if is_undefined_primal(x) else None for x in operands[n_residuals:]]


def _symbolic_zero(ct):
    return SymbolicZero(ct.aval) if type(ct) is Zero else ct


def _lin_batch(axis_data, operands, dims, *, n_residuals, bwd, in_zeros, out_avals, **params):
    given = iter(dims[n_residuals:])
    tangent_dims = [None if zero else next(given) for zero in in_zeros]

    def batched_bwd(n, *values):
        operand_dims = [*dims[:n_residuals], *(None if a.dtype == float0 else 0 for a in out_avals)]
        cts, ct_dims = _run_batched(bwd, axis_data, n, values, operand_dims)
        return [_unbatch_cotangent(ct, d, dim, axis_data.size) for ct, d, dim in zip(cts, ct_dims, tangent_dims)]

    batched_bwd.__name__ = fun_name(bwd)
    batched = tuple(a.update(shape=(axis_data.size, *a.shape)) for a in out_avals)
    outs = custom_lin_p.bind(
        *operands, n_residuals=n_residuals, bwd=batched_bwd, in_zeros=in_zeros, out_avals=batched, **params
    )
    return outs, [0] * len(outs)


def _run_batched(bwd, axis_data, n_residuals, values, dims, tag=None):
    """Runs the backward rule of one example batched; returns cotangents and their mapped axes."""
    values, dims = zip(*map(_unbatch_value, values, dims)) if values else ((), ())
    run = lambda *xs: [instantiate_zeros(ct) for ct in bwd(n_residuals, *xs)]
    return batch_flat(run, axis_data, values, dims, tag)


def _unbatch_value(value, dim):
    """The symbolic zero of one example; other values are returned as they are."""
    value, dim = unbatch_symbolic_zero(value, dim)
    if isinstance(value, SymbolicZero):
        return value, dim
    return value, None if typeof(value).dtype == float0 else dim


def _lin_pretty(eqn, names):
    params = eqn.params
    return {
        "bwd": fun_name(params["bwd"]),
        "in_zeros": list(params["in_zeros"]),
        "num_res": params["n_residuals"],
        "symbolic_zeros": params["symbolic_zeros"],
    }


custom_lin_p = Primitive(
    "custom_lin",
    multiple_results=True,
    impl=_lin_impl,
    abstract_eval=_lin_abstract,
    jvp=_lin_impl,
    batch=_lin_batch,
    transpose=_lin_transpose,
    pretty=_lin_pretty,
    weak=NEVER,
    facts=frozenset({STATES_TYPES}),
)
varying_type.set(custom_lin_p, OWN_TYPES)


@discharge.rule(custom_lin_p)
def _discharge_lin(values, refs, **params):
    """The rule takes the tangents that references have at the call."""
    return custom_lin_p.bind(*values, **params), [None] * len(values)


# ---- the equation form of a call ----


class CustomVJPCall(Primitive):
    """The primitive that stands for a call of a custom_vjp function in a jaxpr."""

    def stage(self, trace, fun, fwd, bwd, args, out_trees, symbolic_zeros, params):
        """Records a call: stages the function, and keeps its rules as parameters."""
        closed, operands, num_consts = stage_call("custom_vjp", fun, params, args)
        eqn_params = {
            "bwd": bwd,
            "call_jaxpr": closed,
            "fwd_jaxpr_thunk": fwd,
            "name": params["name"],
            "num_consts": num_consts,
            "out_trees": out_trees,
            "shown": (params["bwd"], params["fwd"]),
            "symbolic_zeros": symbolic_zeros,
        }
        return trace.process_primitive(self, operands, eqn_params)

    def call_with_refs(self, trace, args, params):
        """A call of a recorded function under a trace; its rules take the operands that are references as they are."""
        n, call_jaxpr = params["num_consts"], params["call_jaxpr"]
        if n:
            raise NotImplementedError(
                f"the custom_vjp function {params['name']} takes references and closes over traced values; pass these "
                "as arguments"
            )
        bwd, fwd = params["shown"]
        return trace.process_custom_vjp_call(
            self,
            lambda *xs: eval_jaxpr(call_jaxpr, call_jaxpr.consts, *xs),
            params["fwd_jaxpr_thunk"],
            params["bwd"],
            args,
            out_trees=params["out_trees"],
            symbolic_zeros=params["symbolic_zeros"],
            params={"name": params["name"], "fun": fwd, "fwd": fwd, "bwd": bwd},
        )

    def apply_fwd_rule(self, fwd, bwd, n_outs, primals, tangents, symbolic_zeros):
        """The function of this name, for `_transforms`, which cannot import this module."""
        return apply_fwd_rule(fwd, bwd, n_outs, primals, tangents, symbolic_zeros)

    def batch_functions(self, axis_data, fun, fwd, bwd, n_outs, dims, tag=None, fixed_dims=None):
        """The function and its rules on batched values, and a list that holds the results' mapped axes after a call.

        With `fixed_dims`, results of the forward rule are mapped along their first axis where these say so.
        """
        dims_out, fwd_dims = [], []

        def batched_fun(*xs):
            outs, out_dims = batch_flat(fun, axis_data, xs, dims, tag)
            dims_out[:] = out_dims
            return outs

        def batched_fwd(perturbed, *xs):
            values, out_dims = batch_flat(lambda *ys: fwd(perturbed, *ys), axis_data, xs, dims, tag)
            n = n_outs()
            if fixed_dims is not None:
                moved = [bring_to_front(v, d, j, axis_data.size) for v, d, j in zip(values, out_dims, fixed_dims)]
                values, out_dims = [*moved, *values[n:]], [*fixed_dims, *out_dims[n:]]
            fwd_dims[:] = out_dims
            dims_out[:] = out_dims[:n]
            return values

        def batched_bwd(n_residuals, *values):
            operand_dims = [*fwd_dims[n_outs() :], *fwd_dims[: n_outs()]]
            cts, ct_dims = _run_batched(bwd, axis_data, n_residuals, values, operand_dims, tag)
            return [_unbatch_cotangent(ct, d, dim, axis_data.size) for ct, d, dim in zip(cts, ct_dims, dims)]

        batched_bwd.__name__ = fun_name(bwd)
        return batched_fun, batched_fwd, batched_bwd, dims_out


def _unbatch_cotangent(ct, dim, target_dim, size):
    """Moves the mapped axis of a cotangent to that of its argument; sums over it if the argument is not mapped."""
    if typeof(ct).dtype == float0:
        return Zero(typeof(ct))
    if target_dim is None:
        return ct if dim is None else reduce_sum(ct, (dim,))
    front = bdim_at_front(ct, dim, size)
    return moveaxis(front, 0, target_dim) if target_dim else front


def _impl(*args, call_jaxpr, **_):
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args)


def _abstract_eval(*avals, call_jaxpr, **_):
    return list(call_jaxpr.out_avals)


def _jvp(primals, tangents, *, fwd_jaxpr_thunk, bwd, name, num_consts, out_trees, symbolic_zeros, **_):
    refuse_closed_over(name, "custom_vjp", [type(t) is not Zero for t in tangents[:num_consts]])
    return apply_fwd_rule(fwd_jaxpr_thunk, bwd, out_trees, primals[num_consts:], tangents[num_consts:], symbolic_zeros)


def _partial_eval(linear, *args, call_jaxpr, **_):
    """Inlines the function if an operand is a tangent, because its rules are not needed any more."""
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args) if find_cur_trace().records_tangents else None


def _batch(axis_data, operands, dims, *, call_jaxpr, fwd_jaxpr_thunk, bwd, num_consts, out_trees, **params):
    derived, dims_out = batch_jaxpr(call_jaxpr, axis_data, dims, any(d is not None for d in dims))
    _, batched_fwd, batched_bwd, _ = custom_vjp_call_p.batch_functions(
        axis_data, None, fwd_jaxpr_thunk, bwd, out_trees, list(dims[num_consts:]), fixed_dims=dims_out
    )
    outs = custom_vjp_call_p.bind(
        *operands,
        call_jaxpr=derived,
        fwd_jaxpr_thunk=batched_fwd,
        bwd=batched_bwd,
        num_consts=num_consts,
        out_trees=out_trees,
        **params,
    )
    return outs, dims_out


def _pretty(eqn, names):
    bwd, fwd = eqn.params["shown"]
    return {
        "name": eqn.params["name"],
        "bwd": bwd,
        "call_jaxpr": eqn.params["call_jaxpr"],
        "fwd": fwd,
        **shown_consts(eqn.params),
        "symbolic_zeros": eqn.params["symbolic_zeros"],
    }


custom_vjp_call_p = CustomVJPCall(
    "custom_vjp_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    partial_eval=_partial_eval,
    batch=_batch,
    pretty=_pretty,
    weak=NEVER,
    facts={RULES_TAKE_REFS},
)
programs.set(custom_vjp_call_p, Call("call_jaxpr", CUSTOM_RULE))


@discharge.rule(custom_vjp_call_p)
def _discharge(values, refs, *, call_jaxpr, name, **params):
    """A call of the pure function.  It has no derivative any more, because its rules take references."""

    def refuse(*_):
        raise NotImplementedError(
            f"the custom_vjp function {name} takes references and is part of a loop or branch: "
            "there it has no derivative"
        )

    given = {**params, "fwd_jaxpr_thunk": refuse, "num_consts": 0}
    outs = custom_vjp_call_p.bind(*values, call_jaxpr=discharge_refs(call_jaxpr), name=name, **given)
    return split_results(outs, len(call_jaxpr.outvars), refs)
