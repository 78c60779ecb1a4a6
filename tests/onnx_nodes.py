"""Models of one node, and the comparison of what onax.onnx makes of them with ONNX Runtime."""

import itertools

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import onax as jax
from onax.test_util import check_grads

RNG = np.random.default_rng(0)


def floats(*shape, dtype=np.float32, low=-2.0, high=2.0):
    """Random numbers."""
    return RNG.uniform(low, high, shape).astype(dtype)


def distinct(*shape):
    """Random numbers that differ by a tenth or more, so that small steps do not change their order."""
    count = int(np.prod(shape))
    return ((RNG.permutation(count) - count / 2) / 10).astype(np.float32).reshape(shape)


def integers(*shape, low=-5, high=6, dtype=np.int64):
    """Random integers."""
    return RNG.integers(low, high, shape).astype(dtype)


def constant(*values, dtype=np.int64):
    """An input that decides shapes or attributes."""
    return np.array(values, dtype)


def model_of(op_type, inputs, outputs=1, opset=21, domain="", initializers=(), **attributes):
    """A model with one node; an input of None is left out; `initializers`: positions of inputs that are constants."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op_type, names, results, domain=domain, **attributes)
    ports, constants = [], []
    for i, (name, x) in enumerate(zip(names, inputs)):
        if i in initializers:
            constants.append(numpy_helper.from_array(x, name))
        elif x is not None:
            ports.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape))
    ends = [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in results]
    graph = helper.make_graph([node], "one_node", ports, ends, constants)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def expected(model, inputs, reference=False):
    """The outputs by ONNX Runtime, or by onnx's reference evaluator."""
    names = [port.name for port in model.graph.input]
    values = dict(zip(names, [x for x in inputs if x is not None]))
    if reference:
        return ReferenceEvaluator(model).run(None, values)
    typed = onnx.shape_inference.infer_shapes(model)
    session = onnxruntime.InferenceSession(typed.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, values)


def as_tuple(results):
    """The outputs of a model's call as a tuple."""
    return results if isinstance(results, tuple) else (results,)


def check(op_type, *inputs, tolerance=1e-5, reference=False, grad=True, jit=True, outputs=1, opset=21, **attributes):
    """Compares a node, eagerly and under jit, with ONNX Runtime, and its gradient with differences."""
    inputs = [x if x is None else np.asarray(x) for x in inputs]
    message = model_of(op_type, inputs, outputs, opset, **attributes)
    given = [x for x in inputs if x is not None]
    answers = expected(message, given, reference)
    model = jax.onnx.load(message)
    static = [value.name in model.static_inputs for value in model.inputs]
    traced = [x for x, fixed in zip(given, static) if not fixed]

    def call(*values):
        rest = iter(values)
        return model(model.params, *[x if fixed else next(rest) for x, fixed in zip(given, static)])

    for function in (call, jax.jit(call)) if jit else (call,):
        results = as_tuple(function(*traced))
        assert len(results) == len(answers)
        for got, answer in zip(results, answers):
            assert got.dtype == answer.dtype and got.shape == answer.shape
            np.testing.assert_allclose(np.asarray(got), answer, rtol=tolerance, atol=tolerance)
    if grad:
        check_gradient(call, traced)


def check_gradient(call, traced):
    """Compares the gradient with respect to the floating-point inputs with differences."""
    positions = [i for i, x in enumerate(traced) if x.dtype.kind == "f"]

    def of_floats(*values):
        arguments = list(traced)
        for i, value in zip(positions, values):
            arguments[i] = value
        return [y for y in as_tuple(call(*arguments)) if y.dtype.kind == "f"]

    check_grads(of_floats, [traced[i] for i in positions], order=1, modes=["rev"], atol=2e-2, rtol=2e-2, eps=1e-2)


def combinations(**options):
    """All combinations of attributes, as dictionaries."""
    return [dict(zip(options, values)) for values in itertools.product(*options.values())]


def mutated(raw, generator):
    """Bytes with up to three changes: another byte, bytes taken out or put in, an early end."""
    result = bytearray(raw)
    for _ in range(generator.randint(1, 3)):
        if not result:
            break
        at, kind = generator.randrange(len(result)), generator.random()
        if kind < 0.6:
            result[at] = generator.randrange(256)
        elif kind < 0.75:
            del result[at : at + generator.randint(1, 20)]
        elif kind < 0.9:
            result[at:at] = generator.randbytes(generator.randint(1, 8))
        else:
            del result[at:]
    return bytes(result)
