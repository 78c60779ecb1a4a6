"""Evolution strategies of evosax on a quadratic function."""

import jax
import jax.numpy as jnp
from evosax.algorithms import CMA_ES, DifferentialEvolution, Open_ES

TOLERANCE = 1e-2  # ranks of the population decide each step; ten generations in float32


def main():
    results = {}
    evaluate = jax.vmap(lambda x: jnp.sum((x - jnp.arange(4.0)) ** 2))
    for name, strategy in {
        "cma": CMA_ES(population_size=12, solution=jnp.zeros(4)),
        "open": Open_ES(population_size=12, solution=jnp.zeros(4)),
    }.items():
        params = strategy.default_params
        state = strategy.init(jax.random.key(0), jnp.zeros(4), params)

        def generation(state, key, strategy=strategy, params=params):
            ask, tell = jax.random.split(key)
            population, state = strategy.ask(ask, state, params)
            fitness = evaluate(population)
            state, _ = strategy.tell(tell, population, fitness, state, params)
            return state, fitness.min()

        state, best = jax.jit(lambda s, k: jax.lax.scan(generation, s, k))(
            state, jax.random.split(jax.random.key(1), 10)
        )
        results[name] = best
        results[f"{name}.mean"] = strategy.get_mean(state)
    strategy = DifferentialEvolution(population_size=8, solution=jnp.zeros(4))
    state = strategy.init(
        jax.random.key(2),
        jnp.arange(32.0).reshape(8, 4) / 8,
        evaluate(jnp.arange(32.0).reshape(8, 4) / 8),
        strategy.default_params,
    )
    population, state = strategy.ask(jax.random.key(3), state, strategy.default_params)
    return {**results, "population": population}
