"""Constants of a model in a second file beside it: for models over 2 GB, which one protobuf message cannot hold.

The second file has the model's name with `.data` appended and holds the arrays one after another, each at a multiple of
64 bytes.  The model's metadata has its name, size and SHA-256 (`onax.external`).  Only a file in the model's own folder
is read: a name with a folder in it is refused, and so is a symbolic link that leads out of the folder.
"""

import hashlib
import json
import os

import numpy as np

from onax._ground import lazy
from onax._ground.errors import ArtifactError
from onax.export.graph.kernels import ELEMENT_TYPES

SUFFIX = ".data"
ALIGNMENT = 64
THRESHOLD = 1024  # bytes; smaller constants stay in the model
_DTYPES = {number: dtype for dtype, number in ELEMENT_TYPES.items()}


def assign_offsets(arrays):
    """(name, array, offset) of each array in the second file, and the file's size."""
    offset, result = 0, []
    for name, array in arrays.items():
        offset += -offset % ALIGNMENT
        result.append((name, array, offset))
        offset += array.nbytes
    return result, offset


def entry(arrays, location):
    """The metadata of the second file as JSON: its name, size and digest."""
    digest, end = hashlib.sha256(), 0
    laid, size = assign_offsets(arrays)
    for _, array, offset in laid:
        digest.update(b"\0" * (offset - end))
        digest.update(memoryview(np.ascontiguousarray(array)).cast("B"))
        end = offset + array.nbytes
    return json.dumps({"location": location, "size": size, "sha256": digest.hexdigest()})


def chunks(arrays):
    """Yields the bytes of the second file."""
    end = 0
    for _, array, offset in assign_offsets(arrays)[0]:
        yield b"\0" * (offset - end)
        yield memoryview(np.ascontiguousarray(array)).cast("B")
        end = offset + array.nbytes


def extract_constants(model, location, over=THRESHOLD):
    """Moves constants of more than `over` bytes out of a ModelProto; returns {name: array}."""
    arrays, tensors = {}, []
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > over:
            dtype = _DTYPES[tensor.data_type]
            arrays[tensor.name] = np.frombuffer(tensor.raw_data, dtype).reshape(tuple(tensor.dims))
            tensors.append(tensor)
    for tensor, (_, array, offset) in zip(tensors, assign_offsets(arrays)[0]):
        tensor.ClearField("raw_data")
        _state(tensor, location, offset, array.nbytes)
    return arrays


def relocate_constants(model, arrays, location):
    """Makes a ModelProto refer to its external constants at another location; returns them in file order."""
    result = {t.name: arrays[t.name] for t in model.graph.initializer if t.name in arrays}
    offsets = {name: offset for name, _, offset in assign_offsets(result)[0]}
    for tensor in model.graph.initializer:
        if tensor.name in result:
            del tensor.external_data[:]
            _state(tensor, location, offsets[tensor.name], result[tensor.name].nbytes)
    return result


def _state(tensor, location, offset, length):
    tensor.data_location = lazy.onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))


def arrays_of(model, path, metadata, verify=True):
    """{name: array} of the constants in the second file of a model, mapped into memory.

    `path`: the model's file; `metadata`: the entry `onax.external`, or None.
    Raises ArtifactError if the file is missing, is not the one that was written, or is in another folder.
    """
    outside = [t for t in model.graph.initializer if t.data_location == lazy.onnx.TensorProto.EXTERNAL]
    if not outside:
        return {}
    if path is None:
        raise ArtifactError("this model keeps its constants in a second file: load it by its path, not from bytes")
    known = _parse_metadata(metadata)
    data = find_second_file(os.path.dirname(os.path.abspath(path)), known["location"])
    if os.path.getsize(data) != known["size"]:
        raise ArtifactError(f"{known['location']} has {os.path.getsize(data):,} bytes; {known['size']:,} were written")
    if verify and _digest(data) != known["sha256"]:
        raise ArtifactError(f"{known['location']} was damaged or changed since onax wrote it (its digest differs)")
    mapped = np.memmap(data, np.uint8, "r")
    return {tensor.name: _map_tensor(tensor, mapped, known["location"]) for tensor in outside}


def _parse_metadata(metadata):
    try:
        known = json.loads(metadata or "")
        return {"location": str(known["location"]), "size": int(known["size"]), "sha256": str(known["sha256"])}
    except (ValueError, KeyError, TypeError) as error:
        raise ArtifactError("the artefact does not name its second file (entry onax.external)") from error


_SHOWN = 200  # characters of a location in a message


def _is_file_name(name):
    return name not in ("", ".", "..") and name == os.path.basename(name) and not {"\\", "\0"} & {*name}


def find_second_file(folder, location, subfolders=False):
    """The path of a file with constants; ArtifactError unless it is in the model's folder (`subfolders`: or below)."""
    folder = os.path.realpath(folder)
    names = [name for name in location.split("/") if name != "."] if subfolders else [location]
    if not names or not all(map(_is_file_name, names)):
        raise ArtifactError(
            f"the model names the file {location[:_SHOWN]!r}: only files in the folder of the model are read"
        )
    named = os.path.join(folder, *names)
    data = os.path.realpath(named)
    if data != named and not (subfolders and data.startswith(os.path.join(folder, ""))):
        raise ArtifactError(
            f"{location} is a link out of the model's folder: only files in that folder are read; copy the file there"
        )
    if not os.path.isfile(data):
        raise ArtifactError(f"the model's constants are missing: {location[:_SHOWN]} must be in the same folder")
    return data


def embed(model, path):
    """Puts the constants of a ModelProto of any program that lie in files beside `path` into the model itself.

    Raises ArtifactError if a file is missing, lies elsewhere or is too short.
    """
    for tensor in model.graph.initializer:
        if tensor.data_location != lazy.onnx.TensorProto.EXTERNAL:
            continue
        fields = {entry.key: entry.value for entry in tensor.external_data}
        data = find_second_file(os.path.dirname(os.path.abspath(path)), fields.get("location", ""), subfolders=True)
        try:
            offset, length = int(fields.get("offset", 0)), int(fields.get("length", -1))
        except ValueError as error:
            raise ArtifactError(f"the offset or length of {tensor.name} cannot be read") from error
        if offset < 0 or length < -1:
            raise ArtifactError(f"the offset or length of {tensor.name} is negative")
        if offset + max(length, 0) > os.path.getsize(data):
            raise ArtifactError(f"{fields['location']} is too short for {tensor.name}")
        with open(data, "rb") as file:
            file.seek(offset)
            content = file.read(length)
        del tensor.external_data[:]
        tensor.data_location = lazy.onnx.TensorProto.DEFAULT
        tensor.raw_data = content


def second_files(model, path):
    """{name: bytes, None if it is missing} of the files beside `path` in which a ModelProto keeps constants."""
    stored = lazy.onnx.TensorProto.EXTERNAL
    entries = [e for t in model.graph.initializer if t.data_location == stored for e in t.external_data]
    names = dict.fromkeys(entry.value for entry in entries if entry.key == "location")
    folder = os.path.dirname(os.path.abspath(path or "."))
    return {name: _size_within(folder, name) for name in names}


def _size_within(folder, name):
    try:
        return os.path.getsize(find_second_file(folder, name, subfolders=True))
    except ArtifactError:
        return None


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _map_tensor(tensor, data, location):
    """The array of one tensor, a view of the mapped file `data`."""
    fields = {e.key: e.value for e in tensor.external_data}
    dtype, shape = _DTYPES.get(tensor.data_type), tuple(tensor.dims)
    try:
        offset, length = int(fields["offset"]), int(fields["length"])
    except (KeyError, ValueError) as error:
        raise ArtifactError(f"the offset or length of {tensor.name} in {location} cannot be read") from error
    fits = dtype is not None and fields.get("location") == location and 0 <= offset and offset + length <= len(data)
    if not fits or length != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
        raise ArtifactError(f"the offset or length of {tensor.name} in {location} does not fit its size")
    return data[offset : offset + length].view(dtype).reshape(shape)
