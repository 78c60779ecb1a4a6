"""Wrong calls of every public function, and what real JAX raises for each: recorded, for `golden/test_error_calls.py`.

A call is a line of words: `f l axis=5` means `function(f, l, axis=5)`, where each word is a value of `pool`.  The calls
of a function follow from its signature in JAX alone, so that both packages are asked the same.  Run by the Python that
has real JAX, this file records what is missing, and records the functions of the named modules again:

    .venv-oracle/bin/python tests/error_calls.py [module ...]

`error_names.txt` lists the functions that both packages have.
"""

import gzip
import importlib
import inspect
import itertools
import json
import re
import sys
import warnings
from pathlib import Path

import numpy as np

import recorded_versions

RECORDING = Path(__file__).parent / "golden" / "error_calls.json.gz"
NAMES = Path(__file__).parent / "golden" / "error_names.txt"
MESSAGE = 80  # characters kept of a message


def resolve(jax, name):
    """The function of a dotted name below the package."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(f"{jax.__name__}.{module}") if module else jax, last)


def pool(jax):
    """word -> value; `T` is a tracer while the call is made under `make_jaxpr`."""
    jnp = jax.numpy
    return {
        "f": jnp.asarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "g": jnp.asarray(np.ones((4, 2), np.float32)),
        "v": jnp.asarray(np.array([1.5, -2.0, 0.5], np.float32)),
        "w": jnp.asarray(np.ones(4, np.float32)),
        "i": jnp.asarray(np.array([2, 0, 1], np.int32)),
        "b": jnp.asarray(np.array([[True, False, True], [False, True, True]])),
        "c": jnp.asarray(np.array([1 + 2j, 0, 1j], np.complex64)),
        "s": jnp.asarray(np.float32(0.5)),
        "e": jnp.asarray(np.zeros(0, np.float32)),
        "q": np.arange(6.0).reshape(2, 3),
        "O": np.array([object(), None], object),
        "Z": np.array(["a", "b"]),
        "2": 2,
        "-7": -7,
        "9": 9,
        "1.5": 1.5,
        "list": [1.0, 2.0],
        "tuple": (1, 2),
        "pairs": ((0, 1), (5, 5)),
        "empty": (),
        "text": "text",
        "None": None,
        "object": Thing(),
        "dict": {"a": 1.0},
        "call": identity,
        "int": int,
        "dtype9": np.dtype("datetime64[s]"),
        "floats": (1.5, 2.5),
        "names": ("a", "b"),
        "negative": (-1, 2),
        "twice": (0, 0),
        "ragged": [[1, 2], [3]],
    }


class Thing:
    """A value that no function knows."""

    def __repr__(self):
        return "<thing>"


def identity(x):
    """What a function that wants a function may be given."""
    return x


TRACED = "T"
ANY = "f v i T s 2 1.5 list text None object dict e O Z call b c -7 empty".split()
FIRST = "f i T list None".split()
SECOND = "g w b c s i 2 -7 1.5 list tuple text None object dict e O T call floats".split()
THIRD = "f g 2 1.5 list text None object T".split()
KEYWORDS = {
    "axis": "9 -7 1.5 text None twice pairs floats object T list names".split(),
    "dtype": "text object dtype9 2 int".split(),
    "shape": "1.5 text negative floats names T object None 2 -7".split(),
    "keepdims": "text T None".split(),
    "where": "text list f object w T".split(),
    "initial": "text list f object".split(),
    "out": "f".split(),
    "mode": "text 2 None object".split(),
    "side": "text 2".split(),
    "size": "text -7 1.5 T 2".split(),
    "num": "text -7 1.5 T".split(),
    "order": "text 2 object".split(),
    "ddof": "text object f 2".split(),
    "weights": "list text g object".split(),
    "axes": "2 text pairs object twice floats".split(),
    "k": "text 1.5 T object".split(),
    "n": "text 1.5 -7 T object".split(),
    "ord": "text 9 object".split(),
    "shift": "text 1.5 object pairs".split(),
    "dimension": "9 -7 1.5 text".split(),
    "in_axes": "9 text 1.5 pairs".split(),
    "out_axes": "9 text 1.5 pairs".split(),
    "argnums": "9 text 1.5 -7 twice".split(),
    "static_argnums": "9 text 1.5 -7".split(),
    "num_classes": "text -7 1.5 T".split(),
    "preferred_element_type": "text object".split(),
    "precision": "text 2 object".split(),
    "indices_are_sorted": "text".split(),
    "casting": "text".split(),
    "dimensions": "9 text pairs twice floats".split(),
    "new_sizes": "text negative floats 2".split(),
    "total_repeat_length": "text -7 1.5".split(),
    "method": "text 2".split(),
    "fill_value": "text object list".split(),
    "length": "text -7 1.5 2".split(),
    "reverse": "text".split(),
}


def calls_of(function):
    """The calls to try, as lines."""
    required, most, names = _arity(function)
    found = []
    if required <= 0:
        found.append("")
    if required <= 1 <= most:
        found += ANY
    if required <= 2 <= most:
        found += [f"{a} {b}" for a, b in itertools.product(FIRST, SECOND)]
    if required <= 3 <= most:
        found += [f"f {b} {c}" for b, c in itertools.product("f g 2 tuple text call".split(), THIRD)]
    if required >= 4:
        found += [" ".join(["f"] * required), " ".join(["text"] * required)]
    for base in {1: ["f", "i"], 2: ["f f", "v v", "f tuple"], 3: ["f f f", "f tuple tuple"]}.get(max(required, 1), []):
        for name in names:
            found += [f"{base} {name}={value}" for value in KEYWORDS.get(name, ())]
    return list(dict.fromkeys(found))


def _arity(function):
    """(positional arguments it needs, positional arguments it takes, names of the optional ones)."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 1, 3, []
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = sum(p.default is p.empty for p in positional)
    most = 9 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(positional)
    if most == 9 and required == 0:
        required = 1
    optional = positional[required:] + [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    return required, most, [p.name for p in optional]


def attempt(jax, function, line, values):
    """What the call does: None if it succeeds, else the exception."""
    args, kwargs = [], {}
    for word in line.split():
        name, _, value = word.rpartition("=")
        if name:
            kwargs[name] = value
        else:
            args.append(value)

    def call(tracer=None):
        known = {**values, TRACED: tracer}
        return function(*(known[a] for a in args), **{name: known[value] for name, value in kwargs.items()})

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            if TRACED in args or TRACED in kwargs.values():
                jax.eval_shape(call, values["f"])
            else:
                call()
        except BaseException as error:  # whatever it is, it is what is looked at
            if isinstance(error, (KeyboardInterrupt, MemoryError)):
                raise
            return error
    return None


def without_folders(text):
    """A message in which files are named without the folders that they lie in, and without the line."""
    return re.sub(r"(?:/[\w.-]+)*?/?([\w-]+\.py):\d+", r"\1", re.sub(r"(?:/[\w.-]+)+/(?=[\w-]+\.py\b)", "", text))


def outcome(error):
    """[name of the class, beginning of the message], or None."""
    return None if error is None else [type(error).__name__, without_folders(str(error))[:MESSAGE]]


def main(modules):
    import jax

    values = pool(jax)
    recorded = json.loads(gzip.decompress(RECORDING.read_bytes())) if RECORDING.exists() else {}
    for name in NAMES.read_text().split():
        if name in recorded and name.rpartition(".")[0] not in modules:
            continue
        function = resolve(jax, name)
        recorded[name] = {line: outcome(attempt(jax, function, line, values)) for line in calls_of(function)}
        print(name, len(recorded[name]), flush=True)
    recorded = {name: recorded[name] for name in sorted(NAMES.read_text().split())}
    RECORDING.write_bytes(gzip.compress(json.dumps(recorded, separators=(",", ":")).encode(), mtime=0))
    recorded_versions.note(RECORDING, jax.__version__)


if __name__ == "__main__":
    main(sys.argv[1:])
