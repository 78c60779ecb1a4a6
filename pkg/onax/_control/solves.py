"""custom_linear_solve and custom_root: solvers that are differentiated implicitly, not through their steps.

    custom_linear_solve_p.bind(*consts of each program, *b, jaxprs, const_lengths)    both are a _LinearSolveTuple

matvec x = b gives  matvec dx = db - (d matvec) x; its transpose solves with the transposed map.  f(x, p) = 0 gives
f_x dx = -f_p dp (the implicit function theorem).
"""

import functools
from collections import namedtuple
from typing import Any

from onax._control.bodies import arrays_and_avals, stage_body
from onax._control.custom_jvp import custom_jvp
from onax._core import jaxpr as core
from onax._core.evaluate import eval_jaxpr
from onax._core.facts import MAKES_NAN
from onax._core.programs import functions, programs
from onax._core.rewrite import map_equations
from onax._core.trace import typeof
from onax._core.zeros import Zero, is_undefined_primal
from onax._ground.dtypes import float0
from onax._ground.typing import AnyFunction, PyTree
from onax._native.dispatch import NEVER, Primitive
from onax._native.tree import tree_flatten, tree_structure, tree_unflatten
from onax._prims.creation import instantiate_zeros
from onax._prims.dot import dot_general_p
from onax._prims.elementwise import add_any, neg
from onax._prims.shaping import reduce_sum_p
from onax._transforms.autodiff import linearize
from onax._transforms.batching import batch_jaxpr, move_mapped_axis
from onax._transforms.flatten import check_callable
from onax._transforms.jvp import jvp_flat
from onax._transforms.staging import derive_jaxpr
from onax._transforms.transpose import transpose_jaxpr

_LinearSolveTuple = namedtuple("_LinearSolveTuple", "matvec vecmat solve transpose_solve")


def _check_tree(what, tree, expected_name, expected):
    if tree != expected:
        raise TypeError(f"{what} output pytree structure must match {expected_name}, got {tree} and {expected}.")


def _check_shapes(what, avals, expected_name, expected):
    shapes, expected_shapes = [a.shape for a in avals], [a.shape for a in expected]
    if shapes != expected_shapes:
        raise ValueError(f"{what} output shapes must match {expected_name}, got {shapes} and {expected_shapes}")


def _split_aux_trees(out_tree, what):
    """The trees of the solution and of the auxiliary output."""
    data, children = out_tree.node_data(), out_tree.children()
    if data is None or data[0] not in (tuple, list) or len(children) != 2:
        raise ValueError(f"with has_aux=True, {what} must return a pair of the solution and auxiliary output")
    return children


def custom_linear_solve(
    matvec: AnyFunction,
    b: PyTree,
    solve: AnyFunction,
    transpose_solve: AnyFunction = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Returns the solution of a linear equation, differentiated implicitly.

    Args:
      matvec: linear function of a tree of arrays.
      b: tree of arrays, the right-hand side.
      solve: function (matvec, b) -> x that solves the equation.
      transpose_solve: function (vecmat, b) -> x that solves the transposed equation, which gradients need; default:
        none.
      symmetric: whether matvec is its own transpose; `solve` then serves for both.
      has_aux: whether the solvers return (x, auxiliary data).

    Returns:
      x with matvec(x) = b, or (x, auxiliary data).

    Raises:
      TypeError: structures, shapes or dtypes do not fit.

    Examples:
      >>> lax.custom_linear_solve(lambda x: 2 * x, jnp.array([4.0, 6.0]), lambda f, b: b / 2, symmetric=True)
      Array([2., 3.], dtype=float32)
    """
    for fun in (matvec, solve):
        check_callable(fun)
    leaves, tree = tree_flatten(b)
    values, avals = arrays_and_avals(leaves)
    in_tree = tree_structure(((b,), {}))
    matvec_jaxpr, matvec_consts, matvec_tree = stage_body(matvec, in_tree, avals, "custom_linear_solve")
    _check_tree("matvec()", matvec_tree, "b", tree)
    _check_shapes("matvec()", matvec_jaxpr.out_avals, "b", avals)

    def staged(what, solver, linear):
        jaxpr, consts, out_tree = stage_body(
            functools.partial(solver, linear), in_tree, avals, f"custom_linear_solve {what}"
        )
        x_tree = _split_aux_trees(out_tree, f"{what}()")[0] if has_aux else out_tree
        _check_tree(f"{what}()", x_tree, "b", tree)
        _check_shapes(f"{what}()", jaxpr.out_avals[: len(avals)], "b", avals)
        return jaxpr, consts, out_tree

    solve_jaxpr, solve_consts, out_tree = staged("solve", solve, matvec)
    programs = [matvec_jaxpr, None, solve_jaxpr, None]
    consts = [matvec_consts, [], solve_consts, []]
    if symmetric:
        programs[1::2], consts[1::2] = programs[::2], consts[::2]
    elif transpose_solve is not None:
        vecmat_jaxpr = _transpose_linear_map(matvec_jaxpr, len(matvec_consts))
        vecmat = lambda y: tree_unflatten(
            tree, eval_jaxpr(vecmat_jaxpr, [], *matvec_consts, *arrays_and_avals(tree_flatten(y)[0])[0])
        )
        programs[1], consts[1] = vecmat_jaxpr, matvec_consts
        programs[3], consts[3], _ = staged("transpose_solve", transpose_solve, vecmat)
    outs = custom_linear_solve_p.bind(
        *(c for group in consts for c in group),
        *values,
        const_lengths=_LinearSolveTuple(*map(len, consts)),
        jaxprs=_LinearSolveTuple(*programs),
    )
    return tree_unflatten(out_tree, outs)


def _add_empty_sums(jaxpr):
    """The program with a sum over no axes after each matrix product, as JAX prints it; it computes the same."""
    key = "empty sums"
    if key not in jaxpr.cache:
        jaxpr.cache[key] = map_equations(jaxpr, _add_empty_sum)
    return jaxpr.cache[key]


def _add_empty_sum(eqn):
    if eqn.primitive is not dot_general_p:
        return [eqn]
    (out,) = eqn.outvars
    product = core.Var(out.aval)
    empty_sum = core.new_jaxpr_eqn([product], [out], reduce_sum_p, {"axes": (), "out_sharding": None})
    return [eqn.replace(outvars=[product]), empty_sum]


def _transpose_linear_map(jaxpr, num_consts):
    """The transposed linear map, on the same constants."""
    linear = [i >= num_consts for i in range(len(jaxpr.invars))]
    transposed, present = transpose_jaxpr(jaxpr, linear, [True] * len(jaxpr.outvars))
    transposed = _add_empty_sums(transposed)
    if all(present):
        return transposed

    def fun(*args):
        cotangents = iter(eval_jaxpr(transposed, transposed.consts, *args))
        avals = jaxpr.in_avals[num_consts:]
        return [next(cotangents) if has else instantiate_zeros(Zero(a)) for has, a in zip(present, avals)]

    return derive_jaxpr(fun, transposed.in_avals, jaxpr)


# ---- rules ----


def _split(values, lengths):
    """The constants of each program, and the operands that follow them."""
    groups, values = [], list(values)
    for n in lengths:
        groups.append(values[:n])
        values = values[n:]
    return _LinearSolveTuple(*groups), values


def _impl(*args, const_lengths, jaxprs):
    solve, given = solution({"const_lengths": const_lengths, "jaxprs": jaxprs}, args)
    return eval_jaxpr(solve, solve.consts, *given)


def solution(params, operands):
    """(the program that solves the system of a custom_linear_solve equation, what it takes of the operands)."""
    consts, b = _split(operands, params["const_lengths"])
    return params["jaxprs"].solve, [*consts.solve, *b]


def _abstract_eval(*avals, jaxprs, **_):
    return list(jaxprs.solve.out_avals)


def _jvp(primals, tangents, *, const_lengths, jaxprs):
    consts, b = _split(primals, const_lengths)
    const_dots, b_dot = _split(tangents, const_lengths)
    outs = custom_linear_solve_p.bind(*primals, const_lengths=const_lengths, jaxprs=jaxprs)
    x, aux = outs[: len(b)], outs[len(b) :]
    matvec = lambda *cs: eval_jaxpr(jaxprs.matvec, jaxprs.matvec.consts, *cs, *x)
    if any(type(t) is not Zero for t in const_dots.matvec):
        _, moved = jvp_flat(matvec, consts.matvec, const_dots.matvec)
        b_dot = [_subtract(t, m) for t, m in zip(b_dot, moved)]
    aux_dot = [Zero(v.aval.to_tangent_aval()) for v in jaxprs.solve.outvars[len(b) :]]
    if all(type(t) is Zero for t in b_dot):
        return [*x, *aux], [*b_dot, *aux_dot]
    all_consts = [c for group in consts for c in group]
    right = map(instantiate_zeros, b_dot)
    x_dot = custom_linear_solve_p.bind(*all_consts, *right, const_lengths=const_lengths, jaxprs=jaxprs)[: len(b)]
    return [*x, *aux], [*x_dot, *aux_dot]


def _subtract(x, y):
    if type(y) is Zero:
        return x
    return neg(y) if type(x) is Zero else add_any(x, neg(y))


def _transpose(cts, *operands, const_lengths, jaxprs):
    if jaxprs.transpose_solve is None:
        raise TypeError("transpose_solve required for backwards mode automatic differentiation of custom_linear_solve")
    consts, b = _split(operands, const_lengths)
    if any(is_undefined_primal(c) for group in consts for c in group):
        raise TypeError("custom_linear_solve is linear in b alone, not in what its functions close over")
    given = [instantiate_zeros(ct) for ct in cts[: len(b)]]
    swapped = [
        _LinearSolveTuple(t.vecmat, t.matvec, t.transpose_solve, t.solve) for t in (consts, const_lengths, jaxprs)
    ]
    all_consts = [c for group in swapped[0] for c in group]
    outs = custom_linear_solve_p.bind(*all_consts, *given, const_lengths=swapped[1], jaxprs=swapped[2])
    return [*[None] * len(all_consts), *outs[: len(b)]]


def _batch(axis_data, operands, dims, *, const_lengths, jaxprs):
    """Every part of b and every result has its mapped axis in front; constants keep their axes."""
    groups, b = _split(operands, const_lengths)
    group_dims, b_dims = _split(dims, const_lengths)
    b = [move_mapped_axis(x, d, 0, axis_data.size) for x, d in zip(b, b_dims)]
    derived = [
        None if jaxpr is None else batch_jaxpr(jaxpr, axis_data, (*mapped, *[0] * len(b)), True)[0]
        for jaxpr, mapped in zip(jaxprs, group_dims)
    ]
    all_consts = [c for group in groups for c in group]
    outs = custom_linear_solve_p.bind(*all_consts, *b, const_lengths=const_lengths, jaxprs=_LinearSolveTuple(*derived))
    return outs, [0] * len(outs)


custom_linear_solve_p = Primitive(
    "custom_linear_solve",
    multiple_results=True,
    impl=_impl,
    abstract_eval=_abstract_eval,
    jvp=_jvp,
    transpose=_transpose,
    batch=_batch,
    facts=frozenset({MAKES_NAN}),
    weak=NEVER,
)
programs.set(custom_linear_solve_p, functions)


# ---- roots ----


def custom_root(
    f: AnyFunction,
    initial_guess: PyTree,
    solve: AnyFunction,
    tangent_solve: AnyFunction,
    has_aux: bool = False,
) -> Any:
    """Returns a root of a function, differentiated implicitly.

    Args:
      f: function of a tree of arrays, whose result has the same structure.
      initial_guess: tree of arrays.
      solve: function (f, initial_guess) -> x with f(x) = 0.
      tangent_solve: function (g, y) -> x with g(x) = y for a linear g.
      has_aux: whether `solve` returns (x, auxiliary data).

    Returns:
      x, or (x, auxiliary data).

    Raises:
      TypeError: structures, shapes or dtypes do not fit.

    Examples:
      >>> def root(a):
      ...     bisect = lambda f, x: jnp.sqrt(a)
      ...     return lax.custom_root(lambda x: x * x - a, 1.0, bisect, lambda g, y: y / g(1.0))
      >>> onax.grad(root)(4.0)
      Array(0.25, dtype=float32, weak_type=True)
    """
    for fun in (f, solve, tangent_solve):
        check_callable(fun)
    leaves, tree = tree_flatten(initial_guess)
    guess, avals = arrays_and_avals(leaves)
    in_tree = tree_structure(((initial_guess,), {}))
    _check_tree("f()", stage_body(f, in_tree, avals, "custom_root")[2], "initial_guess", tree)
    solve_jaxpr, solve_consts, out_tree = stage_body(functools.partial(solve, f), in_tree, avals, "custom_root solve")
    x_tree = _split_aux_trees(out_tree, "solve()")[0] if has_aux else out_tree
    _check_tree("solve()", x_tree, "initial_guess", tree)
    x_avals = solve_jaxpr.out_avals[: len(avals)]
    _check_shapes("solve()", x_avals, "initial_guess", avals)
    f_jaxpr, f_consts, _ = stage_body(f, in_tree, x_avals, "custom_root")  # the root may have another dtype

    @functools.wraps(tangent_solve, updated=())
    def linearize_and_solve(x, y):
        return tangent_solve(linearize(f, x)[1], y)

    pair_tree = tree_structure(((initial_guess, initial_guess), {}))
    tangent_avals = [*x_avals, *f_jaxpr.out_avals]
    tangent_jaxpr, tangent_consts, tangent_tree = stage_body(
        linearize_and_solve, pair_tree, tangent_avals, "custom_root tangent_solve"
    )
    _check_tree("tangent_solve()", tangent_tree, "x", tree)
    root = _root_function(f_jaxpr, solve_jaxpr, tangent_jaxpr, len(avals))
    return tree_unflatten(out_tree, root(f_consts, solve_consts, tangent_consts, guess))


def _float0_to_zero(t):
    return Zero(typeof(t)) if typeof(t).dtype == float0 else t


def _root_function(f_jaxpr, solve_jaxpr, tangent_jaxpr, n):
    """The solver on flat values, with a jvp rule from the implicit function theorem."""

    def _custom_root(f_consts, solve_consts, tangent_consts, guess):
        return eval_jaxpr(solve_jaxpr, solve_jaxpr.consts, *solve_consts, *guess)

    root = custom_jvp(_custom_root)

    def _root_jvp(primals, tangents):
        f_consts, _, tangent_consts, _ = primals
        outs = root(*primals)
        x = outs[:n]
        residual = lambda *consts: eval_jaxpr(f_jaxpr, f_jaxpr.consts, *consts, *x)
        _, moved = jvp_flat(residual, f_consts, [_float0_to_zero(t) for t in tangents[0]])
        right = map(instantiate_zeros, moved)
        x_dot = map(neg, eval_jaxpr(tangent_jaxpr, tangent_jaxpr.consts, *tangent_consts, *x, *right))
        aux_dot = [instantiate_zeros(Zero(v.aval.to_tangent_aval())) for v in solve_jaxpr.outvars[n:]]
        return outs, [*x_dot, *aux_dot]

    root.defjvp(_root_jvp)
    return root


__all__ = ["custom_linear_solve", "custom_linear_solve_p", "custom_root"]
