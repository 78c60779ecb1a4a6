"""Spherical harmonic transforms of S2FFT and their gradients; a rotation of coefficients."""

import jax
import jax.numpy as jnp
import numpy as np
import s2fft

jax.config.update("jax_enable_x64", True)


def main():
    bandlimit = 8
    generator = np.random.default_rng(0)
    coefficients = jnp.asarray(s2fft.utils.signal_generator.generate_flm(generator, bandlimit))
    signal = s2fft.inverse_jax(coefficients, bandlimit)
    back = s2fft.forward_jax(signal, bandlimit)
    real = jnp.real(signal)

    def power(f):
        return jnp.sum(jnp.abs(s2fft.forward_jax(f + 0j, bandlimit)[:, bandlimit - 1]) ** 2)

    return {
        "real": real,
        "imaginary": jnp.imag(signal),
        "error": jnp.abs(back - coefficients).max() < 1e-10,
        "gradient": jax.jit(jax.grad(power))(real),
    }
