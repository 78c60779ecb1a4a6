"""Matrices of special form, against SciPy."""

import numpy as np
import pytest
import scipy.linalg as theirs

import onax as jax
import onax.scipy.linalg as ours

RNG = np.random.default_rng(0)
A, B, C = RNG.normal(size=(4, 4)), RNG.normal(size=(3, 3)), RNG.normal(size=(4, 3))
RHS, V = RNG.normal(size=(4, 2)), RNG.normal(size=4)


@pytest.fixture(autouse=True)
def double_precision():
    """SciPy computes in it."""
    with jax.enable_x64(True):
        yield


def assert_close(got, want):
    got, want = (jax.tree.leaves(x) for x in (got, want))
    assert len(got) == len(want)
    for g, w in zip(got, want):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-10)


def test_stacks_of_vectors():
    stack = RNG.normal(size=(3, 4))
    with jax.enable_x64(True):
        for mode in ("full", "same", "valid"):
            want = [theirs.convolution_matrix(a, 3, mode) for a in stack]
            assert_close(ours.convolution_matrix(stack, 3, mode), np.stack(want))
        assert_close(ours.fiedler_companion(stack), np.stack([theirs.fiedler_companion(a) for a in stack]))


SAME = {  # name -> arguments: both libraries give the same
    "toeplitz": (V,),
    "hankel": (V, V),
    "circulant": (V,),
    "companion": (V,),
    "fiedler": (V,),
    "fiedler_companion": (V,),
    "hilbert": (4,),
    "invhilbert": (5,),
    "pascal": (4,),
    "invpascal": (4,),
    "helmert": (4,),
    "dft": (5,),
    "hadamard": (4,),
    "block_diag": (A, B, V),
    "convolution_matrix": (V, 3),
    "leslie": (V, V[:3]),
}


@pytest.mark.parametrize("name", SAME)
def test_same_as_scipy(name):
    assert_close(getattr(ours, name)(*SAME[name]), getattr(theirs, name)(*SAME[name]))


OPTIONS = [
    ("toeplitz", (V[:3], V), {}), ("hankel", (V[:3],), {}), ("pascal", (4, "lower"), {}), ("pascal", (4, "upper"), {}),
    ("invpascal", (4, "upper"), {}), ("helmert", (3,), {"full": True}), ("dft", (4, "sqrtn"), {}),
    ("dft", (4, "n"), {}),
    ("convolution_matrix", (V, 5), {"mode": "same"}), ("convolution_matrix", (V, 2), {"mode": "valid"}),
    ("block_diag", (), {}), ("toeplitz", (V + 1j,), {}), ("hilbert", (1,), {}), ("hadamard", (1,), {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "options"), OPTIONS)
def test_options(name, args, options):
    assert_close(getattr(ours, name)(*args, **options), getattr(theirs, name)(*args, **options))


def test_inverses_of_hilbert_and_pascal():
    for name in ("hilbert", "pascal"):
        product = np.asarray(getattr(ours, name)(4)) @ np.asarray(getattr(ours, f"inv{name}")(4))
        np.testing.assert_allclose(product, np.eye(4), atol=1e-9)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.hadamard(6), ValueError, "power of 2"),
        (lambda: ours.hilbert(-1), TypeError, "negative|-1"),
        (lambda: ours.companion(V[:1]), ValueError, "length|least"),
        (lambda: ours.pascal(3, "other"), ValueError, "other|kind"),
        (lambda: ours.dft(3, "m"), ValueError, "scale"),
        (lambda: ours.dft(3, dtype="float32"), ValueError, "dtype must be a complex floating-point type; got float32"),
        (lambda: ours.dft(3, dtype=bool), ValueError, "dtype must be a complex floating-point type; got bool"),
        (lambda: ours.hadamard(2, bool), TypeError, "neg does not accept dtype bool"),
        (lambda: ours.leslie(V[:1], V[:0]), ValueError, "length of f along the last axis must be at least 2"),
        (lambda: ours.leslie(V, V), ValueError, "length|size|shape"),
    ],
)
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(("dtype", "number"), [("uint8", 255), ("uint32", 2**32 - 1), ("int8", -1), ("bfloat16", -1)])
def test_hadamard_of_a_dtype(dtype, number):
    out = ours.hadamard(2, dtype)
    assert out.dtype == dtype and out.tolist() == [[1, 1], [1, number]]
