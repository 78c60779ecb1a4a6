"""Devices, which hold the buffers of arrays and run operations on them.

There is always the CPU.  With `jax_num_cpu_devices` (or `XLA_FLAGS=--xla_force_host_platform_device_count=N`) it counts
as several virtual devices, which share one memory; placement, committed arrays and shards behave as with real ones.
After `jax.distributed.initialize` there are also the devices of the other processes (`processes.py`), which this one
cannot address; as in JAX, ids of CPU devices are 2048 times the process's index plus the local number.
CUDA devices are listed where the installed ONNX Runtime has that provider and the driver shows a device; the
default stays the CPU unless `jax_platforms` names another platform first.
"""

import numbers
import os
import re
import sys
from dataclasses import dataclass

from onax._ground import config as options
from onax._ground import processes
from onax._ground.config import config
from onax._ground.errors import JaxRuntimeError
from onax._ground.onnx_runtime import find_runtime
from onax._native import context

_IDS_PER_PROCESS = 2048  # of CPU devices, as in JAX


MEMORY_KINDS = ("device", "pinned_host", "unpinned_host")


@dataclass(slots=True, eq=False, repr=False)
class Memory:
    """One kind of memory that a device can address."""

    device: object
    kind: str
    index: int
    _CLASSES = {
        "device": "DeviceMemory",
        "pinned_host": "PinnedHostMemory",
        "unpinned_host": "UnpinnedHostMemorySpace",
    }

    platform = property(lambda self: self.device.platform)
    process_index = property(lambda self: self.device.process_index)

    def addressable_by_devices(self):
        """The devices that can use this memory."""
        return [self.device]

    def __str__(self):
        prefix = self.device._family if self.kind == "device" else ""
        process = self.process_index
        return f"{prefix}{self._CLASSES[self.kind]}(id={self.index}, process_index={process}, client={self.platform})"

    def __repr__(self):
        kind = f"{self.device._label.upper()}_DEVICE" if self.kind == "device" else self.kind.upper()
        return f"{kind}_{self.index}"


class Device:
    """A device, as `onax.devices` lists them; there is one object for each.

    Args:
      platform: "cpu" or "gpu".
      id_: its number among all devices of the platform.
      device_kind: its model; default the platform.
      separate: whether it has a memory of its own: a program over several such devices is compiled to one program for
        each, one over virtual devices to a single one.  Default True except for the CPU.
      process_index: the process that has it; default 0.
      local_id: its number among the devices of that process; default `id_`.

    Examples:
      >>> device = onax.devices()[0]
      >>> device.platform, device.id
      ('cpu', 0)
    """

    __slots__ = (
        "__weakref__", "_family", "_label", "_memories", "_separate", "device_kind", "id", "local_hardware_id",
        "platform", "process_index",
    )  # fmt: skip

    def __init__(self, platform, id_, device_kind=None, separate=None, process_index=0, local_id=None):
        self.platform = platform
        self.id = id_
        self.process_index = process_index
        self._separate = platform != "cpu" if separate is None else separate
        self.local_hardware_id = local_id if process_index else id_
        self._label = "cuda" if platform == "gpu" else platform
        self._family = self._label.capitalize()
        self.device_kind = device_kind or platform
        kinds = MEMORY_KINDS if platform == "cpu" else MEMORY_KINDS[:2]
        self._memories = tuple(Memory(self, kind, i + len(kinds) * id_) for i, kind in enumerate(kinds))

    host_id = property(lambda self: self.process_index, doc="Older name of `process_index`.")
    task_id = property(lambda self: self.process_index, doc="Older name of `process_index`.")
    client = property(lambda self: get_backend(self.platform), doc="The backend the device belongs to.")

    @property
    def _addressable(self):
        """Whether this process has the device."""
        return self.process_index == processes.process_index()

    def default_memory(self):
        """The memory of arrays for which none is specified."""
        return self._memories[0]

    def addressable_memories(self):
        """All memories of the device."""
        return list(self._memories)

    def memory(self, kind):
        """The memory of a kind ("device", "pinned_host", "unpinned_host"); raises JaxRuntimeError for others."""
        for memory in self._memories:
            if memory.kind == kind:
                return memory
        kinds = ", ".join(m.kind for m in self._memories)
        raise JaxRuntimeError(
            f"INVALID_ARGUMENT: Could not find memory addressable by device {self.device_kind}. Device "
            f"{self.device_kind} can address the following memory kinds: {kinds}. Got memory kind: {kind}"
        )

    def memory_stats(self):
        """Statistics of the device's memory; None, because onax does not record any."""
        return None

    def __repr__(self):
        return f"{self._family}Device(id={self.id})"

    def __str__(self):
        return f"{self._label}:{self.id}"

    def __reduce__(self):
        return _device_of, (self.platform, self.id)


def _device_of(platform, id_):
    """The device of this platform and id; used by pickle."""
    return next(device for device in devices(platform) if device.id == id_)


class Backend:
    """All devices of one platform, those of other processes included.

    Args:
      platform: the platform's name.
      devices: its Devices.

    Examples:
      >>> onax.interpreters.xla.Backend("cpu", onax.devices("cpu")).platform
      'cpu'
    """

    __slots__ = ("_devices", "_local", "platform")

    def __init__(self, platform, devices):
        self.platform = platform
        self._devices = tuple(devices)
        self._local = tuple(device for device in self._devices if device._addressable)

    platform_version = property(lambda self: "onax")
    runtime_type = property(lambda self: "onnxruntime")

    def devices(self):
        """The devices, as a list."""
        return list(self._devices)

    def local_devices(self):
        """The devices of this process, as a list."""
        return list(self._local)

    def device_count(self):
        """How many devices there are."""
        return len(self._devices)

    def local_device_count(self):
        """How many devices this process has."""
        return len(self._local)

    def process_index(self):
        """The index of this process."""
        return processes.process_index()

    def __repr__(self):
        return f"<backend {self.platform}: {len(self._devices)} devices>"


visible_devices = None  # the numbers of the CUDA devices that `jax.distributed.initialize` leaves to this process
_backends = None  # platform -> Backend, set when a device is first looked up
_first = None  # the device of arrays for which none is specified
_ALIASES = {"cuda": "gpu", "gpu": "gpu", "cpu": "cpu"}


def _cpu_count():
    """The number of virtual CPU devices that the options ask for."""
    count = config.jax_num_cpu_devices
    if count < 0:
        flag = re.search(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
        count = int(flag.group(1)) if flag else 1
    return max(count, 1)


def cuda_models(root="/"):
    """The models of NVIDIA devices by number, from the driver's files; in containers there may be device files only."""
    folder = os.path.join(root, "proc/driver/nvidia/gpus")
    models = []
    if os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name, "information"), encoding="utf-8", errors="replace") as file:
                model = re.search(r"^Model:\s*(.+?)\s*$", file.read(), re.MULTILINE)
            models.append(model.group(1) if model else "NVIDIA GPU")
    elif os.path.isdir(os.path.join(root, "dev")):
        numbers = [n for n in os.listdir(os.path.join(root, "dev")) if re.fullmatch(r"nvidia\d+", n)]
        models = ["NVIDIA GPU"] * len(numbers)
    return models


def _cuda_devices():
    """The CUDA devices that the driver lists, if ONNX Runtime has the provider."""
    if sys.platform != "linux":
        return []
    models = cuda_models()
    if not models or "CUDAExecutionProvider" not in find_runtime().providers:
        return []
    return [Device("gpu", i, model) for i, model in enumerate(_visible_models(models))]


def _visible_models(models):
    """The models of the devices that CUDA_VISIBLE_DEVICES selects, in its order, up to the first invalid entry."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return models
    result = []
    for entry in visible.split(","):
        entry = entry.strip()
        if entry.startswith(("GPU-", "MIG-")):  # an identifier that the driver's files do not contain
            result.append("NVIDIA GPU")
        elif entry.isdecimal() and int(entry) < len(models):
            result.append(models[int(entry)])
        else:
            break
    return result


def _initialise():
    """Finds the devices; afterwards their number is fixed."""
    global _backends, _first
    cuda = _cuda_devices()
    if processes.current() is None:
        by_platform = {"cpu": Backend("cpu", [Device("cpu", i) for i in range(_cpu_count())])}
        if cuda:
            by_platform["gpu"] = Backend("gpu", cuda)
    else:
        by_platform = _backends_of_all(cuda)
    order = [p.strip() for p in (config.jax_platforms or config.jax_platform_name or "cpu").split(",") if p.strip()]
    for platform in order[:1]:
        if _ALIASES.get(platform) not in by_platform:
            raise RuntimeError(
                f"Unable to initialize backend '{platform}': it is not in the list of known backends: "
                f"{list(by_platform)}. (you may need to uninstall the failing plugin package, or set "
                "JAX_PLATFORMS='' to automatically choose an available backend)"
            )
    default = _ALIASES[order[0]] if order else "cpu"
    _backends = dict(sorted(by_platform.items(), key=lambda item: item[0] != default))
    _first = _backends[default]._local[0]


def _backends_of_all(cuda):
    """The backends with the devices of all processes, which tell one another how many they have."""
    group = processes.current()
    if visible_devices is not None:
        cuda = [device for device in cuda if device.id in visible_devices]
    found = [_cpu_count(), [(device.id, device.device_kind) for device in cuda]]
    cpu, gpu = [], []
    for process, (count, models) in enumerate(group.allgather_json(found, "the exchange of devices")):
        for i in range(count):
            cpu.append(Device("cpu", process * _IDS_PER_PROCESS + i, None, True, process, i))
        for local, model in models:
            gpu.append(Device("gpu", len(gpu), model, True, process, local))
            gpu[-1].local_hardware_id = local
    made = {"cpu": Backend("cpu", cpu)}
    if gpu:
        made["gpu"] = Backend("gpu", gpu)
    return made


def get_backend(platform: str | Backend | None = None, name: str = "get_backend") -> Backend:
    """Returns the backend of a platform.

    Args:
      platform: the name of a platform; default None, the default one.
      name: the calling function, for messages.

    Returns:
      A backend.

    Raises:
      RuntimeError: there is no such platform.
      TypeError: a value that is not the name of a platform.

    Examples:
      >>> from onax.extend import backend
      >>> backend.get_backend("cpu").platform
      'cpu'
    """
    if _backends is None:
        _initialise()
    if platform is None:
        return next(iter(_backends.values()))
    if isinstance(platform, Backend):
        return platform
    if not isinstance(platform, str):
        raise TypeError(f"{name} takes the name of a platform such as 'cpu'; got {platform!r} of type {type(platform)}")
    backend = _backends.get(_ALIASES.get(platform, platform))
    if backend is None:
        if platform == "gpu":
            raise RuntimeError(
                "Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present. "
                f"Platforms present are: {', '.join(_backends)}"
            )
        raise RuntimeError(f"Unknown backend {platform}. Available backends are {list(_backends)}")
    return backend


def backends() -> dict[str, Backend]:
    """Returns all backends.

    Returns:
      A dict from the name of a platform to its backend.

    Examples:
      >>> from onax.extend import backend
      >>> "cpu" in backend.backends()
      True
    """
    get_backend()
    return dict(_backends)


def devices(backend: str | None = None) -> list[Device]:
    """Returns the devices of a platform.

    Args:
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.

    Returns:
      A list of Devices, those of other processes included.

    Raises:
      RuntimeError: there is no such platform.

    Examples:
      >>> onax.devices("cpu")[0]
      CpuDevice(id=0)
    """
    return get_backend(backend, "devices").devices()


def is_initialised():
    """Whether a device was looked up, so that their number is fixed."""
    return _backends is not None


def local_devices(
    process_index: int | None = None, backend: str | None = None, host_id: int | None = None
) -> list[Device]:
    """Returns the devices of a process.

    Args:
      process_index: the process; default None, this one.
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.
      host_id: an older name of `process_index`.

    Returns:
      A list of Devices.

    Raises:
      ValueError: there is no such process.
      TypeError: `process_index` is not a number.

    Examples:
      >>> onax.local_devices()[0].process_index
      0
    """
    found = get_backend(backend, "local_devices")
    index = process_index if process_index is not None else host_id
    if index is None:
        return found.local_devices()
    if not isinstance(index, numbers.Real):
        raise TypeError(f"local_devices: process_index must be an integer; got {index!r} of type {type(index)}")
    if index not in range(processes.process_count()):
        raise ValueError(f"Unknown process_index {index}")
    return [device for device in found.devices() if device.process_index == index]


def device_count(backend: str | None = None) -> int:
    """Returns the number of devices, those of other processes included.

    Args:
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.

    Returns:
      An int.

    Examples:
      >>> onax.device_count() == len(onax.devices())
      True
    """
    return get_backend(backend, "device_count").device_count()


def local_device_count(backend: str | None = None) -> int:
    """Returns the number of devices of this process.

    Args:
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.

    Returns:
      An int.

    Examples:
      >>> onax.local_device_count() == len(onax.local_devices())
      True
    """
    return get_backend(backend, "local_device_count").local_device_count()


def process_index(backend: str | None = None) -> int:
    """Returns the index of this process, 0 if it is the only one.

    Args:
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.

    Returns:
      An int.

    Examples:
      >>> onax.process_index()
      0
    """
    get_backend(backend, "process_index")
    return processes.process_index()


def process_count(backend: str | None = None) -> int:
    """Returns the number of processes.

    Args:
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.

    Returns:
      An int.

    Examples:
      >>> onax.process_count()
      1
    """
    get_backend(backend, "process_count")
    return processes.process_count()


def process_indices(backend: str | None = None) -> list[int]:
    """Returns the indices of all processes.

    Args:
      backend: the name of a platform, such as "cpu" or "gpu"; default None, the default platform.

    Returns:
      A list of ints.

    Examples:
      >>> onax.process_indices()
      [0]
    """
    get_backend(backend, "process_indices")
    return list(range(processes.process_count()))


# JAX's older names of these functions.
host_count, host_id, host_ids = process_count, process_index, process_indices


def default_backend() -> str:
    """Returns the name of the default platform.

    Returns:
      A str, such as "cpu".

    Examples:
      >>> onax.default_backend()
      'cpu'
    """
    return get_backend().platform


def current_default() -> Device:
    """Returns the device of new arrays for which none is specified.

    Returns:
      A Device: the option `jax_default_device` if it is set, else the first device.

    Examples:
      >>> from onax.extend import backend
      >>> backend.get_default_device() == onax.devices()[0]
      True
    """
    chosen = context.get_default_device()
    if chosen is None:
        if _first is None:
            _initialise()
        return _first
    return chosen


def _as_device(value):
    """The device that a value of `jax_default_device` means."""
    return local_devices(backend=value)[0] if isinstance(value, str) else value


def _check_default_device(value):
    if value is None or isinstance(value, Device):
        return value
    if isinstance(value, str) and (not value or value in _ALIASES):
        return value or None
    raise ValueError(
        "jax.default_device must be passed either a Device object (e.g. `jax.devices('cpu')[0]`) or a platform name "
        f"string like 'cpu' or 'gpu', got: {value!r}"
    )


def _check_before_start(value):
    if _backends is not None and value != config.jax_num_cpu_devices:
        raise RuntimeError(
            "jax_num_cpu_devices config should be updated before backends are initialized i.e. before any JAX "
            "operation is executed. You should initialize this config immediately after `import onax`."
        )


_default_row = options.add_row(
    "jax_default_device", options.ANY, None, "The device (or platform) of new arrays.", in_key=True,
    check=_check_default_device,
)  # fmt: skip
_default_row.mirror = (
    lambda value: context.set_global_default_device(_as_device(value)),
    lambda value: context.swap_default_device(_as_device(value)),
)
if _default_row.value is not None:
    _default_row.mirror[0](_default_row.value)
default_device = options.Option(_default_row)
options.find_row("jax_num_cpu_devices").on_update = _check_before_start
