"""onax.ad_checkpoint: names of values that checkpoint may keep, under the names of jax.ad_checkpoint."""

from onax._control.checkpoint import checkpoint, print_saved_residuals, remat
from onax._control.policies import Offloadable, Recompute, Saveable, checkpoint_name, checkpoint_policies, name_p
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions

checkpoint_name_fwd = checkpoint_name  # JAX's second form of it names a value in the forward pass alone

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_name_fwd",
    "checkpoint_policies",
    "name_p",
    "print_saved_residuals",
    "remat",
]

_wrap_api_functions(globals(), __name__, globals().keys())
