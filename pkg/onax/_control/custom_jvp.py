"""custom_jvp: functions that bring their own forward-mode rule."""

import functools

from onax._core.evaluate import eval_jaxpr
from onax._core.rules import add_tangents
from onax._core.trace import as_array, find_cur_trace, typeof, valid_jaxtype
from onax._core.zeros import SymbolicZero, Zero
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_unflatten
from onax._prims.shaping import bdim_at_front, instantiate_zeros
from onax._transforms.batching import batch_flat, batch_jaxpr
from onax._transforms.flatten import check_callable, debug_info, fun_name, fun_signature
from onax._transforms.jvp import call_custom_jvp
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr


class custom_jvp:
    """A function whose derivative is given by hand.

    `defjvp(rule)`: `rule(primals, tangents) -> (out, tangent_out)`, with the arguments at `nondiff_argnums` first.
    `defjvps(*rules)`: one `rule(t, out, *primals)` an argument, or None.
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        check_callable(fun)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.jvp = None
        self.symbolic_zeros = False

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule; returns it, so that it may be used as a decorator."""
        self.jvp = jvp
        self.symbolic_zeros = symbolic_zeros
        return jvp

    def defjvps(self, *jvps):
        """Sets one rule an argument; the tangents are summed."""
        if self.nondiff_argnums:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``.")

        def jvp(primals, tangents):
            out = self(*primals)
            zeros = tree_map(lambda x: Zero(typeof(x).to_tangent_aval()), out)
            parts = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            total = zeros
            for part in parts:
                total = tree_map(add_tangents, total, part)
            return out, tree_map(instantiate_zeros, total)

        self.defjvp(jvp)

    def __call__(self, *args, **kwargs):
        if self.jvp is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {fun_name(self.fun)} using defjvp.")
        if context.get_trace() is None:
            return self.fun(*args, **kwargs)
        return _call(self, resolve_arguments(self.fun, args, kwargs))

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def resolve_arguments(fun, args, kwargs):
    """All arguments by position, defaults filled in."""
    if not kwargs:
        signature = fun_signature(fun)
        if signature is None or len(args) >= len(signature.parameters):
            return args
    signature = fun_signature(fun)
    if signature is None:
        raise TypeError(f"{fun_name(fun)} has no signature: its arguments must be given by position")
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"keyword arguments could not be resolved to positions: {', '.join(bound.kwargs)}")
    return bound.args


class _Trees:
    """The structure of the results, known once the function or its rule has run."""

    __slots__ = ("out",)


def _call(custom, args):
    nondiff = {n % len(args) for n in custom.nondiff_argnums}
    names = fun_signature(custom.fun)
    if custom.nondiff_argnames and names is not None:
        nondiff |= {i for i, n in enumerate(names.parameters) if n in custom.nondiff_argnames}
    fixed = tuple(args[i] for i in sorted(nondiff))
    dynamic = tuple(a for i, a in enumerate(args) if i not in nondiff)
    leaves, in_tree = tree_flatten(dynamic)
    for leaf in leaves:
        if not valid_jaxtype(leaf):
            raise TypeError(f"Argument '{leaf}' of type {type(leaf)} is not a valid JAX type.")
    trees = _Trees()
    fun = _flat_fun(custom.fun, args, nondiff, in_tree, trees)
    jvp = _flat_jvp(custom, fixed, in_tree, trees)
    params = {"name": fun_name(custom.fun), "fun": custom.fun}
    outs = find_cur_trace().process_custom_jvp_call(
        custom_jvp_call_p, fun, jvp, leaves, symbolic_zeros=custom.symbolic_zeros, params=params
    )
    return tree_unflatten(trees.out, outs)


def flat_call(args, nondiff, in_tree, leaves):
    """All arguments of a call: those at `nondiff` as they were given, the others from flat values."""
    dynamic = iter(tree_unflatten(in_tree, leaves))
    return [a if i in nondiff else next(dynamic) for i, a in enumerate(args)]


def _flat_fun(fun, args, nondiff, in_tree, trees):
    def flat(*leaves):
        outs, trees.out = tree_flatten(fun(*flat_call(args, nondiff, in_tree, leaves)))
        return outs

    return flat


def _flat_jvp(custom, fixed, in_tree, trees):
    def jvp(*primals_and_tangents):
        half = len(primals_and_tangents) // 2
        primals = tree_unflatten(in_tree, primals_and_tangents[:half])
        tangents = tree_unflatten(in_tree, primals_and_tangents[half:])
        pair = custom.jvp(*fixed, primals, tangents)
        return _check_rule_results(custom, pair, trees)

    jvp.__name__ = fun_name(custom.jvp)
    return jvp


def _check_rule_results(custom, pair, trees):
    """Flat results and tangents of a user's rule; TypeError where they do not match."""
    rule, fun = fun_name(custom.jvp), fun_name(custom.fun)
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(
            f"Custom JVP rule {rule} for function {fun} must produce a pair (list or tuple of length two) "
            f"representing primal and tangent outputs, but got {pair}."
        )
    outs, out_tree = tree_flatten(pair[0])
    tangents, tangent_tree = tree_flatten(pair[1])
    if out_tree != tangent_tree:
        raise TypeError(
            f"Custom JVP rule {rule} for function {fun} must produce primal and tangent outputs with equal container "
            f"(pytree) structures, but got {out_tree} and {tangent_tree} respectively."
        )
    for x, t in zip(outs, tangents):
        wanted, got = typeof(x).to_tangent_aval(), t.aval if isinstance(t, SymbolicZero) else typeof(t)
        if (wanted.shape, wanted.dtype) != (got.shape, got.dtype):
            raise TypeError(
                f"Custom JVP rule {rule} for function {fun} must produce primal and tangent outputs with "
                f"corresponding shapes and dtypes. Expected {wanted.str_short()} (tangent type of "
                f"{typeof(x).str_short()}) but got {got.str_short()}."
            )
    trees.out = out_tree
    return [*outs, *tangents]


# ---- the equation form ----


class CustomJVPCall(Primitive):
    """The primitive that stands for a call of a custom_jvp function in a jaxpr."""

    def stage(self, trace, fun, jvp, args, symbolic_zeros, params):
        """Records a call: stages the function itself, keeps its rule."""
        args = [as_array(x) if not isinstance(x, (bool, int, float, complex)) else x for x in args]
        info = debug_info("custom_jvp fun", params["fun"])
        closed = trace_to_jaxpr(fun, [typeof(x) for x in args], info)
        closed, hoisted = hoist_tracers(closed)
        eqn_params = {
            "call_jaxpr": closed,
            "jvp_jaxpr_fun": jvp,
            "name": params["name"],
            "num_consts": len(hoisted),
            "symbolic_zeros": symbolic_zeros,
        }
        return trace.process_primitive(self, [*hoisted, *args], eqn_params)


def _impl(*args, call_jaxpr, **_):
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args)


def _abstract_eval(*avals, call_jaxpr, **_):
    return list(call_jaxpr.out_avals)


def _jvp(primals, tangents, *, call_jaxpr, jvp_jaxpr_fun, name, num_consts, symbolic_zeros):
    if any(type(t) is not Zero for t in tangents[:num_consts]):
        raise TypeError(
            f"{name}: differentiating with respect to a value the custom_jvp function closes over; pass it as an "
            "argument"
        )
    pairs = list(zip(primals, tangents))[num_consts:]
    return call_custom_jvp(jvp_jaxpr_fun, pairs, symbolic_zeros)


def _batch(axis_data, operands, dims, *, call_jaxpr, jvp_jaxpr_fun, num_consts, **params):
    batched, dims_out = batch_jaxpr(call_jaxpr, axis_data, dims, True)
    diff_dims = [*dims[num_consts:], *dims[num_consts:]]

    def batched_jvp(*xs):
        outs, found = batch_flat(jvp_jaxpr_fun, axis_data, xs, diff_dims)
        return [bdim_at_front(v, d, axis_data.size) for v, d in zip(outs, found)]

    outs = custom_jvp_call_p.bind(
        *operands, call_jaxpr=batched, jvp_jaxpr_fun=batched_jvp, num_consts=num_consts, **params
    )
    return outs, dims_out


def _pretty(eqn, names):
    params = eqn.params
    return {
        "name": params["name"],
        "call_jaxpr": params["call_jaxpr"],
        "jvp": fun_name(params["jvp_jaxpr_fun"]),
        "symbolic_zeros": params["symbolic_zeros"],
    }


custom_jvp_call_p = CustomJVPCall(
    "custom_jvp_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    batch=_batch,
    pretty=_pretty,
    weak=NEVER,
)

__all__ = ["custom_jvp", "custom_jvp_call_p"]
