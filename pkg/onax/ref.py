"""Mutable array references (`new_ref`), under JAX's names."""

from onax._core.refs import AbstractRef, Ref
from onax.numpy._refs import addupdate, freeze, get, new_ref, set, swap

__all__ = ["AbstractRef", "Ref", "addupdate", "freeze", "get", "new_ref", "set", "swap"]
