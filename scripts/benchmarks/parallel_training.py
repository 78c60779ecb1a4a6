"""What processes exchange in a step of training, counted in the partitioned programs, and how steps scale.

    python scripts/benchmarks/parallel_training.py                          bytes, for up to 1,024 processes
    mpiexec -n 4 python scripts/benchmarks/parallel_training.py --measure   seconds of a step in four processes

Bytes are those that one process sends in a step if each collective takes as few as any algorithm can (a ring does:
2 (n - 1) / n of a value for a sum, (n - 1) / n for a gather or scatter, the value for a permutation).  The bound is
what the kind of training needs: the sum of all gradients; the activations of each block, summed forward and backward;
the activations at the boundaries of stages.
"""

import argparse
import math
import time

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax import lax
from onax._compile.devices.spmd import partition
from onax._control.scan_rules import scan_p
from onax._core.axes import names_of
from onax._core.facts import NAMED_AXIS
from onax._core.jaxpr import jaxprs_in_params
from onax._ground.devices import Device
from onax._prims.collectives import axis_index_p, ppermute_p, pvary_p
from onax.experimental import multihost_utils
from onax.sharding import AxisType, Mesh, NamedSharding
from onax.sharding import PartitionSpec as P

WIDTH, INNER, BLOCKS, BATCH, MICROBATCHES = 1024, 4096, 4, 4096, 8
COUNTS = (2, 4, 16, 64, 256, 1024)


def mesh_of(count):
    """A mesh of devices that nobody runs a program on."""
    devices = [Device("cpu", i, separate=True) for i in range(count)]
    return Mesh(np.array(devices, object), ("x",), (AxisType.Auto,))


def loss(weights, x):
    """A network of blocks of two layers each."""
    for up, down in weights:
        x = x + jnp.tanh(x @ up) @ down
    return jnp.mean(x**2)


def train_step(weights, x):
    """(new weights, loss)."""
    value, grads = jax.value_and_grad(loss)(weights, x)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, grads), value


def types():
    """The types of weights and batch."""
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, np.float32)
    return [(f32(WIDTH, INNER), f32(INNER, WIDTH))] * BLOCKS, f32(BATCH, WIDTH)


def sent(jaxpr, mesh, times=1):
    """(messages, bytes) that a device sends in a program; a message is one collective."""
    messages, size = 0, 0
    for eqn in jaxpr.eqns:
        p = eqn.params
        if NAMED_AXIS in eqn.primitive.facts and eqn.primitive not in (axis_index_p, pvary_p):
            n = math.prod(mesh.shape[a] for a in names_of(p["axes"] if "axes" in p else p["axis_name"]))
            whole = max(x.aval.size * x.aval.dtype.itemsize for x in (*eqn.invars, *eqn.outvars))
            share = 1 if eqn.primitive is ppermute_p else (n - 1) / n * (2 if "axes" in p else 1)
            messages, size = messages + times, size + times * whole * share
        for inner in jaxprs_in_params(p):
            more = sent(inner, mesh, times * (p["length"] if eqn.primitive is scan_p else 1))
            messages, size = messages + more[0], size + more[1]
    return messages, size


def partitioned(count, weight_specs, batch_spec):
    """(messages, bytes) of `train_step` with weights and batch split in a way."""
    mesh = mesh_of(count)
    weights, x = types()
    program = jax.make_jaxpr(train_step)(weights, x)
    specs = [*jax.tree.leaves([weight_specs] * BLOCKS, is_leaf=lambda s: isinstance(s, P)), batch_spec]
    made, _ = partition(program, mesh, specs, [*specs[:-1], P()])
    return sent(made, mesh)


def pipeline(count):
    """(messages, bytes) of a pipeline in which each process has one block, by ppermute in a scan over microbatches."""
    mesh, rows = mesh_of(count), BATCH // MICROBATCHES

    def stage(weights, batches):
        up, down = (w[0] for w in weights)

        def tick(carry, i):
            x = jnp.where(lax.axis_index("x") == 0, batches[jnp.minimum(i, MICROBATCHES - 1)], carry)
            y = x + jnp.tanh(x @ up) @ down
            return lax.ppermute(y, "x", [(k, k + 1) for k in range(count - 1)]), jnp.mean(y**2)

        _, losses = lax.scan(tick, jnp.zeros((rows, WIDTH)), jnp.arange(MICROBATCHES + count - 1))
        return losses[-MICROBATCHES:].sum()[None]

    total = jax.shard_map(stage, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"), check_vma=False)
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, np.float32)
    weights = f32(count, WIDTH, INNER), f32(count, INNER, WIDTH)
    program = jax.make_jaxpr(jax.grad(lambda w, x: total(w, x)[-1]))(weights, f32(MICROBATCHES, rows, WIDTH))
    return sent(program, mesh)


def bounds(count):
    """The fewest bytes that a process sends: in data-, tensor- and pipeline-parallel training."""
    share, parameters = (count - 1) / count, BLOCKS * 2 * WIDTH * INNER
    activations = 4 * BATCH * WIDTH
    # the first block needs no derivative with respect to its input
    tensor = 2 * share * activations * (2 * BLOCKS - 1)
    return 2 * share * 4 * parameters, tensor, 2 * activations


def table():
    """Rows of the table, as text in Markdown."""
    lines = ["| processes | data-parallel | of the bound | tensor-parallel | of the bound | pipeline | of the bound |",
             "| --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for count in COUNTS:
        found = [
            partitioned(count, (P(), P()), P("x")),
            partitioned(count, (P(None, "x"), P("x")), P()),
            pipeline(count),
        ]
        cells = [f"{size / 1e6:,.1f} MB in {n} | {size / bound:.2f}" for (n, size), bound in zip(found, bounds(count))]
        lines.append(f"| {count:,} | {' | '.join(cells)} |")
    return "\n".join(lines)


def measure(width=512, batch=2048, steps=12):
    """Prints, of a data-parallel step, the least seconds, and the processor time of all processes together.

    On a machine that others use, too, only the second says something.
    """
    jax.distributed.initialize()
    mesh = jax.make_mesh((jax.device_count(),), ("x",), (AxisType.Auto,))
    whole, split = NamedSharding(mesh, P()), NamedSharding(mesh, P("x"))
    rng = np.random.default_rng(0)
    weights = [
        tuple((rng.normal(size=s) / 30).astype(np.float32) for s in ((width, 2 * width), (2 * width, width)))
    ] * 2
    put = lambda x, s: jax.make_array_from_callback(x.shape, s, lambda index: x[index])
    weights = jax.tree.map(lambda w: put(w, whole), weights)
    x = put(rng.normal(size=(batch, width)).astype(np.float32), split)
    step, best = jax.jit(train_step), math.inf
    weights, value = step(weights, x)
    used = time.process_time()
    for _ in range(steps):
        started = time.perf_counter()
        weights, value = step(weights, x)
        float(value)
        best = min(best, time.perf_counter() - started)
    used = np.float64(time.process_time() - used) / steps
    total = multihost_utils.process_allgather(used).sum()
    if jax.process_index() == 0:
        count = jax.process_count()
        print(f"{count} processes: {best * 1e3:.1f} ms a step, {total * 1e3:.1f} ms of processor time in all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="time a data-parallel step in the processes of mpiexec")
    if parser.parse_args().measure:
        measure()
    else:
        print(table())
