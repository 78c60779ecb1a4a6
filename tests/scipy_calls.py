"""Calls of jnp.linalg, jnp.fft, lax.linalg and jax.scipy, and what real JAX answers: values and gradients, recorded.

A line is `dtypes | expression`; each letter of the dtypes makes a case (see DTYPES).  An operand is called by its kind
and shape, such as `m34` for a 3 x 4 array of normal numbers (see KINDS; `_` is the shape of a scalar), and is of the
case's dtype, or of the one whose letter follows: `m3i`.  What a factorisation leaves open the helpers of `names` take
out of its results.  Run by the Python that has real JAX, this file renews the recording:

    .venv-oracle/bin/python tests/scipy_calls.py
"""

import gzip
import importlib
import json
import re
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np

import recorded_versions

GOLDEN = Path(__file__).parent / "golden"
RECORDING = GOLDEN / "scipy_calls.json.gz"
TABLE = GOLDEN / "scipy_calls.txt"

DTYPES = {
    "b": "bool", "u": "uint8", "i": "int32", "h": "float16", "B": "bfloat16", "f": "float32", "c": "complex64",
    "d": "float64", "z": "complex128", "w": "float32",
}  # fmt: skip
WIDE, WEAK = "dz", "w"  # the letters for which 64-bit dtypes are on, and for which operands are weakly typed
_OPERAND = re.compile(r"(?<![\w.])([mpstuqnke])(\d+|_)([buihBfcdzw]?)(?!\w)")


def cases():
    """(dtype letter, expression) of every case."""
    lines = (line.split(" | ", 1) for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    return [(letter, expression) for letters, expression in lines for letter in letters]


def _normal(draw, shape):
    return draw.randn(*shape)


def _square(draw, shape):
    """Symmetric matrices, Hermitian for complex numbers."""
    a = draw.randn(*shape)
    return a + np.conj(np.swapaxes(a, -1, -2))


def _positive(draw, shape):
    """Matrices whose eigenvalues are positive and of one size."""
    return _square(draw, shape) + 3.0 * shape[-1] * np.eye(shape[-1])


def _triangle(draw, shape):
    """Square matrices far from singular, of which either triangle will do."""
    return draw.randn(*shape) + 3 * np.eye(shape[-1])


KINDS = {
    "m": _normal,
    "s": _square,
    "p": _positive,
    "t": _triangle,
    "u": lambda draw, shape: draw.rand(*shape) * 0.8 + 0.1,
    "q": lambda draw, shape: draw.rand(*shape) * 4 + 0.25,
    "n": lambda draw, shape: draw.rand(*shape) * 5 // 1,
    "e": lambda draw, shape: np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5]),
}


class Draws:
    """Numbers of a generator that are multiples of 1/64, which are the same on every machine; complex ones if asked."""

    def __init__(self, seed, complex_):
        self.random = np.random.RandomState(seed)
        self.complex = complex_

    def rand(self, *shape):
        """Between 0 and 1."""
        return np.floor(self.random.random_sample(shape) * 64) / 64

    def randn(self, *shape):
        """Normal numbers, complex ones where the dtype is."""
        real = self.random.standard_normal(shape)
        both = real + 1j * self.random.standard_normal(shape) if self.complex else real
        return np.round(both * 64) / 64


def operand(jnp, kind, shape, letter):
    """The array of that kind, shape and dtype."""
    dims = () if shape == "_" else tuple(map(int, shape))
    draw = Draws(zlib.crc32(f"{kind}{shape}".encode()), letter in "cz")
    numbers = KINDS[kind](draw, dims)
    if letter in "bui":
        numbers = np.round(np.where(np.isfinite(numbers), numbers, 2) * (1 if kind in "pnts" else 2))
        numbers = np.abs(numbers) if letter == "u" else numbers
    if letter == WEAK:
        return jnp.stack([jnp.asarray(x) for x in np.ravel(numbers).tolist()]).reshape(dims)
    return jnp.asarray(np.asarray(numbers), dtype=DTYPES[letter])


def names(jax):
    """What the expressions may speak of, but for operands."""
    jnp = jax.numpy
    modules = {name: importlib.import_module(f"{jax.__name__}.scipy.{path}") for name, path in _MODULES.items()}
    lx = importlib.import_module(f"{jax.__name__}.lax.linalg")

    def adjoint(x):
        return jnp.conj(jnp.swapaxes(x, -1, -2))

    def rebuilt_eig(found):
        """Of matrices with different eigenvalues: the values in order, and whether the vectors are theirs."""
        w, v = found
        return sorted_complex(w), jnp.linalg.norm(v, axis=-2)

    def sorted_complex(w):
        order = jnp.argsort(jnp.round(w.real * 256) + jnp.sign(w.imag) / 4, axis=-1)
        return jnp.take_along_axis(w, order, -1)

    def rebuilt_eigh(found):
        w, v = found
        return w, (v * w[..., None, :]) @ adjoint(v), typed(v)

    def rebuilt_qr(found):
        q, r = found
        return q @ r, jnp.abs(r), typed(q)

    def rebuilt_pivoted(found):
        return (*rebuilt_qr(found[:2]), found[2])

    def rebuilt_svd(found):
        u, s, vh = found
        k = s.shape[-1]
        return s, (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], typed(u), typed(vh)

    def rebuilt_hessenberg(found):
        h, q = found
        return jnp.abs(h), q @ h @ adjoint(q)

    def rebuilt_schur(found):
        t, q = found
        return q @ t @ adjoint(q), typed(t), typed(q)

    def typed(found):
        """Shape and dtype of what is not determined: the same results, all zero."""
        return jax.tree.map(jnp.zeros_like, tuple(found) if isinstance(found, tuple) else found)

    def unsummed(found):
        """lstsq, whose sums of squared residuals are rounding errors."""
        x, sums, rank, s = found
        return x, typed(sums), rank, s

    def lx_geqrf(x):
        a, taus = jnp.linalg.qr(x, mode="raw")
        return jnp.swapaxes(a, -1, -2), taus

    def simplex(x):
        return x / x.sum(0)

    return {
        "jax": jax, "jnp": jnp, "np": np, "la": jnp.linalg, "fft": jnp.fft, "lx": lx, **modules,
        **{name: value for name, value in locals().items() if callable(value) and name != "adjoint"},
    }  # fmt: skip


_MODULES = {
    "sla": "linalg", "sp": "special", "st": "stats", "sg": "signal", "si": "integrate", "sf": "fft", "sn": "ndimage",
    "ip": "interpolate", "sv": "cluster.vq", "kr": "sparse.linalg",
}  # fmt: skip


def function_of(letter, expression, jax, known):
    """(function of the operands, the operands) of a case; `known` is `names(jax)`."""
    found = dict.fromkeys(_OPERAND.findall(expression))
    parameters = ", ".join("".join(parts) for parts in found)
    # `n_` and the like are ordinary names, and so are shapes with digits
    function = eval(f"lambda {parameters}: {expression}", known)
    return function, [operand(jax.numpy, kind, shape, own or letter) for kind, shape, own in found]


def flat(value):
    """The arrays of a result, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    return [value]


def plain(value):
    """An array as [dtype, shape, weak type, elements in a string]; another value as its repr."""
    if not hasattr(value, "dtype"):
        return repr(value)
    a = np.asarray(value)
    wide = a.astype(np.complex128).ravel().view(np.float64) if a.dtype.kind == "c" else a.astype(np.float64).ravel()
    digits = _DIGITS.get(str(a.dtype), 8)
    weak = int(getattr(value, "weak_type", False))
    return [str(a.dtype), list(a.shape), weak, " ".join(f"{x:.{digits}g}" for x in wide.tolist())]


_DIGITS = {"float16": 5, "bfloat16": 4, "float64": 15, "complex128": 15}


def gradient(jax, function, args):
    """Of a sum of all results, weighted by cosines, for each of the operands that has one; None if there is none."""
    jnp = jax.numpy
    at = [i for i, x in enumerate(args) if jnp.issubdtype(x.dtype, jnp.inexact)]

    def total(*inexact):
        given = list(args)
        for i, x in zip(at, inexact):
            given[i] = x
        terms = [x for x in flat(function(*given)) if jnp.issubdtype(x.dtype, jnp.inexact)]
        weights = (jnp.cos(jnp.arange(x.size, dtype=x.real.dtype)).reshape(x.shape) for x in terms)
        return sum(jnp.sum(w * (x.real + x.imag)) for w, x in zip(weights, terms))

    return jax.jit(jax.grad(total, tuple(range(len(at)))))(*(args[i] for i in at)) if at else None


def attempted(call, *args):
    """The arrays of the result as `plain` shows them, or the class and the beginning of the error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return [plain(x) for x in flat(call(*args))]
        except Exception as e:
            return f"!! {type(e).__name__}: {str(e)[:100]}"


def answer(jax, function, args):
    """What JAX answers.  Compiled as a whole where that can be, as it is much faster; errors are those without."""
    found = attempted(jax.jit(function), *args)
    return attempted(function, *args) if isinstance(found, str) else found


def wide(jax, letter):
    """The context of a case: with 64-bit dtypes or without."""
    return jax.enable_x64(letter in WIDE)


def has_gradient(letter, expression):
    """Whether gradients are recorded: of single precision, not at the special values of `e8`, nor of zeros."""
    return letter in "fc" and "e8" not in expression and "typed(" not in expression


def main(again):
    """Records what is missing of the answers of the JAX at hand, and anew the calls that `again` is a part of."""
    import jax

    known = names(jax)
    recorded = json.loads(gzip.decompress(RECORDING.read_bytes())) if RECORDING.exists() else {}
    found = {}
    for letter, expression in cases():
        name = f"{letter} {expression}"
        if name in recorded and not any(part in name for part in again):
            found[name] = recorded[name]
            continue
        with wide(jax, letter):
            function, args = function_of(letter, expression, jax, known)
            row = {"value": answer(jax, function, args)}
            if args and has_gradient(letter, expression) and not isinstance(row["value"], str):
                row["grad"] = attempted(gradient, jax, function, args)
        found[name] = row
    with gzip.GzipFile(RECORDING, "wb", mtime=0) as file:
        file.write(json.dumps(found, separators=(",", ":")).encode())
    recorded_versions.note(RECORDING, jax.__version__)
    print(f"{len(found)} calls")


if __name__ == "__main__":
    main(sys.argv[1:])
