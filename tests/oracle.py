"""Speaking to real JAX: a long-lived process for live answers, and recorded answers for everybody else.

Tests replay recordings (`tests/oracle_recordings/`, renewed by `make record`) and, where the oracle's Python is
found (ONAX_ORACLE_PYTHON, or .venv-oracle made by `make oracle`), ask it a random sample live.
"""

import atexit
import base64
import gzip
import hashlib
import json
import os
import pickle
import struct
import subprocess
from functools import cached_property
from pathlib import Path

import numpy as np

import onax
import recorded_versions
from onax._native.dispatch import Primitive
from onax._prims.dot_ragged import RaggedDotDimensionNumbers

TESTS = Path(__file__).resolve().parent
RECORDINGS = TESTS / "oracle_recordings"
# Where real JAX is itself further from the true value than four units in the last place: complex powers go through
# exp(y log x); the gamma functions in float32 were measured up to 2.2e-6 off between 0.1 and 4; the incomplete ones
# are series in the dtype itself, 35 (gamma) and 54 (beta) units off what a wider type gives.
ULPS_OF_JAX = {
    "polygamma": 64, "zeta": 32, "pow": 32, "igamma": 40, "igammac": 40, "igamma_grad_a": 40,
    "regularized_incomplete_beta": 60,
}  # fmt: skip


def python():
    """The path of the Python that has real JAX, or None."""
    named = os.environ.get("ONAX_ORACLE_PYTHON")
    candidate = Path(named) if named else TESTS.parent / ".venv-oracle" / "bin" / "python"
    return str(candidate) if candidate.exists() else None


class Oracle:
    """One process with real JAX (or what `script` serves); `ask` sends a request and returns its answer."""

    def __init__(self, executable, script="oracle_server.py"):
        environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
        self._process = subprocess.Popen(
            [executable, str(TESTS / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        atexit.register(self.close)

    def ask(self, request):
        """The answer to one request: {"ok": value} or {"error": class name, "message": text}.

        RuntimeError if the process has ended: it names the code that it ended with.
        """
        data = pickle.dumps(request)
        self._process.stdin.write(struct.pack("<I", len(data)) + data)
        self._process.stdin.flush()
        header = self._process.stdout.read(4)
        if len(header) < 4:
            raise RuntimeError(f"the process died with code {self._process.wait()}")
        (size,) = struct.unpack("<I", header)
        return pickle.loads(self._process.stdout.read(size))

    @cached_property
    def version(self):
        """The version of JAX that answers."""
        return self.ask({"kind": "version"})["ok"]

    def close(self):
        """Ends the process; by force where it does not end by itself in time."""
        if self._process.poll() is None:
            self._process.stdin.close()
            try:
                self._process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


_live = None


def live():
    """The one oracle process of this run; started when first wanted."""
    global _live
    if _live is None:
        _live = Oracle(python())
    return _live


def version_for(module):
    """The version of JAX whose answers a module of cases wants."""
    return getattr(module, "JAX_VERSION", recorded_versions.REFERENCE)


# ---- values on the wire ----


def encode(value):
    """An operand or a parameter as plain Python values that the server rebuilds."""
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return ("dtype", np.dtype(value).name)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        array = np.asarray(value)
        name = "float0" if array.dtype.names else array.dtype.name
        return ("array", name, array.shape, array.tobytes(), bool(getattr(value, "weak_type", False)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return ("record", type(value).__name__, {k: encode(v) for k, v in value._asdict().items()})
    if isinstance(value, RaggedDotDimensionNumbers):
        return ("record", type(value).__name__, {name: encode(getattr(value, name)) for name in value.__slots__})
    if hasattr(value, "name") and hasattr(value, "value"):
        return ("enum", type(value).__name__, value.name)
    if isinstance(value, tuple):
        return ("tuple", [encode(v) for v in value])
    if isinstance(value, Primitive):
        return ("primitive", value.name)
    return value


def key_of(request):
    """A short name of a request, by its content."""
    return hashlib.sha1(repr(sorted(request.items())).encode()).hexdigest()[:16]


# ---- recordings ----


def load(name):
    """key -> answer of one file of recordings; empty if there is none."""
    path = RECORDINGS / f"{name}.json.gz"
    if not path.exists():
        return {}
    return {key: _from_json(answer) for key, answer in json.loads(gzip.decompress(path.read_bytes())).items()}


def save(name, answers, version):
    """Writes one file of recordings, which came from this version of JAX; the same answers give the same bytes."""
    RECORDINGS.mkdir(exist_ok=True)
    text = json.dumps({key: _to_json(answers[key]) for key in sorted(answers)}, separators=(",", ":"))
    path = RECORDINGS / f"{name}.json.gz"
    temporary = path.with_suffix(".tmp")
    temporary.write_bytes(gzip.compress(text.encode(), mtime=0))
    temporary.replace(path)
    recorded_versions.note(path, version)


def _to_json(answer):
    if "ok" not in answer or isinstance(answer["ok"], str):
        return answer
    return {"ok": [[n, s, base64.b64encode(d).decode(), w] for n, s, d, w in answer["ok"]]}


def _from_json(answer):
    if "ok" not in answer or isinstance(answer["ok"], str):
        return answer
    return {"ok": [(n, tuple(s), base64.b64decode(d), w) for n, s, d, w in answer["ok"]]}


def decoded(answer):
    """The arrays of an answer, with their weak bits."""
    for name, shape, data, weak in answer["ok"]:
        dtype = onax.dtypes.float0 if name == "float0" else np.dtype(getattr(onax.numpy, name, name))
        yield np.frombuffer(data, dtype).reshape(shape), weak
