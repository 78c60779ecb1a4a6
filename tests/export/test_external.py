"""Constants in a second file: written, read back, refused where they are not what was written."""

import json
import os
import re

import numpy as np
import onnx
import pytest

import onax.numpy as jnp
from onax.export import api, artifact, export, external, load, save
from onax.export.artifact import ArtifactError

RNG = np.random.default_rng(0)
W = jnp.asarray(RNG.normal(size=(64, 32)).astype(np.float32))
H = jnp.asarray(RNG.normal(size=(40, 64)).astype(np.float16))
SMALL = jnp.arange(3.0)
X = jnp.asarray(RNG.normal(size=(5, 64)).astype(np.float32))


def predict(x):
    return jnp.tanh(x @ W).sum() + H.sum() + SMALL


WANTED = np.asarray(predict(X))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.onnx"
    export(predict)(X).save(path, external_data=True)
    return path


def agrees(exported):
    np.testing.assert_allclose(np.asarray(exported.call(X)), WANTED, rtol=1e-4)


def test_written_and_read(path):
    assert sorted(os.listdir(path.parent)) == ["model.onnx", "model.onnx.data"]
    assert path.stat().st_size < 3000 < W.nbytes < path.with_suffix(".onnx.data").stat().st_size
    agrees(load(path))
    onnx.checker.check_model(str(path), full_check=True)
    whole = onnx.load(path)  # with its data
    sizes = sorted(len(t.raw_data) for t in whole.graph.initializer)
    assert sizes[-2:] == [H.nbytes, W.nbytes]


def test_read_again_under_another_name(path, tmp_path):
    load(path).save(tmp_path / "other.onnx")
    os.unlink(path)
    os.unlink(tmp_path / "model.onnx.data")
    agrees(load(tmp_path / "other.onnx"))


def test_a_loaded_model_can_be_parted(tmp_path):
    export(predict)(X).save(tmp_path / "one.onnx")
    assert os.listdir(tmp_path) == ["one.onnx"]
    save(load(tmp_path / "one.onnx"), tmp_path / "two.onnx", external_data=True)
    assert (tmp_path / "two.onnx.data").exists()
    agrees(load(tmp_path / "two.onnx"))


def test_models_over_the_limit(tmp_path, monkeypatch):
    """The limit is lowered: 2 GB of constants would only be slower."""
    monkeypatch.setattr(artifact, "LIMIT", 12_000)
    monkeypatch.setattr(api, "_HEADROOM", 0)
    exported = export(predict)(X)
    agrees(exported)
    with pytest.raises(artifact.ExportError, match="second file"):
        exported.serialize()
    with pytest.raises(artifact.ExportError, match="second file"):
        exported.save(tmp_path / "big.onnx", external_data=False)
    assert os.listdir(tmp_path) == []
    exported.save(tmp_path / "big.onnx")
    agrees(load(tmp_path / "big.onnx"))
    onnx.checker.check_model(str(tmp_path / "big.onnx"))


def test_bytes_alone_are_refused(path):
    with pytest.raises(ArtifactError, match="load it by its path"):
        api.deserialize(path.read_bytes())


def data_file(path):
    return path.with_suffix(".onnx.data")


def test_a_missing_file(path):
    data_file(path).unlink()
    with pytest.raises(ArtifactError, match="must be in the same folder"):
        load(path)


def test_a_truncated_file(path):
    data_file(path).write_bytes(data_file(path).read_bytes()[:-1])
    with pytest.raises(ArtifactError, match="were written"):
        load(path)


def test_a_changed_file(path):
    raw = bytearray(data_file(path).read_bytes())
    raw[100] ^= 1
    data_file(path).write_bytes(raw)
    with pytest.raises(ArtifactError, match="damaged or changed"):
        load(path)
    load(path, verify=False)


def rewritten(path, location, also_tensors=True):
    """The model with another location of its constants, sealed anew as a forger would."""
    model, entries = artifact.unseal(path.read_bytes())
    known = json.loads(entries["onax.external"])
    del model.metadata_props[:]
    if also_tensors:
        for tensor in model.graph.initializer:
            for fact in tensor.external_data:
                if fact.key == "location":
                    fact.value = location
    kept = {k: v for k, v in entries.items() if k not in ("onax.format", "onax.digest")}
    kept["onax.external"] = json.dumps({**known, "location": location})
    path.write_bytes(artifact.seal(model.SerializeToString(), kept))


@pytest.mark.parametrize("location", ["../secret", "/etc/passwd", "..", "", "a/b", "..\\secret", "./model.onnx.data"])
def test_paths_cannot_leave_the_folder(path, location):
    (path.parent.parent / "secret").write_bytes(data_file(path).read_bytes())
    rewritten(path, location)
    with pytest.raises(ArtifactError, match=r"in the folder of the model"):
        load(path)


def test_links_cannot_leave_the_folder(path, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "data"
    elsewhere.write_bytes(data_file(path).read_bytes())
    data_file(path).unlink()
    data_file(path).symlink_to(elsewhere)
    with pytest.raises(ArtifactError, match="link out of the model's folder"):
        load(path)


def test_tensors_cannot_name_another_file(path):
    rewritten(path, "model.onnx.data2", also_tensors=False)
    data_file(path).rename(path.parent / "model.onnx.data2")
    with pytest.raises(ArtifactError, match="does not fit its size"):
        load(path)


@pytest.mark.parametrize(("key", "value"), [("offset", "-64"), ("length", "10"), ("offset", "999999"), ("length", "x")])
def test_places_beyond_the_file(path, key, value):
    model, entries = artifact.unseal(path.read_bytes())
    fact = next(f for f in next(t for t in model.graph.initializer if t.external_data).external_data if f.key == key)
    fact.value = value
    del model.metadata_props[:]
    kept = {k: v for k, v in entries.items() if k not in ("onax.format", "onax.digest")}
    path.write_bytes(artifact.seal(model.SerializeToString(), kept))
    with pytest.raises(ArtifactError, match=r"the offset or length of const"):
        load(path)


def test_alignment():
    laid, size = external.assign_offsets({"a": np.zeros(3, np.int8), "b": np.zeros(5, np.float32), "c": np.zeros(0)})
    assert [offset for _, _, offset in laid] == [0, 64, 128]
    assert size == 128
    assert len(b"".join(external.chunks({"a": np.zeros(3, np.int8), "b": np.ones(5, np.float32)}))) == 84


def test_the_folder_must_be_writable(tmp_path):
    with pytest.raises(artifact.ExportError, match="cannot write"):
        export(predict)(X).save(tmp_path / "no" / "model.onnx", external_data=True)
    assert re.fullmatch("", "".join(os.listdir(tmp_path)))
