"""Linear systems: dense, structured, iterative and least squares, with gradients."""

import equinox as eqx
import jax
import jax.numpy as jnp
import lineax as lx

TOLERANCE = 1e-3  # of iterative solvers, which stop at 1e-6, in float32


def main():
    key = jax.random.key(0)
    m = jax.random.normal(key, (6, 6)) / 6 + jnp.eye(6)
    b = jnp.arange(6.0)
    spd = lx.MatrixLinearOperator(m @ m.T, lx.positive_semidefinite_tag)
    tall = lx.MatrixLinearOperator(jax.random.normal(jax.random.key(1), (9, 4)))
    solve = eqx.filter_jit(lambda op, v, s: lx.linear_solve(op, v, s).value)
    general = lx.MatrixLinearOperator(m)
    diagonal = lx.TridiagonalLinearOperator(jnp.full(6, 4.0), jnp.full(5, 1.0), jnp.full(5, -1.0))
    function = lx.FunctionLinearOperator(lambda v: 3 * v + jnp.roll(v, 1), jax.ShapeDtypeStruct((6,), b.dtype))

    def loss(m):
        return jnp.sum(lx.linear_solve(lx.MatrixLinearOperator(m), b).value ** 2)

    return {
        "lu": solve(general, b, lx.LU()),
        "qr": solve(tall, jnp.arange(9.0), lx.QR()),
        "svd": solve(tall, jnp.arange(9.0), lx.SVD()),
        "cholesky": solve(spd, b, lx.Cholesky()),
        "cg": solve(spd, b, lx.CG(1e-6, 1e-6)),
        "gmres": solve(general, b, lx.GMRES(1e-6, 1e-6)),
        "auto": solve(general, b, lx.AutoLinearSolver(well_posed=True)),
        "tridiagonal": solve(diagonal, b, lx.Tridiagonal()),
        "function": solve(function, b, lx.GMRES(1e-6, 1e-6)),
        "gradient": jax.grad(loss)(m),
        "batch": jax.vmap(lambda v: lx.linear_solve(general, v).value)(jnp.eye(6)),
    }
