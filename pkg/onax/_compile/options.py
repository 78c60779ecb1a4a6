"""How ONNX Runtime is attached, and how its sessions are made."""

import os

from onax._ground import lazy
from onax._ground.errors import BackendError

# The newest opset that the runtime takes in this process.
OPSET = 26

NO_CUDA = (
    "If CUDA cannot be used here: it needs onnxruntime-gpu, the CUDA and cuDNN libraries that it was built for, and "
    "NVIDIA's driver (pip install 'onax[cuda]' brings the first two). To run elsewhere, place the arguments there, for "
    "instance with jax.device_put(x, jax.devices('cpu')[0])."
)


def attach():
    """Loads the runtime's library once; BackendError in the runtime's words if it cannot be loaded."""
    if lazy.ort.attached() is None:
        found = lazy.find_runtime()
        try:
            lazy.ort.attach(found.library, int(os.environ.get("ONAX_NUM_THREADS", "0")))
        except RuntimeError as error:
            raise BackendError(f"ONNX Runtime could not be attached. {error}") from error


def session_options(compiler_options=None):
    """The runtime's session options for `compiler_options` of `Lowered.compile` and of jit.

    Known: "optimization" (0, 1, 2, 99), "memory_pattern", "arena" (bool) and "config" (a dictionary of the runtime's
    own session entries), "provider" ("cpu" or "cuda") and "provider_options" (a dictionary of that provider's own
    options, such as device_id).  Options of other compilers raise ValueError.
    """
    given = dict(compiler_options or {})
    unknown = set(given) - {"optimization", "memory_pattern", "arena", "config", "provider", "provider_options"}
    if unknown:
        raise ValueError(f"No such compile option: {', '.join(sorted(map(repr, unknown)))}")
    return given


def for_device(compiler_options, device):
    """The options with the provider of a device, unless they name one themselves; `device` may be None."""
    given = compiler_options or {}
    if device is None or device.platform != "gpu" or "provider" in given:
        return compiler_options
    chosen = {"device_id": device.local_hardware_id, **given.get("provider_options", {})}
    return {**given, "provider": "cuda", "provider_options": chosen}


def place_named(settings):
    """The device that session options name, as text; nothing for the CPU."""
    if settings.get("provider", "cpu") != "cuda":
        return ""
    return f"cuda:{settings.get('provider_options', {}).get('device_id', 0)}"
