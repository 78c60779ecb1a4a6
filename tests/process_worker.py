"""What each process of `mpiexec` runs: cases of `process_cases`, or a piece of Python; process 0 writes the outcomes.

process_worker.py OUT cases DEVICES         pickles {name: list of ndarrays, or the text of an error}
process_worker.py OUT recorded DEVICES      the same of `shard_map_cases`; `types`: the texts of `sharding_type_cases`
process_worker.py OUT FILE DEVICES          executes a file, which fills the dictionary `found`; all processes
                                            pickle theirs, as a list in order
"""

import pickle
import sys
from pathlib import Path

import numpy as np

import onax as jax
import process_cases
import shard_map_cases
import sharding_type_cases
from onax.experimental import multihost_utils
from onax.sharding import AxisType


def mesh(**sizes):
    """A mesh over the devices of all processes."""
    return jax.make_mesh(tuple(sizes.values()), tuple(sizes), (AxisType.Auto,) * len(sizes))


def outcome(function, args):
    """The results as whole ndarrays, or the text of the error."""
    try:
        leaves = jax.tree.leaves(function(*args))
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return [np.asarray(multihost_utils.process_allgather(x, tiled=True)) for x in leaves]


def main(out, what, num_devices):
    """Runs the cases or the file."""
    jax.config.update("jax_num_cpu_devices", int(num_devices))
    jax.distributed.initialize()
    if what == "cases":
        table = process_cases.cases(jax, mesh)
        found = {name: outcome(*case) for name, case in table.items()}
        found |= {f"{name}, jit": outcome(jax.jit(f), args) for name, (f, args) in table.items()}
    elif what == "recorded":
        found = {n: outcome(*case) for n, case in shard_map_cases.cases(jax).items() if shard_map_cases.has_regions(n)}
    elif what == "types":
        found = {n: bytes(case()).decode() for n, (case, _) in sharding_type_cases.cases(jax).items()}
    else:
        own = {}
        exec(compile(Path(what).read_text(), what, "exec"), {"jax": jax, "np": np, "mesh": mesh, "found": own})
        texts = [repr(own)] if jax.process_count() == 1 else _everyone(repr(own))
        found = texts
    if jax.process_index() == 0:
        Path(out).write_bytes(pickle.dumps(found))


def _everyone(text):
    """The text of each process."""
    data = np.zeros(1 << 16, np.uint8)
    data[: len(text.encode())] = np.frombuffer(text.encode(), np.uint8)
    rows = multihost_utils.process_allgather(data)
    return [bytes(row).rstrip(b"\0").decode() for row in rows]


if __name__ == "__main__":
    main(*sys.argv[1:])
