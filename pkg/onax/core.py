"""The classes of traced values and types, under the names of jax.core."""

from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.evaluate import eval_jaxpr
from onax._core.jaxpr import Literal, Var
from onax._core.library_trace import LibraryTrace as Trace
from onax._core.trace import Tracer, ensure_compile_time_eval, eval_context
from onax._ground.dims import max_dim, min_dim
from onax._native.avals import AbstractValue, ShapedArray

Atom = Var | Literal
Value = object
ParamDict = dict

__all__ = [
    "AbstractValue",
    "Atom",
    "ParamDict",
    "ShapedArray",
    "Trace",
    "Tracer",
    "Value",
    "ensure_compile_time_eval",
    "eval_context",
    "eval_jaxpr",
    "max_dim",
    "min_dim",
]

_wrap_api_functions(globals(), __name__)
