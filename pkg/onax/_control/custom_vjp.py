"""custom_vjp: functions that bring their own reverse-mode rule.

A call stands in a jaxpr as `custom_vjp_call`.  Differentiated, it becomes the forward rule and one `custom_lin`
equation, which is linear in the tangents by promise and whose transpose is the backward rule.
"""

import functools

from onax._control.custom_jvp import flat_call, resolve_arguments
from onax._core.evaluate import eval_jaxpr
from onax._core.trace import as_array, find_cur_trace, typeof, valid_jaxtype
from onax._core.zeros import SymbolicZero, Zero, is_undefined_primal
from onax._ground.dtypes import float0
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.reductions import reduce_sum
from onax._prims.shaping import bdim_at_front, instantiate_zeros, moveaxis
from onax._transforms.batching import batch_flat, batch_jaxpr
from onax._transforms.flatten import check_callable, debug_info, fun_name
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr


class custom_vjp:
    """A function whose vjp is given by hand.

    `defvjp(fwd, bwd)`: `fwd(*args) -> (out, residuals)` and `bwd(*nondiff_args, residuals, ct) -> cotangents of the
    arguments`, a tuple (None for a zero).  The arguments at `nondiff_argnums` come first in `bwd`.
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        check_callable(fun)
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.nondiff_argnames = tuple(nondiff_argnames)
        self.fwd = self.bwd = None

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Sets the rules (`optimize_remat` is accepted: rules are never rematerialised here).

        Raises NotImplementedError for `symbolic_zeros`: cotangents and tangents reach these rules as arrays.
        """
        if symbolic_zeros:
            raise NotImplementedError(
                "custom_vjp.defvjp(symbolic_zeros=True): rules get arrays; leave the option out, or use custom_jvp"
            )
        self.fwd = fwd
        self.bwd = bwd

    def __call__(self, *args, **kwargs):
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {fun_name(self.fun)} using defvjp.")
        if context.get_trace() is None:
            return self.fun(*args, **kwargs)
        return _call(self, resolve_arguments(self.fun, args, kwargs))

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


class _Rules:
    """The flat forms of one call's rules, and the trees that are known once they have run."""

    __slots__ = ("_args", "_custom", "_nondiff", "in_avals", "in_tree", "out_tree", "residual_tree")

    def __init__(self, custom, args, nondiff, in_tree, in_avals):
        self._custom = custom
        self._args = args
        self._nondiff = nondiff
        self.in_tree = in_tree
        self.in_avals = in_avals
        self.out_tree = self.residual_tree = None

    def fwd(self, *leaves):
        """Flat results followed by flat residuals."""
        custom = self._custom
        pair = custom.fwd(*flat_call(self._args, self._nondiff, self.in_tree, leaves))
        rule, fun = fun_name(custom.fwd), fun_name(custom.fun)
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise TypeError(
                f"Custom VJP fwd rule {rule} for function {fun} must produce a pair (list or tuple of length two) "
                "where the first element represents the primal output (equal to those of the custom_vjp-decorated "
                f"function {fun}) and the second element represents residuals (i.e. values stored from the forward "
                f"pass for use on the backward pass), but instead of a pair the fwd rule {rule} produced {pair}."
            )
        outs, self.out_tree = tree_flatten(pair[0])
        residuals, self.residual_tree = tree_flatten(pair[1])
        return [*outs, *residuals]

    def n_outs(self):
        """The number of flat results."""
        return self.out_tree.num_leaves

    def bwd(self, n_residuals, *values):
        """Flat cotangents of the differentiated arguments from flat residuals and cotangents."""
        custom = self._custom
        residuals = tree_unflatten(self.residual_tree, values[:n_residuals])
        cts = tree_unflatten(self.out_tree, values[n_residuals:])
        fixed = [self._args[i] for i in sorted(self._nondiff)]
        given = custom.bwd(*fixed, residuals, cts)
        dummy = tree_unflatten(self.in_tree, [0] * self.in_tree.num_leaves)
        if not isinstance(given, tuple) or len(given) != len(dummy):
            raise TypeError(
                "Custom VJP bwd rule must produce an output with the same container (pytree) structure as the args "
                "tuple of the primal function, and in particular must produce a tuple of length equal to the number "
                f"of arguments to the primal function, but got bwd output structure {tree_structure(given)} for primal "
                f"input structure {self.in_tree}."
            )
        flat = []
        for ct, argument in zip(given, dummy):
            wanted = tree_structure(argument)
            flat.extend([None] * wanted.num_leaves if ct is None else _leaves_like(ct, wanted, self.in_tree))
        return [_checked(ct, aval, i) for i, (ct, aval) in enumerate(zip(flat, self.in_avals))]


def _leaves_like(ct, wanted, in_tree):
    leaves, tree = tree_flatten(ct, is_leaf=lambda x: x is None)
    if tree.num_leaves != wanted.num_leaves:
        raise TypeError(
            "Custom VJP bwd rule must produce an output with the same container (pytree) structure as the args tuple "
            f"of the primal function, but got a part of structure {tree} for {wanted} in {in_tree}."
        )
    return leaves


def _checked(ct, aval, position):
    tangent = aval.to_tangent_aval()
    if ct is None or isinstance(ct, SymbolicZero) or tangent.dtype == float0:
        return Zero(tangent)
    got = typeof(ct)
    if got.shape != tangent.shape or got.dtype != tangent.dtype:
        what = "shapes" if got.shape != tangent.shape else "dtypes"
        raise ValueError(
            "Custom VJP bwd rule must produce an output with the same type as the args tuple of the primal function, "
            f"but at output[{position}] the bwd rule produced an output of type {got.str_short()} corresponding to an "
            f"input of type {aval.str_short()}, so the {what} do not match"
        )
    return ct


def _call(custom, args):
    nondiff = {n % len(args) for n in custom.nondiff_argnums}
    leaves, in_tree = tree_flatten(tuple(a for i, a in enumerate(args) if i not in nondiff))
    for leaf in leaves:
        if not valid_jaxtype(leaf):
            raise TypeError(f"Argument '{leaf}' of type {type(leaf)} is not a valid JAX type.")
    args = tuple([a if i in nondiff else None for i, a in enumerate(args)])  # the rules outlive the call
    rules = _Rules(custom, args, nondiff, in_tree, [typeof(x) for x in leaves])
    trees = {}

    def fun(*flat):
        outs, trees["out"] = tree_flatten(custom.fun(*flat_call(args, nondiff, in_tree, flat)))
        return outs

    params = {"name": fun_name(custom.fun), "fun": custom.fun, "fwd": custom.fwd, "bwd": custom.bwd}
    outs = find_cur_trace().process_custom_vjp_call(
        custom_vjp_call_p,
        fun,
        rules.fwd,
        rules.bwd,
        leaves,
        out_trees=rules.n_outs,
        symbolic_zeros=False,
        params=params,
    )
    return tree_unflatten(trees["out"] if "out" in trees else rules.out_tree, outs)


def forward_and_linear(fwd, bwd, n_outs, primals, tangents):
    """Results by the forward rule, and their tangents by one equation that promises to be linear.

    Bound under whatever trace is current; a trace that evaluates refuses, for the rule knows reverse mode only.
    """
    active = tuple(i for i, t in enumerate(tangents) if type(t) is not Zero)
    values = fwd(*primals)
    outs, residuals = values[: n_outs()], values[n_outs() :]
    out_avals = [typeof(x).to_tangent_aval() for x in outs]
    given = [tangents[i] for i in active]
    wanted = [a for a in out_avals if a.dtype != float0]
    results = iter(
        custom_lin_p.bind(
            *residuals,
            *given,
            n_residuals=len(residuals),
            bwd=bwd,
            active=active,
            out_avals=tuple(out_avals),
        )
        if wanted
        else ()
    )
    return outs, [Zero(a) if a.dtype == float0 else next(results) for a in out_avals]


# ---- the linear equation ----


def _lin_impl(*_, **__):
    raise TypeError("can't apply forward-mode autodiff (jvp) to a custom_vjp function.")


def _lin_abstract(*_, out_avals, **__):
    return [a for a in out_avals if a.dtype != float0]


def _lin_transpose(cts, *operands, n_residuals, bwd, active, out_avals):
    residuals = operands[:n_residuals]
    given = iter(cts)
    full = [instantiate_zeros(Zero(a) if a.dtype == float0 else next(given)) for a in out_avals]
    flat = bwd(n_residuals, *residuals, *full)
    found = iter(flat[i] for i in active)
    return [None] * n_residuals + [next(found) if is_undefined_primal(x) else None for x in operands[n_residuals:]]


def _lin_batch(axis_data, operands, dims, *, n_residuals, bwd, active, out_avals):
    places = dict(zip(active, dims[n_residuals:]))

    def batched_bwd(n, *values):
        found = [*dims[:n_residuals], *(None if a.dtype == float0 else 0 for a in out_avals)]
        run = lambda *xs: [instantiate_zeros(ct) for ct in bwd(n, *xs)]
        cts, ct_dims = batch_flat(run, axis_data, values, found)
        return [_unbatched(ct, d, places.get(i), axis_data.size) for i, (ct, d) in enumerate(zip(cts, ct_dims))]

    batched = tuple(a.update(shape=(axis_data.size, *a.shape)) for a in out_avals)
    outs = custom_lin_p.bind(*operands, n_residuals=n_residuals, bwd=batched_bwd, active=active, out_avals=batched)
    return outs, [0] * len(outs)


custom_lin_p = Primitive(
    "custom_lin",
    multiple_results=True,
    impl=_lin_impl,
    abstract_eval=_lin_abstract,
    batch=_lin_batch,
    transpose=_lin_transpose,
    weak=NEVER,
)


# ---- the equation form of a call ----


class CustomVJPCall(Primitive):
    """The primitive that stands for a call of a custom_vjp function in a jaxpr."""

    def stage(self, trace, fun, fwd, bwd, args, out_trees, symbolic_zeros, params):
        """Records a call: stages the function itself, keeps its rules."""
        args = [x if isinstance(x, (bool, int, float, complex)) else as_array(x) for x in args]
        closed = trace_to_jaxpr(fun, [typeof(x) for x in args], debug_info("custom_vjp fun", params["fun"]))
        closed, hoisted = hoist_tracers(closed)
        eqn_params = {
            "bwd": bwd,
            "call_jaxpr": closed,
            "fwd_jaxpr_thunk": fwd,
            "name": params["name"],
            "num_consts": len(hoisted),
            "out_trees": out_trees,
            "shown": (params["bwd"], params["fwd"]),
            "symbolic_zeros": symbolic_zeros,
        }
        return trace.process_primitive(self, [*hoisted, *args], eqn_params)

    def forward_and_linear(self, fwd, bwd, n_outs, primals, tangents):
        """See the function of that name: traces call it here, for they stand below this floor."""
        return forward_and_linear(fwd, bwd, n_outs, primals, tangents)

    def batched(self, axis_data, fun, fwd, bwd, n_outs, dims):
        """The three functions on batched values, and a list that holds the results' mapped axes after a call."""
        dims_out, fwd_dims = [], []

        def batched_fun(*xs):
            outs, found = batch_flat(fun, axis_data, xs, dims)
            dims_out[:] = found
            return outs

        def batched_fwd(*xs):
            values, found = batch_flat(fwd, axis_data, xs, dims)
            fwd_dims[:] = found
            dims_out[:] = found[: n_outs()]
            return values

        def batched_bwd(n_residuals, *values):
            found = [*fwd_dims[n_outs() :], *fwd_dims[: n_outs()]]
            value_dims = [None if typeof(v).dtype == float0 else d for v, d in zip(values, found)]
            run = lambda *xs: [instantiate_zeros(ct) for ct in bwd(n_residuals, *xs)]
            cts, ct_dims = batch_flat(run, axis_data, values, value_dims)
            return [_unbatched(ct, d, wanted, axis_data.size) for ct, d, wanted in zip(cts, ct_dims, dims)]

        return batched_fun, batched_fwd, batched_bwd, dims_out


def _unbatched(ct, dim, wanted, size):
    """A cotangent with the mapped axis where its argument has it; summed for an argument that is not mapped."""
    if typeof(ct).dtype == float0:
        return Zero(typeof(ct))
    if wanted is None:
        return ct if dim is None else reduce_sum(ct, (dim,))
    front = bdim_at_front(ct, dim, size)
    return moveaxis(front, 0, wanted) if wanted else front


def _impl(*args, call_jaxpr, **_):
    return eval_jaxpr(call_jaxpr, call_jaxpr.consts, *args)


def _abstract_eval(*avals, call_jaxpr, **_):
    return list(call_jaxpr.out_avals)


def _jvp(primals, tangents, *, fwd_jaxpr_thunk, bwd, name, num_consts, out_trees, **_):
    if any(type(t) is not Zero for t in tangents[:num_consts]):
        raise TypeError(
            f"{name}: differentiating with respect to a value the custom_vjp function closes over; pass it as an "
            "argument"
        )
    return forward_and_linear(fwd_jaxpr_thunk, bwd, out_trees, primals[num_consts:], tangents[num_consts:])


def _batch(axis_data, operands, dims, *, call_jaxpr, fwd_jaxpr_thunk, bwd, num_consts, out_trees, **params):
    derived, dims_out = batch_jaxpr(call_jaxpr, axis_data, dims, True)
    _, fwd, batched_bwd, fwd_dims = custom_vjp_call_p.batched(
        axis_data, None, fwd_jaxpr_thunk, bwd, out_trees, list(dims[num_consts:])
    )

    def front_fwd(*xs):
        values = fwd(*xs)
        n = out_trees()
        outs = [bdim_at_front(v, d, axis_data.size) for v, d in zip(values, fwd_dims)]
        fwd_dims[:] = [0] * n
        return [*outs, *values[n:]]

    outs = custom_vjp_call_p.bind(
        *operands,
        call_jaxpr=derived,
        fwd_jaxpr_thunk=front_fwd,
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
        "symbolic_zeros": eqn.params["symbolic_zeros"],
    }


custom_vjp_call_p = CustomVJPCall(
    "custom_vjp_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    batch=_batch,
    pretty=_pretty,
    weak=NEVER,
)
