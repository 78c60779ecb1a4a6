"""Factorisations and triangular systems: square, tall, wide and empty matrices, alone and stacked."""

import itertools

import numpy as np

from laws.sampling import COMPLEXES, Sample, numbers
from onax._prims import linalg as prims

REALS = (np.dtype("float32"), np.dtype("float64"))
DTYPES = REALS + COMPLEXES
ROUNDINGS = 64
AMPLIFIED = 1024  # roundings of derivatives: chains of solutions and products
TALL, WIDE = (4, 3), (3, 4)


def mirrored(x):
    """The Hermitian part of matrices."""
    return (x + x.conj().swapaxes(-1, -2)) / 2


def definite(name, shape, dtype):
    """Hermitian matrices with eigenvalues of about the same size."""
    n = shape[-1]
    return (mirrored(numbers(name, shape, dtype)) * 0.25 + n * np.eye(n)).astype(dtype)


def spread_out(name, shape, dtype):
    """Matrices whose singular values and columns differ by about one."""
    m, n = shape[-2:]
    return (numbers(name, shape, dtype) * 0.25 + np.eye(m, n) * np.arange(n, 0, -1)).astype(dtype)


def conditioned(*operands):
    """The size of rounding errors of what inverts the first operand."""
    if operands[0].size == 0:
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.nan_to_num(np.max(np.linalg.cond(operands[0]), initial=1.0))) * 16


def plain(*operands):
    """The size of rounding errors of what multiplies by unitary matrices."""
    return float(max((np.max(np.abs(x), initial=0.0) for x in operands), default=0.0)) * 4


def triangles(factor):
    """What of a factorisation of a definite matrix is determined."""
    return [np.tril(factor)]


def _towards_hermitian(_, direction):
    return mirrored(direction)


def choleskys():
    """Definite matrices, and one that is not."""
    for dtype in DTYPES:
        for shape in ((3, 3), (2, 4, 4), (1, 1), (0, 0), (2, 0, 0)):
            yield Sample(
                prims.cholesky_p,
                (definite("chol", shape, dtype),),
                sums=(ROUNDINGS, plain),
                roundings=AMPLIFIED,
                view=triangles,
                towards=_towards_hermitian,
            )
        x = -definite("chol", (2, 3, 3), dtype)
        x[0] *= -1
        yield Sample(
            prims.cholesky_p, (x,), sums=(ROUNDINGS, plain), roundings=AMPLIFIED, view=triangles, differentiable=()
        )


def triangular_systems():
    """All ways to read a matrix, in one shape; other shapes one way."""
    for dtype in DTYPES:
        ways = list(itertools.product((False, True), repeat=5))
        for i, (left, lower, transposed, conjugated, unit) in enumerate(ways):
            if dtype in REALS and conjugated:
                continue
            lead = (2,) if i % 3 == 0 else ()
            a = definite("a", (*lead, 3, 3), dtype) + numbers("skew", (*lead, 3, 3), dtype) * dtype.type(0.25)
            yield _system(a, numbers("b", (*lead, 3, 2) if left else (*lead, 2, 3), dtype), left, lower, transposed,
                          conjugated, unit)  # fmt: skip
        yield _system(definite("a", (2, 2), dtype), numbers("b", (2, 0), dtype), True, True, False, False, False)


def _system(a, b, left, lower, transposed, conjugated, unit):
    params = {
        "left_side": left,
        "lower": lower,
        "transpose_a": transposed,
        "conjugate_a": conjugated,
        "unit_diagonal": unit,
    }
    return Sample(
        prims.triangular_solve_p, (a, b), params, linear=((1,),), sums=(ROUNDINGS, _of_system), roundings=AMPLIFIED
    )


def _of_system(a, b):
    """Triangles of matrices whose diagonal is largest, or of rolled ones: bounded by what substitution may amplify."""
    d = np.abs(np.diagonal(a, axis1=-2, axis2=-1))
    ratio = 1 + float(np.max(np.abs(a), initial=0.0)) / max(float(np.min(d, initial=1.0)), 1e-3)
    return ratio ** a.shape[-1] * (1 + float(np.max(np.abs(b), initial=0.0))) / max(float(np.min(d, initial=1.0)), 1e-3)


def eliminations():
    """lu, qr and the pieces of qr."""
    for dtype in DTYPES:
        for shape in ((3, 3), TALL, WIDE, (2, 3, 3), (0, 0), (2, 0, 3), (3, 0)):
            x = spread_out("lu", shape, dtype)
            small = 0 in shape
            yield Sample(
                prims.lu_p,
                (x,),
                sums=(ROUNDINGS, conditioned),
                roundings=AMPLIFIED,
                differentiable=() if small else None,
            )
            for full, pivoting in itertools.product((False, True), repeat=2):
                if small and pivoting:
                    continue  # real JAX gives no permutation
                if full and (shape[-1] >= shape[-2] or (pivoting and dtype not in REALS)):
                    continue  # the same as without, or covered by real numbers
                params = {"pivoting": pivoting, "full_matrices": full, "use_magma": None}
                yield Sample(
                    prims.qr_p,
                    (x,),
                    params,
                    sums=(ROUNDINGS, conditioned),
                    roundings=AMPLIFIED,
                    view=_product_and_r,
                    differentiable=() if small else None,
                )
            if not small:
                yield Sample(prims.geqrf_p, (x,), sums=(ROUNDINGS, plain), roundings=AMPLIFIED)
        a, taus = numbers("h", (2, *TALL), dtype), numbers("taus", (2, 3), dtype)
        yield Sample(prims.householder_product_p, (a, taus), sums=(16 * ROUNDINGS, plain), roundings=AMPLIFIED)
        yield Sample(
            prims.householder_product_p, (a[0], taus[0, :2]), sums=(16 * ROUNDINGS, plain), roundings=AMPLIFIED
        )
        for left, transpose in itertools.product((False, True), repeat=2):
            c = numbers("c", (2, 4, 2) if left else (2, 2, 4), dtype)
            params = {"left": left, "transpose": transpose}
            yield Sample(prims.ormqr_p, (a, taus, c), params, sums=(256 * ROUNDINGS, plain), roundings=AMPLIFIED)


def _product_and_r(q, r, *order):
    """q is determined up to the columns that nothing of x lies in."""
    return [q @ r, np.triu(r), q.conj().swapaxes(-1, -2) @ q, *order]


def others():
    """Pivots, updates."""
    for pivots, size in ((np.array([2, 2, 2]), 3), (np.array([[1, 1], [3, 2]]), 4), (np.zeros((0,)), 2)):
        params = {"permutation_size": size}
        yield Sample(prims.lu_pivots_to_permutation_p, (pivots.astype(np.int32),), params)
    for dtype in REALS:
        r = np.linalg.cholesky(definite("u", (3, 3), dtype)).T.astype(dtype)
        yield Sample(
            prims.cholesky_update_p, (r, numbers("w", (3,), dtype)), sums=(16 * ROUNDINGS, plain), roundings=AMPLIFIED
        )
        operands = numbers("s", (3, 2), dtype), definite("t", (3, 3), dtype)
        yield Sample(
            prims.symmetric_product_p,
            operands,
            {"alpha": 2.0, "beta": 0.5},
            sums=(16 * ROUNDINGS, plain),
            roundings=AMPLIFIED,
        )


SAMPLES = [*choleskys(), *triangular_systems(), *eliminations(), *others()]
