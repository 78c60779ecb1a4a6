"""K-FAC JAX: loss functions with their Fisher matrices, and inverses of Kronecker factors precondition descent."""

import jax
import jax.numpy as jnp
import kfac_jax

TOLERANCE = 2e-3  # inverses of damped curvature matrices in float32


def main():
    x = jax.random.normal(jax.random.PRNGKey(0), (32, 5))
    labels = jnp.argmax(x[:, :3], 1)
    w, losses = jnp.zeros((5, 3)), []

    @jax.jit
    def step(w):
        logits = x @ w
        loss = kfac_jax.CategoricalLogitsNegativeLogProbLoss(logits, targets=labels)
        gradient = x.T @ loss.grad_of_evaluate(None, "regular")[0] / len(x)
        outputs = jax.nn.softmax(logits) - jax.nn.one_hot(labels, 3)
        factors = (x.T @ x / len(x), outputs.T @ outputs / len(x))
        inverses = kfac_jax.utils.pi_adjusted_kronecker_inverse(*factors, damping=jnp.float32(0.1))
        update = inverses[0] @ gradient @ inverses[1]
        return w - 0.1 * update, jnp.mean(loss.evaluate())

    for _ in range(10):
        w, value = step(w)
        losses.append(value)
    normal = kfac_jax.NormalMeanNegativeLogProbLoss(x, targets=jnp.zeros_like(x))
    average = kfac_jax.utils.WeightedMovingAverage.zeros_array((2,), jnp.float32)
    for i in range(3):
        average.update(jnp.full(2, float(i)), 0.9, 0.1)
    return {
        "losses": jnp.stack(losses),
        "w": w,
        "normal": normal.evaluate()[:4],
        "average": average.value,
        "hessian": normal.multiply_ggn((jnp.ones_like(x),))[0][:2],
        "product": kfac_jax.utils.inner_product(w, w),
    }
