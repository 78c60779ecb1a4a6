"""The records of the language, under the names of jax.extend.core."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
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
from onax._ground.dtypes import primal_tangent_dtype as primal_dtype_to_tangent_dtype
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.dispatch import Primitive
from onax._prims.sinks import Token
from onax.errors import InconclusiveDimensionOperation, JaxprTypeError
from onax.extend.core import primitives
from onax.extend.core._call_primitives import (
    create_call_primitive,
    eval_jaxpr_transpose,
    register_call_primitive_rules,
)
from onax.extend.core._traces import (
    TraceTag,
    find_top_trace,
    gensym,
    get_opaque_trace_state,
    mapped_aval,
    nonempty_axis_env_DO_NOT_USE,
    take_current_trace,
    unmapped_aval,
    unsafe_am_i_under_a_jit_DO_NOT_USE,
    unsafe_am_i_under_a_vmap_DO_NOT_USE,
    unsafe_get_axis_names_DO_NOT_USE,
)

Effects = frozenset[Effect]

__getattr__ = _unavailable(
    __name__,
    {
        "AbstractToken": "a token is a pytree without leaves, so that it has no type of its own",
        "CallPrimitive call_impl": "they take JAX's WrappedFun records; see create_call_primitive and closed_call_p",
        "array_types": "valid_jaxtype says what is an array",
    },
)

__all__ = [
    "ClosedJaxpr",
    "DebugInfo",
    "DropVar",
    "Effect",
    "Effects",
    "InconclusiveDimensionOperation",
    "Jaxpr",
    "JaxprEqn",
    "JaxprTypeError",
    "Literal",
    "Primitive",
    "Token",
    "TraceTag",
    "Var",
    "check_jaxpr",
    "concrete_or_error",
    "create_call_primitive",
    "eval_jaxpr_transpose",
    "find_top_trace",
    "gensym",
    "get_opaque_trace_state",
    "jaxpr_as_fun",
    "jaxprs_in_params",
    "mapped_aval",
    "new_jaxpr_eqn",
    "no_effects",
    "nonempty_axis_env_DO_NOT_USE",
    "primal_dtype_to_tangent_dtype",
    "primitives",
    "register_call_primitive_rules",
    "set_current_trace",
    "subjaxprs",
    "take_current_trace",
    "unmapped_aval",
    "unsafe_am_i_under_a_jit_DO_NOT_USE",
    "unsafe_am_i_under_a_vmap_DO_NOT_USE",
    "unsafe_get_axis_names_DO_NOT_USE",
    "valid_jaxtype",
]

_wrap_api_functions(globals(), __name__)
