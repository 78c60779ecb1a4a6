"""Real JAX behind a pipe: run by the Python that has it, it answers pickled requests until its input ends.

Requests and answers are dictionaries of plain Python values; arrays travel as (dtype name, shape, bytes, weak type).

    {"kind": "bind", "primitive": name, "operands": [array...], "params": {...}, "mode": "eager" | "vmap" | "grad"}
    {"kind": "jaxpr", "module": path, "case": name}     the text of make_jaxpr of a case of that module
    {"kind": "call", "module": path, "case": name}      the flat results of a case
    {"kind": "version"}                                 the version of JAX
"""

import importlib.util
import os
import pickle
import struct
import sys

import numpy as np

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.extend.core
import jax.numpy as jnp
from jax import lax
from jax._src.interpreters import mlir

_modules = {}
# What has rules for every platform, for this one, or is public where several platforms share a rule.
_PRIMITIVES = {
    p.name: p
    for rules in (vars(lax.linalg).values(), mlir._platform_specific_lowerings["cpu"], mlir._lowerings)
    for p in rules
    if isinstance(p, jax.extend.core.Primitive)
}


def _dtype(name):
    return jax.dtypes.float0 if name == "float0" else np.dtype(getattr(jnp, name, name))


def decode(value):
    """A request's value: arrays, dtypes, JAX's records and enumerations are rebuilt."""
    if isinstance(value, tuple) and value and value[0] == "array":
        _, name, shape, data, weak = value
        array = np.frombuffer(data, _dtype(name)).reshape(shape)
        if weak:
            return lax._convert_element_type(jnp.asarray(array), weak_type=True)
        return jnp.asarray(array)
    if isinstance(value, tuple) and value and value[0] == "dtype":
        return _dtype(value[1])
    if isinstance(value, tuple) and value and value[0] == "record":
        return getattr(lax, value[1])(**{k: decode(v) for k, v in value[2].items()})
    if isinstance(value, tuple) and value and value[0] == "enum":
        return getattr(getattr(lax, value[1]), value[2])
    if isinstance(value, tuple) and value and value[0] == "primitive":
        return _primitive(value[1])
    if isinstance(value, tuple) and value and value[0] == "tuple":
        return tuple(decode(v) for v in value[1])
    return value


def encode(value):
    """An array as plain values."""
    aval = jax.typeof(value)
    array = np.asarray(value)
    name = "float0" if array.dtype == jax.dtypes.float0 else array.dtype.name
    return (name, array.shape, array.tobytes(), bool(getattr(aval, "weak_type", False)))


def _primitive(name):
    return _PRIMITIVES[name]


def _flat(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


# Parameters of JAX's primitives that onax's do not have, because they only steer XLA.
STEERING = {
    "accuracy": frozenset("cbrt cos exp exp2 expm1 log log1p log2 logistic rsqrt sin sqrt tan tanh".split()),
    "out_dtype": frozenset(("mul",)),
}


SCATTERS = {
    "scatter": lax.scatter,
    "scatter-add": lax.scatter_add,
    "scatter-sub": lax.scatter_sub,
    "scatter-mul": lax.scatter_mul,
    "scatter-min": lax.scatter_min,
    "scatter-max": lax.scatter_max,
}


def bind(request):
    with jax.enable_x64(True):
        return _bind(request)


def _bind(request):
    primitive = _primitive(request["primitive"])
    params = {k: decode(v) for k, v in request["params"].items()}
    params.update((k, None) for k, names in STEERING.items() if primitive.name in names)
    operands = [decode(x) for x in request["operands"]]
    if primitive.name in SCATTERS:
        f = lambda *xs: SCATTERS[primitive.name](*xs, **params)
    else:
        f = lambda *xs: primitive.bind(*xs, **params)
    if request["mode"] == "eager":
        return [encode(x) for x in _flat(f(*operands))]
    if request["mode"] == "vmap":
        return [encode(x) for x in _flat(jax.vmap(f, in_axes=tuple(request["in_axes"]))(*operands))]
    active = [i for i, x in enumerate(operands) if jnp.issubdtype(x.dtype, jnp.inexact)]

    def of_active(*xs):
        full = list(operands)
        for i, x in zip(active, xs):
            full[i] = x
        return f(*full)

    out, pull = jax.vjp(of_active, *(operands[i] for i in active))
    cts = [jnp.ones(o.shape, o.dtype) for o in _flat(out)]
    ct = tuple(cts) if isinstance(out, tuple) else cts if isinstance(out, list) else cts[0]
    return [encode(x) for x in pull(ct)]


def _case(request):
    path = request["module"]
    if path not in _modules:
        spec = importlib.util.spec_from_file_location("cases", path)
        _modules[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(_modules[path])
    return _modules[path].cases(jax)[request["case"]]


def jaxpr(request):
    function, args, *options = _case(request)
    if options == ["text"]:
        return str(function(*args))
    return str(jax.make_jaxpr(function, **(options[0] if options else {}))(*args))


def call(request):
    function, args = _case(request)
    return [encode(x) for x in jax.tree_util.tree_leaves(function(*args))]


def version(request):
    return jax.__version__


KINDS = {"version": version, "bind": bind, "jaxpr": jaxpr, "call": call}


def main():
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while header := source.read(4):
        request = pickle.loads(source.read(struct.unpack("<I", header)[0]))
        try:
            answer = {"ok": KINDS[request["kind"]](request)}
        except BaseException as error:  # whatever JAX raises is the answer
            answer = {"error": type(error).__name__, "message": str(error)}
        data = pickle.dumps(answer)
        sink.write(struct.pack("<I", len(data)) + data)
        sink.flush()


if __name__ == "__main__":
    main()
