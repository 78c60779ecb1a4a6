"""The workloads of the proof: each has arguments and a function, which runs on small ones and gives what it names."""

import numpy as np
import pytest

import onax as jax
import script_modules


@pytest.fixture(scope="module")
def workloads():
    with script_modules.imported("gpu", "workloads") as modules:
        yield modules.workloads


@pytest.fixture
def constant(workloads, monkeypatch):
    """The module, whose large arguments are constants that take no memory."""
    monkeypatch.setattr(workloads, "_normal", lambda seed, *shape: np.broadcast_to(np.float32(0.01), shape))
    return workloads


def test_each_has_arguments_and_a_function(constant):
    assert list(constant.functions(jax)) == list(constant.arguments())
    for args, work in constant.arguments().values():
        assert work is None or work > 0
        assert all(isinstance(x, np.ndarray) for x in jax.tree.leaves(args))


def test_types_of_results(constant):
    """Each function takes its arguments; nothing is computed."""
    arguments = constant.arguments()
    for name, function in constant.functions(jax).items():
        args = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), arguments[name][0])
        out = jax.eval_shape(function, *args)
        assert all(np.issubdtype(x.dtype, np.floating) or x.dtype.kind in "iuV" for x in jax.tree.leaves(out)), name


def test_a_training_step_lowers_the_loss(workloads):
    step = jax.jit(workloads._mlp_step(jax))
    params, images, labels = workloads._mlp_arguments()
    images, labels = images[:64], labels[:64]

    def loss(p):
        h = images
        for w, b in p[:-1]:
            h = np.maximum(h @ np.asarray(w) + np.asarray(b), 0)
        logits = h @ np.asarray(p[-1][0]) + np.asarray(p[-1][1])
        return float(np.mean(np.log(np.exp(logits).sum(-1)) - (logits * labels).sum(-1)))

    before = loss(params)
    for _ in range(5):
        params = step(params, images, labels)
    assert loss(params) < before
