"""Where arrays are: creation on a device, results that follow their operands, operands committed to different devices.

In a process of its own: the number of virtual CPU devices is chosen before the first array is made.
"""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import copy, json, pickle
import numpy as np
import onax as jax, onax.numpy as jnp
from onax import lax

devices = jax.devices()
x = jnp.arange(3.0)
x1, x2 = jax.device_put(x, devices[1]), jax.device_put(x, devices[2])
i1, i2 = jax.device_put(jnp.arange(2), devices[1]), jax.device_put(jnp.arange(2), devices[2])
on3 = jax.sharding.SingleDeviceSharding(devices[3])
here, there = dict(device=devices[3]), dict(device=on3)

def default_device():
    with jax.default_device(devices[2]):
        return jnp.ones(3)

PLACED = {  # name: (function, device, committed)
    "plain": (lambda: x, 0, False),
    "device_put": (lambda: x1, 1, True),
    "device_put again": (lambda: jax.device_put(x1), 1, True),
    "device_put elsewhere": (lambda: jax.device_put(x1, devices[0]), 0, True),
    "device_put tree": (lambda: jax.device_put(dict(a=x, b=(x, 1)), dict(a=devices[1], b=devices[2]))["b"][1], 2, True),
    "to_device": (lambda: x.to_device(devices[2]), 2, True),
    "default_device": (default_device, 2, False),
    "with uncommitted": (lambda: x + x1, 1, True),
    "with scalar": (lambda: 1 + x1, 1, True),
    "with ndarray": (lambda: np.ones(3, np.float32) + x1, 1, True),
    "method": (lambda: x1.reshape(3, 1).T.sum(), 1, True),
    "index": (lambda: x1[0], 1, True),
    "index array": (lambda: x[i1], 1, True),
    "index scalar array": (lambda: x[i1[0]], 1, True),
    "update": (lambda: x1.at[0].set(5.0), 1, True),
    "update at array": (lambda: x.at[i1].set(5.0), 1, True),
    "zeros_like": (lambda: jnp.zeros_like(x1), 1, True),
    "zeros_like of another rank": (lambda: jnp.zeros_like(x1, shape=()), 1, True),
    "grad": (lambda: jax.grad(lambda a: jnp.sum(a * a))(x1), 1, True),
    "vmap": (lambda: jax.vmap(jnp.sin)(x1), 1, True),
    "jit": (lambda: jax.jit(lambda a, b: a + b)(x, x1), 1, True),
    "jit of nothing": (lambda: jax.jit(lambda: jnp.ones(3))(), 0, False),
    "jit over a committed constant": (lambda: jax.jit(lambda a: a + x1)(x), 0, False),
    "copy": (lambda: copy.deepcopy(x1), 1, True),
    "pickle": (lambda: pickle.loads(pickle.dumps(x1)), 0, False),
    "from_dlpack": (lambda: jnp.from_dlpack(np.ones(3, np.float32)), 0, True),
}
CREATED = {
    "zeros": lambda **k: jnp.zeros(3, **k), "ones": lambda **k: jnp.ones(3, **k), "eye": lambda **k: jnp.eye(3, **k),
    "full": lambda **k: jnp.full(3, 1.0, **k), "arange": lambda **k: jnp.arange(3, **k),
    "empty": lambda **k: jnp.empty(3, **k),
    "linspace": lambda **k: jnp.linspace(0, 1, 3, **k), "array": lambda **k: jnp.array([1, 2], **k),
    "asarray": lambda **k: jnp.asarray(np.ones(2), **k), "zeros_like": lambda **k: jnp.zeros_like(x, **k),
    "ones_like": lambda **k: jnp.ones_like(x, **k), "full_like": lambda **k: jnp.full_like(x, 2, **k),
    "empty_like": lambda **k: jnp.empty_like(x, **k), "astype": lambda **k: x.astype(int, **k),
    "from_dlpack": lambda **k: jnp.from_dlpack(x, **k),
    "lax.full": lambda device: lax.full((3,), 1.0, sharding=device),
}
REFUSED = {
    "add": lambda: x1 + x2,
    "function": lambda: jnp.where(x1 > 0, x2, 0),
    "lax": lambda: lax.add(x1, x2),
    "dot": lambda: x1 @ x2,
    "concatenate": lambda: jnp.concatenate([x1, x2]),
    "index": lambda: x1[i2],
    "scalar index": lambda: x1[i2[0]],
    "update": lambda: x1.at[0].set(x2[0]),
    "update at array": lambda: x1.at[i2].set(1.0),
    "jit": lambda: jax.jit(lambda a, b: a + b)(x1, x2),
    "jit of a tree": lambda: jax.jit(lambda t, b: t["p"] + b)({"p": x1}, x2),
    "grad": lambda: jax.grad(lambda a, b: jnp.sum(a * b))(x1, x2),
    "vmap": lambda: jax.vmap(jnp.multiply)(x1, x2),
}

def where(y):
    (device,) = y.devices()
    assert y.device is device and y.sharding.device_set == {device}
    return device.id, y.committed

def error(f):
    try:
        return repr(f())
    except ValueError as e:
        return str(e)

print(json.dumps({
    "environment": [jax.device_count(), str(devices[3]), devices[3].local_hardware_id],
    "placed": {n: [list(where(f())), [d, c]] for n, (f, d, c) in PLACED.items()},
    "created": {n: [where(f(**k)) for k in (here, there)] for n, f in CREATED.items()},
    "refused": {n: error(f) for n, f in REFUSED.items()},
    "no device": [error(lambda: jnp.zeros(3, device="cpu")), error(lambda: jax.device_put(x, 3))],
}))
"""


@pytest.fixture(scope="module")
def report():
    environment = {**os.environ, "JAX_NUM_CPU_DEVICES": "4"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_number_of_devices_comes_from_the_environment(report):
    assert report["environment"] == [4, "cpu:3", 3]


def test_results_follow_their_operands(report):
    assert {name: have for name, (have, _) in report["placed"].items()} == {
        n: w for n, (_, w) in report["placed"].items()
    }


def test_creation_on_a_device_or_sharding(report):
    assert {name: places for name, places in report["created"].items() if places != [[3, True]] * 2} == {}


def test_operands_committed_to_different_devices(report):
    wanted = "Received incompatible devices for jitted computation. Got argument "
    assert {name: text for name, text in report["refused"].items() if not text.startswith(wanted)} == {}
    assert report["refused"]["jit of a tree"] == (
        wanted
        + "t['p'] of <lambda>.<locals>.<lambda> with shape float32[3] and with device ids [1] on platform CPU and "
        "argument b of <lambda>.<locals>.<lambda> with shape float32[3] and with device ids [2] on platform CPU"
    )


def test_what_is_no_device(report):
    assert [text.split(",")[0] for text in report["no device"]] == ["`jax.device_put` only accepts `None`"] * 2
