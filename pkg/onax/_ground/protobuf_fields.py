"""Fields of protocol buffers as bytes, and back: numbers, and bytes (texts, messages, packed numbers).

https://protobuf.dev/programming-guides/encoding
"""

_NUMBER, _BYTES = 0, 2  # how the value of a field is encoded


def write_field(number, value):
    """A field whose value is a natural number, or bytes."""
    if isinstance(value, int):
        return _varint(number << 3 | _NUMBER) + _varint(value)
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def pack(values):
    """Natural numbers as the bytes of one field."""
    return b"".join(map(_varint, values))


def _varint(number):
    """Seven bits a byte, the lowest first; all bytes but the last have the highest bit set."""
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def read_fields(data):
    """Yields (number, value) of an encoded message; ValueError for bytes that are none, and for other encodings."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        value, at = _read_varint(data, at)
        if tag & 7 == _BYTES:
            value, at = bytes(data[at : at + value]), at + value
        elif tag & 7 != _NUMBER:
            raise ValueError(f"field {tag >> 3} has the encoding {tag & 7}, which is not read here")
        if at > len(data):
            raise ValueError(f"field {tag >> 3} ends behind the message")
        yield tag >> 3, value


def unpack(data):
    """The numbers of `pack`; ValueError for other bytes."""
    at = 0
    while at < len(data):
        value, at = _read_varint(data, at)
        yield value


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("a number ends behind the message")
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at
