"""call_hi_primitive: an operation that a library defines by an object with rules (`VJPHiPrimitive`).

The object's `expand` says what the operation computes, as a function of other operations; a call holds the program
of that function, so that it is compiled and exported like any call.  Derivatives and batching ask the object.  Its
rule for reverse mode gives residuals; one `call_hi_primitive_linearized` equation, which counts as linear in the
tangents, keeps them, and its transpose is the object's backward rule.
"""

from onax._core.evaluate import eval_jaxpr
from onax._core.lists import select
from onax._core.paths import broadcast_prefix
from onax._core.programs import CUSTOM_RULE, Call, programs
from onax._core.trace import as_array, typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground.dtypes import float0
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_unflatten
from onax._prims.convert import convert
from onax._prims.elementwise import add_any
from onax._transforms.discharge import discharge_call
from onax._transforms.flatten import debug_info
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr


class GradAccum:
    """Adds up the cotangents of one operand, which the backward rule of an operation gives it."""

    __slots__ = ("aval", "total")

    def __init__(self, aval):
        self.aval = aval
        self.total = Zero(aval)

    def accum(self, ct):
        """Adds a cotangent; None and symbolic zeros add nothing."""
        if ct is not None and type(ct) is not Zero:
            self.total = ct if type(self.total) is Zero else add_any(self.total, ct)


class NullAccum(GradAccum):
    """Stands for an operand that is not differentiated: what it is given is dropped."""

    __slots__ = ()

    def accum(self, ct):
        """Drops a cotangent."""


def leaves_checked(tree, value, what):
    """The leaves of a value that has a given tree; TypeError for others."""
    leaves, actual = tree_flatten(value)
    if actual != tree:
        raise TypeError(f"{what} have the structure {actual}, not {tree}")
    return leaves


def call_hi_primitive(prim, args):
    """Applies the operation to flat operands, under the current trace."""
    args = [x if isinstance(x, (bool, int, float, complex)) else as_array(x) for x in args]
    program = stage(prim, [typeof(x) for x in args])
    return call_hi_primitive_p.bind(*args, _prim=prim, call_jaxpr=program)


def stage(prim, avals):
    """The program of an operation on operands of the given types."""

    def expand(*args):
        outs = _expand(prim, args)
        for x, aval in zip(outs, prim.out_avals_flat):
            if typeof(x).shape != aval.shape or typeof(x).dtype != aval.dtype:
                raise TypeError(f"{prim}: `expand` gave a {typeof(x).str_short()}, `out_aval` says {aval.str_short()}")
        return [convert(x, a.dtype, a.weak_type) for x, a in zip(outs, prim.out_avals_flat)]

    closed, hoisted = hoist_tracers(trace_to_jaxpr(expand, avals, debug_info(type(prim).__name__, prim.expand)))
    if hoisted:
        raise TypeError(f"{prim}: `expand` closes over traced values; take them as arguments")
    return closed


def _expand(prim, args):
    return leaves_checked(prim.out_tree, prim.expand(*tree_unflatten(prim.in_tree, args)), f"{prim}: the results")


def _impl(*args, _prim, call_jaxpr):
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args)


def _abstract_eval(*_, _prim, call_jaxpr):
    return list(call_jaxpr.out_avals)


def _jvp(primals, tangents, *, _prim, call_jaxpr):
    outs, tangents_out = _prim.jvp(*(tree_unflatten(_prim.in_tree, list(xs)) for xs in (primals, tangents)))
    return (
        leaves_checked(_prim.out_tree, outs, f"{_prim}: the results of `jvp`"),
        [_own_zero(t) for t in _prim.out_tree.flatten_up_to(tangents_out)],
    )


def _own_zero(t):
    return Zero(typeof(t)) if type(t) is not Zero and typeof(t).dtype == float0 else t


def _linearize(nonzeros, *primals, _prim, call_jaxpr):
    """Runs the rule of reverse mode, and that of `linearize` where there is one; one equation serves both."""
    args = tree_unflatten(_prim.in_tree, list(primals))
    flags = tree_unflatten(_prim.in_tree, list(nonzeros))
    backward = forward = None
    if _prim.has_rule("vjp_fwd") or not _prim.has_rule("lin"):
        out, backward, *nonzeros_out = _prim.vjp_fwd(flags, *args)
    if _prim.has_rule("lin"):
        out, forward, *nonzeros_out = _prim.lin(flags, *args)
    outs = leaves_checked(_prim.out_tree, out, f"{_prim}: the results of the forward rule")
    nonzeros_out = broadcast_prefix(nonzeros_out[0] if nonzeros_out else True, out)
    out_avals = [typeof(x).to_tangent_aval() for x in outs]
    both, residuals_tree = tree_flatten((backward, forward))
    kept = [flag and a.dtype != float0 for flag, a in zip(nonzeros_out, out_avals)]

    def linear(residuals, *tangents):
        if not _prim.has_rule("vjp_fwd"):
            result = _prim.linearized(forward, *tree_unflatten(_prim.in_tree, list(tangents)))
            return [_own_zero(t) for t in _prim.out_tree.flatten_up_to(result)]
        results = iter(
            call_hi_primitive_linearized_p.bind(
                *residuals,
                *select(tangents, nonzeros),
                _prim=_prim,
                residuals_tree=residuals_tree,
                nonzeros=tuple(nonzeros),
                kept=tuple(kept),
                out_avals=tuple(out_avals),
            )
            if any(kept)
            else ()
        )
        return [next(results) if keep else Zero(a) for keep, a in zip(kept, out_avals)]

    return outs, kept, both, linear


def _batch(axis_data, operands, dims, *, _prim, call_jaxpr):
    args, dims = (tree_unflatten(_prim.in_tree, list(xs)) for xs in (operands, dims))
    out, out_dims = _prim.batch(axis_data, args, dims)
    return (
        leaves_checked(_prim.out_tree, out, f"{_prim}: the results of `batch`"),
        _prim.out_tree.flatten_up_to(out_dims),
    )


def _dce(used, eqn):
    """Asks the object which operands it needs, and for an operation with the used results alone."""
    prim = eqn.params["_prim"]
    needed, produced, new = prim.dce(tree_unflatten(prim.out_tree, list(used)))
    if new is None:
        return ([True] * len(eqn.invars), eqn) if eqn.effects else ([False] * len(eqn.invars), None)
    needed, produced = broadcast_prefix(needed, prim.in_avals), broadcast_prefix(produced, prim.out_aval)
    if new is prim:
        return needed, eqn
    invars = select(eqn.invars, needed)
    program = stage(new, [a.aval for a in invars])
    outvars, params = select(eqn.outvars, produced), {"_prim": new, "call_jaxpr": program}
    return needed, eqn.replace(invars=invars, outvars=outvars, params=params)


def _pretty(eqn, names):
    return {"_prim": eqn.params["_prim"]}


call_hi_primitive_p = Primitive(
    "call_hi_primitive",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    batch=_batch,
    dce=_dce,
    pretty=_pretty,
    weak=NEVER,
)
programs.set(call_hi_primitive_p, Call("call_jaxpr", CUSTOM_RULE))
discharge_call(call_hi_primitive_p)


# ---- the linear equation ----


def _lin_impl(*operands, _prim, residuals_tree, nonzeros, kept, out_avals):
    """The tangents of the results, by the rule of `linearize`; an error if there is none."""
    n = residuals_tree.num_leaves
    given = iter(operands[n:])
    tangents = [
        next(given) if nonzero else Zero(a.to_tangent_aval()) for nonzero, a in zip(nonzeros, _prim.in_avals_flat)
    ]
    _, forward = tree_unflatten(residuals_tree, operands[:n])
    result = _prim.linearized(forward, *tree_unflatten(_prim.in_tree, tangents))
    return select(_prim.out_tree.flatten_up_to(result), kept)


def _lin_abstract(*_, kept, out_avals, **__):
    return select(out_avals, kept)


def _lin_transpose(cts, *operands, _prim, residuals_tree, nonzeros, kept, out_avals):
    n = residuals_tree.num_leaves
    backward, _ = tree_unflatten(residuals_tree, operands[:n])
    given = iter(cts)
    full = [next(given) if keep else Zero(a) for keep, a in zip(kept, out_avals)]
    avals = [getattr(a, "inner_aval", a).to_tangent_aval() for a in _prim.in_avals_flat]
    accums = [GradAccum(a) if nonzero else NullAccum(a) for a, nonzero in zip(avals, nonzeros)]
    _prim.vjp_bwd(backward, tree_unflatten(_prim.out_tree, full), *tree_unflatten(_prim.in_tree, accums))
    totals = [accum.total for accum in select(accums, nonzeros)]
    return [None] * n + [ct if is_undefined_primal(x) else None for ct, x in zip(totals, operands[n:])]


def _refuse(*_, **__):
    raise TypeError("can't apply forward-mode autodiff (jvp) to a custom_vjp function.")


call_hi_primitive_linearized_p = Primitive(
    "call_hi_primitive_linearized",
    multiple_results=True,
    impl=_lin_impl,
    abstract_eval=_lin_abstract,
    jvp=_refuse,
    batch=_refuse,
    transpose=_lin_transpose,
    pretty=lambda eqn, names: {"_prim": eqn.params["_prim"], "residuals_tree": "..."},
    weak=NEVER,
)


__all__ = ["GradAccum", "NullAccum", "call_hi_primitive", "leaves_checked"]
