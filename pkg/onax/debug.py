"""Looking into programs while they run, under JAX's names."""

from onax._control.callbacks import debug_callback as callback
from onax._control.callbacks import debug_print as print
from onax._core.effects import DebugEffect, OrderedDebugEffect

__all__ = ["DebugEffect", "OrderedDebugEffect", "callback", "print"]
