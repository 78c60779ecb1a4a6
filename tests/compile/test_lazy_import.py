"""What is imported when: the compiler by the first call, the package of several devices only by what needs it."""

import subprocess
import sys

COMPILER = ("onax._compile.pipeline", "onax.export.lower")
DEVICES = "onax._compile.devices"
USES_OF_ONE_DEVICE = {
    "a call": "onax.jit(jnp.sin)(jnp.ones(3))",
    "a loop": "onax.jit(lambda x: onax.lax.fori_loop(0, 3, lambda i, c: c * 2, x))(jnp.ones(3))",
    "a gradient": "onax.jit(onax.grad(lambda x: jnp.sin(x) ** 2))(1.0)",
    "a committed argument": "onax.jit(jnp.sin)(onax.device_put(jnp.ones(3), onax.devices()[0]))",
    "a donated argument": "onax.jit(jnp.sin, donate_argnums=0)(jnp.ones(3))",
    "stages": "onax.jit(jnp.sin).lower(jnp.ones(3)).compile()(jnp.ones(3))",
}


def modules_after(*steps):
    """The modules of onax that a fresh interpreter has after each of these steps, which it takes in turn."""
    report = "print(*[m for m in sys.modules if m[:5] == 'onax.'])"
    program = "\n".join(["import sys, onax", "import onax.numpy as jnp", *(f"{step}; {report}" for step in steps)])
    lines = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return [set(line.split()) for line in lines.splitlines()]


def test_what_compiles_nothing_imports_no_compiler():
    steps = ["0", "onax.make_jaxpr(onax.jit(jnp.sin))(1.0)", "onax.grad(jnp.sin)(1.0)"]
    for step, modules in zip(steps, modules_after(*steps), strict=True):
        assert not {*COMPILER, DEVICES} & modules, step


def test_one_device_imports_nothing_of_several():
    for use, modules in zip(USES_OF_ONE_DEVICE, modules_after(*USES_OF_ONE_DEVICE.values()), strict=True):
        assert {*COMPILER} <= modules, use
        assert not [m for m in modules if m.startswith(DEVICES)], use


def test_a_mesh_imports_what_several_devices_need():
    (modules,) = modules_after(
        "from onax.sharding import Mesh, PartitionSpec as P; import numpy as np; "
        "mesh = Mesh(np.array(onax.devices()), ('i',)); "
        "onax.jit(onax.shard_map(jnp.sin, mesh=mesh, in_specs=P('i'), out_specs=P('i')))(jnp.ones(2))"
    )
    assert f"{DEVICES}.sharding_propagation" in modules
