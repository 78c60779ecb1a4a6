"""Profiles for pprof, read back."""

import gzip

from onax._ground.pprof import Sample, encode


def fields(data):
    """(tag, number or bytes) of each field of a message."""
    position = 0

    def varint():
        nonlocal position
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    found = []
    while position < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:
            value, position = data[position : position + value], position + value
        found.append((key >> 3, value))
    return found


def numbers(data):
    """The numbers of a packed field."""
    return [value for byte in [data] for _, value in fields(b"".join(b"\x08" + bytes([b]) for b in byte))]


def test_a_profile():
    samples = [
        Sample((1, 100), (("inner", "a.py", 3), ("outer", "a.py", 9)), {"device": "cpu:0"}),
        Sample((2, 50), (("inner", "a.py", 3),)),
    ]
    message = fields(gzip.decompress(encode([("allocations", "count"), ("space", "bytes")], samples)))
    strings = [value.decode() for tag, value in message if tag == 6]
    assert strings[0] == "" and len(set(strings)) == len(strings)
    kinds = [dict(fields(value)) for tag, value in message if tag == 1]
    assert [(strings[k[1]], strings[k[2]]) for k in kinds] == [("allocations", "count"), ("space", "bytes")]
    functions = {f[1]: (strings[f[2]], strings[f[4]]) for f in (dict(fields(v)) for tag, v in message if tag == 5)}
    assert sorted(functions.values()) == [("inner", "a.py"), ("outer", "a.py")]
    places = {}
    for tag, value in message:
        if tag == 4:
            location = dict(fields(value))
            line = dict(fields(location[4]))
            places[location[1]] = (*functions[line[1]], line[2])
    found = []
    for tag, value in message:
        if tag == 2:
            sample = dict(fields(value))
            labels = {strings[dict(fields(sample[3]))[1]]: strings[dict(fields(sample[3]))[2]]} if 3 in sample else {}
            found.append((numbers(sample[2]), [places[n] for n in numbers(sample[1])], labels))
    assert found == [
        ([1, 100], [("inner", "a.py", 3), ("outer", "a.py", 9)], {"device": "cpu:0"}),
        ([2, 50], [("inner", "a.py", 3)], {}),
    ]


def test_large_numbers():
    (sample,) = [v for tag, v in fields(gzip.decompress(encode([("a", "b")], [Sample((300,))]))) if tag == 2]
    assert dict(fields(sample))[2] == b"\xac\x02"
