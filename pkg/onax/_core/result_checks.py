"""jax_debug_nans and jax_debug_infs: a NaN or an infinity in the result of an operation raises where it arises."""

import numpy as np

from onax._ground import dtypes
from onax._ground.config import DEBUG_INFS, DEBUG_NANS
from onax._native.context import option_word
from onax._native.dispatch import set_result_check


def check_result(primitive, result):
    """Raises FloatingPointError when the result of the primitive holds what the options forbid."""
    word = option_word()
    for x in result if primitive.multiple_results else (result,):
        if not isinstance(x.dtype, np.dtype) or not dtypes.issubdtype(x.dtype, np.inexact):
            continue
        for option, name, test in ((DEBUG_NANS, "nan", np.isnan), (DEBUG_INFS, "inf", np.isinf)):
            if word & option and test(x._value).any():
                raise FloatingPointError(f"invalid value ({name}) encountered in {primitive.name}")


set_result_check(DEBUG_NANS | DEBUG_INFS, check_result)
