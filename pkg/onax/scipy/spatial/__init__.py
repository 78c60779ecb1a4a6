"""onax.scipy.spatial: rotations."""

from onax.scipy.spatial import transform

__all__ = ["transform"]
