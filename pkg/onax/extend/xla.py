"""Passes in XLA's pipeline, under the names of jax.extend.xla; there is no XLA to run them."""

import enum


class PipelineStage(enum.Enum):
    """Where in its pipeline XLA would run a transformation."""

    PRE_SCHEDULER = "pre_scheduler"
    POST_SCHEDULER = "post_scheduler"


def register_hlo_module_transformation(callback, *, name, stage=PipelineStage.PRE_SCHEDULER, platforms=None):
    """Raises NotImplementedError: programs are jaxprs, which `jax.extend.core` takes apart."""
    raise NotImplementedError(
        "register_hlo_module_transformation: onax has no modules of XLA; see `jit(f).lower(...).passes()`"
    )


def clear_hlo_module_transformation(name, stage=PipelineStage.PRE_SCHEDULER, platforms=None):
    """Does nothing, as no transformation can have been registered."""


__all__ = ["PipelineStage", "clear_hlo_module_transformation", "register_hlo_module_transformation"]
