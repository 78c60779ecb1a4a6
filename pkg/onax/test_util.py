"""onax.test_util: checks of derivatives against finite differences, under the names of jax.test_util."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._transforms.checks import check_grads, check_jvp, check_vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]

_wrap_api_functions(globals(), __name__, globals().keys())
