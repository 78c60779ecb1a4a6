"""What a program asks of an accelerator, counted from its equations: operations, bytes, and bytes between devices.

The names are those of jax.experimental.roofline.
"""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax.experimental.roofline import _rules as _rules
from onax.experimental.roofline._analysis import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
    roofline,
    roofline_and_grad,
)

__all__ = [
    "RooflineResult",
    "RooflineRuleContext",
    "RooflineShape",
    "register_roofline",
    "register_standard_roofline",
    "roofline",
    "roofline_and_grad",
]

_wrap_api_functions(globals(), __name__)
