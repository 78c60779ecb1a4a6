"""The persistent compilation cache: files that later processes read instead of compiling a program again.

The option `jax_compilation_cache_dir` names the folder.  It keeps programs that run without a session (`direct.py`):
the words of a tape hold no pointers, and reading them verifies them.  A file is named by a digest of the program, of
the versions of onax and NumPy and of the CPU's level, and begins with a digest of its content; one that is damaged or
of another format counts as missing and is replaced.

Not kept: programs with kernels in Python, functions or unknown primitives, and those of which sessions are made.
"""

import hashlib
import io
import json
import os
import pickle
import platform
import sys
import tempfile
import time
import warnings
from math import prod
from pathlib import Path

import numpy as np

from onax._compile.direct import Direct
from onax._control.block_code import codes
from onax._core.jaxpr import convert_constvars_jaxpr
from onax._core.structure import structure
from onax._ground import monitoring
from onax._ground.config import compilation_cache_dir, config, runs_tapes_directly
from onax._native import context
from onax._native.array import Array
from onax._native.avals import AbstractValue, OpaqueDType
from onax._native.dispatch import Primitive
from onax._native.tape import BLOCK_OPERATIONS, MAGIC, OPERATIONS, TYPES, Tape, cpu_level
from onax._prims.random_generators import threefry_impl
from onax._tape.rules import tape
from onax.version import __version__

HIT, MISS = "/jax/compilation_cache/cache_hits", "/jax/compilation_cache/cache_misses"
_FORMAT = b"onax program 1\n"
_DTYPES = {d.name: d for d in TYPES}


def find_or_make(core, make):
    """`make()`, a Direct or None for a program, or the Direct that the folder keeps for the program."""
    path = _path(core)
    if path is None:
        return make()
    kept_program = _read(path)
    if kept_program is not None:
        monitoring.record_event(HIT)
        return kept_program
    monitoring.record_event(MISS)
    started = time.perf_counter()
    made = make()
    seconds = time.perf_counter() - started
    if made is not None and not made.tape.kernels and seconds >= config.jax_persistent_cache_min_compile_time_secs:
        _write(path, made)
    return made


# ---- names of files


def _path(core):
    """The file of a program, or None if it cannot have one or the cache is off."""
    folder = compilation_cache_dir()
    if not folder or core.effects or not runs_tapes_directly():
        return None
    digest = hashlib.sha256(repr(_surroundings()).encode())
    try:
        digest.update(_digestible(structure(convert_constvars_jaxpr(core))))
        for c in core.consts:
            array = np.ascontiguousarray(c._value if isinstance(c, Array) else c)
            digest.update(repr((array.shape, str(array.dtype))).encode() + array.tobytes())
    except (TypeError, AttributeError, pickle.PicklingError):  # functions, locks, objects of local classes
        return None
    return Path(folder) / f"{digest.hexdigest()}.tape"


def _surroundings():
    """What a program that is kept depends on besides itself."""
    here = platform.machine(), sys.byteorder, cpu_level(), np.__version__, context.option_word()
    return __version__, _FORMAT, MAGIC, tuple(OPERATIONS), tuple(BLOCK_OPERATIONS), here


class _Pickler(pickle.Pickler):
    """Writes primitives and types by their names, and equal objects equally, whether they are one object or several."""

    def __init__(self, file):
        super().__init__(file, protocol=5)
        self.fast = True

    def persistent_id(self, obj):
        if isinstance(obj, Primitive):
            if obj not in tape and obj not in codes:
                raise TypeError(f"{obj} may mean something else in another process")
            return obj.name
        if isinstance(obj, AbstractValue):
            return obj.shape, str(obj.dtype), obj.weak_type
        if isinstance(obj, OpaqueDType):
            if obj._impl is not threefry_impl:
                raise TypeError(f"{obj} may mean something else in another process")
            return str(obj)
        return None


def _digestible(key):
    file = io.BytesIO()
    _Pickler(file).dump(key)
    return file.getvalue()


# ---- content


def _write(path, made):
    try:
        content = _encoded(made)
    except KeyError:  # a dtype without a name in `_DTYPES`
        return
    if len(content) < config.jax_persistent_cache_min_entry_size_bytes:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(_FORMAT + hashlib.sha256(content).digest() + content)
        os.replace(temporary, path)  # readers see all of it or nothing
    except OSError as error:
        warnings.warn(f"The compiled program could not be kept in {path.parent}: {error}", stacklevel=2)


def _read(path):
    """The Direct that a file keeps; None if there is no such file, or not as it was written."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_FORMAT) + hashlib.sha256().digest_size
    content = data[start:]
    if data[:start] != _FORMAT + hashlib.sha256(content).digest():
        return None
    try:
        return _decoded(content)
    except ValueError:  # words that are no tape of this version
        return None


def _encoded(made):
    constants = [np.ascontiguousarray(c) for c in made.constants]
    ports = made.tape.operands, made.tape.results, [(c.shape, c.dtype) for c in constants]
    words = made.tape.words
    head = json.dumps([[[list(s), _dtype_name(d)] for s, d in port] for port in ports] + [words.size]).encode()
    parts = [np.array([len(head)], np.int64), head, words, *constants]
    return b"".join([p if isinstance(p, bytes) else p.tobytes() for p in parts])


def _decoded(content):
    (length,) = np.frombuffer(content, np.int64, 1).tolist()
    operands, results, constants, n_words = json.loads(content[8 : 8 + length])
    at = 8 + length + 8 * n_words
    words = np.frombuffer(content[8 + length : at], np.int64)
    arrays = []
    for shape, name in constants:
        dtype = _dtype(name)
        past = at + prod(shape) * dtype.itemsize
        arrays.append(np.frombuffer(content[at:past], dtype).reshape(shape))
        at = past
    ports = [[(tuple(s), _dtype(name)) for s, name in port] for port in (operands, results)]
    return Direct(Tape(words, *ports), arrays)


def _dtype_name(dtype):
    return dtype.str if dtype.type is np.void else _DTYPES[dtype.name].name


def _dtype(name):
    return _DTYPES[name] if name in _DTYPES else np.dtype(name)
