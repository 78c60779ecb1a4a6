"""Optimal transport of OTT: Sinkhorn, its gradient, low rank, Gromov-Wasserstein and soft sorting."""

import jax
import jax.numpy as jnp
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.problems.quadratic import quadratic_problem
from ott.solvers.linear import sinkhorn
from ott.solvers.quadratic import gromov_wasserstein
from ott.tools import soft_sort

TOLERANCE = 2e-3  # iterations stop at a threshold of 1e-3


def main():
    x = jax.random.normal(jax.random.key(0), (20, 2))
    y = jax.random.normal(jax.random.key(1), (16, 2)) + 1.0
    solver = sinkhorn.Sinkhorn()

    def cost(x, y):
        return solver(linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=0.2))).reg_ot_cost

    value, gradient = jax.jit(jax.value_and_grad(cost))(x, y)
    out = jax.jit(lambda x: solver(linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=0.2))))(x)
    quadratic = quadratic_problem.QuadraticProblem(
        pointcloud.PointCloud(x[:8]),
        pointcloud.PointCloud(y[:8]),
    )
    gromov = gromov_wasserstein.GromovWasserstein(sinkhorn.Sinkhorn(), epsilon=1.0, max_iterations=5)(quadratic)
    return {
        "value": value,
        "gradient": gradient,
        "marginal": out.matrix.sum(1),
        "gromov": gromov.reg_gw_cost,
        "sorted": soft_sort.sort(jnp.array([3.0, 1.0, 2.0, 5.0]), epsilon=1e-2),
    }
