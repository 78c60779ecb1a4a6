"""jnp.linalg and jnp.fft: against NumPy; derivatives against differences; exported to ONNX Runtime alone."""

import numpy as np
import onnxruntime
import pytest

import onax as jax
from onax import numpy as jnp
from onax.export import export

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 4, 4)) + 3 * np.eye(4)
B = RNG.normal(size=(2, 4, 2))
TALL = RNG.normal(size=(5, 3))
H = A @ A.swapaxes(-1, -2)
Z = RNG.normal(size=(3, 8)) + 1j * RNG.normal(size=(3, 8))

SAME = {  # name -> arguments: NumPy gives the same
    "det": (A,), "slogdet": (A,), "inv": (A,), "solve": (A, B), "cholesky": (H,), "eigvalsh": (H,), "svdvals": (A,),
    "pinv": (TALL,), "matrix_rank": (A,), "cond": (A,), "matrix_power": (A, -3), "qr": (TALL,), "tensorinv": (A[0], 1),
    "tensorsolve": (A[0], B[0, :, 0]),
}  # fmt: skip
SMOOTH = {
    "det": (lambda a: jnp.linalg.det(a), A),
    "singular det": (lambda a: jnp.linalg.det(a), np.outer(np.arange(1, 5), np.ones(4)) + np.diag([0.0, 1, 2, 0])),
    "slogdet": (lambda a: jnp.linalg.slogdet(a)[1], A),
    "inv": (jnp.linalg.inv, A),
    "solve": (lambda a: jnp.linalg.solve(a, B), A),
    "vector": (lambda b: jnp.linalg.solve(A[0], b), B[0, :, 0]),
    "cholesky": (lambda a: jnp.linalg.cholesky(a @ jnp.matrix_transpose(a)), A),
    "eigvalsh": (lambda a: jnp.linalg.eigvalsh(a + jnp.matrix_transpose(a)), A),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), TALL),
    "pinv": (jnp.linalg.pinv, TALL),
    "lstsq": (lambda a: jnp.linalg.lstsq(a, np.arange(5.0))[0], TALL),
    "qr": (lambda a: jnp.linalg.qr(a, mode="complete"), TALL),
    "wide qr": (lambda a: jnp.linalg.qr(a), TALL.T),
    "nuclear norm": (lambda a: jnp.linalg.norm(a, ord="nuc"), TALL),
    "rfft": (lambda x: jnp.abs(jnp.fft.rfft(x)), TALL),
    "irfft": (lambda x: jnp.fft.irfft(jnp.fft.rfft(x, axis=0) ** 2, n=5, axis=0), TALL),
    "fft2": (lambda x: jnp.abs(jnp.fft.fft2(x, s=(4, 6), norm="ortho")), TALL),
}


@pytest.fixture(autouse=True)
def double_precision():
    """What NumPy and differences are computed in."""
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", sorted(SAME))
def test_same_as_numpy(name):
    got, want = getattr(jnp.linalg, name)(*SAME[name]), getattr(np.linalg, name)(*SAME[name])
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(tuple(want) if isinstance(want, tuple) else want)):
        np.testing.assert_allclose(g, w, 1e-9, 1e-11)


@pytest.mark.parametrize("name", sorted(SMOOTH))
def test_derivatives(name):
    function, x = SMOOTH[name]
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    out, got = jax.jvp(function, (x,), (direction,))
    step = 1e-6
    ahead, behind = (jax.tree.leaves(function(x + h * direction)) for h in (step, -step))
    for g, a, b in zip(jax.tree.leaves(got), ahead, behind):
        np.testing.assert_allclose(g, (a - b) / (2 * step), 1e-6, 1e-6)
    cts = jax.tree.map(lambda o: np.sin(1.0 + np.arange(o.size)).reshape(o.shape), out)
    (back,) = jax.vjp(function, x)[1](cts)
    forward = sum(np.sum(c * t) for c, t in zip(jax.tree.leaves(cts), jax.tree.leaves(got)))
    np.testing.assert_allclose(np.sum(back * direction), forward, 1e-9, 1e-9)


@pytest.mark.parametrize("name", sorted(set(SMOOTH) - {"svd", "qr", "wide qr"}))
def test_gradients_run_in_onnx_runtime(name):
    function, x = SMOOTH[name]
    x = x.astype(np.float32)

    def gradient(x):
        return jax.grad(lambda x: sum(jnp.sum(o**2) for o in jax.tree.leaves(function(x))))(x)

    model = export(gradient)(jax.ShapeDtypeStruct(x.shape, x.dtype)).onnx_model
    assert {n.domain for n in model.graph.node} <= {"", "ai.onnx"}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (got,) = session.run(None, {session.get_inputs()[0].name: x})
    want = np.asarray(gradient(x))
    np.testing.assert_allclose(got, want, 0, 2e-4 * np.abs(want).max())
    np.testing.assert_allclose(jax.jit(gradient)(x), want, 0, 2e-5 * np.abs(want).max())


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


def test_failures_are_nan():
    bad = np.stack([-H[0], H[1]])
    out = jnp.linalg.cholesky(bad)
    assert np.isnan(out[0][np.tril_indices(4)]).all() and not np.isnan(out[1]).any()
    for function in (jnp.linalg.eigvalsh, jnp.linalg.svdvals, jnp.linalg.eigvals):
        found = function(np.stack([H[0] * np.nan, H[1]]))
        assert np.isnan(found[0]).all() and not np.isnan(found[1]).any()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: jnp.linalg.inv(TALL), ValueError, "must have shape"),
        (lambda: jnp.linalg.solve(A[0], np.ones(3)), ValueError, "core dimension 'm'"),
        (lambda: jnp.linalg.qr(A, mode="thin"), ValueError, "mode 'thin'"),
        (lambda: jnp.linalg.det([[1.0]]), TypeError, "requires ndarray"),
        (lambda: jnp.linalg.eigh(A, UPLO="X"), ValueError, "UPLO"),
        (lambda: jnp.linalg.cholesky(jnp.ones((2, 2), np.float16)), NotImplementedError, "float32 first"),
        (lambda: jnp.fft.fft(Z, n=0), ValueError, "positive"),
        (lambda: jnp.fft.rfft(Z), ValueError, "real valued"),
        (lambda: jnp.fft.fftn(Z, axes=(0, 0)), ValueError, "repeated axes"),
        (lambda: jax.lax.fft(Z, "FFT", (5,)), ValueError, "minor dimensions"),
        (lambda: jax.jvp(lambda a: jax.lax.linalg.eig(a), (A,), (A,)), NotImplementedError, "enable_eigvec_derivs"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_integers():
    x, y = np.array([0, -4, 7, 0, 5, 12], np.int32), np.array([0, 6, 0, 5, 7, 18], np.int32)
    np.testing.assert_array_equal(jnp.gcd(x, y), np.gcd(x, y))
    np.testing.assert_array_equal(jax.jit(jnp.lcm)(x, y), np.lcm(x, y))


def test_polynomials():
    x, y = np.arange(5.0), np.array([0.0, 1, 4, 9, 17])
    for got, want in zip(jnp.polyfit(x, y, 1, cov=True), np.polyfit(x, y, 1, cov=True)):
        np.testing.assert_allclose(got, want, 1e-8)
    np.testing.assert_allclose(jnp.roots(np.array([0.0, 0, 1, -3, 2, 0])), np.roots([0.0, 0, 1, -3, 2, 0]), 1e-12)
    np.testing.assert_allclose(jnp.poly(A[0]).real, np.poly(A[0]), 1e-9)
    for got, want in zip(jnp.polydiv(y[1:], x[1:3]), np.polydiv(y[1:], x[1:3])):
        np.testing.assert_allclose(got[-len(want) :], want, 1e-12)
    np.testing.assert_allclose(jnp.polyint(y, m=2, k=3), np.polyint(y, m=2, k=3))
    np.testing.assert_allclose(jnp.unwrap(y * 2), np.unwrap(y * 2), 1e-12)
    np.testing.assert_allclose(jnp.kaiser(7, 8.6), np.kaiser(7, 8.6), 1e-7)


def test_traced_threshold_of_lstsq():
    b = np.arange(5.0)
    for rcond in (None, 1e-8, 0.5, -1.0):
        want = np.linalg.lstsq(TALL, b, rcond=rcond)[0]
        np.testing.assert_allclose(jnp.linalg.lstsq(TALL, b, rcond)[0], want, 1e-9)
        if rcond is not None:
            np.testing.assert_allclose(jax.jit(jnp.linalg.lstsq)(TALL, b, rcond)[0], want, 1e-9)


def test_transforms_of_scalars():
    for name in ("fftn", "ifftn", "irfftn"):
        out = getattr(jnp.fft, name)(2)
        assert out.shape == () and out == 2 and np.issubdtype(out.dtype, np.complexfloating)
    assert np.issubdtype(jnp.fft.rfftn(2).dtype, np.floating)
