"""Exported models in Node: WebAssembly and the native addon give what eager evaluation gives."""

import sys
from pathlib import Path

import numpy as np
import pytest

from node.node_runtime import RUNTIMES, missing, run
from onax._ground.errors import LoweringError
from onax.export import export
from portable_cases import CASES, agree, eager

DEMO = Path(__file__).parents[2] / "scripts" / "demo"
STEPS = 20
# What these builds of the runtime have no kernels for.
REFUSED = {
    "bfloat16_arithmetic": "no bfloat16 kernels",
    "bitcasts": "needs opset 26",
    "grad_random_gamma": "no kernel of Where for uint32",
}


def exported_cases():
    """(name, model, inputs, carry) of every case that has a form at the default opset."""
    for name in CASES:
        if name in REFUSED:
            continue
        function, arrays, _ = eager(name)
        try:
            exported = export(function)(*arrays)
        except LoweringError:
            continue  # test_portable says so; the case is then missing here
        feeds = dict(zip(exported.in_names, exported.boundary_arguments(*arrays)))
        yield name, exported, feeds


@pytest.fixture(scope="module", params=RUNTIMES)
def answers(request, tmp_path_factory):
    """Results of every case in one runtime."""
    reason = missing(request.param)
    if reason is not None:
        pytest.skip(reason)
    made = list(exported_cases())
    cases = [(name, e.onnx_model_serialized, [feeds], {}) for name, e, feeds in made]
    found = run(request.param, cases, tmp_path_factory.mktemp("node"))
    return {name: (e, found[name]) for name, e, _ in made}


@pytest.mark.parametrize("name", [n for n in CASES if n not in REFUSED])
def test_functions_in_node(answers, name):
    assert name in answers, "it was not exported"
    exported, outputs = answers[name]
    assert isinstance(outputs, dict), outputs
    _, _, wanted = eager(name)
    agree(exported.results_of([outputs[n] for n in exported.out_names]), wanted, name)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_digits_train_in_node(runtime, tmp_path, monkeypatch):
    """The demo's training step, its own state fed back to it."""
    reason = missing(runtime)
    if reason is not None:
        pytest.skip(reason)
    pytest.importorskip("sklearn")
    monkeypatch.syspath_prepend(DEMO)
    for name in ("data", "model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import data
    import model
    import onax as jax

    (images, labels), _ = data.load()
    batches = [b for b, _ in zip(data.batches(images, labels, 40), range(STEPS))]
    state = model.initial_state()
    exported = export(model.train_step)(state, *batches[0])
    runs = []
    for x, y in batches:
        feeds = dict(zip(exported.in_names, exported.boundary_arguments(state, x, y)))
        runs.append(feeds if not runs else {k: v for k, v in feeds.items() if not k.startswith("state.")})
    carried = [n for n in exported.in_names if n.startswith("state.")]
    carry = dict(zip(carried, exported.out_names))
    found = run(runtime, [("digits", exported.onnx_model_serialized, runs, carry)], tmp_path)["digits"]
    assert isinstance(found, dict), found
    step = jax.jit(model.train_step)
    for x, y in batches:
        state, loss = step(state, x, y)
    wanted = [np.asarray(x) for x in jax.tree.leaves((state, loss))]
    for name, want in zip(exported.out_names, wanted):
        np.testing.assert_allclose(found[name], want, rtol=1e-4, atol=1e-5, err_msg=name)
    first = float(model.loss(model.initial_state()["params"], *batches[0]))
    assert float(found[exported.out_names[-1]]) < 0.5 * first
