"""`import jax` where this folder is on the path: onax takes the place of this module."""

import sys

from onax.interop import install_as_jax

del sys.modules[__name__]
install_as_jax()
