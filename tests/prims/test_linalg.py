"""Linear algebra of what is not finite, eager and in exported form: it concerns the matrix that holds it alone."""

import numpy as np
import pytest

import onax as jax
from fuzzing_worker import portable
from onax import lax
from onax._ground import onnx_runtime
from onax._ground.config import enable_x64
from onax._native import ort

BAD = (np.nan, np.inf, -np.inf)


def ways(function, *operands):
    """The results of the function itself and of its exported form."""
    ort.attach(onnx_runtime.find_runtime().library)
    with enable_x64(True):
        eager = function(*operands)
        yield [np.asarray(x) for x in (eager if isinstance(eager, (list, tuple)) else [eager])]
        yield portable(function, operands)


SYMMETRIC = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)
CONTAINERS = {
    "lu": (lax.linalg.lu, list),
    "hessenberg": (lax.linalg.hessenberg, list),
    "tridiagonal": (lax.linalg.tridiagonal, list),
    "schur": (lax.linalg.schur, list),
    "eig": (lax.linalg.eig, list),
    "eigh": (lax.linalg.eigh, tuple),
    "svd": (lax.linalg.svd, tuple),
    "qr": (lax.linalg.qr, tuple),
    "scipy lu": (jax.scipy.linalg.lu, tuple),
    "scipy lu_factor": (jax.scipy.linalg.lu_factor, tuple),
    "scipy schur": (jax.scipy.linalg.schur, list),
}


@pytest.mark.parametrize("function, container", CONTAINERS.values(), ids=CONTAINERS)
def test_results_are_lists_and_tuples_as_in_jax(function, container):
    assert type(function(SYMMETRIC)) is container
    assert type(jax.jit(function)(SYMMETRIC)) is container
