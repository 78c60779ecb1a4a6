"""Eigenvalues, singular values, simpler forms; vectors are compared by what they put together."""

import numpy as np

from laws.samples.linalg import AMPLIFIED, DTYPES, ROUNDINGS, _towards_hermitian, definite, mirrored, plain, spread_out
from laws.sampling import Sample, numbers
from onax._prims import linalg_spectral as prims


def _adjoint(x):
    return x.conj().swapaxes(-1, -2)


def _eigh_view(v, w):
    return [w, (v * w[..., None, :]) @ _adjoint(v), _adjoint(v) @ v]


def _svd_view(s, *uv):
    if not uv:
        return [s]
    u, vh = uv
    k = s.shape[-1]
    return [s, (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], _adjoint(u) @ u, vh @ _adjoint(vh)]


def _eig_view(w, *vectors):
    """Of eigenvalues whose real parts differ: in their order; of vectors the absolute values."""
    order = np.argsort(w.real, -1)
    moved = [np.take_along_axis(np.abs(v), order[..., None, :], -1) for v in vectors]
    return [np.take_along_axis(w, order, -1), *moved]


def _schur_view(t, *z):
    """What it puts together; of the form alone, which may have its eigenvalues in another order, their sums."""
    if z:
        return [z[0] @ t @ _adjoint(z[0]), _adjoint(z[0]) @ z[0]]
    powers = (t, t @ t, t @ t @ t)
    return [np.trace(p, axis1=-2, axis2=-1).astype(t.dtype) for p in powers]


def hermitian():
    """Matrices whose eigenvalues lie apart."""
    for dtype in DTYPES:
        for i, shape in enumerate(((3, 3), (2, 4, 4), (1, 1), (0, 0))):
            n = shape[-1]
            x = (mirrored(numbers("eigh", shape, dtype)) * 0.25 + np.diag(np.arange(n))).astype(dtype)
            # complex vectors have a phase that LAPACK chooses, and derivatives leave alone
            smooth = None if dtype.kind == "f" else ()
            params = {"lower": i % 2 == 0, "sort_eigenvalues": True, "subset_by_index": None, "algorithm": None}
            yield Sample(
                prims.eigh_p,
                (x,),
                params,
                sums=(ROUNDINGS, plain),
                roundings=AMPLIFIED,
                view=_eigh_view,
                towards=_towards_hermitian,
                differentiable=smooth,
            )


def general():
    """eig and svd."""
    for dtype in DTYPES:
        for left, right in ((False, False), (False, True), (True, True)):
            x = spread_out("eig", (2, 3, 3), dtype)
            params = {
                "compute_left_eigenvectors": left,
                "compute_right_eigenvectors": right,
                "enable_eigvec_derivs": True,
                "implementation": None,
            }
            smooth = None if dtype.name in ("float64", "complex128") or not right else ()  # others: other signs
            yield Sample(
                prims.eig_p,
                (x,),
                params,
                sums=(4 * ROUNDINGS, plain),
                roundings=AMPLIFIED,
                view=_eig_view,
                differentiable=smooth,
            )
        for shape in ((3, 3), (4, 3), (3, 4), (2, 3, 3), (3, 0), (0, 0)):
            if dtype.name == "complex128" and shape not in ((4, 3), (0, 0)):
                continue  # the other types have them
            x = spread_out("svd", shape, dtype)
            for full, uv in ((True, True), (False, True), (False, False)):
                if full and shape == (2, 3, 3):
                    continue  # as without
                params = {"full_matrices": full, "compute_uv": uv, "subset_by_index": None, "algorithm": None}
                refused = uv and (dtype.kind == "c" or (full and shape[-1] != shape[-2]))
                yield Sample(
                    prims.svd_p,
                    (x,),
                    params,
                    sums=(ROUNDINGS, plain),
                    roundings=AMPLIFIED,
                    view=_svd_view,
                    differentiable=() if refused or 0 in shape else None,
                )


def forms():
    """schur, hessenberg, tridiagonal, tridiagonal_solve."""
    for dtype in DTYPES:
        x = spread_out("form", (2, 3, 3), dtype)
        for vectors in (True, False):
            params = {"compute_schur_vectors": vectors, "sort_eig_vals": False, "select_callable": None}
            sums = (ROUNDINGS if vectors else 16 * ROUNDINGS, plain)
            yield Sample(prims.schur_p, (x,), params, sums=sums, roundings=AMPLIFIED, view=_schur_view)
        yield Sample(prims.hessenberg_p, (x,), sums=(ROUNDINGS, plain), roundings=AMPLIFIED)
        for lower in (True, False):
            yield Sample(
                prims.tridiagonal_p,
                (definite("form", (2, 3, 3), dtype),),
                {"lower": lower},
                sums=(ROUNDINGS, plain),
                roundings=AMPLIFIED,
            )
        for lead, n in (((), 4), ((2,), 3), ((), 1)):
            dl, du = (numbers(name, (*lead, n), dtype) for name in ("dl", "du"))
            d = numbers("d", (*lead, n), dtype) + dtype.type(6)
            b = numbers("b", (*lead, n, 2), dtype)
            yield Sample(
                prims.tridiagonal_solve_p,
                (dl, d, du, b),
                {"perturb_singular": False},
                linear=((3,),),
                sums=(64 * ROUNDINGS, plain),
                roundings=AMPLIFIED,
            )


SAMPLES = [*hermitian(), *general(), *forms()]
