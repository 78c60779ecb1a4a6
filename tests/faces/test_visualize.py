"""onax.visualize: the description names every operation, cluster and place; Graphviz turns it into SVG."""

import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import onax
from onax import lax
from onax import numpy as jnp
from onax._compile.passes import form_tapes

X = np.ones((5, 4), np.float32)


def model(params, x):
    h, _ = lax.scan(lambda h, w: (onax.jit(jnp.tanh)(h @ w), None), x, params["w"])
    y = h @ params["head"]
    return lax.cond(y.sum() > 0, lambda v: v * 2.5, jnp.sin, y)


PARAMS = {"w": np.ones((3, 4, 4), np.float32), "head": np.ones((4, 2), np.float32)}


def texts(svg):
    """All texts of a picture, tooltips among them."""
    root = ElementTree.fromstring(svg)
    found = ["".join(e.itertext()) for e in root.iter() if e.tag.endswith(("text", "title"))]
    return found + [v for e in root.iter() for k, v in e.attrib.items() if k.endswith("title")]


def test_jaxpr(tmp_path):
    drawing = onax.visualize(model, PARAMS, X, path=tmp_path / "model.html")
    found = texts(drawing.svg)
    for words in ("params['w']", "f32[3,4,4]", "scan: jaxpr", "jit tanh", "cond: branches[1]", "dot_general", "2.5"):
        assert any(words in text for text in found), words
    assert any("test_visualize.py:" in text and "(model" in text for text in found)
    page = (tmp_path / "model.html").read_text()
    assert page.startswith("<!doctype html>")
    assert drawing.svg in page
    assert drawing._repr_html_() == drawing.svg
    assert repr(drawing) == "<Drawing of model (jaxpr)>"


@pytest.fixture
def in_the_runtime(monkeypatch):
    """Products are no part of tapes, however small they are."""
    monkeypatch.setattr(form_tapes, "FEW_PRODUCTS", 0)
    monkeypatch.setattr(form_tapes, "LOOP_PRODUCTS", 0)


def test_onnx(tmp_path, in_the_runtime):
    drawing = onax.visualize(model, PARAMS, X, kind="onnx")
    found = texts(drawing.svg)
    for words in ("Scan: body", "Tape", "in.0"):
        assert any(words in text for text in found), words
    assert any("test_visualize.py:" in text for text in found)
    drawing.save(tmp_path / "model.dot")
    assert (tmp_path / "model.dot").read_text() == drawing.dot


def test_the_program_after_a_pass():
    assert "cluster" not in onax.visualize(onax.jit(jnp.tanh), X, kind="inline_calls").dot
    assert onax.visualize(lambda x: jnp.sin(x) * x + 1, X, kind="form_tapes").dot.count("shape=box") >= 1


def test_outer_boxes_stay_outside_clusters(in_the_runtime):
    dot = onax.visualize(model, PARAMS, X, kind="onnx").dot
    body = dot[dot.index("subgraph") :]
    assert "->" not in body[: body.rindex("}\n  n")]


def test_every_call_is_a_cluster_that_values_flow_through():
    def f(x):
        return onax.checkpoint(onax.nn.relu)(x)

    dot = onax.visualize(f, X).dot
    clusters = [line.split('"')[1] for line in dot.splitlines() if line.lstrip().startswith("label=")]
    assert clusters == ["remat2", "custom_jvp_call relu", "jit relu"]
    assert dot.count("shape=box") == 1 and dot.count(" -> ") == 2


def test_types_for_values_and_constants():
    table = jnp.arange(3.0)
    drawing = onax.visualize(lambda x: (x + table, 1.0), onax.ShapeDtypeStruct((3,), np.float32))
    assert "constant" in drawing.dot
    assert "result 1" in drawing.dot
    assert "nothing left to compute" in onax.visualize(lambda x: x, X, kind="onnx").dot


def test_errors(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r'kind must be "jaxpr", "onnx" or the name of a pass .*"simplify"'):
        onax.visualize(jnp.sin, X, kind="hlo")
    with pytest.raises(ValueError, match=r"must end with \.svg, \.html or \.dot"):
        onax.visualize(jnp.sin, X, path=tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    onax._ground.lazy.pygraphviz.__dict__.pop("AGraph", None)
    with pytest.raises(ImportError, match="pygraphviz"):
        onax.visualize(jnp.sin, X).svg  # noqa: B018
    shown = onax.visualize(jnp.sin, X)._repr_html_()
    assert "pygraphviz" in shown and "<pre>digraph" in shown and "-&gt;" in shown
