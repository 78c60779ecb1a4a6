"""onax.scipy.sparse.linalg: iterative solvers, differentiated by what they solve."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.scipy._krylov import bicgstab, cg, gmres

_wrap_api_functions(globals(), __name__)

__all__ = ["bicgstab", "cg", "gmres"]
