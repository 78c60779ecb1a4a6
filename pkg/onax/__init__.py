"""JAX's programming model on NumPy and ONNX Runtime.

Eager operations run through a compiled interpreter over NumPy; `jit` lowers a traced function to an ONNX graph that
ONNX Runtime executes; `onax.export` writes the same graph to a standard .onnx file.
"""

import importlib

from onax import dtypes, errors, lax, numpy, tree, tree_util
from onax._compile.cache import clear_caches
from onax._compile.jit import jit
from onax._control.checkpoint import checkpoint, remat
from onax._control.custom_jvp import custom_jvp
from onax._control.custom_vjp import custom_vjp
from onax._control.policies import checkpoint_policies
from onax._core.api_functions import wrap_api_functions as _wrap_api_functions
from onax._core.meshes import PartitionSpec, make_mesh
from onax._core.sharding import NamedSharding
from onax._core.trace import ensure_compile_time_eval
from onax._core.transfer_guards import transfer_guard
from onax._ground.config import (
    allow_f16_reductions,
    check_tracer_leaks,
    checking_leaks,
    config,
    debug_infs,
    debug_key_reuse,
    debug_nans,
    default_matmul_precision,
    default_prng_impl,
    disable_jit,
    enable_checks,
    enable_custom_prng,
    enable_x64,
    explain_cache_misses,
    legacy_prng_key,
    log_compiles,
    no_tracing,
    numpy_dtype_promotion,
    numpy_rank_promotion,
    softmax_custom_jvp,
    threefry_partitionable,
    transfer_guard_device_to_device,
    transfer_guard_device_to_host,
    transfer_guard_host_to_device,
)
from onax._ground.devices import (
    Device,
    default_backend,
    default_device,
    device_count,
    devices,
    local_device_count,
    local_devices,
    process_count,
    process_index,
    process_indices,
)
from onax._ground.unavailable import unavailable as _unavailable
from onax._native.array import Array
from onax._native.hooks import hooks as _hooks
from onax._transforms.abstract import ShapeDtypeStruct, eval_shape, make_jaxpr
from onax._transforms.autodiff import grad, jvp, linear_transpose, linearize, value_and_grad, vjp
from onax._transforms.described_types import typeof
from onax._transforms.jacobians import hessian, jacfwd, jacobian, jacrev
from onax._transforms.transfer import block_until_ready, copy_to_host_async, device_get, device_put, live_arrays
from onax._transforms.vmap import vmap
from onax.version import __version__, __version_info__

P = PartitionSpec

_hooks.check_complete()

# The messages of these functions name them already.
_wrap_api_functions(globals(), __name__, globals().keys())

# Public modules that most programs do not need at start: they are imported on first access.
_LAZY_MODULES = frozenset(
    {
        "ad",
        "ad_checkpoint",
        "api_util",
        "core",
        "custom_batching",
        "custom_derivatives",
        "debug",
        "distributed",
        "dlpack",
        "example_libraries",
        "experimental",
        "export",
        "extend",
        "ffi",
        "flatten_util",
        "image",
        "interpreters",
        "memory",
        "monitoring",
        "nn",
        "onnx",
        "ops",
        "profiler",
        "random",
        "ref",
        "scipy",
        "sharding",
        "stages",
        "test_util",
        "typing",
        "version",
    }
)

_LAZY_ATTRIBUTES = {
    "make_array_from_callback": "onax._transforms.transfer",
    "make_array_from_process_local_data": "onax._transforms.transfer",
    "make_array_from_single_device_arrays": "onax._transforms.transfer",
    "closure_convert": "onax._control.custom_gradient",
    "custom_gradient": "onax._control.custom_gradient",
    "array_garbage_collection_guard": "onax._ground.config",
    "auto_pcast": "onax._ground.config",
    "ds": "onax.numpy._index_expressions",
    "effects_barrier": "onax._control.callbacks",
    "explain": "onax._compile.explain",
    "empty_ref": "onax.numpy._refs",
    "free_ref": "onax.numpy._refs",
    "freeze": "onax.numpy._refs",
    "fwd_and_bwd": "onax._compile.fwd_and_bwd",
    "float0": "onax._ground.dtypes",
    "CompilerEffortLevel": "onax._compile.jit_options",
    "get_abstract_mesh": "onax._core.meshes",
    "get_mesh": "onax._core.meshes",
    "Inline": "onax._compile.jit_options",
    "use_abstract_mesh": "onax._core.meshes",
    "host_count": "onax._ground.devices",
    "host_id": "onax._ground.devices",
    "host_ids": "onax._ground.devices",
    "jax2tf_associative_scan_reductions": "onax._ground.config",
    "no_execution": "onax._ground.config",
    "remove_size_one_mesh_axis_from_type": "onax._ground.config",
    "thread_guard": "onax._ground.config",
    "named_call": "onax._core.name_scopes",
    "named_scope": "onax._core.name_scopes",
    "pmap": "onax._compile.devices.pmap",
    "Ref": "onax._core.refs",
    "Shard": "onax._core.shards",
    "reshard": "onax.lax._sharding",
    "new_ref": "onax.numpy._refs",
    "print_environment_info": "onax._environment",
    "pure_callback": "onax._control.callbacks",
    "set_mesh": "onax._core.meshes",
    "shard_map": "onax._control.shard_map",
    "smap": "onax._control.smap",
    "make_user_context": "onax._ground.config",
    "strict": "onax._strict",
    "visualize": "onax._visualize",
}

_refuse = _unavailable(
    __name__,
    {"cloud_tpu_init": "there are no TPUs", "lib": "it names the version of jaxlib, XLA's part of JAX"},
)


def __getattr__(name):
    if name in _LAZY_MODULES:
        return importlib.import_module(f"onax.{name}")
    if name in _LAZY_ATTRIBUTES:
        attributes = {name: getattr(importlib.import_module(_LAZY_ATTRIBUTES[name]), name)}
        _wrap_api_functions(attributes, __name__, (name,))
        return globals().setdefault(name, attributes[name])
    return _refuse(name)


def __dir__():
    return sorted({*globals(), *_LAZY_MODULES, *_LAZY_ATTRIBUTES})
