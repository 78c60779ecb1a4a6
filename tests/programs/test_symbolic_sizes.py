"""Functions of symbolic sizes: exported once, they are right for every size, the smallest ones included."""

import itertools

import numpy as np
import pytest

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax.export import export, symbolic_shape

RNG = np.random.default_rng(0)
WINDOWS = ((2, 2), (3, 1), (11, 2))
STRIDES = ((1, 1), (2, 2), (3, 4))
PADDINGS = ("VALID", "SAME", ((1, 1), (0, 2)))
REDUCED = {
    "max": lambda x, *how: lax.reduce_window(x, -jnp.inf, lax.max, *how),
    "min": lambda x, *how: lax.reduce_window(x, jnp.inf, lax.min, *how),
    "sum": lambda x, *how: lax.reduce_window(x, 0.0, lax.add, *how),
    "sum of far elements": lambda x, *how: lax.reduce_window(x, 0.0, lax.add, *how, window_dilation=(2, 1)),
    "gradient of max": jax.grad(lambda x, *how: (lax.reduce_window(x, -jnp.inf, lax.max, *how) ** 2).sum()),
    "gradient of sum": jax.grad(lambda x, *how: (lax.reduce_window(x, 0.0, lax.add, *how) ** 2).sum()),
    "tangent of max": lambda x, *how: jax.jvp(lambda x: REDUCED["max"](x, *how), (x,), (x,))[1],
}


def check(function, spec, sizes, constraints=(), tolerance=1e-5):
    """Exports a function of one float32 matrix, and compares it at each of the sizes."""
    exported = export(jax.jit(function))(
        jax.ShapeDtypeStruct(symbolic_shape(spec, constraints=list(constraints)), jnp.float32)
    )
    for shape in sizes:
        x = jnp.asarray(RNG.normal(size=shape), jnp.float32)
        got, want = exported.call(x), function(x)
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", REDUCED)
def test_windows(name):
    for how in itertools.product(WINDOWS, STRIDES, PADDINGS):
        check(lambda x, how=how: REDUCED[name](x, *how), "h, w", ((1, 1), (2, 3), (7, 12), (16, 5)))


def _of_product(function):
    return lambda x: function(x @ x.T)


def _again(values, vectors):
    return (vectors * values) @ vectors.T


def _of_vectors(first, second):
    """The matrix with these eigenvalues and vectors, or of this Schur form."""
    if first.ndim == 1:
        return (second * first @ jnp.linalg.inv(second)).real
    return (second @ first @ second.conj().T).real


def _of_factors(u, s, vh):
    return u[:, : s.shape[0]] * s @ vh[: s.shape[0]]


def _triangle(x):
    return jnp.tril(x) + 9 * jnp.eye(x.shape[0])


#   name -> function, shape, least n
LINEAR = {
    "eigvalsh": (_of_product(jnp.linalg.eigvalsh), "n, n", 1),
    "eigvalsh of a low rank": (_of_product(jnp.linalg.eigvalsh), "n, 3", 1),
    "eigh": (_of_product(lambda x: _again(*jnp.linalg.eigh(x))), "n, n", 1),
    "gradient of eigvalsh": (jax.grad(lambda x: (jnp.linalg.eigvalsh(x @ x.T) ** 2).sum()), "n, 3", 1),
    "svdvals": (jnp.linalg.svdvals, "n, n", 1),
    "svdvals of tall ones": (jnp.linalg.svdvals, "n, 3", 3),
    "svdvals of any shape": (jnp.linalg.svdvals, "n, 3", 1),
    "pinv": (jnp.linalg.pinv, "n, 3", 4),
    "matrix_rank": (jnp.linalg.matrix_rank, "n, 3", 4),
    "lstsq": (lambda x: jnp.linalg.lstsq(x, x[:, 0] ** 2)[0], "n, 3", 4),
    "gradient of lstsq": (jax.grad(lambda x: jnp.linalg.lstsq(x, x[:, 0] ** 2)[0].sum()), "n, 3", 4),
    "qr": (lambda x: jnp.abs(jnp.linalg.qr(x)[1]), "n, 3", 4),
    "complete qr": (lambda x: jnp.abs(jnp.linalg.qr(x, mode="complete")[1]), "n, 3", 4),
    "polyfit": (lambda x: jnp.polyfit(x[:, 0], x[:, 0] ** 2 + x[:, 1], 2), "n, 2", 4),
    "eigvals": (lambda x: jnp.sort_complex(jnp.linalg.eigvals(x)), "n, n", 1),
    "eig": (lambda x: _of_vectors(*jnp.linalg.eig(x)) - x, "n, n", 1),
    "schur": (lambda x: _of_vectors(*jax.scipy.linalg.schur(x)) - x, "n, n", 1),
    "complex schur": (lambda x: _of_vectors(*jax.scipy.linalg.schur(x, output="complex")) - x, "n, n", 1),
    "sqrtm": (lambda x: jax.scipy.linalg.sqrtm(x @ x.T + jnp.eye(x.shape[0])), "n, n", 1),
    "solve_sylvester": (lambda x: jax.scipy.linalg.solve_sylvester(_triangle(x), _triangle(x), x), "n, n", 1),
    "complete svd": (lambda x: _of_factors(*jnp.linalg.svd(x)) - x, "n, 3", 3),
    "complete svd of wide ones": (lambda x: _of_factors(*jnp.linalg.svd(x.T)) - x.T, "n, 3", 3),
    "complete qr that may be square": (lambda x: jnp.matmul(*jnp.linalg.qr(x, mode="complete")) - x, "n, 3", 3),
    "solve_triangular": (lambda x: jax.scipy.linalg.solve_triangular(_triangle(x), x, lower=True), "n, n", 1),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_algebra(name):
    function, spec, least = LINEAR[name]
    sizes = [n for n in (1, 2, 3, 4, 5, 8, 13) if n >= least]
    shapes = [tuple(n if axis == "n" else int(axis) for axis in spec.split(", ")) for n in sizes]
    check(function, spec, shapes, [f"n >= {least}"] if least > 1 else [], tolerance=5e-3)


def _over_as_many(x, computation):
    """A reduction over windows that have as many rows as x."""
    return lax.reduce_window(x, np.float32(0.5), computation, (x.shape[0], 2), (1, 1), "SAME")


#   name -> function, shape
OTHERS = {
    "concatenate": (jnp.concatenate, "n, 3"),
    "concatenate along the last axis": (lambda x: jnp.concatenate(x[None], axis=-1), "n, 3"),
    "concatenate slices of which there may be none": (lambda x: jnp.concatenate(x[1:]), "n, 3"),
    "vstack": (jnp.vstack, "n, 3"),
    "hstack": (jnp.hstack, "n, 3"),
    "dstack": (jnp.dstack, "n, 3"),
    "column_stack": (jnp.column_stack, "n, 3"),
    "stack": (lambda x: jnp.stack(x, axis=1), "n, 3"),
    "toeplitz": (jax.scipy.linalg.toeplitz, "n"),
    "toeplitz of rows": (jax.scipy.linalg.toeplitz, "n, 3"),
    "hankel": (lambda x: jax.scipy.linalg.hankel(x, x), "n"),
    "circulant": (jax.scipy.linalg.circulant, "n"),
    "convolution_matrix": (lambda x: jax.scipy.linalg.convolution_matrix(x, 2), "n"),
    "cov": (jnp.cov, "n"),
    "logmeanexp": (jax.nn.logmeanexp, "n, 3"),
    "fiedler_companion": (jax.scipy.linalg.fiedler_companion, "n"),
    "insert": (lambda x: jnp.insert(x, np.array([0, 1, -1]), 7.0, axis=0), "n, 3"),
    "insert as many": (lambda x: jnp.insert(x, 1, x[:, 0]), "n, 3"),
    "insert at as many": (lambda x: jnp.insert(x, jnp.argsort(x), x), "n"),
    "insert at the end": (lambda x: jnp.insert(x, -1, x[:, :2].T, axis=1), "n, 3"),
    "elements of the lower triangle": (lambda x: x[jnp.tril_indices_from(x)], "n, n"),
    "elements far below the diagonal": (lambda x: x[jnp.tril_indices_from(x, -5)], "n, n"),
    "elements above a diagonal": (lambda x: x[jnp.triu_indices_from(x, 2)], "n, 5"),
    "elements on and below a diagonal": (lambda x: x[jnp.triu_indices_from(x, -2)], "n, 5"),
    "least of the first rows": (lambda x: _over_as_many(x, lax.min), "n, 3"),
    "sums of two in two": (lambda x: _over_as_many(x, lambda a, b: a + 2 * b), "n, 3"),
    "packbits": (lambda x: jnp.packbits(x > 0, axis=0).astype(jnp.float32), "n, 3"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others(name):
    function, spec = OTHERS[name]
    check(function, spec, [tuple(n if axis == "n" else int(axis) for axis in spec.split(", ")) for n in (2, 3, 8, 17)])


#   name -> function, shape, of 2 to 20 rows
BOUNDED = {
    "linspace": (lambda x: jnp.linspace(x[0], x[1], x.shape[0]), "n, 3"),
    "pad with linspace": (lambda x: jnp.pad(x, ((x.shape[0], 1), (0, 2)), mode="linear_ramp"), "n, 3"),
    "pad with maxima": (lambda x: jnp.pad(x, 2, mode="maximum", stat_length=((x.shape[0] // 2, 2), (2, 1))), "n, 3"),
    "choice without replacement": (
        lambda x: jax.random.choice(jax.random.key(0), 20, (x.shape[0], 1), replace=False, p=jnp.full(20, 0.05)),
        "n, 3",
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounded(name):
    function, spec = BOUNDED[name]
    check(function, spec, [(n, 3) for n in (2, 3, 8, 20)], ["n >= 2", "n <= 20"])


PLACES = jnp.array([0, 2, -1])
#   name -> function of a vector without its first element, which may have none
EMPTY = {
    "add": lambda x: x.at[PLACES].add(1.0),
    "set": lambda x: x.at[PLACES].set(1.0),
    "multiply": lambda x: x.at[PLACES].mul(2.0),
    "max": lambda x: x.at[PLACES].max(2.0),
    "set in a matrix": lambda x: jnp.outer(x, x).at[PLACES, PLACES].set(1.0),
    "add to rows": lambda x: x[:, None].at[PLACES].add(1.0),
    "add to columns": lambda x: jnp.outer(jnp.ones(3), x).at[:, PLACES].add(1.0),
    "segment_sum": lambda x: jax.ops.segment_sum(jnp.ones(3), PLACES, num_segments=x.shape[0]),
    "bincount": lambda x: jnp.bincount(jnp.array([1, 2, 2]), length=x.shape[0]).astype(jnp.float32),
    "nonzero": lambda x: jnp.nonzero(x, size=x.shape[0])[0].astype(jnp.float32),
    "any": lambda x: (x > 0).any().astype(jnp.float32),
    "all": lambda x: (x > 0).all().astype(jnp.float32),
}


@pytest.mark.parametrize("name", EMPTY)
def test_what_may_be_empty(name):
    check(lambda x: EMPTY[name](x[1:]), "n", [(1,), (2,), (3,), (9,)])


def test_a_form_that_depends_on_sizes():
    text = (
        r"svd depends on sizes, which are symbolic: \(n, m\)\. .*'n' < 'm' is inconclusive\. Give the axes known sizes"
    )
    with pytest.raises(jax.errors.LoweringError, match=text):
        check(jnp.linalg.svd, "n, m", ())
