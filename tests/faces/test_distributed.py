"""Processes begin once and end; a program is the same for one and for several."""

import subprocess
import sys

import pytest

import onax
import processes


def test_one_process_begins_and_ends():
    onax.distributed.initialize("localhost:1234", num_processes=1, process_id=0)
    try:
        assert onax.distributed.is_initialized()
        with pytest.raises(RuntimeError, match="once"):
            onax.distributed.initialize()
    finally:
        onax.distributed.shutdown()
    assert not onax.distributed.is_initialized()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"process_id": 1}, ValueError, "with process_id < num_processes"),
        ({"num_processes": 0}, ValueError, "with process_id < num_processes"),
        ({"num_processes": 2.0, "process_id": 0}, TypeError, "num_processes must be"),
        ({"cluster_detection_method": "carrier"}, ValueError, "'carrier' is unknown"),
    ],
)
def test_numbers_that_do_not_fit(options, error, words):
    with pytest.raises(error, match=words):
        onax.distributed.initialize(**options)
    assert not onax.distributed.is_initialized()


def test_it_must_come_first():
    onax.devices()
    with pytest.raises(RuntimeError, match="must be called before any JAX calls"):
        onax.distributed.initialize("localhost:1234", num_processes=2, process_id=0)


def test_mpi_must_run_as_many(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import onax; onax.distributed.initialize(num_processes=3, process_id=0)")
    done = processes.run(1, program)
    assert done.returncode != 0
    assert "MPI runs it as process 0 of 1: start all processes with MPI's launcher" in done.stderr


def test_one_program_for_any_number(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    alone = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True).stdout
    assert alone == "process 0 of 1: 28.0 28.0 False True\n"
    for count in (1, 2):
        done = processes.run(count, program)
        assert done.returncode == 0, done.stderr
        mpi = str(count > 1)
        lines = sorted(done.stdout.splitlines())
        assert lines == [f"process {i} of {count}: 28.0 28.0 {mpi} True" for i in range(count)]


PROGRAM = """
import sys
import numpy as np
import onax as jax
jax.distributed.initialize()
mesh = jax.make_mesh((jax.device_count(),), ("x",))
x = jax.make_array_from_callback((8,), jax.NamedSharding(mesh, jax.P("x")), lambda i: np.arange(8.0)[i])
total = jax.shard_map(lambda v: jax.lax.psum(v.sum(), "x"), mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P())
mpi = "mpi4py" in sys.modules
text = f"{total(x)} {jax.jit(total)(x)} {mpi} {jax.distributed.is_initialized()}"
sys.stdout.write(f"process {jax.process_index()} of {jax.process_count()}: {text}\\n")
"""
