"""Every primitive of onax, under the names of jax.extend.core.primitives."""

from onax import lax
from onax._control.cond import cond_p
from onax._control.custom_jvp import custom_jvp_call_p
from onax._control.jit_call import jit_p
from onax._control.scan import scan_p
from onax._control.while_loop import while_p
from onax._core.rules import add_any_p as add_jaxvals_p
from onax._native.dispatch import Primitive

globals().update({name: p for name, p in vars(lax).items() if isinstance(p, Primitive)})

__all__ = ["add_jaxvals_p", "cond_p", "custom_jvp_call_p", "jit_p", "scan_p", "while_p"]
__all__ += [name for name, p in vars(lax).items() if isinstance(p, Primitive)]
