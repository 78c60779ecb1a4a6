"""Looking into programs while they run, under JAX's names."""

from onax._control.callbacks import debug_callback as callback
from onax._control.callbacks import debug_log as log
from onax._control.callbacks import debug_print as print
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.effects import DebugEffect, OrderedDebugEffect
from onax._debugger import breakpoint
from onax._show_sharding import inspect_array_sharding, visualize_array_sharding, visualize_sharding

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "breakpoint",
    "callback",
    "inspect_array_sharding",
    "log",
    "print",
    "visualize_array_sharding",
    "visualize_sharding",
]

_wrap_api_functions(globals(), __name__)
