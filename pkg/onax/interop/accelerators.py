"""The place of JAX's modules for GPUs, TPUs, other machines and XLA's compiler, which libraries import and seldom use.

A name that is read here raises AttributeError with the reason.
"""


def __getattr__(name):
    raise AttributeError(
        f"{name!r} is of a part of JAX for GPUs, TPUs, other machines or XLA's compiler, which onax does not have"
    )
