"""onax.scipy.optimize: minimisation of smooth functions."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.scipy._minimize import OptimizeResults, minimize

_wrap_api_functions(globals(), __name__)

__all__ = ["OptimizeResults", "minimize"]
