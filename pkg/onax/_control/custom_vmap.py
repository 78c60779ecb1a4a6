"""custom_vmap: functions with a user-defined batching rule; sequential_vmap, whose rule is a loop."""

import functools
import re
from dataclasses import dataclass

from onax._control.custom_rules import forward_rule_setter, resolve_arguments
from onax._control.map import map_
from onax._core import jaxpr as core
from onax._core.axes import AxisData
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import CUSTOM_RULE, Call, programs
from onax._core.trace import as_array, typeof, valid_jaxtype
from onax._core.zeros import Zero, drop_zeros, insert_zeros, nonzero_flags
from onax._ground.typing import Function
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.shaping import bdim_at_front, moveaxis
from onax._transforms.batching import batch_flat, batch_jaxpr
from onax._transforms.flatten import FlatFunction, check_callable, debug_info, fun_name
from onax._transforms.jvp import jvp_flat, jvp_jaxpr
from onax._transforms.staging import trace_to_jaxpr


class custom_vmap:
    """A function with a batching rule of the user's own.

    ``f.def_vmap(rule)``: ``rule(axis_size, in_batched, *args) -> (out, out_batched)``.  `in_batched` is a list of trees
    of bools like the arguments: whether a leaf has the mapped axis, as its first; `out_batched` is one like the result.
    Forward mode differentiates the function and its rule; reverse mode is not supported, as in JAX.

    Args:
      fun: a function.

    Examples:
      >>> @onax.custom_batching.custom_vmap
      ... def f(x):
      ...     return 2 * x
      >>> @f.def_vmap
      ... def rule(axis_size, in_batched, x):
      ...     return 3 * x, in_batched[0]
      >>> onax.vmap(f)(jnp.ones(2))
      Array([3., 3.], dtype=float32)
    """

    def __init__(self, fun):
        check_callable(fun, "custom_vmap or sequential_vmap")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule = None

    def def_vmap(self, vmap_rule):
        """Decorator: sets the batching rule."""
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __getattr__(self, name):
        return forward_rule_setter(self, name)

    def __call__(self, *args, **kwargs):
        args = resolve_arguments(self.fun, "custom_vmap", args, kwargs)
        if self.vmap_rule is None:
            raise AttributeError(
                f"No batching rule defined for custom_vmap function {fun_name(self.fun)} using def_vmap."
            )
        leaves, tree = tree_flatten((args, {}))
        for leaf in leaves:
            if not valid_jaxtype(leaf):
                raise TypeError(f"Argument '{leaf}' of type {type(leaf)} is not a valid JAX type.")
        leaves = [as_array(x) for x in leaves]
        flat = FlatFunction(self.fun, tree)
        closed = trace_to_jaxpr(flat, [typeof(x) for x in leaves], debug_info("custom_vmap", self.fun, args))
        call = core.ClosedJaxpr(core.convert_constvars_jaxpr(closed), ())
        outs = custom_vmap_p.bind(
            *closed.consts,
            *leaves,
            call=call,
            rule=self.vmap_rule,
            in_tree=tree_structure((list(closed.consts), tuple(args))),
            out_tree=flat.out_tree,
        )
        return tree_unflatten(flat.out_tree, outs)


def _impl(*args, call, **_):
    return eval_jaxpr(call, call.consts, *args)


def _abstract_eval(*avals, call, **_):
    return list(call.out_avals)


def _batch(axis_data, operands, dims, *, call, rule, in_tree, out_tree):
    batched = [d is not None for d in dims]
    if axis_data.of_devices:  # each device runs the function on its own values; nothing is mapped
        derived, dims_out = batch_jaxpr(call, axis_data, dims)
        return eval_jaxpr(derived, derived.consts, *operands), dims_out
    front = [x if d is None else bdim_at_front(x, d, axis_data.size) for x, d in zip(operands, dims)]
    outs, out_batched = _apply_rule(rule, in_tree, out_tree, axis_data.size, front, batched)
    return outs, [0 if b else None for b in out_batched]


def _apply_rule(rule, in_tree, out_tree, axis_size, flat, batched):
    """Calls a rule; returns (flat results, for each whether it is batched)."""
    if isinstance(rule, JVPOfRule):
        return rule.apply(axis_size, flat, batched)
    _, args = tree_unflatten(in_tree, flat)
    consts_batched, args_batched = tree_unflatten(in_tree, batched)
    if any(consts_batched):
        raise NotImplementedError(
            f"the custom_vmap function with the rule {fun_name(rule)} closes over a value that is mapped; pass it as "
            "an argument"
        )
    out, out_batched = rule(axis_size, list(args_batched), *args)
    leaves, tree = tree_flatten(out)
    flags, flags_tree = tree_flatten(out_batched)
    if flags_tree != tree:
        raise ValueError(
            "structure of output value and output batching specification returned by custom vmap rule "
            f"({fun_name(rule)}) do not match.\nOutput values: {tree}\nBatching spec: {flags_tree}"
        )
    if tree != out_tree:
        raise ValueError(
            f"structure of output returned by custom vmap rule ({fun_name(rule)}) does not match that of original "
            f"custom-vmapped function.\nOriginal output: {out_tree}\nRule output: {tree}"
        )
    return leaves, flags


@dataclass(slots=True, eq=False, repr=False)
class JVPOfRule:
    """The batching rule of the derivative of a custom_vmap function: the derivative of its rule."""

    rule: object
    in_tree: object
    out_tree: object
    nonzeros: list
    nonzeros_out: list

    def __repr__(self):
        return f"jvp of {self.rule!r}"

    def apply(self, axis_size, flat, batched):
        """(flat results and tangents, for each whether it is batched)."""
        n = len(self.nonzeros)
        flags = iter(batched[n:])
        if not any(nonzero and next(flags) and p for p, nonzero in zip(batched, self.nonzeros)):
            return self._apply_under_vmap(axis_size, flat, batched)
        primals, given = flat[:n], iter(zip(flat[n:], batched[n:]))
        tangents, joint = [], []
        for i, (p, nonzero) in enumerate(zip(primals, self.nonzeros)):
            t, t_batched = next(given) if nonzero else (Zero.from_primal_value(p), batched[i])
            joint.append(batched[i] or t_batched)
            if joint[i] and not batched[i]:
                primals[i] = bdim_at_front(p, None, axis_size)
            if joint[i] and not t_batched:
                t = bdim_at_front(t, None, axis_size)
            tangents.append(t)
        flags = []

        def fun(*xs):
            outs, out_flags = _apply_rule(self.rule, self.in_tree, self.out_tree, axis_size, list(xs), joint)
            flags[:] = out_flags
            return outs

        outs, tangents_out = jvp_flat(fun, primals, tangents)
        nonzero = [i for i, nonzero in enumerate(self.nonzeros_out) if nonzero]
        return [*outs, *(instantiate_zeros(tangents_out[i]) for i in nonzero)], [*flags, *(flags[i] for i in nonzero)]

    def _apply_under_vmap(self, axis_size, flat, batched):
        """Handles operands of which none is batched with its tangent, as in `jacfwd`: the rule gets one example.

        It is told, as in JAX, that nothing is batched.
        """
        n = len(self.nonzeros)

        def fun(*xs):
            given = iter(xs[n:])
            tangents = [next(given) if nz else Zero.from_primal_value(p) for p, nz in zip(xs[:n], self.nonzeros)]
            plain = [False] * n
            rule = lambda *ps: _apply_rule(self.rule, self.in_tree, self.out_tree, axis_size, list(ps), plain)[0]
            outs, tangents_out = jvp_flat(rule, xs[:n], tangents)
            return [*outs, *(instantiate_zeros(t) for t, nz in zip(tangents_out, self.nonzeros_out) if nz)]

        outs, dims = batch_flat(fun, AxisData(None, axis_size), flat, [0 if b else None for b in batched])
        outs = [x if d is None else moveaxis(x, d, 0) for x, d in zip(outs, dims)]
        return outs, [d is not None for d in dims]


def _jvp(primals, tangents, *, call, rule, in_tree, out_tree):
    nonzeros = nonzero_flags(tangents)
    derived, nonzeros_out = jvp_jaxpr(call, nonzeros, False)
    given = drop_zeros(tangents)
    n = len(call.outvars)
    outs = custom_vmap_p.bind(
        *primals,
        *given,
        call=derived,
        rule=JVPOfRule(rule, in_tree, out_tree, nonzeros, nonzeros_out),
        in_tree=tree_structure(([], (list(primals), given))),
        out_tree=tree_structure((list(range(n)), list(range(sum(nonzeros_out))))),
    )
    return outs[:n], insert_zeros(outs[n:], nonzeros_out, call.out_avals)


def _linearize(nonzeros, *primals, **_):
    raise ValueError(
        "Linearization failed to produce known values for all output primals. This is typically caused by attempting "
        "to differentiate a function uses an operation that does not support reverse-mode autodiff."
    )


def _pretty(eqn, names):
    """Prints the repr of the rule without its address."""
    params = eqn.params
    rule = re.sub(r"0x[0-9a-f]+", "0xXXXXXXXXXXXX", repr(params["rule"]))
    return {key: rule if key == "rule" else params[key] for key in sorted(params)}


custom_vmap_p = Primitive(
    "custom_vmap_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    batch=_batch,
    pretty=_pretty,
    weak=NEVER,
)
programs.set(custom_vmap_p, Call("call", CUSTOM_RULE))


def sequential_vmap(f: Function) -> Function:
    """Returns a function that `vmap` applies to one example after the other.

    Args:
      f: a function.

    Returns:
      A function with the signature of `f`.

    Examples:
      >>> onax.vmap(onax.custom_batching.sequential_vmap(lambda x: 2 * x))(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    mapped = custom_vmap(f)

    @mapped.def_vmap
    def rule(axis_size, in_batched, *args):
        leaves, tree = tree_flatten(args)
        flags = tree_flatten(in_batched)[0]

        def one(given):
            rest = iter(given)
            return mapped(*tree_unflatten(tree, [next(rest) if b else x for x, b in zip(leaves, flags)]))

        out = map_(one, [x for x, b in zip(leaves, flags) if b])
        return out, tree_map(lambda _: True, out)

    return mapped


__all__ = ["custom_vmap", "custom_vmap_p", "sequential_vmap"]
