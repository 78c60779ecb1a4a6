"""onax.scipy.optimize: minimisation of smooth functions."""

from onax._core.public import publish as _publish
from onax.scipy._minimize import OptimizeResults, minimize

_publish(globals(), __name__)
