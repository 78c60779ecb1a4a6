"""What becomes of the cotangents of arguments: returned, added to references, or dropped (`VJP.with_refs`)."""

import dataclasses

from onax._core.refs import Ref, is_ref
from onax._native.tree import register_pytree_node


@dataclasses.dataclass(frozen=True, slots=True)
class GradValue:
    """In `with_refs`, an argument whose cotangent is returned.

    Examples:
      >>> onax.ad.GradValue()
      GradValue()
    """


@dataclasses.dataclass(frozen=True, slots=True)
class DontWant:
    """In `with_refs`, an argument whose cotangent nobody wants.

    Examples:
      >>> onax.ad.DontWant()
      DontWant()
    """


@dataclasses.dataclass(frozen=True, slots=True)
class GradRef:
    """In the place of a cotangent that was added to a reference.

    Examples:
      >>> onax.ad.GradRef()
      GradRef()
    """


@dataclasses.dataclass(frozen=True, slots=True)
class DidntWant:
    """In the place of a cotangent that nobody wants.

    Examples:
      >>> onax.ad.DidntWant()
      DidntWant()
    """


for _record in (GradRef, DidntWant):
    register_pytree_node(_record, lambda _: ((), None), lambda _, __, record=_record: record())


def store_cotangent(destination, ct):
    """What is returned in the place of a cotangent: it, or the record of what became of it.

    Args:
      destination: a reference, to which the cotangent is added; `DontWant()`; anything else returns it.
      ct: the cotangent.
    """
    if is_ref(destination):
        Ref.add_item(destination, ..., ct)
        return GradRef()
    return DidntWant() if isinstance(destination, DontWant) else ct
