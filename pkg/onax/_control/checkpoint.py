"""checkpoint (remat): reverse mode keeps a function's arguments and computes the rest again.

The forward pass runs the function as it is.  The linear part is one `remat2` equation whose program first computes the
residuals anew from the arguments; transposing it keeps that and walks the rest backward.
"""

import functools

from onax._control.bodies import arrays_and_avals
from onax._core.evaluate import eval_jaxpr
from onax._core.zeros import Zero, is_undefined_primal
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._transforms.abstract import CheckedFlatFunction, with_static
from onax._transforms.batching import batch_jaxpr
from onax._transforms.flatten import check_callable, debug_info, normalize_argnums
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.simplify import drop_dead_code
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr
from onax._transforms.transpose import transpose_jaxpr


def checkpoint(fun, *, prevent_cse=True, policy=None, static_argnums=(), static_argnames=()):
    """`fun`, of which reverse mode stores only the arguments: intermediate values are computed again when wanted.

    `policy`: one of `checkpoint_policies`; `everything_saveable` stores all (no recomputation), every other one
    stores the arguments alone.
    """
    check_callable(fun)
    argnums, argnames = normalize_argnums(fun, static_argnums or None, static_argnames or None)

    @functools.wraps(fun, updated=())
    def checkpointed(*args, **kwargs):
        if policy is everything_saveable:
            return fun(*args, **kwargs)
        fixed = {k: v for k, v in kwargs.items() if k in argnames}
        dynamic_kwargs = {k: v for k, v in kwargs.items() if k not in argnames}
        partial, dynamic = with_static(fun, args, argnums)
        if fixed:
            partial = functools.wraps(fun, updated=())(functools.partial(partial, **fixed))
        leaves, _ = tree_flatten((dynamic, dynamic_kwargs))
        in_tree = tree_structure((dynamic, dynamic_kwargs))
        values, avals = arrays_and_avals(leaves)
        flat = CheckedFlatFunction(partial, in_tree, "checkpoint / remat")
        closed = trace_to_jaxpr(flat, avals, debug_info("checkpoint / remat", fun, dynamic, dynamic_kwargs))
        closed, hoisted = hoist_tracers(closed)
        outs = remat_p.bind(
            *hoisted, *values, jaxpr=closed, prevent_cse=prevent_cse, differentiated=False, policy=policy
        )
        return tree_unflatten(flat.out_tree, outs)

    return checkpointed


remat = checkpoint


# ---- policies: which intermediate values may be stored; here all or none ----


def everything_saveable(*_, **__):
    """Stores every intermediate value: nothing is computed again."""
    return True


def nothing_saveable(*_, **__):
    """Stores the arguments alone."""
    return False


def dots_saveable(primitive, *_, **__):
    """JAX stores the results of matrix products; here they are computed again."""
    return primitive.name == "dot_general"


class checkpoint_policies:
    """JAX's names of policies."""

    everything_saveable = staticmethod(everything_saveable)
    nothing_saveable = staticmethod(nothing_saveable)
    dots_saveable = staticmethod(dots_saveable)
    checkpoint_dots = staticmethod(dots_saveable)
    dots_with_no_batch_dims_saveable = staticmethod(dots_saveable)
    checkpoint_dots_with_no_batch_dims = staticmethod(dots_saveable)


def _impl(*args, jaxpr, **_):
    return eval_jaxpr(jaxpr, jaxpr.consts, *args)


def _abstract_eval(*avals, jaxpr, **_):
    return list(jaxpr.out_avals)


def _jvp(primals, tangents, *, jaxpr, **params):
    nonzeros = [type(t) is not Zero for t in tangents]
    derived, nonzeros_out = jvp_jaxpr(jaxpr, nonzeros, False)
    outs = remat_p.bind(*primals, *(t for t in tangents if type(t) is not Zero), jaxpr=derived, **params)
    n = len(jaxpr.outvars)
    rest = iter(outs[n:])
    return outs[:n], [
        next(rest) if nonzero else Zero(v.aval.to_tangent_aval()) for v, nonzero in zip(jaxpr.outvars, nonzeros_out)
    ]


def _linearize(nonzeros, *primals, jaxpr, prevent_cse, differentiated, policy):
    outs = eval_jaxpr(jaxpr, jaxpr.consts, *primals)
    again, nonzeros_out = _recomputing(jaxpr, nonzeros)

    def apply(residuals, *tangents):
        given = [t for t in tangents if type(t) is not Zero]
        results = iter(
            remat_p.bind(*residuals, *given, jaxpr=again, prevent_cse=prevent_cse, differentiated=True, policy=policy)
        )
        return [
            next(results) if nonzero else Zero(v.aval.to_tangent_aval())
            for v, nonzero in zip(jaxpr.outvars, nonzeros_out)
        ]

    return outs, nonzeros_out, list(primals), apply


def _recomputing(jaxpr, nonzeros):
    """The program of (primals, tangents) -> tangents of the results, which computes its residuals itself."""
    forward, linear, nonzeros_out, forwarded = linearize_jaxpr(jaxpr, nonzeros)
    n_in, n_out = len(jaxpr.invars), len(jaxpr.outvars)

    def fun(*args):
        computed = iter(eval_jaxpr(forward, forward.consts, *args[:n_in])[n_out:])
        residuals = [next(computed) if f is None else args[f] for f in forwarded]
        return eval_jaxpr(linear, linear.consts, *residuals, *args[n_in:])

    tangent_avals = [v.aval.to_tangent_aval() for v, nonzero in zip(jaxpr.invars, nonzeros) if nonzero]
    return drop_dead_code(trace_to_jaxpr(fun, [*jaxpr.in_avals, *tangent_avals], jaxpr.debug_info)), nonzeros_out


def _transpose(cts, *operands, jaxpr, **params):
    linear = [is_undefined_primal(x) for x in operands]
    nonzero_cts = [type(ct) is not Zero for ct in cts]
    derived, nonzeros_out = transpose_jaxpr(jaxpr, linear, nonzero_cts)
    plain = [x for x in operands if not is_undefined_primal(x)]
    outs = iter(remat_p.bind(*plain, *(ct for ct in cts if type(ct) is not Zero), jaxpr=derived, **params))
    has_ct = iter(nonzeros_out)
    return [
        None if not is_linear else next(outs) if next(has_ct) else Zero(x.aval)
        for x, is_linear in zip(operands, linear)
    ]


def _batch(axis_data, operands, dims, *, jaxpr, **params):
    derived, dims_out = batch_jaxpr(jaxpr, axis_data, dims)
    return remat_p.bind(*operands, jaxpr=derived, **params), dims_out


remat_p = Primitive(
    "remat2",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    transpose=_transpose,
    batch=_batch,
    weak=NEVER,
)
