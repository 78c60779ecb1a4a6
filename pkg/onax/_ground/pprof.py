"""Profiles in the format of pprof: samples with values, call stacks and labels, as a gzipped protocol buffer.

https://github.com/google/pprof/blob/main/proto/profile.proto
"""

import gzip
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Sample:
    """One sample: a value of each kind, the frames (function, file, line), innermost first, and labels (texts)."""

    values: tuple
    frames: tuple = ()
    labels: dict = field(default_factory=dict)


def encode(kinds, samples):
    """The bytes of a profile; `kinds` are pairs (what is measured, its unit), one for each value of a sample."""
    strings, functions, locations, body = {"": 0}, {}, {}, []

    def text(value):
        return strings.setdefault(value, len(strings))

    for kind, unit in kinds:
        body.append(_message(1, _number(1, text(kind)) + _number(2, text(unit))))
    for sample in samples:
        places = []
        for name, file, line in sample.frames:
            function = functions.setdefault((name, file), len(functions) + 1)
            places.append(locations.setdefault((function, line), len(locations) + 1))
        labels = [_message(3, _number(1, text(k)) + _number(2, text(v))) for k, v in sample.labels.items()]
        body.append(_message(2, _packed(1, places) + _packed(2, sample.values) + b"".join(labels)))
    for (function, line), number in locations.items():
        body.append(_message(4, _number(1, number) + _message(4, _number(1, function) + _number(2, line))))
    for (name, file), number in functions.items():
        names = _number(2, text(name)) + _number(3, text(name)) + _number(4, text(file))
        body.append(_message(5, _number(1, number) + names))
    body += [_message(6, value.encode()) for value in strings]
    return gzip.compress(b"".join(body), mtime=0)


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(tag, value):
    return _varint(tag << 3) + _varint(value)


def _message(tag, content):
    return _varint(tag << 3 | 2) + _varint(len(content)) + content


def _packed(tag, values):
    return _message(tag, b"".join(map(_varint, values))) if values else b""
