"""A node says what it is in messages."""

from onax.onnx.records import Graph, Node


def node(**changes):
    fields = {
        "name": "n1",
        "op_type": "Add",
        "domain": "",
        "overload": "",
        "inputs": (),
        "outputs": (),
        "attributes": {},
    }
    return Node(**{**fields, **changes})


def test_text():
    assert str(node()) == "Add (node 'n1')"
    assert str(node(name="", domain="own")) == "own.Add"


def test_graphs():
    body = Graph("body", (), (), {}, ())
    assert node(attributes={"body": body, "axis": 1}).graphs == {"body": body}
