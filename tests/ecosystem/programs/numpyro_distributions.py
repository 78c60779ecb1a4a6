"""Log densities, draws, transforms and divergences of many distributions."""

import jax
import jax.numpy as jnp
import numpyro.distributions as dist
from numpyro.distributions import transforms


def main():
    key = jax.random.PRNGKey(0)
    results = {}
    members = {
        "beta": dist.Beta(2.0, 3.0),
        "gamma": dist.Gamma(2.0, 1.5),
        "dirichlet": dist.Dirichlet(jnp.array([1.0, 2.0, 3.0])),
        "student": dist.StudentT(4.0, 0.0, 2.0),
        "laplace": dist.Laplace(1.0, 2.0),
        "cauchy": dist.Cauchy(0.0, 1.0),
        "poisson": dist.Poisson(3.0),
        "binomial": dist.Binomial(10, 0.3),
        "mvn": dist.MultivariateNormal(jnp.zeros(3), jnp.eye(3) + 0.2),
        "lkj": dist.LKJCholesky(3, 1.5),
        "vonmises": dist.VonMises(0.5, 2.0),
        "mixture": dist.MixtureSameFamily(
            dist.Categorical(jnp.array([0.3, 0.7])), dist.Normal(jnp.array([-1.0, 2.0]), jnp.array([0.5, 1.0]))
        ),
        "truncated": dist.TruncatedNormal(0.0, 1.0, low=-0.5, high=2.0),
        "negative": dist.NegativeBinomial2(3.0, 2.0),
        "weibull": dist.Weibull(1.5, 2.0),
        "transformed": dist.TransformedDistribution(
            dist.Normal(0.0, 1.0), [transforms.AffineTransform(1.0, 2.0), transforms.SigmoidTransform()]
        ),
    }
    for name, member in members.items():
        draws = member.sample(key, (3,))
        results[f"{name}.draws"] = draws
        results[f"{name}.log_prob"] = member.log_prob(draws)
    results["kl"] = dist.kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(1.0, 2.0))
    results["gradient"] = jax.grad(lambda a: dist.Gamma(a, 1.0).sample(key, (4,)).sum())(2.0)
    return results


TOLERANCE = 1e-3  # rejection samplers and von Mises evaluate series in float32
