"""Backends run a case: results, errors, precision; which backends can be used."""

import numpy as np
import pytest

from onax import numpy as jnp
from onax._divergence import runners
from onax._divergence.case import Case

X = np.arange(3, dtype=np.float32)


@pytest.mark.parametrize("name", ["eager", "jit", "onnx-cpu"])
def test_outcomes(name):
    backend = runners.BACKENDS[name]()
    assert backend.missing() is None and backend.version()
    got = backend.run(Case("double", None, lambda x: x * 2, (X,), None))
    assert got.value.tolist() == [0, 2, 4] and got.value.dtype == np.float32 and got.error is None
    failed = backend.run(Case("wrong", None, lambda x: jnp.reshape(x, (2,)), (X,), None))
    assert failed.error == "TypeError" and failed.value is None and "\n" not in failed.message
    wide = Case("wide", None, lambda x: x + 1, (np.arange(2),), None, x64=True)
    assert backend.run(wide).value.dtype == np.int64


def test_numpy_runs_its_own_version():
    got = runners.run_numpy(Case("mean", np.mean, None, (X,), None))
    assert float(got.value) == 1
    assert runners.run_numpy(Case("wrong", lambda x: x[7], None, (X,), None)).error == "IndexError"


def test_functions_are_compiled_once_for_each_precision():
    calls = []
    row = Case("counted", None, lambda x: calls.append(x) or x, (X,), None)
    backend = runners.Jit()
    backend.run(row), backend.run(row)
    assert len(calls) == 1
    backend.run(Case("counted", None, row.onax, (X,), None, x64=True))
    assert len(calls) == 2


def test_faults_of_the_report_are_not_outcomes():
    def fault(x):
        raise AssertionError

    with pytest.raises(AssertionError):
        runners.Eager().run(Case("fault", None, fault, (X,), None))


def test_a_backend_that_cannot_be_used_says_why():
    assert set(runners.BACKENDS) == {"eager", "jit", "onnx-cpu", "onnx-cuda"}
    reason = runners.BACKENDS["onnx-cuda"]().missing()
    assert reason is None or (reason and "\n" not in reason)
