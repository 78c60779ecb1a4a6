"""onax.scipy.cluster: vector quantisation."""

from onax.scipy.cluster import vq
