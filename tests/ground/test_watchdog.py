"""When a process ends, all end: with a status other than 0 and one line that names process and error."""

import pytest

import processes
from onax._ground.watchdog import _mismatch_of

PROGRAM = """
import os, signal, sys, time
import numpy as np
import onax as jax
from onax import lax
from onax.experimental import multihost_utils
jax.distributed.initialize()
P = jax.P
me, mesh = jax.process_index(), jax.make_mesh((jax.process_count(),), ("x",))
total = jax.jit(jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
most = jax.jit(jax.shard_map(lambda x: lax.pmax(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P()))
x = np.arange(8.0)
total(x), most(x)
if me == 1:
    FAULT
for _ in range(3):
    total(x)
print("done", flush=True)
"""
FAULTS = {
    "raises": ('raise ValueError("bad batch")', "process 1 of 2 ended with ValueError: bad batch"),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "process 1 of 2 has died"),
    "leaves early": ("sys.exit(0)", "process 1 has ended, but process 0 waits for it in psum_invariant"),
    "exits at once": ("os._exit(5)", "process 1 of 2 has died"),
    "runs another order": ("most(x)", "different programs, or in different orders"),
    "runs another shape": ("total(np.arange(16.0))", "different programs, or in different orders"),
    "meets elsewhere": ('multihost_utils.sync_global_devices("here")', "different programs, or in different orders"),
    "is interrupted": ("os.kill(os.getpid(), signal.SIGINT)", "process 1 of 2 ended with KeyboardInterrupt"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_ends_all(tmp_path, fault):
    statement, line = FAULTS[fault]
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("FAULT", statement))
    done = processes.run(2, program, timeout=30)
    assert done.returncode != 0
    assert "done" not in done.stdout
    lines = done.stderr.splitlines() + done.stdout.splitlines()
    ours = any(text.startswith("onax: ") and line in text for text in lines)
    # mpiexec may see first that a process is gone, and end the others before they can say anything; what it prints then
    # depends on how the process ended: nothing for an exit with a status.  An error that both processes raise is in the
    # traceback of one of them when the end of the other loses its last line.
    ours = ours or (line.startswith("different programs") and any(line in text for text in lines))
    theirs = not lines if fault == "exits at once" else any("BAD TERMINATION" in text for text in lines)
    assert ours or ("has died" in line and theirs), lines


def test_no_fault(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("FAULT", "time.sleep(0.5)"))
    done = processes.run(2, program, timeout=30)
    assert (done.returncode, done.stdout.count("done"), done.stderr) == (0, 2, "")


def test_what_is_a_mismatch():
    here = lambda number, digest: (0.0, [[0, 1], number, "f", digest], "psum")
    assert _mismatch_of({0: here(3, "a"), 1: here(3, "b")})
    assert _mismatch_of({0: here(3, "a"), 1: here(3, "a")}) is None
    assert _mismatch_of({0: here(3, "a"), 1: here(4, "b")}) is None
