"""SciPy's and scikit-learn's dispatch on array namespaces takes arrays of onax, and gives what it gives for NumPy's."""

import pytest

import jax_programs

PROGRAM = """
import os
os.environ["SCIPY_ARRAY_API"] = "1"
import numpy as np
import scipy.fft, scipy.integrate, scipy.ndimage, scipy.signal, scipy.special, scipy.stats
import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
x = np.linspace(0.1, 2.0, 12)
m = x.reshape(3, 4)
calls = {calls}
for call in calls:
    function, arguments = eval(call, globals())
    found, wanted = function(*map(jnp.asarray, arguments)), function(*arguments)
    found = getattr(found, "statistic", found[0] if isinstance(found, tuple) else found)
    wanted = getattr(wanted, "statistic", wanted[0] if isinstance(wanted, tuple) else wanted)
    assert isinstance(found, jax.Array), (call, type(found))
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-9, atol=1e-12, err_msg=call)
print(len(calls))
"""
SCIPY = [
    "scipy.special.logsumexp, (m,)",
    "scipy.special.log_softmax, (m,)",
    "scipy.special.rel_entr, (x, x + 1)",
    "scipy.special.gammainc, (x, x)",
    "scipy.stats.zscore, (x,)",
    "scipy.stats.skew, (x**2,)",
    "scipy.stats.pearsonr, (x, np.sin(x))",
    "scipy.stats.ttest_ind, (x, np.sin(x))",
    "scipy.stats.kurtosistest, (x**3,)",
    "scipy.stats.mode, (x,)",
    "scipy.fft.fft, (m,)",
    "scipy.fft.rfftn, (m,)",
    "scipy.integrate.trapezoid, (x,)",
    "scipy.signal.fftconvolve, (x, x)",
    "scipy.signal.detrend, (x**2,)",
    "scipy.ndimage.gaussian_filter, (m, 1.0)",
]
LEARNING = """
import os
os.environ["SCIPY_ARRAY_API"] = "1"
import numpy as np
import jax.numpy as jnp
from sklearn import config_context, metrics
from sklearn.decomposition import PCA
rows = np.random.default_rng(0).normal(size=(40, 4)).astype("float32")
labels = (rows[:, 0] > 0).astype("int32")
guesses = (rows[:, 1] > 0).astype("int32")
wanted = np.abs(PCA(2, svd_solver="full").fit_transform(rows))
with config_context(array_api_dispatch=True):
    found = PCA(2, svd_solver="full").fit_transform(jnp.asarray(rows))
    assert isinstance(found, jnp.ndarray), type(found)
    np.testing.assert_allclose(np.abs(np.asarray(found)), wanted, rtol=1e-3, atol=1e-4)
    for name in ("accuracy_score", "zero_one_loss", "hamming_loss"):
        measure = getattr(metrics, name)
        assert abs(float(measure(jnp.asarray(labels), jnp.asarray(guesses))) - measure(labels, guesses)) < 1e-6, name
    error = metrics.mean_squared_error(jnp.asarray(rows[:, 0]), jnp.asarray(rows[:, 1]))
    assert abs(float(error) - ((rows[:, 0] - rows[:, 1]) ** 2).mean()) < 1e-5
print("done")
"""


def test_scipy():
    assert jax_programs.run_installed(PROGRAM.format(calls=SCIPY)).split() == [str(len(SCIPY))]


def test_scikit_learn():
    pytest.importorskip("sklearn")
    assert jax_programs.run_installed(LEARNING).split() == ["done"]
