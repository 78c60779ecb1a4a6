"""Linear algebra of sparse matrices."""

import numpy as np

from onax import lax
from onax import numpy as jnp
from onax._control.callbacks import pure_callback
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._ground import lazy
from onax._transforms.abstract import ShapeDtypeStruct
from onax.experimental.sparse.bcsr import BCSR

__all__ = ["spsolve"]


def spsolve(data, indices, indptr, b, tol=1e-6, reorder=1):
    """Solves A x = b for a square sparse A in compressed rows, by SciPy's sparse LU on the host.

    Args:
      data, indices, indptr: values (nse,), columns (nse,) and starts of rows (n + 1,) of A.
      b: right-hand side (n,).
      tol, reorder: accepted for compatibility with JAX, whose solver on GPUs has them.

    Returns:
      x (n,), in the dtype of b.  It can be differentiated with respect to data and b.
    """
    n = b.shape[0]
    matrix = BCSR((data, indices, indptr), shape=(n, n))
    result = ShapeDtypeStruct(b.shape, b.dtype)

    def solve(transposed):
        def on_host(data, indices, indptr, b):
            a = lazy.scipy_sparse.csr_matrix((data, indices, indptr), shape=(n, n))
            x = lazy.scipy_sparse_linalg.spsolve(a.T.tocsr() if transposed else a, b)
            return np.asarray(x, b.dtype).reshape(b.shape)

        return lambda _, b: pure_callback(
            on_host, result, *map(lax.stop_gradient, (data, indices, indptr)), b, vmap_method="sequential"
        )

    return lax.custom_linear_solve(lambda x: matrix @ x, jnp.asarray(b), solve(False), solve(True))


_wrap_api_functions(globals(), __name__)
