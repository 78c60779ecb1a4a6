"""The functions of jax.distributed: several processes run one program, and MPI carries what they exchange."""

import os
from collections.abc import Sequence

from onax._compile.lazy_import import process_group
from onax._ground import clusters, devices, lazy, processes
from onax._ground.config import config

_initialized = False


def initialize(
    coordinator_address: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    local_device_ids: int | Sequence[int] | None = None,
    cluster_detection_method: str | None = None,
    initialization_timeout: int = 300,
    heartbeat_timeout_seconds: int = 100,
    shutdown_timeout_seconds: int = 300,
    coordinator_bind_address: str | None = None,
    slice_index: int | None = None,
    partition_index: int | None = None,
) -> None:
    """Makes this process one of several that run the same program, before any device is used.

    Arguments that are not given come from the variables of the launcher: of Open MPI, MPICH (and others that set
    PMI's), or SLURM; without one there is one process. MPI carries all messages, so a launcher of MPI must start the
    processes: `mpiexec -n 4 python program.py`, or `srun` under SLURM. The options "gloo" (the default) and "mpi" of
    `jax_cpu_collectives_implementation` both mean MPI here.

    Args:
      coordinator_address: "host:port" at which the first process watches the others; by default its host, any port.
      num_processes: how many processes there are.
      process_id: which one this is, from 0.
      local_device_ids: the numbers of the CUDA devices that this process uses; by default the one with the number of
        the process on its machine. CPU devices are not affected (`jax_num_cpu_devices` says how many there are).
      cluster_detection_method: "ompi", "mpich", "slurm", "mpi4py" (MPI itself says), "deactivate", or None to try.
      initialization_timeout: seconds that the connection to the first process may take.
      heartbeat_timeout_seconds: seconds after which a machine that does not answer counts as dead.
      shutdown_timeout_seconds: seconds for which a process waits, at its end, for the others.
      coordinator_bind_address: not used; the first process listens on all of its addresses.
      slice_index, partition_index: not used.

    Raises:
      RuntimeError: if it is called twice or after a device was used, and if MPI runs another number of processes.
      ValueError: for numbers that do not fit.
      ImportError: if there are several processes and mpi4py is not installed (`pip install onax[mpi]`).

    Examples:
      >>> import onax
      >>> onax.distributed.initialize("localhost:1234", num_processes=1, process_id=0)
      >>> onax.distributed.is_initialized(), onax.process_count()
      (True, 1)
      >>> onax.distributed.shutdown()
    """
    global _initialized
    if _initialized:
        raise RuntimeError("distributed.initialize should only be called once.")
    address = coordinator_address or os.environ.get("JAX_COORDINATOR_ADDRESS")
    given = (num_processes, process_id, local_device_ids)
    count, index, local = _fill_in(*given, cluster_detection_method)
    _check_numbers(count, index)
    if count > 1:
        timeouts = (initialization_timeout, heartbeat_timeout_seconds, shutdown_timeout_seconds)
        _connect(count, index, local, address, timeouts)
    _initialized = True


def _connect(num_processes, process_id, cuda_devices, address, timeouts):
    if devices.is_initialised():
        raise RuntimeError(
            "jax.distributed.initialize() must be called before any JAX calls that might initialise the XLA "
            "backend. This includes any computation, but also calls to jax.devices, jax.device_put, and others."
        )
    if config.jax_cpu_collectives_implementation == "none":
        raise RuntimeError(
            "jax_cpu_collectives_implementation is 'none', so processes cannot exchange values; set it to 'mpi'"
        )
    if processes.current() is not None:
        raise RuntimeError("distributed.initialize cannot be called again after shutdown.")
    module = process_group()
    devices.visible_devices = cuda_devices
    module.connect(num_processes, process_id, address, module.Timeouts(*timeouts))


def _fill_in(num_processes, process_id, local_device_ids, method):
    """(number of processes, this one, CUDA devices or None): what is not given is what the launcher says."""
    if isinstance(local_device_ids, int):
        local_device_ids = [local_device_ids]
    if local_device_ids is None and os.environ.get("JAX_LOCAL_DEVICE_IDS"):
        local_device_ids = [int(i) for i in os.environ["JAX_LOCAL_DEVICE_IDS"].split(",")]
    if None in (num_processes, process_id):
        place = _place_in_mpi() if method == "mpi4py" else clusters.find_place(method)
        if place is not None:
            num_processes = place.num_processes if num_processes is None else num_processes
            process_id = place.process_id if process_id is None else process_id
            if local_device_ids is None and place.local_process_id is not None:
                local_device_ids = [place.local_process_id]
    return 1 if num_processes is None else num_processes, 0 if process_id is None else process_id, local_device_ids


def _place_in_mpi():
    """What MPI itself says."""
    mpi = lazy.mpi
    on_machine = mpi.COMM_WORLD.Split_type(mpi.COMM_TYPE_SHARED)
    return clusters.Place("mpi4py", mpi.COMM_WORLD.size, mpi.COMM_WORLD.rank, on_machine.rank)


def _check_numbers(num_processes, process_id):
    for name, value in (("process_id", process_id), ("num_processes", num_processes)):
        if not isinstance(value, int):
            raise TypeError(f"{name} must be a nonnegative int. Got {name}={value} of type {type(value)}.")
    if not 0 <= process_id < num_processes:
        raise ValueError(
            "process_id and num_processes must be nonnegative, with process_id < num_processes. "
            f"Got process_id={process_id}, num_processes={num_processes}."
        )


def is_initialized() -> bool:
    """Returns whether `initialize` was called without a later `shutdown`.

    Returns:
      A bool.

    Examples:
      >>> onax.distributed.is_initialized()
      False
    """
    return _initialized


def shutdown() -> None:
    """Reverts `initialize`: each of several processes waits for the others, and takes no part afterwards.

    It does nothing if `initialize` was not called.

    Returns:
      None.

    Examples:
      >>> onax.distributed.shutdown()
    """
    global _initialized
    if _initialized and processes.current() is not None:
        processes.current().leave()
    _initialized = False


__all__ = ["initialize", "is_initialized", "shutdown"]
