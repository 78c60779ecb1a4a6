"""The functions of jax.distributed, for the single process in which onax runs."""

_initialized = False


def initialize(
    coordinator_address=None,
    num_processes=None,
    process_id=None,
    local_device_ids=None,
    **options,
):
    """Initializes a program of one process: `num_processes` is 1 or None.

    Raises NotImplementedError for more processes, ValueError for an unknown process id, RuntimeError if called twice.
    The address, timeouts and methods of finding a cluster are for several processes.
    """
    global _initialized
    if num_processes not in (None, 1):
        raise NotImplementedError(
            f"onax runs in one process, not in {num_processes}: use several devices of it (jax_num_cpu_devices)"
        )
    if process_id not in (None, 0):
        raise ValueError(f"process_id {process_id} of 1 process")
    if _initialized:
        raise RuntimeError("distributed.initialize should only be called once.")
    _initialized = True


def is_initialized():
    """Whether `initialize` was called without a later `shutdown`."""
    return _initialized


def shutdown():
    """Reverts `initialize`; does nothing if that was not called."""
    global _initialized
    _initialized = False


__all__ = ["initialize", "is_initialized", "shutdown"]
