"""cond and switch: one of several programs, chosen by an index.

    cond_p.bind(index, *operands, branches=(jaxpr, ...))      index: int32 scalar, in bounds

jvp and linearization give all branches the same shape: a tangent or residual that one branch lacks is zeros there.
A batched index turns into all branches and a selection.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from onax._control.batch_by_loop import batch_by_loop, must_loop_over_devices
from onax._control.bodies import arrays_and_avals, check_branches, restore_weak_types, stage_body
from onax._control.eager_loops import committed_device
from onax._core import jaxpr as core
from onax._core.check import check_param, equation_checks
from onax._core.effects import has_io
from onax._core.evaluate import bind_with_refs, eval_jaxpr
from onax._core.hitypes import holds_hitypes
from onax._core.lists import merge_lists, partition_list, reject, select
from onax._core.programs import BRANCH, HeldProgram, programs
from onax._core.refs import Ref, check_distinct
from onax._core.rewrite import close, eliminate_dead_code, prune
from onax._core.trace import as_array, find_cur_trace, to_concrete_value, typeof, valid_jaxtype
from onax._core.zeros import drop_zeros, insert_zeros, is_undefined_primal, nonzero_flags
from onax._ground import dtypes, source
from onax._ground.errors import JaxprTypeError
from onax._ground.typing import Arguments, ArrayLike, Result
from onax._native import context
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.convert import convert_element_type
from onax._prims.creation import empty_like_aval
from onax._prims.elementwise import eq, ne, select_n, stop_gradient
from onax._prims.elementwise_clamp import clamp
from onax._prims.shaping import bdim_at_front, broadcast_in_dim
from onax._prims.varying import vary_over
from onax._transforms.batching import batch_jaxpr
from onax._transforms.flatten import debug_info
from onax._transforms.jvp import jvp_jaxpr
from onax._transforms.key_reuse import analyze_cond, key_lineage
from onax._transforms.linearize import linearize_jaxpr
from onax._transforms.lower_hitypes import flat, lower_program, lower_values, raise_values, to_lo
from onax._transforms.partial_eval import (
    operands_to_store,
    partial_eval_custom_rules,
    partial_eval_jaxpr,
    partial_eval_jaxpr_custom,
)
from onax._transforms.staging import derive_jaxpr, instantiate_results
from onax._transforms.transpose import transpose_jaxpr
from onax._transforms.varying_types import CHOSEN_BY_FIRST, vary_like, varying_axes, varying_type, with_varying_results

_MISSING = object()
_Others = ParamSpec("_Others")  # of the other branch, whose parameters may have other names


@source.api_boundary
def switch(
    index: ArrayLike, branches: Sequence[Callable[..., Result]], *operands: Any, operand: Any = _MISSING
) -> Result:
    """Returns the result of one of several functions, chosen by an index.

    Args:
      index: integer scalar; it is clamped into range.
      branches: sequence of functions of the operands, whose results have one structure, equal shapes and dtypes.
      *operands: trees of arrays.
      operand: an older way to pass a single operand.

    Returns:
      Result of branches[index].

    Raises:
      TypeError: results of branches differ, or the index is no integer scalar.
      ValueError: there are no branches.

    Examples:
      >>> lax.switch(1, [lambda x: x, lambda x: -x], jnp.array([1.0, 2.0]))
      Array([-1., -2.], dtype=float32)
    """
    operands = _add_named_operand(operands, operand)
    if not all(callable(b) for b in branches):
        raise TypeError("lax.switch: branches argument should be a sequence of callables.")
    if len(branches) == 0:
        raise ValueError("Empty branch sequence")
    if isinstance(index, (list, tuple)):
        raise TypeError(f"Branch index must be scalar, got {index} of shape {np.shape(index)}.")
    if not valid_jaxtype(index):
        raise TypeError(f"Index type must be an integer, got {index}.")
    aval = typeof(index)
    if aval.shape:
        raise TypeError(f"Branch index must be scalar, got {index} of shape {aval.shape}.")
    if not dtypes.issubdtype(aval.dtype, np.integer):
        raise TypeError(f"Index type must be an integer, got {index} as {aval.dtype}")
    if len(branches) == 1:
        return branches[0](*operands)
    if context.option_word() & _DISABLE_JIT and to_concrete_value(index) is not None:
        return branches[min(max(int(index), 0), len(branches) - 1)](*operands)
    index = convert_element_type(index, np.int32)
    index = clamp(np.int32(0), index, np.int32(len(branches) - 1))
    names = ["branch 0", *(f"branch{i}" for i in range(1, len(branches)))]  # as JAX writes them
    return _bind(index, names, list(branches), operands)


@source.api_boundary
def cond(
    pred: ArrayLike,
    true_fun: Callable[Arguments, Result],
    false_fun: Callable[_Others, Result],
    *operands: Any,
    operand: Any = _MISSING,
    linear: Any = None,
) -> Result:
    """Returns true_fun(*operands) if a predicate holds, else false_fun(*operands).

    Args:
      pred: bool or numeric scalar.
      true_fun: function of the operands.
      false_fun: function of the operands; both results have one structure, equal shapes and dtypes.
      *operands: trees of arrays.
      operand: an older way to pass a single operand.
      linear: accepted as in JAX, without effect.

    Returns:
      Result of one of the functions; only that one is computed, unless the predicate is mapped by `vmap`.

    Raises:
      TypeError: results differ, or the predicate is no scalar.

    Examples:
      >>> lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3)
      Array(4, dtype=int32, weak_type=True)
    """
    if len(operands) == 2 and callable(operands[1]) and callable(false_fun) and not callable(true_fun):
        # The older form, in which each branch has an operand of its own.
        true_operand, true_fun, (false_operand, false_fun) = true_fun, false_fun, operands
        both = (true_operand, false_operand)
        return cond(pred, _select_argument(true_fun, 0), _select_argument(false_fun, 1), *both)
    if not (callable(true_fun) and callable(false_fun)):
        raise TypeError("lax.cond: true_fun and false_fun arguments should be callable.")
    operands = _add_named_operand(operands, operand)
    aval = _predicate_aval(pred)
    if context.option_word() & _DISABLE_JIT and to_concrete_value(pred) is not None:
        return true_fun(*operands) if pred else false_fun(*operands)
    if aval.dtype != np.bool_:
        pred = ne(pred, as_array(np.zeros((), aval.dtype)))
    index = convert_element_type(pred, np.int32)
    return _bind(index, ["false_fun", "true_fun"], [false_fun, true_fun], operands)


def _select_argument(fun, position):
    return functools.wraps(fun, updated=())(lambda *args: fun(args[position]))


def _add_named_operand(operands, operand):
    """The operands of a call; `operand`, given by name, is the last one."""
    if operand is _MISSING:
        return operands
    if operands:
        raise TypeError(
            "if 'operand' keyword is passed then no positional operands can be passed, got "
            f"operand={operand} and positional operands {operands}"
        )
    return (operand,)


def _predicate_aval(pred):
    if pred is None:
        raise TypeError("cond predicate is None")
    if not valid_jaxtype(pred):
        if callable(pred):
            raise TypeError(f"Pred type must be either boolean or number, got {pred}.")
        raise TypeError(f"Pred must be a scalar, got {pred} of type {type(pred)}")
    aval = typeof(pred)
    if aval.shape:
        raise TypeError(f"Pred must be a scalar, got {pred} of shape {aval.shape}.")
    kind = aval.dtype
    if not (kind == np.bool_ or dtypes.issubdtype(kind, np.integer) or dtypes.issubdtype(kind, np.floating)):
        raise TypeError(f"Pred type must be either boolean or number, got {kind}.")
    return aval


_DISABLE_JIT = 4  # the option word's bit; see _ground/config.py


def _bind(index, names, functions, operands):
    leaves, _ = tree_flatten(operands)
    in_tree = tree_structure((operands, {}))
    axes = sorted(varying_axes(typeof(index)), key=str)  # over which devices choose branches each for itself
    values, avals = arrays_and_avals([vary_over(x, axes) for x in leaves] if axes else leaves)
    traced_order = [1, 0] if names[0] == "false_fun" else list(range(len(functions)))  # the true branch is traced first
    what = "cond" if names[0] == "false_fun" else "switch"
    if any(type(x) is Ref for x in values):
        check_distinct(debug_info(what, functions[traced_order[0]], operands), values)
    bodies = [with_varying_results(f, axes) for f in functions] if axes else functions
    staged = {i: stage_body(bodies[i], in_tree, avals, what) for i in traced_order}
    jaxprs, consts, out_trees = ([staged[i][part] for i in range(len(functions))] for part in range(3))
    for i in traced_order:
        check_distinct(jaxprs[i].debug_info, values, consts[i])
    in_traced_order = ([x[i] for i in traced_order] for x in (names, functions, out_trees))
    check_branches(what, *in_traced_order, [jaxprs[i].out_avals for i in traced_order])
    branches, all_consts = _share_constants(jaxprs, consts, traced_order)
    operands = [*all_consts, *values]
    forwarded = _forwarded_operands(branches)
    if any(k is not None for k in forwarded):
        computed = [k is None for k in forwarded]
        smaller = {id(b): close(b, b.invars, select(b.outvars, computed)) for b in branches}
        branches = tuple(smaller[id(b)] for b in branches)
    outs = iter(bind_with_refs(cond_p, [index, *operands], {"branches": branches}))
    return tree_unflatten(out_trees[0], [next(outs) if k is None else operands[k] for k in forwarded])


def _forwarded_operands(branches):
    """For each result the operand that it is in every branch, or None."""
    positions = [{v: k for k, v in enumerate(b.invars)} for b in branches]
    found = []
    for atoms in zip(*(b.outvars for b in branches)):
        ks = {None if type(a) is core.Literal else where.get(a) for a, where in zip(atoms, positions)}
        found.append(ks.pop() if len(ks) == 1 else None)
    return found


def _share_constants(jaxprs, consts, order):
    """Makes every branch take the constants of all branches, each constant once; returns (branches, constants)."""
    by_id = {}
    for c in (c for i in order for c in consts[i]):
        by_id.setdefault(id(c), c)
    every = list(by_id.values())
    position = {key: i for i, key in enumerate(by_id)}
    branches = []
    for jaxpr, group in zip(jaxprs, consts):
        if not every:
            branches.append(jaxpr)
            continue
        n = len(group)
        own_vars = {position[id(c)]: v for c, v in zip(group, jaxpr.invars[:n])}
        leading = [own_vars[i] if i in own_vars else core.Var(typeof(c)) for i, c in enumerate(every)]
        invars = [*leading, *jaxpr.invars[n:]]
        open_jaxpr = core.Jaxpr((), invars, jaxpr.outvars, jaxpr.eqns, jaxpr.effects, jaxpr.debug_info)
        branches.append(core.ClosedJaxpr(open_jaxpr, ()))
    return tuple(branches), every


# ---- rules ----


def _impl(index, *operands, branches):
    if any(map(holds_hitypes, branches)):
        return _to_lo((index, *operands), branches=branches)
    committed_device(cond_p, (index, *operands))
    branch = eliminate_dead_code(branches[int(index)])
    return restore_weak_types(eval_jaxpr(branch, branch.consts, *operands), branches[0].out_avals)


def _abstract_eval(index, *avals, branches):
    return list(map(vary_like, *(branch.out_avals for branch in branches)))


def _derive_branches(branches, derive):
    """Derives every branch twice: once to find which results each has, then with every result that any branch has."""
    flags = [derive(b, False)[1] for b in branches]
    nonzeros_out = tuple(any(column) for column in zip(*flags))
    return tuple(derive(b, nonzeros_out)[0] for b in branches), list(nonzeros_out)


def _jvp(primals, tangents, *, branches):
    index, *operands = primals
    nonzeros = nonzero_flags(tangents[1:])
    derived, nonzeros_out = _derive_branches(branches, lambda b, make: jvp_jaxpr(b, nonzeros, make))
    outs = cond_p.bind(index, *operands, *drop_zeros(tangents[1:]), branches=derived)
    n = len(branches[0].outvars)
    return outs[:n], insert_zeros(outs[n:], nonzeros_out, branches[0].out_avals)


def _linearize(nonzeros, index, *operands, branches):
    """One forward cond that returns residuals, and one linear cond that reads them.

    Each residual of a branch takes the first free position of its type, so there are as many positions of a type as
    the branch with most residuals of it needs.  Where a tangent vanishes in one branch only, that branch returns zeros
    as a residual.
    """
    n = len(branches[0].outvars)
    forwards, linears, nonzeros_out = _linearized_branches(branches, tuple(nonzeros[1:]))
    outs = cond_p.bind(index, *operands, branches=forwards)

    def apply(residuals, *tangents):
        tangents_out = cond_p.bind(*residuals, *drop_zeros(tangents[1:]), branches=linears)
        return insert_zeros(tangents_out, nonzeros_out, branches[0].out_avals)

    return outs[:n], nonzeros_out, [index, *outs[n:]], apply


def _linearized_branches(branches, nonzeros):
    """(forward branches, linear branches, which results have a tangent); cached with the first branch."""
    key = ("linearized branches", nonzeros, branches[1:])
    cache = branches[0].cache
    if key not in cache:
        cache[key] = _linearize_branches(branches, nonzeros)
    return cache[key]


def _linearize_branches(branches, nonzeros):
    flags = [linearize_jaxpr(b, nonzeros)[2] for b in branches]
    nonzeros_out = tuple(any(column) for column in zip(*flags))
    split = [_linearize_branch(b, nonzeros, nonzeros_out) for b in branches]
    return *_unify_residuals(split, len(branches[0].outvars)), nonzeros_out


def _unify_residuals(split, n):
    """(forward branches, linear branches) of pairs with `n` results each, with the same list of residual types."""
    positions, avals = _merge_residuals([[v.aval for v in forward.outvars[n:]] for forward, _ in split])
    forwards = tuple(_forward_branch(forward, n, indices, avals) for (forward, _), indices in zip(split, positions))
    linears = tuple(_linear_branch(linear, indices, avals) for (_, linear), indices in zip(split, positions))
    return forwards, linears


def _linearize_branch(jaxpr, nonzeros, instantiate):
    """(forward, linear) of a program: `forward` returns results and residuals, including residuals that are arguments.

    `instantiate`: the results for which `linear` returns a tangent; a tangent that vanishes is a residual of zeros.
    """
    forward, linear, nonzeros_out, forwarded = linearize_jaxpr(jaxpr, nonzeros)
    forward = _return_forwarded(forward, len(jaxpr.outvars), forwarded)
    avals = [v.aval.to_tangent_aval() for v in jaxpr.outvars]
    missing = [a for a, has, want in zip(avals, nonzeros_out, instantiate) if want and not has]
    zeros = [core.Var(a) for a in missing]
    outvars = merge_lists(select(nonzeros_out, instantiate), zeros, linear.outvars)
    n_res = len(forwarded)
    linear = close(linear, [*linear.invars[:n_res], *zeros, *linear.invars[n_res:]], outvars)
    present = [*[True] * len(forward.outvars), *[False] * len(missing)]
    return instantiate_results(forward, present, [*forward.out_avals, *missing]), linear


def _return_forwarded(forward, n, forwarded):
    """A forward program of `n` results that also returns the residuals which are its arguments, as `forwarded` says."""
    computed = iter(forward.outvars[n:])
    residuals = [next(computed) if f is None else forward.invars[f] for f in forwarded]
    return close(forward, forward.invars, [*forward.outvars[:n], *residuals])


def _merge_residuals(by_branch):
    """(for each branch the positions of its residuals, the types of all positions)."""
    avals, of_type, positions = [], {}, []
    for residuals in by_branch:
        taken, indices = {}, []
        for aval in residuals:
            aval = aval.strip_weak_type()
            known, count = of_type.setdefault(aval, []), taken.get(aval, 0)
            if count == len(known):
                known.append(len(avals))
                avals.append(aval)
            indices.append(known[count])
            taken[aval] = count + 1
        positions.append(indices)
    return positions, avals


def _forward_branch(forward, n, indices, avals):
    """The branch's forward program, with an arbitrary value at positions where it has no residual."""

    def fun(*args):
        outs = eval_jaxpr(forward, forward.consts, *args)
        # A value for each position, as in JAX; dead code is eliminated before the program runs.
        residuals = [empty_like_aval(a) for a in avals]
        for i, x in zip(indices, outs[n:]):
            residuals[i] = x
        return [*outs[:n], *residuals]

    return derive_jaxpr(fun, [v.aval for v in forward.invars], forward)


def _linear_branch(linear, indices, avals):
    """The branch's linear program on (residuals of all branches, tangents)."""
    residuals = [core.Var(a) for a in avals]
    for i, v in zip(indices, linear.invars):
        residuals[i] = v
    return close(linear, [*residuals, *linear.invars[len(indices) :]], linear.outvars)


def _partial_eval(unknown, index, *operands, branches):
    """A cond of what depends on no unknown, which returns residuals, and a cond of the rest that reads them.

    With an unknown index nothing is known: the equation is recorded whole, and has no derivative.
    """
    if all(unknown[1:]) or unknown[0]:
        return None
    forwards, rests, unknown_out = _partial_eval_branches(branches, tuple(unknown[1:]))
    n = unknown_out.count(False)
    known, given = partition_list(unknown[1:], operands)
    outs = cond_p.bind(index, *known, branches=forwards) if forwards[0].outvars or forwards[0].effects else []
    rest_outs = find_cur_trace().record_whole(cond_p, [index, *outs[n:], *given], {"branches": rests})
    return merge_lists(unknown_out, outs[:n], rest_outs)


def _partial_eval_branches(branches, unknown):
    """(known branches, branches of the rest, which results are of the rest); cached with the first branch."""
    key = ("partial_eval branches", unknown, branches[1:])
    cache = branches[0].cache
    if key not in cache:
        flags = [partial_eval_jaxpr(b, unknown)[2] for b in branches]
        unknown_out = tuple(any(column) for column in zip(*flags))
        split = [_partial_eval_branch(b, unknown, unknown_out) for b in branches]
        cache[key] = *_unify_residuals(split, unknown_out.count(False)), unknown_out
    return cache[key]


def _partial_eval_branch(jaxpr, unknown, unknown_out):
    """`partial_eval_jaxpr` whose known program also returns the residuals that are arguments."""
    known, rest, _, forwarded = partial_eval_jaxpr(jaxpr, unknown, unknown_out)
    return _return_forwarded(known, unknown_out.count(False), forwarded), rest


def _transpose(cts, index, *operands, branches):
    if is_undefined_primal(index):
        raise TypeError("cond is linear in its operands only, not in its index")
    linear = [is_undefined_primal(x) for x in operands]
    derived = [_transpose_branch(b, linear, nonzero_flags(cts)) for b in branches]
    plain = reject(operands, linear)
    for x in select(operands, linear):
        if missing := sorted(varying_axes(typeof(index)) - varying_axes(x.aval), key=str):
            raise NotImplementedError(
                f"cond: along {', '.join(map(str, missing))} each device chooses a branch for itself, and the branches "
                f"read a differentiated value of type {x.aval.str_short()} of the function around them. Pass it to "
                f"cond as an operand, or let it vary: jax.lax.pcast(..., {tuple(missing)}, to='varying')"
            )
    cotangents = cond_p.bind(index, *plain, *drop_zeros(cts), branches=tuple(derived))
    return [None, *merge_lists(linear, [None] * len(plain), cotangents)]


def _transpose_branch(branch, linear, nonzero_cts):
    """The transposed branch with a cotangent for every linear argument."""
    transposed, has_ct = transpose_jaxpr(branch, linear, nonzero_cts)
    return instantiate_results(transposed, has_ct, select(branch.in_avals, linear))


def _batch(axis_data, operands, dims, *, branches):
    if dims[0] is not None and must_loop_over_devices(axis_data, branches):
        return batch_by_loop(cond_p, axis_data, operands, dims, {"branches": branches})
    index, *operands = operands
    index_dim, *dims = dims
    if any(has_io(b.effects) for b in branches) and not (axis_data.of_devices and index_dim is None):
        raise NotImplementedError("IO effect not supported in vmap-of-cond.")
    if index_dim is None:
        derived, batched_out = _derive_branches(
            branches, lambda b, make: _dims_to_flags(batch_jaxpr(b, axis_data, tuple(dims), make))
        )
        outs = cond_p.bind(index, *operands, branches=derived)
        return outs, [0 if batched else None for batched in batched_out]
    for aval in (*map(typeof, operands), *branches[0].out_avals):
        if aval.is_high:
            raise NotImplementedError(
                f"vmap of cond or switch whose index differs from example to example, with a value of type {aval}: "
                "select among its arrays instead."
            )
    # Operands that all examples share are broadcast, because the mask below applies to them too; but not if the axis is
    # named, since a collective would take the copies for values of different examples.
    size = axis_data.size
    if axis_data.name is None:
        dims_in = (0,) * len(operands)
    else:
        dims_in = tuple(None if d is None else 0 for d in dims)
    operands = [x if to is None else bdim_at_front(x, d, size) for x, d, to in zip(operands, dims, dims_in)]
    results = []
    for i, branch in enumerate(branches):
        derived, _ = batch_jaxpr(branch, axis_data, dims_in, True)
        # Examples that do not take this branch get no derivative through it, so it cannot make theirs NaN.
        taken = eq(index, np.int32(i))
        masked = [x if d is None else _select(taken, (stop_gradient(x), x)) for x, d in zip(operands, dims_in)]
        results.append(eval_jaxpr(derived, derived.consts, *masked))
    return [_select(index, cases) for cases in zip(*results)], [0] * len(branches[0].outvars)


def _dims_to_flags(batched):
    jaxpr, dims_out = batched
    return jaxpr, [d is not None for d in dims_out]


def _select(index, cases):
    """Selects for each example the case of its index; `select_n` requires an index of the cases' shape."""
    shape = typeof(cases[0]).shape
    if len(shape) > 1:
        index = broadcast_in_dim(index, shape, (0,))
    return select_n(index, *cases)


def _dce(used_outputs, eqn):
    """Drops unused results, and the operands that no branch then needs."""
    branches = eqn.params["branches"]
    if not any(used_outputs) and not eqn.effects:
        return [False] * len(eqn.invars), None
    used_inputs = [any(column) for column in zip(*(prune(b, used_outputs)[1] for b in branches))]
    pruned = tuple(prune(b, used_outputs, used_inputs)[0] for b in branches)
    if all(b is old for b, old in zip(pruned, branches)):
        return [True, *used_inputs], eqn
    return [True, *used_inputs], eqn.replace(
        invars=select(eqn.invars, [True, *used_inputs]),
        outvars=select(eqn.outvars, used_outputs),
        params={"branches": pruned},
    )


cond_p = Primitive(
    "cond",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    linearize=_linearize,
    partial_eval=_partial_eval,
    transpose=_transpose,
    batch=_batch,
    dce=_dce,
    weak=NEVER,
)
varying_type.set(cond_p, CHOSEN_BY_FIRST)


key_lineage.set(cond_p, analyze_cond)


@to_lo.rule(cond_p)
def _to_lo(args, *, branches):
    index, *operands = args
    lowered = lower_values(operands)
    avals = [list(map(typeof, group)) for group in lowered]
    outs = cond_p.bind(index, *flat(lowered), branches=tuple([lower_program(b, avals) for b in branches]))
    return raise_values(branches[0].out_avals, outs)


@programs.rule(cond_p)
def _programs(eqn):
    operands, results = range(1, len(eqn.invars)), range(len(eqn.outvars))
    return [HeldProgram(b, BRANCH, "branches", i, operands, results) for i, b in enumerate(eqn.params["branches"])]


@equation_checks.rule(cond_p)
def _check_equation(eqn):
    branches = eqn.params["branches"]
    is_valid = type(branches) is tuple and all(type(b) is core.ClosedJaxpr for b in branches)
    check_param(eqn, "branches", "tuple of ClosedJaxpr", is_valid)
    if not branches:
        raise JaxprTypeError("cond requires at least one branch function")


@partial_eval_custom_rules.rule(cond_p)
def _partial_eval_custom(saveable, unknown, instantiated, eqn):
    """Splits each branch; with an unknown index the second program computes everything."""
    branches = eqn.params["branches"]
    n_out = len(eqn.outvars)
    stored = operands_to_store(eqn, instantiated)
    if unknown[0]:
        return None, eqn, [True] * n_out, [True] * n_out, stored
    split = lambda ensure: [
        partial_eval_jaxpr_custom(b, unknown[1:], saveable, ensure, ensure_out_instantiated=True) for b in branches
    ]
    unknown_out = [any(column) for column in zip(*(part[2] for part in split(False)))]
    parts = split(unknown_out)
    positions, avals = _merge_residuals([part[4] for part in parts])
    n_known = unknown_out.count(False)
    known = tuple(_forward_branch(part[0], n_known, indices, avals) for part, indices in zip(parts, positions))
    staged = tuple(_linear_branch(part[1], indices, avals) for part, indices in zip(parts, positions))
    residuals = [core.Var(a) for a in avals]
    early = eqn.replace(
        invars=reject(eqn.invars, unknown),
        outvars=[*reject(eqn.outvars, unknown_out), *residuals],
        params={"branches": known},
    )
    late = eqn.replace(invars=[eqn.invars[0], *residuals, *eqn.invars[1:]], params={"branches": staged})
    return early, late, unknown_out, [True] * n_out, [*stored, *residuals]
