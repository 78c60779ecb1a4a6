"""onax behind a pipe, so that a crash of the runtime ends this process and not the tests.

Requests are those of `oracle_server.py` ("bind", mode "eager"), or programs (`fuzzing_programs.py`):

    {"kind": "program", "operands": [array...], "steps": [(name, params, places)...], "results": places}

with two entries more: `constants`, the positions of operands that are known when the function is staged, and
`in_session`, whether a session is asked, too.  The answer has the results of the ways to evaluate:

    {"eager": answer, "jit": answer, "session": answer, "portable": answer}
    answer: {"ok": [array...]} or {"error": name, "message"}

jit is a tape, if the program is one; session the native session of the newest opset; portable the graph that is
exported, at opset 21, run as it is: the runtime alone.
"""

import pickle
import struct
import sys

import numpy as np

import fuzzing
import onax as jax
from onax import lax
from onax._ground import onnx_runtime
from onax._ground.config import direct_tapes, enable_x64
from onax._native import ort
from onax._prims.indexing import _combiner
from onax._transforms.abstract import make_jaxpr
from onax.export.graph.proto import to_session
from onax.export.lower import driver

EXPORTED = 21
COMBINED = {
    "scatter-add": lax.add_p,
    "scatter-sub": lax.sub_p,
    "scatter-mul": lax.mul_p,
    "scatter-min": lax.min_p,
    "scatter-max": lax.max_p,
}
_PRIMITIVES = {p.name: p for p in fuzzing.primitives()}


def decode(value):
    """A request's value: arrays, dtypes, records and enumerations are rebuilt."""
    if not isinstance(value, tuple) or not value:
        return value
    if value[0] == "array":
        _, name, shape, data, _ = value
        return np.frombuffer(data, np.dtype(getattr(jax.numpy, name, name))).reshape(shape)
    if value[0] == "dtype":
        return np.dtype(getattr(jax.numpy, value[1], value[1]))
    if value[0] == "record":
        return getattr(lax, value[1])(**{k: decode(v) for k, v in value[2].items()})
    if value[0] == "primitive":
        return _PRIMITIVES[value[1]]
    if value[0] == "enum":
        return getattr(getattr(lax, value[1]), value[2])
    return tuple(decode(v) for v in value[1]) if value[0] == "tuple" else value


def flat(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def encoded(outs):
    return [(x.dtype.name, x.shape, x.tobytes(), False) for x in map(np.asarray, outs)]


def portable(function, operands):
    """The results of the exported graph, optimised as for others by default; complex numbers have an axis of 2."""
    jaxpr = make_jaxpr(function)(*operands)
    model, inputs, outputs, shared = to_session(driver.lower_jaxpr(jaxpr, opset=EXPORTED))
    session = ort.Session(model, inputs, outputs, initializers=shared, options={"optimization": 99})
    results = session.run([_parts(x) for x in operands])
    return [_whole(x, v.aval.dtype) for x, v in zip(results, jaxpr.outvars)]


def _parts(x):
    return np.stack([x.real, x.imag], -1) if x.dtype.kind == "c" else x


def _whole(x, dtype):
    if dtype.kind != "c":
        return x
    out = np.empty(x.shape[:-1], dtype)
    out.real, out.imag = x[..., 0], x[..., 1]
    return out


def answer(function, *args):
    """The results, or the error."""
    try:
        return {"ok": encoded(flat(function(*args)))}
    except Exception as error:  # what is raised is the answer
        return {"error": type(error).__name__, "message": str(error)}


def parameters(name, params, operand):
    """A request's parameters, with those that its server makes."""
    params = {k: decode(v) for k, v in params.items()}
    if name.startswith("scatter"):
        combine = COMBINED.get(name)
        params["update_jaxpr"] = None if combine is None else _combiner(combine, operand.dtype)
        params["update_consts"] = ()
    return params


def program(request, operands):
    """The function of all operands that a request means."""
    if request["kind"] == "bind":
        name = request["primitive"]
        params = parameters(name, request["params"], operands[0] if operands else None)
        return lambda *xs: _PRIMITIVES[name].bind(*xs, **params)
    steps = [(_PRIMITIVES[name], parameters(name, params, None), places) for name, params, places in request["steps"]]

    def function(*xs):
        values = list(xs)
        for primitive, params, places in steps:
            values.append(primitive.bind(*(values[i] for i in places), **params))
        return [values[i] for i in request["results"]]

    return function


def evaluate(request):
    """The answers to one request."""
    operands = [decode(x) for x in request["operands"]]
    whole = program(request, operands)
    dynamic = [i for i in range(len(operands)) if i not in request["constants"]]

    def function(*xs):
        full = list(operands)
        for i, x in zip(dynamic, xs):
            full[i] = x
        return whole(*full)

    given = [operands[i] for i in dynamic]
    answers = {
        "eager": answer(function, *given),
        "jit": answer(jax.jit(function), *given),
        "portable": answer(portable, function, given),
    }
    if request["in_session"]:
        with direct_tapes(False):
            answers["session"] = answer(jax.jit(function), *given)
    return answers


def main():
    ort.attach(onnx_runtime.find_runtime().library)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    with enable_x64(True):
        while header := source.read(4):
            data = pickle.dumps(evaluate(pickle.loads(source.read(struct.unpack("<I", header)[0]))))
            sink.write(struct.pack("<I", len(data)) + data)
            sink.flush()


if __name__ == "__main__":
    main()
