"""Profiles as feedback for XLA's scheduler, under the name of jax.experimental.profiler."""

from typing import NoReturn

from onax._ground.typing import PathLike


def get_profiled_instructions_proto(tensorboard_dir: PathLike) -> NoReturn:
    """Raises NotImplementedError: the message is XLA's, and not empty on NVIDIA GPUs only.

    Args:
      tensorboard_dir: a folder.

    Raises:
      NotImplementedError: always.

    Examples:
      >>> from onax.experimental import profiler
      >>> profiler.get_profiled_instructions_proto("folder")
      Traceback (most recent call last):
          ...
      NotImplementedError: get_profiled_instructions_proto: profiles of onax hold no ...
    """
    raise NotImplementedError(
        "get_profiled_instructions_proto: profiles of onax hold no instructions of XLA; onax.profiler.ProfileData "
        "reads them, and onax.explain measures the steps of a compiled function"
    )


__all__ = ["get_profiled_instructions_proto"]
