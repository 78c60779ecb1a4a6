"""Poses in SE(3): the Gauss-Newton method on the manifold of Jaxlie."""

import jax
import jax.numpy as jnp
import jaxlie


def main():
    truth = jaxlie.SE3.exp(jnp.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.6]))
    points = jax.random.normal(jax.random.key(0), (10, 3))
    observed = jax.vmap(truth.apply)(points)

    def residual(pose):
        return (jax.vmap(pose.apply)(points) - observed).reshape(-1)

    @jax.jit
    def step(pose):
        delta = jnp.zeros(6)
        jacobian = jax.jacfwd(lambda d: residual(jaxlie.manifold.rplus(pose, d)))(delta)
        r = residual(pose)
        update = -jnp.linalg.solve(jacobian.T @ jacobian, jacobian.T @ r)
        return jaxlie.manifold.rplus(pose, update), jnp.sum(r**2)

    pose, errors = jaxlie.SE3.identity(), []
    for _ in range(4):
        pose, error = step(pose)
        errors.append(error)
    gradient = jaxlie.manifold.grad(lambda p: jnp.sum(p.apply(points[0]) ** 2))(truth)
    rotation = jaxlie.SO3.from_rpy_radians(0.1, 0.2, 0.3)
    return {
        "errors": jnp.stack(errors[:2]),
        "pose": pose.log(),
        "gradient": gradient,
        "matrix": rotation.as_matrix(),
        "inverse": (truth.inverse() @ truth).log(),
        "plane": jaxlie.SE2.from_xy_theta(1.0, 2.0, 0.5).apply(jnp.ones(2)),
        "draw": jaxlie.SO3.sample_uniform(jax.random.PRNGKey(3)).wxyz,
    }
