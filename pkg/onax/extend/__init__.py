"""Modules for libraries that build on onax, under the names of jax.extend."""

from onax._ground.unavailable import unavailable as _unavailable
from onax.extend import backend, core, linear_util, random, source_info_util, xla

__getattr__ = _unavailable(
    __name__,
    {
        "ifrt_programs": "programs are not those of XLA's runtime IFRT",
        "lowering mlir": "onax lowers to ONNX and has no MLIR; see onax.interpreters.mlir.lower_fun",
        "pallas": "Pallas writes kernels for TPUs and GPUs; onax compiles loops for the CPU by itself",
        "sharding": "it converts shardings from and to messages of XLA; use onax.sharding.NamedSharding",
    },
)

__all__ = ["backend", "core", "linear_util", "random", "source_info_util", "xla"]
