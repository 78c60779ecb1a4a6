"""Profiles in the format of pprof: samples with values, call stacks and labels, as a gzipped protocol buffer.

https://github.com/google/pprof/blob/main/proto/profile.proto
"""

import gzip
from dataclasses import dataclass, field

from onax._ground.protobuf_fields import pack, write_field


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
        body.append(write_field(1, write_field(1, text(kind)) + write_field(2, text(unit))))
    for sample in samples:
        places = []
        for name, file, line in sample.frames:
            function = functions.setdefault((name, file), len(functions) + 1)
            places.append(locations.setdefault((function, line), len(locations) + 1))
        labels = [write_field(3, write_field(1, text(k)) + write_field(2, text(v))) for k, v in sample.labels.items()]
        body.append(
            write_field(2, write_field(1, pack(places)) + write_field(2, pack(sample.values)) + b"".join(labels))
        )
    for (function, line), number in locations.items():
        body.append(
            write_field(4, write_field(1, number) + write_field(4, write_field(1, function) + write_field(2, line)))
        )
    for (name, file), number in functions.items():
        names = write_field(2, text(name)) + write_field(3, text(name)) + write_field(4, text(file))
        body.append(write_field(5, write_field(1, number) + names))
    body += [write_field(6, value.encode()) for value in strings]
    return gzip.compress(b"".join(body), mtime=0)
