"""Names of nodes: the functions that lead to an operation, and the operator."""

import functools

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax import lax
from onax.export import export
from onax.export.graph.naming import code_of

X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def layer(x):
    return jnp.tanh(jnp.exp(x) + 1)


def block(x):
    return layer(layer(x)) - 1


def model(x):
    return block(x) * jnp.sin(x)


class Net:
    def __call__(self, x):
        return self.hidden(x)

    def hidden(self, x):
        return jnp.exp(x) + 1


def names(fun, *args, **options):
    return [node.name for node in export(fun, **options)(*args).onnx_model.graph.node]


def test_names_are_scopes_and_operators():
    assert names(model, X) == [
        "block/layer/Exp", "block/layer/Add", "block/layer/Tanh",
        "block/layer/Exp_1", "block/layer/Add_1", "block/layer/Tanh_1", "block/Sub", "Sin", "Mul",
    ]  # fmt: skip


def test_values_have_the_names_of_their_nodes_and_outputs_their_own():
    graph = export(model)(X).onnx_model.graph
    assert [n.output[0] for n in graph.node] == [*[n.name for n in graph.node[:-1]], "out"]


@pytest.mark.parametrize("fun", [onax.jit(model), functools.partial(model), functools.wraps(model)(lambda x: model(x))])
def test_wrapped_functions(fun):
    assert names(fun, X)[:2] == ["block/layer/Exp", "block/layer/Add"]


def test_callable_objects():
    assert names(Net(), X) == ["hidden/Exp", "hidden/Add"]
    assert names(Net().hidden, X) == ["Exp", "Add"]
    assert code_of(Net()) is Net.__call__.__code__ and code_of(len) is None


def test_the_backward_pass_says_so():
    found = names(onax.grad(lambda x: layer(x).sum()), X)
    assert any(name.startswith("backward/") for name in found) and any("layer/" in name for name in found)


def test_lambdas_and_callers_of_the_export_have_no_scope():
    def caller():
        return names(lambda x: (lambda y: jnp.exp(y))(x) + layer(x), X)

    assert caller() == ["Exp", "layer/Add", "layer/Tanh", "Add"]  # one exponential


def test_names_in_loops_and_of_inputs_differ():
    def fun(Exp, x):
        return lax.fori_loop(0, 3, lambda i, y: layer(y) + jnp.exp(y), x) + jnp.exp(Exp)

    exported = export(fun)(X, X)
    found = []

    def collect(graph):
        for node in graph.node:
            found.extend(node.output)
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    collect(attribute.g)

    collect(exported.onnx_model.graph)
    assert len(found) == len(set(found)) and "Exp" not in found
    np.testing.assert_allclose(exported.call(X, X), fun(X, X), rtol=1e-5)


def test_names_do_not_depend_on_earlier_exports():
    first = names(model, X)
    names(block, X)
    assert names(model, X) == first


# ---- scopes


def scaled(x):
    return jnp.tanh(x) * 2


def scoped(x):
    with onax.named_scope("block0"):
        with onax.named_scope("attn"):
            y = jnp.exp(x)
        return scaled(y) + 1


def test_scopes_stand_in_place_of_functions_around_them():
    assert names(scoped, X) == ["block0/attn/Exp", "block0/scaled/Tanh", "block0/scaled/Mul", "block0/Add"]
    assert names(lambda x: scoped(x) - 1, X)[:2] == ["block0/attn/Exp", "block0/scaled/Tanh"]


def test_a_jitted_function_is_within_the_scopes_of_each_caller():
    inner = onax.jit(scaled)

    def twice(x):
        with onax.named_scope("first"):
            x = inner(x)
        with onax.named_scope("second"):
            return inner(x)

    assert names(twice, X) == ["first/scaled/Tanh", "first/scaled/Mul", "second/scaled/Tanh", "second/scaled/Mul"]


def test_bodies_of_loops_are_within_the_scopes_around_them():
    def looped(x):
        with onax.named_scope("loop"):
            return lax.scan(lambda c, row: (scoped(c) + row, None), x[0], x)[0]

    node = next(n for n in export(looped)(X).onnx_model.graph.node if n.op_type == "Scan")
    (body,) = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    assert node.name == "loop/Scan" and "loop/block0/attn/Exp" in [n.name for n in body.node]


def test_scopes_of_decorated_functions_and_of_gradients():
    decorated = onax.named_scope("layer")(lambda x: jnp.exp(x))
    assert names(lambda x: decorated(x) + 1, X) == ["layer/Exp", "Add"]
    called = onax.named_call(lambda x: jnp.exp(x), name="called")
    assert names(lambda x: called(x) + 1, X) == ["called/Exp", "Add"]
    gradient = names(lambda x: onax.grad(lambda x: jnp.sum(scoped(x)))(x), X)
    assert any(name.startswith("backward/block0/") for name in gradient)


def test_scopes_end_with_an_error():
    with pytest.raises(ValueError, match="inside"), onax.named_scope("failed"):
        raise ValueError("inside")
    assert names(lambda x: jnp.exp(x) + 1, X) == ["Exp", "Add"]


def test_scopes_are_in_printed_programs():
    text = onax.make_jaxpr(scoped)(X).pretty_print(name_stack=True)
    assert "[block0/attn]" in text.splitlines()[1] and "[block0]" in text
