"""onax.scipy.cluster: vector quantisation."""

from onax.scipy.cluster import vq

__all__ = ["vq"]
