"""Assertions, dataclasses that are pytrees, variants and assertions about traces."""

import chex
import jax
import jax.numpy as jnp


@chex.dataclass(frozen=True)
class Moments:
    mean: chex.Array
    variance: chex.ArrayTree


@chex.assert_max_traces(n=2)
def moments(x):
    chex.assert_rank(x, 2)
    chex.assert_type(x, float)
    chex.assert_axis_dimension(x, 1, 4)
    return Moments(mean=x.mean(0), variance={"v": x.var(0)})


def main():
    chex.clear_trace_counter()
    x = jax.random.normal(jax.random.PRNGKey(0), (5, 4))
    compiled = jax.jit(moments)
    m = compiled(x)
    chex.assert_trees_all_close(m, moments(x), rtol=1e-5, atol=1e-6)
    chex.assert_trees_all_equal_shapes(m, m.replace(mean=m.mean + 1))
    chex.assert_tree_all_finite(m)
    refused = 0
    for bad in (
        lambda: chex.assert_shape(x, (4, 5)),
        lambda: chex.assert_equal_shape([x, x.T]),
        lambda: chex.assert_scalar(x),
    ):
        try:
            bad()
        except (AssertionError, ValueError):
            refused += 1

    @chex.chexify
    @jax.jit
    def logarithm(x):
        chex.assert_trees_all_close(x, jnp.abs(x))
        return jnp.log(x)

    caught = False
    logarithm(jnp.array([1.0, 2.0]))
    try:
        logarithm(jnp.array([-1.0]))
        chex.block_until_chexify_assertions_complete()
    except AssertionError:
        caught = True
    doubled = jax.tree.map(lambda a: 2 * a, m)
    return {"mean": doubled.mean, "variance": doubled.variance["v"], "refused": refused, "caught": caught}
