"""What holds for smooth functions: derivatives are differences and adjoints; gradients run in ONNX Runtime."""

import numpy as np
import onnxruntime

import onax as jax
from onax import numpy as jnp
from onax.export import export


def assert_derivatives(function, x):
    """The derivative in a direction is a difference, and reverse mode is its adjoint.  Needs 64 bits."""
    direction = np.cos(np.arange(x.size)).reshape(x.shape)
    out, got = jax.jvp(function, (x,), (direction,))
    step = 1e-6
    ahead, behind = (jax.tree.leaves(function(x + h * direction)) for h in (step, -step))
    for g, a, b in zip(jax.tree.leaves(got), ahead, behind):
        np.testing.assert_allclose(g, (a - b) / (2 * step), 1e-6, 1e-6)
    cts = jax.tree.map(lambda o: np.sin(1.0 + np.arange(o.size)).reshape(o.shape), out)
    (back,) = jax.vjp(function, x)[1](cts)
    forward = sum(np.sum(c * t) for c, t in zip(jax.tree.leaves(cts), jax.tree.leaves(got)))
    np.testing.assert_allclose(np.sum(back * direction), forward, 1e-9, 1e-9)


def assert_gradient_is_exported(function, x):
    """The gradient of the sum of squares, in a file of standard operators and under jit, is the eager one."""
    x = x.astype(np.float32)

    def gradient(x):
        return jax.grad(lambda x: sum(jnp.sum(o**2) for o in jax.tree.leaves(function(x))))(x)

    model = export(gradient)(jax.ShapeDtypeStruct(x.shape, x.dtype)).onnx_model
    assert {n.domain for n in model.graph.node} <= {"", "ai.onnx"}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (got,) = session.run(None, {session.get_inputs()[0].name: x})
    want = np.asarray(gradient(x))
    np.testing.assert_allclose(got, want, 0, 2e-4 * np.abs(want).max())
    np.testing.assert_allclose(jax.jit(gradient)(x), want, 0, 2e-5 * np.abs(want).max())
