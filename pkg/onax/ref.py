"""Mutable array references (`new_ref`), under JAX's names."""

from onax._core.refs import AbstractRef, Ref
from onax.numpy._refs import addupdate, empty_ref, free_ref, freeze, get, new_ref, set, swap

__all__ = ["AbstractRef", "Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
