"""onax.scipy.spatial.transform: rotations in three dimensions, and interpolation between them."""

from onax.scipy._rotations import Rotation, Slerp

__all__ = ["Rotation", "Slerp"]
