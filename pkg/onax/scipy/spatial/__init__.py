"""onax.scipy.spatial: rotations."""

from onax.scipy.spatial import transform
