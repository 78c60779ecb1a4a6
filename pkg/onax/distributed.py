"""Programs of several processes, under the names of jax.distributed: onax runs in one, and says so."""

_initialized = False


def initialize(
    coordinator_address=None,
    num_processes=None,
    process_id=None,
    local_device_ids=None,
    **options,
):
    """Begins a program of one process: with `num_processes` 1, or not stated.

    Raises NotImplementedError for more processes, ValueError for a process that is not there, RuntimeError if called
    twice.  The address, timeouts and methods of finding a cluster are for several processes.
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
    """Whether `initialize` was called, and `shutdown` not since."""
    return _initialized


def shutdown():
    """Ends what `initialize` began; nothing, if that was not called."""
    global _initialized
    _initialized = False


__all__ = ["initialize", "is_initialized", "shutdown"]
