"""Modules for libraries that build on onax, under the names of jax.extend."""

from onax.extend import backend, core, linear_util, random, source_info_util, xla

__all__ = ["backend", "core", "linear_util", "random", "source_info_util", "xla"]
