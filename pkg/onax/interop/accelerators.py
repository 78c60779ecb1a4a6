"""The place of JAX's modules for GPUs, TPUs, other machines and XLA's compiler, which libraries import and seldom use.

A name that is read here raises AttributeError with the reason.
"""

from onax._ground.unavailable import UnavailableName


def __getattr__(name):
    raise UnavailableName(
        __name__,
        name,
        "it is of a part of JAX for GPUs, TPUs, other machines or XLA's compiler, which onax does not have",
    )
