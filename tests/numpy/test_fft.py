"""Fourier transforms: against NumPy; derivatives; exported to ONNX Runtime alone."""

import numpy as np
import onnxruntime
import pytest

import onax as jax
from onax import numpy as jnp
from onax.export import export
from smooth_functions import assert_derivatives, assert_gradient_is_exported

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(5, 3))
Z = RNG.normal(size=(3, 8)) + 1j * RNG.normal(size=(3, 8))


@pytest.fixture(autouse=True)
def double_precision():
    """What NumPy and differences are computed in."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", "fft ifft hfft fft2 ifft2 irfft2 fftn ifftn irfftn".split())
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms(name, norm):
    np.testing.assert_allclose(getattr(jnp.fft, name)(Z, norm=norm), getattr(np.fft, name)(Z, norm=norm), 0, 1e-12)


@pytest.mark.parametrize("n", [1, 2, 6, 7, 12, 67, 100, 131])
def test_any_length_in_onnx_runtime(n):
    x = RNG.normal(size=(2, n)).astype(np.float32)

    def there_and_back(x):
        spectrum = jnp.fft.fft(x)
        return jnp.real(spectrum), jnp.imag(spectrum), jnp.fft.irfft(jnp.fft.rfft(x), n=n)

    model = export(there_and_back)(jax.ShapeDtypeStruct(x.shape, x.dtype)).onnx_model
    session = onnxruntime.InferenceSession(model.SerializeToString())
    for g, w in zip(session.run(None, {session.get_inputs()[0].name: x}), there_and_back(x)):
        np.testing.assert_allclose(g, w, 0, 2e-6 * np.sqrt(n) * (1 + np.abs(w).max()))


def test_transforms_of_scalars():
    for name in ("fftn", "ifftn", "irfftn"):
        out = getattr(jnp.fft, name)(2)
        assert out.shape == () and out == 2 and np.issubdtype(out.dtype, np.complexfloating)
    assert np.issubdtype(jnp.fft.rfftn(2).dtype, np.floating)


SMOOTH = {
    "rfft": (lambda x: jnp.abs(jnp.fft.rfft(x)), TALL),
    "irfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x, axis=0) ** 2, n=5, axis=0), TALL),
    "fft2": (lambda x: jnp.abs(jnp.fft.fft2(x, s=(4, 6), norm="ortho")), TALL),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    assert_derivatives(*SMOOTH[name])


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_run_in_onnx_runtime(name):
    assert_gradient_is_exported(*SMOOTH[name])


REAL = [
    ("rfft", (TALL,), {}), ("rfft", (TALL,), {"n": 8, "axis": 0, "norm": "forward"}), ("ihfft", (TALL,), {"n": 4}),
    ("rfft2", (TALL,), {"s": (4, 5)}), ("rfftn", (TALL,), {"norm": "ortho"}), ("irfft", (Z,), {"n": 13}),
    ("hfft", (Z,), {"n": 9, "norm": "ortho"}), ("irfft2", (Z,), {"s": (3, 9)}), ("fft", (TALL,), {"axis": 0}),
    ("fftn", (Z,), {"axes": (0,)}), ("ifftn", (Z,), {"s": (5,), "axes": (1,)}), ("fftfreq", (7,), {"d": 0.5}),
    ("rfftfreq", (8,), {}), ("fftshift", (TALL,), {}), ("fftshift", (Z,), {"axes": 1}),
    ("ifftshift", (TALL,), {"axes": (0,)}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "options"), REAL)
def test_as_in_numpy(name, args, options):
    got, want = getattr(jnp.fft, name)(*args, **options), getattr(np.fft, name)(*args, **options)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_allclose(got, want, 0, 1e-12)


def test_single_precision():
    x = TALL.astype(np.float32)
    assert jnp.fft.fft(x).dtype == np.complex64 and jnp.fft.rfft(x).dtype == np.complex64
    assert jnp.fft.irfft(x.astype(np.complex64)).dtype == np.float32


REFUSED = [
    (lambda: jnp.fft.fft(Z, n=0), ValueError, "positive"),
    (lambda: jnp.fft.rfft(Z), ValueError, "real valued"),
    (lambda: jnp.fft.fftn(Z, axes=(0, 0)), ValueError, "repeated axes"),
    (lambda: jax.lax.fft(Z, "FFT", (5,)), ValueError, "minor dimensions"),
    (lambda: jnp.fft.fft(Z, norm="half"), ValueError, "half"),
    (lambda: jnp.fft.fft2(Z, axes=(0,)), ValueError, "2"),
]


@pytest.mark.parametrize("call, error, words", REFUSED)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_the_inverse_of_hfft_has_jax_signs_of_zero():
    parts = np.asarray(jnp.fft.ihfft(jnp.array([1.0, 3.0, 5.0, 7.0])))
    np.testing.assert_array_equal(parts, [4, -1 - 1j, -1])
    assert list(np.signbit(parts.imag)) == [False, True, True]
