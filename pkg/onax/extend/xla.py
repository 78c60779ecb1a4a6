"""Passes in XLA's pipeline, under the names of jax.extend.xla; there is no XLA to run them."""

import enum
from collections.abc import Sequence
from typing import NoReturn

from onax._ground.typing import AnyFunction


class PipelineStage(enum.Enum):
    """Where in its pipeline XLA would run a transformation."""

    PRE_SCHEDULER = "pre_scheduler"
    POST_SCHEDULER = "post_scheduler"


def register_hlo_module_transformation(
    callback: AnyFunction,
    *,
    name: str,
    stage: PipelineStage = PipelineStage.PRE_SCHEDULER,
    platforms: Sequence[str] | None = None,
) -> NoReturn:
    """Raises NotImplementedError: programs are jaxprs, which `onax.extend.core` takes apart.

    Args:
      callback: a function.
      name: a str.
      stage: a PipelineStage.
      platforms: names of platforms.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.extend import xla
      >>> xla.register_hlo_module_transformation(None, name="mine")
      Traceback (most recent call last):
          ...
      NotImplementedError: register_hlo_module_transformation: onax has no modules of ...
    """
    raise NotImplementedError(
        "register_hlo_module_transformation: onax has no modules of XLA; see `jit(f).lower(...).passes()`"
    )


def clear_hlo_module_transformation(
    name: str, stage: PipelineStage = PipelineStage.PRE_SCHEDULER, platforms: Sequence[str] | None = None
) -> None:
    """Does nothing: no transformation can have been registered.

    Args:
      name: a str.
      stage: a PipelineStage.
      platforms: names of platforms.

    Returns:
      None.

    Examples:
      >>> from onax.extend import xla
      >>> xla.clear_hlo_module_transformation("mine")
    """


__all__ = ["PipelineStage", "clear_hlo_module_transformation", "register_hlo_module_transformation"]
