"""Artefacts: trees as JSON, seals, refusals of damaged files, files written in one step."""

import os
import random
import stat
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

from onax._core.paths import tree_leaves_with_path
from onax._ground.errors import ArtifactError, ExportError
from onax._native.tree import register_pytree_node, tree_structure
from onax._transforms.abstract import ShapeDtypeStruct
from onax.export import (
    artifact,
    deserialize,
    export,
    load,
    register_namedtuple_serialization,
    register_pytree_node_serialization,
    symbolic_shape,
)
from onax.lax import sin
from onnx_nodes import mutated

Point = namedtuple("Point", "x y")
Registered = namedtuple("Registered", "a b")
register_namedtuple_serialization(Registered, serialized_name="tests.Registered")


class Box:
    def __init__(self, content, label):
        self.content = content
        self.label = label


register_pytree_node(Box, lambda box: ((box.content,), box.label), lambda label, children: Box(children[0], label))
register_pytree_node_serialization(
    Box,
    serialized_name="tests.Box",
    serialize_auxdata=lambda label: label.encode(),
    deserialize_auxdata=lambda raw: raw.decode(),
)


@pytest.mark.parametrize(
    "tree",
    [
        1,
        None,
        (),
        [],
        {},
        (1, [2, None], {"b": 3, "a": (4,)}),
        {3: 1, 1: 2},
        {(1, "x"): 1, (0, "y"): 2},
        OrderedDict([("z", 1), ("a", 2)]),
        Registered(1, [2]),
        Box((1, 2), "label"),
    ],
)
def test_trees_come_back(tree):
    assert artifact.tree_from_json(artifact.tree_to_json(tree)) == tree_structure(tree)


def test_unregistered_classes_come_back_as_records():
    back = artifact.tree_from_json(artifact.tree_to_json({"p": Point(1, 2)})).unflatten([10, 20])
    assert back["p"]._fields == ("x", "y") and type(back["p"]).__name__ == "Point" and back["p"].y == 20
    plain = artifact.tree_from_json(artifact.tree_to_json(defaultdict(int, a=1)))
    assert plain == tree_structure({"a": 1})


@pytest.mark.parametrize("bad", [{"fruit": 1}, 3, [], {"node": "nobody", "data": "", "children": []}])
def test_bad_trees(bad):
    with pytest.raises(ArtifactError):
        artifact.tree_from_json(bad)


def test_bad_keys():
    with pytest.raises(ExportError, match="cannot be written"):
        artifact.tree_to_json({b"raw": 1})


def test_double_registration():
    with pytest.raises(ValueError, match="Duplicate serialization registration for type"):
        register_namedtuple_serialization(Registered, serialized_name="other")
    with pytest.raises(ValueError, match="Duplicate serialization registration for serialized_name"):
        register_namedtuple_serialization(namedtuple("New", "a"), serialized_name="tests.Registered")
    with pytest.raises(ValueError, match="register_pytree_node_serialization"):
        register_namedtuple_serialization(int, serialized_name="int")


@pytest.fixture(scope="module")
def exported():
    (b,) = symbolic_shape("b", constraints=["b >= 2"])
    return export(lambda box, p: {"y": sin(box.content), "p": p})(
        Box(ShapeDtypeStruct((b, 3), np.float32), "left"), Point(ShapeDtypeStruct((), np.int32), None)
    )


def test_round_trip(exported, tmp_path):
    path = tmp_path / "f.onnx"
    exported.save(path)
    back = load(path)
    for field in ("in_names", "out_names", "in_avals", "opset", "constraints", "symbolic_dimensions", "fun_name"):
        assert str(getattr(back, field)) == str(getattr(exported, field))
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    args = (Box(x, "left"), Point(np.int32(4), None))
    one, two = exported.call(*args), back.call(*args)
    np.testing.assert_array_equal(one["y"], two["y"])
    assert int(two["p"].x) == 4 and two["p"].y is None and isinstance(one["p"], Point)
    with pytest.raises(ValueError, match="constraint b >= 2"):
        back.call(Box(x[:1], "left"), args[1])
    assert [p for p, _ in tree_leaves_with_path(two)] == [p for p, _ in tree_leaves_with_path(one)]


def test_metadata_is_readable(exported):
    entries = {e.key: e.value for e in exported.onnx_model.metadata_props}
    assert entries["onax.format"] == "1" and "test_artifact.py" in entries["onax.source"]
    assert '"constraints":["b >= 2"]' in entries["onax.signature"] and len(entries["onax.digest"]) == 64


def flipped(raw, place):
    changed = bytearray(raw)
    changed[place] ^= 1
    return changed


@pytest.mark.parametrize(
    "damage",
    [
        lambda raw: b"",
        lambda raw: b"not a model",
        lambda raw: raw[: len(raw) // 2],
        lambda raw: raw[:-1],
        lambda raw: flipped(raw, len(raw) // 3),
        lambda raw: flipped(raw, len(raw) - 3),
        lambda raw: raw + b"\x00",
        lambda raw: raw.replace(b'"opset', b'"Opset') if b'"opset' in raw else flipped(raw, 10),
    ],
)
def test_damaged_files(exported, tmp_path, damage):
    path = tmp_path / "f.onnx"
    path.write_bytes(damage(bytes(exported.serialize())))
    with pytest.raises(ArtifactError, match=r"f\.onnx"):
        load(path)


def test_texts_that_are_not_utf_8(exported):
    """Protobuf hands such texts on as bytes."""
    raw = bytes(exported.serialize())
    for verify in (True, False):
        with pytest.raises(ArtifactError, match="not UTF-8"):
            deserialize(raw[:-1] + b"\xff", verify=verify)
    for entry in exported.onnx_model.metadata_props:
        changed = exported.onnx_model.SerializeToString().replace(entry.value.encode(), b"\xff" * len(entry.value))
        with pytest.raises(ArtifactError):
            deserialize(changed, verify=False)


@pytest.mark.parametrize("count", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_random_damage(exported, count):
    """All that leaves is ArtifactError, whether the digest is looked at or not."""
    raw, generator, refused = bytes(exported.serialize()), random.Random(5), 0
    for _ in range(count):
        damaged = mutated(raw, generator)
        for verify in (True, False):
            try:
                deserialize(damaged, verify=verify)
            except ArtifactError:
                refused += 1
    assert refused > count


def test_foreign_and_newer_files(exported, tmp_path):
    model = exported.onnx_model
    del model.metadata_props[:]
    with pytest.raises(ArtifactError, match="not written by onax"):
        deserialize(model.SerializeToString())
    newer = model.SerializeToString() + artifact.metadata_bytes({"onax.format": "2"})
    with pytest.raises(ArtifactError, match="a newer onax wrote it"):
        deserialize(newer)
    with pytest.raises(ArtifactError, match=r"cannot read .*nothing.onnx"):
        load(tmp_path / "nothing.onnx")


def test_meant_changes(exported):
    model = exported.onnx_model
    model.doc_string = "changed by another tool"
    with pytest.raises(ArtifactError, match="verify=False"):
        deserialize(model.SerializeToString())
    assert deserialize(model.SerializeToString(), verify=False).in_names == exported.in_names


def test_signature_must_fit():
    for text in ("", "{}", "[]", '{"constraints": [], "in": {}}', "nonsense"):
        with pytest.raises(ArtifactError, match="signature"):
            artifact.Signature.from_json(text)


def test_files_are_written_in_one_step(tmp_path, monkeypatch):
    path = tmp_path / "f"
    artifact.write_atomically(path, b"one")
    assert path.read_bytes() == b"one" and not stat.S_IMODE(path.stat().st_mode) & stat.S_IXUSR

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ExportError, match=r"cannot write .*: No space left on device"):
        artifact.write_atomically(path, b"two")
    assert path.read_bytes() == b"one" and os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_at_the_boundary(dtype):
    x = (np.arange(6) + 1j * np.arange(6)[::-1]).astype(dtype).reshape(2, 3)
    aval = type("A", (), {"dtype": np.dtype(dtype), "shape": x.shape})
    flat = artifact.to_boundary(x, aval)
    assert flat.shape == (2, 3, 2) and np.shares_memory(flat, x)
    np.testing.assert_array_equal(artifact.from_boundary(flat, aval), x)
    scalar = type("A", (), {"dtype": np.dtype(dtype), "shape": ()})
    assert artifact.from_boundary(artifact.to_boundary(x[0, 1], scalar), scalar) == x[0, 1]


def test_models_over_the_limit(exported, monkeypatch):
    monkeypatch.setattr(artifact, "LIMIT", 1000)
    with pytest.raises(ExportError, match="an ONNX message holds at most 2 GB"):
        artifact.seal(b"x" * 1000, {})
