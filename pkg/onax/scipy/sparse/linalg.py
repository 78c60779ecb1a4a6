"""onax.scipy.sparse.linalg: iterative solvers, differentiated by what they solve."""

from onax._core.public import publish as _publish
from onax.scipy._krylov import bicgstab, cg, gmres

_publish(globals(), __name__)
