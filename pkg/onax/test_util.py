"""onax.test_util: derivatives checked against finite differences, under the names of jax.test_util."""

from onax._core.public import publish as _publish
from onax._transforms.checks import check_grads, check_jvp, check_vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]

_publish(globals(), __name__, globals().keys())
