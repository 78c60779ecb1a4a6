"""Every primitive of onax that JAX has, under the names of jax.extend.core.primitives."""

from onax import lax
from onax._control.checkpoint import remat_p
from onax._control.closed_call import FunctionCall, closed_call_p
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.custom_vjp import custom_lin_p, custom_vjp_call_p
from onax._control.jit_call import jit_p
from onax._control.policies import name_p
from onax._control.scan_rules import scan_p
from onax._control.while_loop import while_p
from onax._core.rules import add_any_p as add_jaxvals_p
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.dispatch import NEVER, Primitive
from onax._prims import linalg, linalg_spectral, random
from onax._prims.refs import get_p, swap_p
from onax.extend.core._call_primitives import (
    create_call_primitive,
    eval_jaxpr_transpose,
    register_call_primitive_rules,
)

# A program on its operands, as closed_call_p: onax makes none of these.
call_p = FunctionCall(
    "call",
    multiple_results=True,
    impl=closed_call_p.impl,
    abstract_eval=closed_call_p.abstract_eval,
    jvp=closed_call_p.jvp,
    batch=closed_call_p.batch,
    weak=NEVER,
)
call_p.call_primitive = True

_HOMES = (lax, linalg, linalg_spectral, random)
_found = {name: p for home in _HOMES for name, p in vars(home).items() if isinstance(p, Primitive)}
globals().update(_found)

_refuse = _unavailable(
    __name__,
    {"empty2_p": "it is how JAX's scan makes the arrays of its stacked results, which are written in place here"},
)


def __getattr__(name: str) -> Primitive:  # type checkers read from its result that every other name is a Primitive
    return _refuse(name)


__all__ = [
    "add_jaxvals_p",
    "call_p",
    "closed_call_p",
    "cond_p",
    "create_call_primitive",
    "custom_jvp_call_p",
    "custom_lin_p",
    "custom_vjp_call_p",
    "eval_jaxpr_transpose",
    "get_p",
    "jit_p",
    "name_p",
    "register_call_primitive_rules",
    "remat_p",
    "scan_p",
    "swap_p",
    "while_p",
]
__all__ += [name for name in _found if name not in __all__]
