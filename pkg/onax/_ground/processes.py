"""Which process this is, of how many.

`jax.distributed.initialize` makes the ProcessGroup (`process_group.py`); without it there is one process.
"""

_current = None


def current():
    """The ProcessGroup of this process; None if it is the only one."""
    return _current


def set_current(group):
    """Makes this process one of a ProcessGroup."""
    global _current
    _current = group


def process_index():
    """The index of this process."""
    return 0 if _current is None else _current.index


def process_count():
    """The number of processes."""
    return 1 if _current is None else _current.count


def coordination_client():
    """The keys, values and barriers of all processes (`coordination.Client`); None in a single process."""
    return None if _current is None else _current.watchdog.client
