"""custom_gradient, closure_convert and linear_call: derivatives given by functions rather than by defjvp or defvjp."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from onax._control.bodies import arrays_and_avals
from onax._control.custom_vjp import custom_vjp
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.programs import CUSTOM_RULE, FUNCTION, HeldProgram, programs
from onax._core.rewrite import close
from onax._core.trace import Tracer, as_array, typeof
from onax._core.trees import Partial
from onax._core.zeros import SymbolicZero, UndefinedPrimal, Zero, is_undefined_primal
from onax._ground import dtypes
from onax._ground.typing import AnyFunction
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_map, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._transforms.abstract import CheckedFlatFunction
from onax._transforms.batching import BatchTracer, batch_jaxpr, move_mapped_axis
from onax._transforms.flatten import check_callable, debug_info
from onax._transforms.staging import hoist_tracers, trace_to_jaxpr


def custom_gradient(fun: AnyFunction) -> Callable[..., Any]:
    """Returns a differentiable function, from one that also returns its backward function.

    Args:
      fun: a function (*args) -> (out, vjp).  ``vjp(ct)`` takes a tree like `out` and returns a tuple of cotangents, one
        for each argument; or one cotangent if there is one argument.  What it closes over are residuals.

    Returns:
      A function (*args) -> out.

    Examples:
      >>> @onax.custom_gradient
      ... def f(x):
      ...     return x * x, lambda ct: 100 * ct
      >>> onax.grad(f)(3.0)
      Array(100., dtype=float32, weak_type=True)
    """
    check_callable(fun, "custom_gradient")

    def wrapped_fun(*args, **kwargs):
        out, _ = fun(*args, **kwargs)
        return out

    def fwd(*args, **kwargs):
        out, rule = fun(*args, **kwargs)
        leaves, out_tree = tree_flatten(out)
        ct_avals = [typeof(x).to_tangent_aval() for x in leaves]
        flat_rule = CheckedFlatFunction(
            rule, tree_structure(((tree_unflatten(out_tree, leaves),), {})), "custom_vjp bwd"
        )
        closed = trace_to_jaxpr(flat_rule, ct_avals, debug_info("custom_gradient fwd", rule, (out,)))
        return out, Partial(_StagedVJP(closed.jaxpr, flat_rule.out_tree), closed.consts)

    def bwd(pull_back, ct):
        return pull_back(ct)

    wrapped = custom_vjp(wrapped_fun)
    wrapped.defvjp(fwd, bwd)
    return wrapped


@dataclass(slots=True, eq=False)
class _StagedVJP:
    """A staged backward function; it takes the values that it closed over as arguments."""

    jaxpr: object
    out_tree: object

    def __call__(self, consts, ct):
        outs = eval_jaxpr(self.jaxpr, consts, *map(as_array, tree_flatten(ct)[0]))
        cts = tree_unflatten(self.out_tree, outs)
        return (cts,) if self.out_tree.num_nodes == self.out_tree.num_leaves == 1 else cts


# ---- closures ----


def closure_convert(fun: AnyFunction, *example_args: Any) -> Any:
    """Returns a function without the traced values that it closes over, and these values.

    It serves rules of `custom_vjp` whose argument is a function: values with a derivative become arguments.

    Args:
      fun: a function.
      example_args: arguments of the structures, shapes and dtypes of later calls.

    Returns:
      (function, values): the function takes the arguments of `fun`, then the values.  Only traced values of inexact
      dtype are among them.

    Raises:
      TypeError: at a call, arguments of another structure.

    Examples:
      >>> f, values = onax.closure_convert(lambda x: 2 * x, 1.0)
      >>> f(3.0, *values)
      Array(6., dtype=float32, weak_type=True)
    """
    check_callable(fun, "closure_convert")
    leaves, in_tree = tree_flatten(example_args)
    _, avals = arrays_and_avals(leaves)
    flat = CheckedFlatFunction(fun, tree_structure((example_args, {})), "closure_convert")
    closed = trace_to_jaxpr(flat, avals, debug_info("closure_convert", fun, example_args))
    out_tree = flat.out_tree
    taken = [_may_be_perturbed(c) for c in closed.consts]
    hoisted = [c for c, is_taken in zip(closed.consts, taken) if is_taken]
    fixed_consts = [None if is_taken else c for c, is_taken in zip(closed.consts, taken)]

    def converted(*args_and_values):
        n = len(args_and_values) - len(hoisted)
        args, values = args_and_values[:n], iter(args_and_values[n:])
        flat_args, tree = tree_flatten(tuple(args))
        if tree != in_tree:
            raise TypeError(
                "The inputs to the closure produced by closure_convert must have the same Pytree structure as the "
                f"example arguments passed when closure_convert was called. Expected {in_tree}, but got {tree}"
            )
        consts = [next(values) if is_taken else c for c, is_taken in zip(fixed_consts, taken)]
        outs = eval_jaxpr(closed.jaxpr, list(map(as_array, consts)), *map(as_array, flat_args))
        return tree_unflatten(out_tree, outs)

    return converted, hoisted


def _may_be_perturbed(x):
    """Whether a derivative with respect to x may be needed: x is traced by more than batching."""
    if not isinstance(x, Tracer):
        return False
    if isinstance(x, BatchTracer):
        return _may_be_perturbed(x.val)
    return typeof(x).to_tangent_aval().dtype != dtypes.float0


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """Returns zero tangents for a tree of numbers.

    Args:
      val: a tree of arrays.
      symbolic_zeros: True: SymbolicZeros; default False: arrays.

    Returns:
      A tree like `val`.

    Raises:
      TypeError: leaves that are not numbers.

    Examples:
      >>> onax.custom_derivatives.zero_from_primal(jnp.ones(2))
      Array([0., 0.], dtype=float32)
    """

    def zero(leaf):
        aval = typeof(leaf).to_tangent_aval()
        return SymbolicZero(aval) if symbolic_zeros else instantiate_zeros(Zero(aval))

    return tree_map(zero, val)


# ---- linear functions with a user-defined transpose ----


def linear_call(fun: AnyFunction, fun_transpose: AnyFunction, residual_args: Any, linear_args: Any) -> Any:
    """Returns the result of a function that is linear in its second argument, with a transpose of the user's own.

    Args:
      fun: a function (residual_args, linear_args) -> result.
      fun_transpose: a function (residual_args, cotangent) -> tree like `linear_args`.
      residual_args: a tree of arrays.
      linear_args: a tree of arrays.

    Returns:
      The result.

    Raises:
      TypeError: at transposition, a tree of another structure.

    Examples:
      >>> f = lambda x: onax.custom_derivatives.linear_call(lambda r, x: r * x, lambda r, ct: r * ct, 2.0, x)
      >>> onax.grad(f)(3.0)
      Array(2., dtype=float32, weak_type=True)
    """
    residuals, res_tree = tree_flatten(residual_args)
    linear, lin_tree = tree_flatten(linear_args)
    values, avals = arrays_and_avals([*residuals, *linear])
    pair = (tree_unflatten(res_tree, residuals), tree_unflatten(lin_tree, linear))
    flat = CheckedFlatFunction(fun, tree_structure((pair, {})), "linear_call fun")
    closed, hoisted = hoist_tracers(trace_to_jaxpr(flat, avals, debug_info("linear_call fun", fun, pair)))
    out_tree = flat.out_tree
    res_avals, lin_avals = avals[: len(residuals)], avals[len(residuals) :]
    back_pair = tree_map(lambda _: 0, (pair[0], tree_unflatten(out_tree, closed.outvars)))
    back = CheckedFlatFunction(fun_transpose, tree_structure((back_pair, {})), "linear_call fun_transpose")
    transposed, back_hoisted = hoist_tracers(
        trace_to_jaxpr(back, [*res_avals, *closed.out_avals], debug_info("linear_call fun_transpose", fun_transpose))
    )
    if back.out_tree != lin_tree:
        raise TypeError(
            "transpose output pytree structure must match that of linear inputs, got output structure "
            f"{back.out_tree} and input structure {lin_tree}"
        )
    wrong = [(o, a) for o, a in zip(transposed.out_avals, lin_avals) if (o.shape, o.dtype) != (a.shape, a.dtype)]
    if wrong:
        raise TypeError(f"transpose output {wrong[0][0].str_short()} must match linear input {wrong[0][1].str_short()}")
    both = _take_both_constants(closed, len(hoisted), transposed, len(back_hoisted))
    n = len(hoisted) + len(back_hoisted) + len(residuals)
    outs = linear_call_p.bind(*hoisted, *back_hoisted, *values, callee=both[0], transpose=both[1], num_res=n)
    return tree_unflatten(out_tree, outs)


def _take_both_constants(callee, n, transposed, m):
    """Makes both programs take (constants of the first, constants of the second, ...)."""
    first = [*callee.invars[:n], *(core.Var(v.aval) for v in transposed.invars[:m]), *callee.invars[n:]]
    second = [*(core.Var(v.aval) for v in callee.invars[:n]), *transposed.invars]
    return close(callee, first, callee.outvars), close(transposed, second, transposed.outvars)


def _impl(*args, callee, **_):
    return eval_jaxpr(callee, callee.consts, *args)


def _abstract_eval(*avals, callee, **_):
    return list(callee.out_avals)


def _jvp(primals, tangents, *, num_res, **params):
    if any(type(t) is not Zero for t in tangents[:num_res]):
        raise TypeError("linear_call is linear in its last argument alone: it has no derivative by its residuals")
    outs = linear_call_p.bind(*primals, num_res=num_res, **params)
    if all(type(t) is Zero for t in tangents):
        return outs, [Zero(typeof(x).to_tangent_aval()) for x in outs]
    given = [instantiate_zeros(t) for t in tangents[num_res:]]
    return outs, linear_call_p.bind(*primals[:num_res], *given, num_res=num_res, **params)


def _transpose(cts, *operands, callee, transpose, num_res):
    residuals = operands[:num_res]
    if any(is_undefined_primal(x) for x in residuals):
        raise TypeError("linear_call is linear in its last argument alone: it cannot be transposed by its residuals")
    given = [instantiate_zeros(ct) for ct in cts]
    outs = linear_call_p.bind(*residuals, *given, callee=transpose, transpose=callee, num_res=num_res)
    linear = operands[num_res:]
    return [*[None] * num_res, *(ct if type(x) is UndefinedPrimal else None for ct, x in zip(outs, linear))]


def _batch(axis_data, operands, dims, *, callee, transpose, num_res):
    residual_dims = tuple(dims[:num_res])
    n_linear, n_out = len(operands) - num_res, len(callee.outvars)
    linear = [move_mapped_axis(x, d, 0, axis_data.size) for x, d in zip(operands[num_res:], dims[num_res:])]
    forward, _ = batch_jaxpr(callee, axis_data, (*residual_dims, *[0] * n_linear), True)
    backward, _ = batch_jaxpr(transpose, axis_data, (*residual_dims, *[0] * n_out), True)
    outs = linear_call_p.bind(*operands[:num_res], *linear, callee=forward, transpose=backward, num_res=num_res)
    return outs, [0] * n_out


linear_call_p = Primitive(
    "linear_call",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    weak=NEVER,
)


@programs.rule(linear_call_p)
def _programs(eqn):
    operands, results = range(len(eqn.invars)), range(len(eqn.outvars))
    callee = HeldProgram(eqn.params["callee"], CUSTOM_RULE, "callee", None, operands, results)
    return [callee, HeldProgram(eqn.params["transpose"], FUNCTION, "transpose")]


__all__ = ["closure_convert", "custom_gradient", "linear_call", "linear_call_p", "zero_from_primal"]
