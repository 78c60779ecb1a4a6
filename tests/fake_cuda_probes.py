"""What happens on a CUDA device that is not there (scripts/gpu/fake_cuda.py), one probe after another, as JSON.

`tests/scripts/gpu/test_fake_cuda.py` runs this in a process of its own: the libraries of CUDA cannot be unloaded.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts" / "gpu"))

import fake_cuda

fake_cuda.install()  # before anything loads CUDA

import numpy as np

import onax as jax
import onax.numpy as jnp
from onax._native import ort

X = np.arange(12, dtype=np.float32).reshape(4, 3)


class Changes:
    """What changed in the counts of the device within a `with` block: {name: difference}, without zeros."""

    def __enter__(self):
        self.before, self.found = fake_cuda.counts(), None
        return self

    def __exit__(self, *_):
        self.found = {name: n - self.before[name] for name, n in fake_cuda.counts().items() if n != self.before[name]}


def changes_of(function):
    """The changes of a call, without those of allocation and waiting."""
    with Changes() as changes:
        function()
    return {name: n for name, n in changes.found.items() if name not in ("allocated", "freed", "synchronized")}


def binding():
    """Copies of calls that move data, which are right on this device, too."""
    cuda = jax.devices("gpu")[0]
    reshape = jax.jit(lambda x: jnp.reshape(x, (3, 4)))
    x = jax.device_put(X, cuda)
    found = {"first": changes_of(lambda: reshape(x)), "second": changes_of(lambda: reshape(x))}
    with Changes() as waited:
        y = reshape(x)
    found |= {
        "waited": waited.found["synchronized"],
        "shape": changes_of(lambda: (y.shape, y.dtype, len(y), repr(y.aval))),
    }
    found |= {"read": changes_of(lambda: np.asarray(y)), "read again": changes_of(lambda: repr(y))}
    found["right"] = bool(np.array_equal(y, X.reshape(3, 4)))
    empty = jax.jit(lambda x: (jnp.tanh(x), x.shape[0] + jnp.arange(2)))(jax.device_put(X[:0], cuda))
    found["no elements"] = [list(np.asarray(v).shape) for v in empty]
    unbound = jax.jit(lambda x: jnp.reshape(x, (2, 6)), compiler_options={"io_binding": False})
    unbound(x)
    found["without binding"] = changes_of(lambda: unbound(x))
    return found


def chain():
    """Copies of ten training steps."""
    cuda = jax.devices("gpu")[0]
    step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w))
    w, x = jax.device_put((np.ones((3, 5), np.float32), X), cuda)
    w = step(w, x)

    def run():
        nonlocal w
        for _ in range(10):
            w = step(w, x)

    return changes_of(run)


def devices():
    """Two devices, each with its own memory."""
    first, second = jax.devices("gpu")
    f, g = jax.jit(lambda x: jnp.reshape(x, (6, 2))), jax.jit(lambda x: jnp.reshape(x, (3, 4)))
    y = f(jax.device_put(X, first))
    g(jax.device_put(np.zeros((6, 2), np.float32), second))
    found = {"move": changes_of(lambda: g(jax.device_put(y, second)))}
    return found | {"right": np.asarray(g(jax.device_put(y, second))).tolist()}


def memory():
    """What a loop of calls leaves allocated on the device."""
    f = jax.jit(lambda x: jnp.reshape(x, (1000, 1000)))
    x = jax.device_put(np.zeros(1_000_000, np.float32), jax.devices("gpu")[0])
    y = f(x)
    y = f(x)  # the first result still takes a place
    before = fake_cuda.counts()
    for _ in range(50):
        y = f(x)
    del y
    after = fake_cuda.counts()
    return {name: after[name] - before[name] for name in ("allocated", "freed")}


class Producer:
    """An array of another library on the device: hands over what an array of ours exports, and says on which stream."""

    def __init__(self, array):
        self.array, self.asked = array, []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked):
        self.asked.append(asked.get("stream"))
        return self.array.__dlpack__(**asked)


class InterfaceAlone:
    """An array of another library that has only `__cuda_array_interface__`, with a stream."""

    def __init__(self, array):
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | {"stream": 1}


def exchange():
    """DLPack and `__cuda_array_interface__`: pointers, devices, copies."""
    second = jax.devices("gpu")[1]
    y = jax.jit(lambda x: jnp.reshape(x, (3, 4)))(jax.device_put(X, second))
    producer = Producer(y)
    z = jnp.from_dlpack(producer)
    found = {"device": y.__dlpack_device__(), "same memory": z.unsafe_buffer_pointer() == y.unsafe_buffer_pointer()}
    found |= {"streams": producer.asked, "placed": str(z.device), "committed": z.committed}
    found["imported"] = changes_of(lambda: jnp.from_dlpack(Producer(y)))
    found["copied"] = changes_of(lambda: jnp.from_dlpack(Producer(y), copy=True))
    found["computed"] = np.asarray(jax.jit(lambda x: jnp.reshape(x, (2, 6)))(z)).tolist()
    described = y.__cuda_array_interface__
    found["interface"] = {k: v for k, v in described.items() if k != "data"} | {"typestr": described["typestr"]}
    found["pointer"] = described["data"] == (y.unsafe_buffer_pointer(), True)
    x = jax.jit(lambda x: jnp.reshape(x, (3, 4)))(jax.device_put(X, jax.devices("gpu")[0]))
    with Changes() as changes:
        taken = jnp.asarray(InterfaceAlone(x))
    found["taken"] = {name: n for name, n in changes.found.items() if name.endswith(("device", "host", "synchronized"))}
    found["taken right"] = bool(np.array_equal(taken, X.reshape(3, 4))) and str(taken.device) == "cuda:0"
    refused = []
    for stream, to in ((0, None), (None, (2, 0))):
        try:
            y.__dlpack__(stream=stream, dl_device=to, copy=False, max_version=(1, 0))
        except (ValueError, BufferError) as error:
            refused.append(type(error).__name__)
    found["refused"] = refused
    found["host"] = np.from_dlpack(y, device="cpu").tolist()
    return found


def donation():
    """Where the results of calls that donate their argument lie."""
    step = jax.jit(lambda x: jnp.reshape(x, (1000, 1000)) + 1, donate_argnums=0)
    x = jax.device_put(np.zeros((1000, 1000), np.float32), jax.devices("gpu")[0])
    x = step(step(x))
    before, places = fake_cuda.counts(), set()
    for _ in range(20):
        given, x = x, step(x)
        places.add(x.unsafe_buffer_pointer())
    allocated = fake_cuda.counts()["allocated"] - before["allocated"]
    return {"places": len(places), "allocated": allocated, "deleted": given.is_deleted()}


def cuda_graph():
    """A program that is recorded once and replayed, and programs that cannot be."""
    cuda = jax.devices("gpu")[0]
    option = {"cuda_graph": True}
    f = jax.jit(lambda x: jnp.tanh(x) * 2 + x, compiler_options=option)
    x = jax.device_put(X, cuda)
    first = f(x)
    found = {
        "replayed": changes_of(lambda: f(x)),
        "other memory": f(x).unsafe_buffer_pointer() != first.unsafe_buffer_pointer(),
    }
    refused = []
    for function, options in (
        (jnp.arctan, option),
        (lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c), None), x, None, 3)[0], option),
        (jnp.tanh, {"provider_options": {"enable_cuda_graph": 1}}),
    ):
        try:
            jax.jit(function, compiler_options=options)(x)
        except (ValueError, RuntimeError) as error:
            refused.append(str(error))
    return found | {"refused": refused}


def provider_options():
    """The options that the provider gets of a dictionary of them, as it tells them itself."""
    text = ort.cuda_options_text({"use_tf32": 0, "device_id": 1, "gpu_mem_limit": 12345})
    given = dict(pair.split("=") for pair in text.split(";"))
    return {name: given[name] for name in ("use_tf32", "device_id", "gpu_mem_limit")}


def control_flow():
    """A program whose loop has nodes on the CPU and gives results on the device: the host must not touch them there."""
    x = jax.device_put(np.arange(9, dtype=np.float32).reshape(3, 3), jax.devices("gpu")[0])
    results = jax.jit(lambda x: jax.lax.linalg.qr(x, pivoting=True, full_matrices=False))(x)
    found = [list(np.asarray(r).shape) for r in results]
    return found + [list(r.shape) for r in jax.jit(lambda x: jax.lax.approx_min_k(x, 3))(x[0])]


def kept_on_the_host():
    """Predicted against real: the provider loads a program alone if and only if `transfers` finds nothing."""
    cuda = jax.devices("gpu")[0]
    alone = {"config": {"session.disable_cpu_ep_fallback": "1"}}
    found = {}
    for name, function in {
        "tanh": jnp.tanh, "arctan": jnp.arctan, "sort": jnp.sort, "cumsum": lambda x: jnp.cumsum(x, 0), "tan": jnp.tan,
        "softmax": jax.nn.softmax, "argmax": lambda x: jnp.argmax(x, 1), "shift": lambda x: x.astype("uint32") << 3,
    }.items():  # fmt: skip
        predicted = jax.jit(function).lower(X).transfers()
        try:
            jax.jit(function, compiler_options=alone)(jax.device_put(X, cuda))
            loads = True
        except RuntimeError:
            loads = False
        found[name] = [not predicted, loads]
    return found


PROBES = (
    binding,
    chain,
    devices,
    memory,
    exchange,
    donation,
    cuda_graph,
    provider_options,
    control_flow,
    kept_on_the_host,
)

if __name__ == "__main__":
    json.dump({probe.__name__: probe() for probe in PROBES}, sys.stdout)
