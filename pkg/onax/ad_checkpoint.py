"""onax.ad_checkpoint: names of values that checkpoint may keep, under the names of jax.ad_checkpoint."""

from onax._control.checkpoint import checkpoint, print_saved_residuals, remat
from onax._control.policies import Offloadable, Recompute, Saveable, checkpoint_name, checkpoint_policies
from onax._core.public import publish as _publish

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "remat",
]

_publish(globals(), __name__, globals().keys())
