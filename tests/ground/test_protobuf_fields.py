"""Fields as the protobuf library reads and writes them; bytes that are no message are refused."""

import onnx
import pytest

from onax._ground.protobuf_fields import pack, read_fields, unpack, write_field

NUMBERS = [0, 1, 127, 128, 300, 2**31, 2**63 - 1]


def test_the_library_reads_what_is_written():
    entry = onnx.StringStringEntryProto.FromString(write_field(1, b"key") + write_field(2, "wört".encode() * 100))
    assert (entry.key, entry.value) == ("key", "wört" * 100)
    assert list(onnx.SparseTensorProto.FromString(write_field(3, pack(NUMBERS))).dims) == NUMBERS
    assert onnx.OperatorSetIdProto.FromString(write_field(2, 2**40)).version == 2**40


def test_what_the_library_writes_is_read():
    tensor = onnx.TensorProto(name="x", dims=NUMBERS, data_type=7)
    found = list(read_fields(tensor.SerializeToString()))
    assert [value for number, value in found if number == 1] == NUMBERS
    assert [value for number, value in found if number in (2, 8)] == [7, b"x"]
    assert list(unpack(pack(NUMBERS))) == NUMBERS


@pytest.mark.parametrize(
    "data, message",
    [
        (b"\x08", "a number ends"),
        (b"\x08\xff", "a number ends"),
        (b"\x0a\x05abc", "field 1 ends behind"),
        (b"\x0d\x00\x00\x80\x3f", "field 1 has the encoding 5"),
    ],
)
def test_other_bytes(data, message):
    with pytest.raises(ValueError, match=message):
        list(read_fields(data))
