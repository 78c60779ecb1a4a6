"""Rules of the slot `shard`: operations on each member of a stack (matrices, signals, keys of random numbers).

The leading dimensions, which count the members, keep their axes; those of a member are gathered.  Random bits depend
on the key alone, so they are the same whatever the sharding.
"""

from onax._compile.devices.sharding_propagation import dimension_axes, propagate, shardings
from onax._compile.devices.spmd import shard
from onax._control.solves import custom_linear_solve_p, solution
from onax._prims.fft import fft_p
from onax._prims.linalg import (
    cholesky_p,
    cholesky_update_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    ormqr_p,
    qr_p,
    symmetric_product_p,
    triangular_solve_p,
)
from onax._prims.linalg_spectral import (
    eig_p,
    eigh_p,
    hessenberg_p,
    schur_p,
    svd_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)
from onax._prims.random import random_bits_p, random_clone_p, random_split_p, random_unwrap_p, random_wrap_p


def _on_members(p, operands, eqn, ndim):
    """Binds on the members that a device has; a member of the first operand has `ndim` dimensions."""
    first = operands[0].aval
    shape = first.shape[: first.ndim - ndim]
    leading = [()] * len(shape)
    for x in operands:
        leading = [m or (a if n == size else ()) for m, a, n, size in zip(leading, x.axes, x.aval.shape, shape)]
    leading = p.usable(leading, shape)
    whole = lambda aval: (*leading, *[()] * (aval.ndim - len(leading)))
    blocks = [p.block_of(x, whole(x.aval)) for x in operands]
    return p.bind(eqn, blocks, [whole(v.aval) for v in eqn.outvars])


@shard.rule(random_bits_p, random_split_p, random_clone_p, random_unwrap_p)
def _keys(p, operands, eqn):
    return _on_members(p, operands, eqn, 0)


@shard.rule(tridiagonal_solve_p, lu_pivots_to_permutation_p)
def _vectors(p, operands, eqn):
    return _on_members(p, operands, eqn, 1)


@shard.rule(random_wrap_p)
def _random_wrap(p, operands, eqn):
    return _on_members(p, operands, eqn, len(eqn.params["impl"].key_shape))


@shard.rule(fft_p)
def _fft(p, operands, eqn):
    return _on_members(p, operands, eqn, len(eqn.params["fft_lengths"]))


def _matrices(p, operands, eqn):
    return _on_members(p, operands, eqn, 2)


def _stacks_of_results(axes, avals, shape, params):
    """The dimensions that count matrices keep their axes."""
    count = avals[0].ndim - 2
    merged = [next((own[i] for own in axes if i < len(own) and own[i]), ()) for i in range(count)]
    return [*merged, *[()] * (len(shape) - count)]


def _on_matrices(*primitives):
    """Attaches the rules of operations on stacks of matrices."""
    for primitive in primitives:
        shard.set(primitive, _matrices)
        dimension_axes.set(primitive, _stacks_of_results)


_on_matrices(
    cholesky_p, cholesky_update_p, geqrf_p, householder_product_p, lu_p, ormqr_p, qr_p, symmetric_product_p,
    triangular_solve_p, eig_p, eigh_p, hessenberg_p, schur_p, svd_p, tridiagonal_p,
)  # fmt: skip


# ---- linear systems with a rule of their own


@shard.rule(custom_linear_solve_p)
def _solve(p, operands, eqn):
    solve, given = solution(eqn.params, operands)
    return p.run(solve, given)


@shardings.rule(custom_linear_solve_p)
def _shardings_of_solution(given, avals, params):
    return propagate(*solution(params, given))
