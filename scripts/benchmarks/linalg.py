"""Compiled linear algebra: decompositions, solutions and functions of matrices, of stacks too, and their gradients."""

import numpy as np

from benchmarks.cases import Case, numbers


def linalg_cases(jax):
    """Functions of matrices of 4 to 300 rows."""
    yield from _of_dtype(jax, "float32", _functions(jax), SIZES)
    yield from _of_dtype(jax, "float64", _functions(jax), SIZES_OF_FLOAT64)
    yield from _stacks(jax)
    yield from _gradients(jax)


SIZES = {
    "solve": (8, 60, 128, 300),
    "slogdet": (8, 60, 300),
    "det": (8, 60),
    "inv": (8, 60, 128, 300),
    "cholesky": (8, 60, 128, 300),
    "LU with permutation": (8, 60, 128, 300),
    "QR": (8, 60, 128, 300),
    "SVD": (8, 60, 128, 300),
    "singular values": (60, 300),
    "eigh": (8, 60, 128, 300),
    "eigvalsh": (60,),
    "eig": (8, 60),
    "Schur": (8, 60),
    "expm": (4, 8, 32, 60, 128),
    "logarithm of a positive matrix": (60,),
    "least squares": (8, 60, 128),
    "triangular solve": (8, 60, 128, 300),
    "triangular solve of a vector": (60, 300),
    "cho_solve": (8, 60, 128, 300),
    "lu_solve": (60, 128),
    "solve, positive": (60, 128),
    "matrix_power 5": (8, 60),
    "pinv": (8, 60),
    "matrix rank": (60,),
    "condition number": (60,),
    "spectral norm": (60,),
    "polar": (60,),
    "multi_dot of three": (60,),
    "Kronecker product": (8,),
    "Gaussian density": (60, 128),
}
SIZES_OF_FLOAT64 = {
    "solve": (60, 300),
    "slogdet": (60,),
    "inv": (60,),
    "cholesky": (60, 300),
    "LU with permutation": (60,),
    "QR": (60,),
    "SVD": (60, 128),
    "eigh": (60, 300),
    "eig": (60,),
    "Schur": (60,),
    "expm": (4, 32),
    "least squares": (60,),
    "triangular solve": (60,),
    "cho_solve": (128,),
    "pinv": (60,),
}


def _functions(jax):
    """name -> a function of a square matrix, a positive definite one, a lower triangular one and a vector."""
    jnp, linalg = jax.numpy, jax.numpy.linalg
    scipy = jax.scipy.linalg

    def log_density(a, p, c, v):
        root = linalg.cholesky(p)
        return jnp.sum(scipy.solve_triangular(root, v, lower=True) ** 2) + 2 * jnp.sum(jnp.log(jnp.diag(root)))

    def log_of_positive(a, p, c, v):
        values, vectors = linalg.eigh(p)
        return (vectors * jnp.log(values)) @ vectors.T

    return {
        "solve": lambda a, p, c, v: linalg.solve(a, v),
        "slogdet": lambda a, p, c, v: linalg.slogdet(a),
        "det": lambda a, p, c, v: linalg.det(a / 10),
        "inv": lambda a, p, c, v: linalg.inv(a),
        "cholesky": lambda a, p, c, v: linalg.cholesky(p),
        "LU with permutation": lambda a, p, c, v: jax.lax.linalg.lu(a),
        "QR": lambda a, p, c, v: linalg.qr(a),
        "SVD": lambda a, p, c, v: linalg.svd(a),
        "singular values": lambda a, p, c, v: linalg.svd(a, compute_uv=False),
        "eigh": lambda a, p, c, v: linalg.eigh(p),
        "eigvalsh": lambda a, p, c, v: linalg.eigvalsh(p),
        "eig": lambda a, p, c, v: linalg.eig(a),
        "Schur": lambda a, p, c, v: scipy.schur(a),
        "expm": lambda a, p, c, v: scipy.expm(a / 10),
        "logarithm of a positive matrix": log_of_positive,
        "least squares": lambda a, p, c, v: linalg.lstsq(a, v)[0],
        "triangular solve": lambda a, p, c, v: scipy.solve_triangular(c, a, lower=True),
        "triangular solve of a vector": lambda a, p, c, v: scipy.solve_triangular(c, v, lower=True),
        "cho_solve": lambda a, p, c, v: scipy.cho_solve((c, True), v),
        "lu_solve": lambda a, p, c, v: scipy.lu_solve(scipy.lu_factor(a), v),
        "solve, positive": lambda a, p, c, v: scipy.solve(p, v, assume_a="pos"),
        "matrix_power 5": lambda a, p, c, v: linalg.matrix_power(a / 10, 5),
        "pinv": lambda a, p, c, v: linalg.pinv(a),
        "matrix rank": lambda a, p, c, v: linalg.matrix_rank(a),
        "condition number": lambda a, p, c, v: linalg.cond(a),
        "spectral norm": lambda a, p, c, v: linalg.norm(a, 2),
        "polar": lambda a, p, c, v: scipy.polar(a, method="svd"),
        "multi_dot of three": lambda a, p, c, v: linalg.multi_dot([a, p, v]),
        "Kronecker product": lambda a, p, c, v: jnp.kron(a, p),
        "Gaussian density": log_density,
    }


def _matrices(n, dtype, *leading):
    """A well-conditioned matrix or stack, a positive definite one, its Cholesky factor, and a vector."""
    a = numbers(*leading, n, n, dtype="float64")
    positive = a @ np.swapaxes(a, -1, -2) / n + np.eye(n)
    a = a / np.sqrt(n) + 2 * np.eye(n)
    arrays = a, positive, np.linalg.cholesky(positive), numbers(*leading, n, dtype="float64")
    return tuple(x.astype(dtype) for x in arrays)


def _of_dtype(jax, dtype, functions, sizes):
    for name, some in sizes.items():
        for n in some:
            wide = dtype == "float64"
            row = f"{name}, {'f64' if wide else 'f32'}[{n},{n}]"
            yield Case(row, functions[name], _matrices(n, dtype), x64=wide, seconds=0.1)


def _stacks(jax):
    """Functions of stacks of small matrices."""
    jnp, linalg = jax.numpy, jax.numpy.linalg
    functions = {
        "solve": lambda a, p, c, v: linalg.solve(a, v[..., None]),
        "inv": lambda a, p, c, v: linalg.inv(a),
        "det": lambda a, p, c, v: linalg.det(a),
        "slogdet": lambda a, p, c, v: linalg.slogdet(a),
        "cholesky": lambda a, p, c, v: linalg.cholesky(p),
        "QR": lambda a, p, c, v: linalg.qr(a),
        "SVD": lambda a, p, c, v: linalg.svd(a),
        "eigh": lambda a, p, c, v: linalg.eigh(p),
        "expm": lambda a, p, c, v: jax.scipy.linalg.expm(a / 10),
        "triangular solve": lambda a, p, c, v: jax.scipy.linalg.solve_triangular(c, a, lower=True),
        "matmul": jnp.matmul,
    }
    for count, n in ((1000, 4), (64, 16)):
        arguments = _matrices(n, "float32", count)
        for name, function in functions.items():
            args = arguments[:2] if name == "matmul" else arguments
            yield Case(f"stack: {name}, f32[{count},{n},{n}]", function, args, seconds=0.1)
    for name in ("solve", "inv", "cholesky", "eigh"):
        arguments = _matrices(4, "float64", 1000)
        yield Case(f"stack: {name}, f64[1000,4,4]", functions[name], arguments, x64=True, seconds=0.1)


def _gradients(jax):
    """Gradients of sums of what functions give."""
    jnp, linalg = jax.numpy, jax.numpy.linalg

    def of_eigh(a, p, c, v):
        values, vectors = linalg.eigh(a + a.T)
        return jnp.sum(values**2) + jnp.sum(vectors[0] ** 4)

    def of_svd(a, p, c, v):
        left, values, right = linalg.svd(a, full_matrices=False)
        return jnp.sum(values**2) + jnp.sum(left[0] ** 4) + jnp.sum(right[0] ** 4)

    functions = {
        "solve": (lambda a, p, c, v: jnp.sum(linalg.solve(a, v) ** 2), (8, 60, 300)),
        "slogdet": (lambda a, p, c, v: linalg.slogdet(a)[1], (8, 60)),
        "cholesky": (lambda a, p, c, v: jnp.sum(linalg.cholesky(a @ a.T + p) ** 2), (8, 60, 128)),
        "eigh": (of_eigh, (8, 60)),
        "SVD": (of_svd, (8, 60)),
        "QR": (lambda a, p, c, v: jnp.sum(linalg.qr(a)[1] ** 3), (8, 60)),
        "inv": (lambda a, p, c, v: jnp.sum(linalg.inv(a) ** 2), (8, 60)),
        "expm": (lambda a, p, c, v: jnp.sum(jax.scipy.linalg.expm(a / 10) ** 2), (4, 32)),
        "triangular solve": (lambda a, p, c, v: jnp.sum(jax.scipy.linalg.solve_triangular(a, v) ** 2), (60,)),
        "Gaussian density": (lambda a, p, c, v: _functions(jax)["Gaussian density"](a, a @ a.T + p, c, v), (60,)),
    }
    for name, (function, sizes) in functions.items():
        for n in sizes:
            yield Case(f"gradient of {name}, f32[{n},{n}]", jax.grad(function), _matrices(n, "float32"), seconds=0.1)
    for name in ("solve", "cholesky", "eigh", "expm"):
        function, n = functions[name][0], functions[name][1][1]
        row = f"gradient of {name}, f64[{n},{n}]"
        yield Case(row, jax.grad(function), _matrices(n, "float64"), x64=True, seconds=0.1)
