"""onax.custom_derivatives: derivatives by hand, under the names of jax.custom_derivatives."""

from onax._control.custom_gradient import closure_convert, custom_gradient, linear_call, zero_from_primal
from onax._control.custom_jvp import custom_jvp, custom_jvp_call_p
from onax._control.custom_vjp import CustomVJPPrimal, custom_vjp, custom_vjp_call_p, custom_vjp_primal_tree_values
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.zeros import SymbolicZero
from onax._ground.unavailable import unavailable as _unavailable

__getattr__ = _unavailable(
    __name__,
    {
        "remat_opt_p": (
            "checkpoint stores only the arguments of a custom_vjp function, so that optimize_remat needs no primitive"
        ),
    },
)

__all__ = [
    "CustomVJPPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_jvp_call_p",
    "custom_vjp",
    "custom_vjp_call_p",
    "custom_vjp_primal_tree_values",
    "linear_call",
    "zero_from_primal",
]

_wrap_api_functions(globals(), __name__, __all__)
