"""Interpolation of Interpax in one, two and three dimensions with derivatives; Fourier interpolation."""

import interpax
import jax
import jax.numpy as jnp


def main():
    x = jnp.linspace(0, 2 * jnp.pi, 20)
    f, query = jnp.sin(x), jnp.linspace(0.3, 6, 9)
    results = {}
    for method in ("nearest", "linear", "cubic", "cubic2", "catmull-rom", "monotonic", "akima"):
        results[method] = jax.jit(lambda q, m=method: interpax.interp1d(q, x, f, method=m))(query)
    y = jnp.linspace(0, 1, 8)
    plane = jnp.sin(x)[:, None] * jnp.exp(y)
    results["plane"] = interpax.interp2d(query, query / 6.1, x, y, plane, method="cubic")
    results["gradient"] = jax.vmap(jax.grad(lambda q: interpax.interp1d(q, x, f, method="cubic2")))(query)
    results["spline"] = interpax.CubicSpline(x, f, bc_type="natural")(query)
    results["pchip"] = interpax.PchipInterpolator(x, f).derivative()(query)
    results["fourier"] = interpax.fft_interp1d(f[:-1], 30)
    return results


TOLERANCE = 1e-3  # second differences of float32 samples
