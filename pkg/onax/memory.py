"""Kinds of memory, under JAX's name."""

from onax._core.layout import MemorySpace as Space

__all__ = ["Space"]
