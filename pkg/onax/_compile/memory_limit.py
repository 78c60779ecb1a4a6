"""Refuses a program with a value that this machine's memory cannot hold, before anything runs."""

import functools
import os
import re

from onax._core.programs import FUNCTION, KERNEL, held_programs
from onax._ground import source
from onax._ground.errors import compose
from onax._tape.regions import UNKNOWN_SIZE, counts, elements, is_view, joins

ADDRESSES = 1 << 47  # bytes that a process can address, where the machine does not tell its memory


@functools.cache
def machine_memory():
    """Bytes of memory that this process can have, swap included."""
    limits = [_read(r"(\d+)", "/sys/fs/cgroup/memory.max")]
    total = _read(r"MemTotal:\s+(\d+) kB", "/proc/meminfo")
    if total is not None:
        limits.append((total + (_read(r"SwapTotal:\s+(\d+) kB", "/proc/meminfo") or 0)) * 1024)
    else:
        try:
            limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (AttributeError, ValueError, OSError):  # Windows
            limits.append(ADDRESSES)
    return min(limit for limit in limits if limit is not None)


def _read(pattern, path):
    """The number that a pattern finds in a file; None without the file or the number."""
    try:
        with open(path) as file:
            found = re.search(pattern, file.read())
    except OSError:
        return None
    return None if found is None else int(found.group(1))


def check_sizes(jaxpr):
    """Raises MemoryError with bytes and the user's line if a result of an equation is larger than the machine's memory.

    Results of equations in bodies count, too.  What elementwise operations and broadcasts give need not be stored,
    unless it is a result of the program.
    """
    _check(jaxpr, machine_memory())


def _check(jaxpr, limit):
    for eqn in jaxpr.eqns:
        for v in eqn.outvars:
            count = elements(v.aval.shape)
            size = getattr(v.aval.dtype, "itemsize", 0)
            if size and limit // size < count < UNKNOWN_SIZE and _is_stored(jaxpr, eqn, v):
                raise MemoryError(_message(eqn, v.aval, count * size, limit))
        for held in held_programs(eqn):
            if held.kind not in (FUNCTION, KERNEL):
                _check(held.program, limit)


def _is_stored(jaxpr, eqn, v):
    return v in jaxpr.outvars or not (joins(eqn) or is_view(eqn) or counts(eqn))


def _message(eqn, aval, size, limit):
    fault = (
        f"A result of `{eqn.primitive.name}`, {aval.str_short()}, takes {size:,} bytes; this machine has {limit:,} "
        "bytes of memory."
    )
    record = _location(eqn)
    return compose(fault, record and f"In the operation from {source.summarize(record)}.")


def _location(eqn):
    """The location of an equation, or of the first one in a program that it holds."""
    if eqn.source_info:
        return eqn.source_info
    inner = [e for held in held_programs(eqn) for e in held.program.eqns]
    return next((record for e in inner if (record := _location(e))), None)
