"""TensorFlow Probability's JAX substrate: distributions, bijectors, joint distributions."""

import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp

TOLERANCE = 1e-3  # samplers by rejection and special functions in float32

tfd, tfb = tfp.distributions, tfp.bijectors


def main():
    key = jax.random.PRNGKey(0)
    members = {
        "normal": tfd.Normal(1.0, 2.0),
        "gamma": tfd.Gamma(2.0, 0.5),
        "beta": tfd.Beta(2.0, 2.0),
        "wishart": tfd.WishartTriL(5.0, scale_tril=jnp.eye(2)),
        "mvn": tfd.MultivariateNormalTriL(jnp.zeros(2), jnp.array([[1.0, 0], [0.5, 2]])),
        "mixture": tfd.MixtureSameFamily(tfd.Categorical(probs=[0.4, 0.6]), tfd.Normal([-1.0, 1.0], [1.0, 0.5])),
        "flow": tfd.TransformedDistribution(tfd.Normal(0.0, 1.0), tfb.Chain([tfb.Exp(), tfb.Scale(0.5)])),
    }
    results = {}
    for name, member in members.items():
        draws = member.sample(3, seed=key)
        results[f"{name}.draws"], results[f"{name}.log_prob"] = draws, member.log_prob(draws)

    @tfd.JointDistributionCoroutineAutoBatched
    def joint():
        a = yield tfd.Normal(0.0, 1.0, name="a")
        yield tfd.Independent(tfd.Normal(a * jnp.ones(3), 0.5), 1, name="b")

    draw = joint.sample(seed=key)
    results["joint"] = joint.log_prob(draw)
    results["spline"] = tfb.RationalQuadraticSpline([0.5, 1.0, 0.5], [0.7, 0.6, 0.7], [1.0, 1.5]).forward(
        jnp.linspace(-1, 1, 5)
    )
    kernel = tfp.math.psd_kernels.MaternFiveHalves(1.0, 0.5)
    x = jnp.linspace(0, 1, 5)[:, None]
    process = tfd.GaussianProcessRegressionModel(kernel, x + 0.05, x, jnp.sin(x[:, 0]), observation_noise_variance=0.01)
    results["process"] = process.mean()
    results["gradient"] = jax.grad(lambda c: tfd.Gamma(c, 1.0).sample(seed=key))(1.5)
    return results
