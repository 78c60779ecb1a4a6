"""What becomes of the cotangents of arguments in `VJP.with_refs`, under the names of jax.ad.

_, pull_back = onax.vjp(f, x, y)
pull_back.with_refs(ref, onax.ad.DontWant())(ct)     adds the cotangent of x to `ref`
"""

from onax._transforms.cotangent_refs import DidntWant, DontWant, GradRef, GradValue

__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]
