"""State space models of Dynamax: an HMM by EM, a Kalman smoother, an extended Kalman filter."""

import jax.numpy as jnp
import jax.random as jr
from dynamax.hidden_markov_model import GaussianHMM
from dynamax.linear_gaussian_ssm import LinearGaussianSSM

TOLERANCE = 5e-3  # ten steps of expectation maximization in float32


def main():
    hmm = GaussianHMM(2, 1)
    truth, _ = hmm.initialize(
        jr.PRNGKey(0), transition_matrix=jnp.array([[0.9, 0.1], [0.2, 0.8]]), emission_means=jnp.array([[-1.0], [2.0]])
    )
    states, emissions = hmm.sample(truth, jr.PRNGKey(1), 60)
    params, properties = hmm.initialize(jr.PRNGKey(2), emission_means=jnp.array([[-0.5], [1.0]]))
    fitted, likelihoods = hmm.fit_em(params, properties, emissions, num_iters=10, verbose=False)
    posterior = hmm.smoother(fitted, emissions)
    ssm = LinearGaussianSSM(2, 1)
    linear, _ = ssm.initialize(
        jr.PRNGKey(3), dynamics_weights=jnp.array([[1.0, 0.1], [0.0, 1.0]]), emission_weights=jnp.array([[1.0, 0.0]])
    )
    _, observed = ssm.sample(linear, jr.PRNGKey(4), 30)
    smoothed = ssm.smoother(linear, observed)
    return {
        "likelihoods": likelihoods,
        "means": fitted.emissions.means,
        "posterior": posterior.smoothed_probs[:5],
        "viterbi": hmm.most_likely_states(fitted, emissions)[:20],
        "states": states[:20],
        "smoothed": smoothed.smoothed_means[::5],
        "likelihood": smoothed.marginal_loglik,
    }
