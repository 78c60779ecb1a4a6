"""The stand-in for CUDA: in a process of its own, two devices whose sessions are opened on the CPU."""

import subprocess
import sys

import script_modules

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import stand_in
stand_in.install()
import numpy as np
import onax as jax
device = jax.devices("gpu")[1]
x = jax.device_put(np.arange(3, dtype=np.float32), device)
y = jax.jit(lambda v: v * 2 + 1)(x)
print([d.platform for d in jax.devices("gpu")], y.device is device, y.tolist())
"""


def test_sessions_are_opened_on_the_cpu():
    command = [sys.executable, "-c", PROGRAM, str(script_modules.SCRIPTS / "gpu")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == "['gpu', 'gpu'] True [1.0, 3.0, 5.0]", done.stderr
