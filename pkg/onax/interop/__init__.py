"""Programs written for JAX run unmodified: `import jax` gives onax.

`install_as_jax()` does it for this process; `python -m onax script.py` also for the processes that a program starts.
docs/running-jax-programs.md is the guide.
"""

from onax.interop.install import install_as_jax

__all__ = ["install_as_jax"]
