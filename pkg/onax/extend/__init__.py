"""What libraries that build on onax use beyond its public interface, under the names of jax.extend."""

from onax.extend import core, random

__all__ = ["core", "random"]
