"""The records of the language, under the names of jax.extend.core."""

from onax._core.check import check_jaxpr
from onax._core.effects import Effect, no_effects
from onax._core.evaluate import jaxpr_as_fun
from onax._core.jaxpr import (
    ClosedJaxpr,
    DebugInfo,
    DropVar,
    Jaxpr,
    JaxprEqn,
    Literal,
    Var,
    jaxprs_in_params,
    new_jaxpr_eqn,
    subjaxprs,
)
from onax._core.trace import concrete_or_error, set_current_trace, valid_jaxtype
from onax._native.dispatch import Primitive
from onax.errors import InconclusiveDimensionOperation, JaxprTypeError
from onax.extend.core import primitives

__all__ = [
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "Primitive",
    "Var",
    "check_jaxpr",
    "concrete_or_error",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "new_jaxpr_eqn",
    "no_effects",
    "primitives",
    "set_current_trace",
    "subjaxprs",
    "valid_jaxtype",
]
