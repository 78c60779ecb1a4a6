"""Results of public functions have real JAX's dtypes and weak types, eager and staged (see tests/result_types.py)."""

import gzip
import json
import warnings

import pytest

import onax as jax
import result_types

RECORDED = json.loads(gzip.decompress(result_types.RECORDING.read_bytes()))

# Functions whose results have other types, and why.
OTHER_TYPES = {
    "scipy.fft.dctn": "a scalar is returned as it is in JAX, not as a float",
    "scipy.fft.idctn": "as dctn",
    "scipy.linalg.cho_factor": "the second result is a Python bool, which JAX stages",
    "scipy.stats.mode": "JAX forgets the weak type of complex numbers",
    "scipy.signal.stft": "JAX gives times the default dtype for a sampling rate that is a NumPy integer",
    "scipy.signal.welch": "JAX ignores the dtype of a sampling rate that is a NumPy float",
    "numpy.fft.rfftfreq": "JAX takes lengths that are no integers",
    "numpy.fft.ihfft": "JAX divides by a length that is a NumPy integer, which widens the result",
    "lax.dot": "JAX multiplies float16 by bfloat16 in bfloat16, which holds less of either",
    "scipy.special.multigammaln": "bools are float32, as everywhere else",
    "numpy.argpartition": "JAX gives weakly typed places for weakly typed arrays",
}


def agrees(run, recorded, function, args):
    """Whether a call gives the recorded types; one that is refused is a matter of other tests."""
    try:
        return run(function, args) == recorded
    except (TypeError, ValueError, IndexError, NameError, NotImplementedError, OverflowError, ZeroDivisionError):
        return True


@pytest.mark.parametrize("key", RECORDED)
def test_result_types(key):
    path, width = key.split()
    functions = result_types.functions(result_types.modules_by_path(jax)[path])
    ways = {
        "eager": lambda function, args: result_types.shown(function(*args)),
        "staged": lambda function, args: result_types.staged_types(jax, function, args),
    }
    differ = []
    with jax.enable_x64(width == "x64"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = {name: counts for name, counts in functions.items() if f"{path}.{name}" not in OTHER_TYPES}
        for name, combination, function, args in result_types.calls(jax, path, width == "x64", names):
            call = f"{name}({', '.join(combination)})"
            wanted = RECORDED[key].get(call)
            if wanted is not None:
                differ += [(way, call, wanted) for way, run in ways.items() if not agrees(run, wanted, function, args)]
    assert differ == []
