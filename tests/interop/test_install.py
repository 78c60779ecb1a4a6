"""`install_as_jax`: the modules, one set of objects, pickles, and the refusal."""

import pickle

import numpy as np
import pytest

import jax_programs
import onax
import onax.numpy as jnp


def test_the_modules_hand_on_the_same_objects():
    out = jax_programs.run_installed("""
import sys
import onax, onax.numpy, onax.scipy.stats
import jax, jax.numpy as jnp, jaxlib
import jax.scipy.stats.norm as norm
from jax.experimental import checkify
from jax import lax, tree_util
assert jax.Array is onax.Array and jax.jit is onax.jit and jax.config is onax.config
assert jnp.sin is onax.numpy.sin and tree_util.tree_map is onax.tree_util.tree_map
assert norm.pdf is onax.scipy.stats.norm.pdf
assert jax.numpy is jnp is sys.modules["jax.numpy"] and jax.scipy.stats.norm is norm
assert isinstance(jnp.ones(2), jax.Array) and checkify.checkify is onax.experimental.checkify.checkify
assert (jax.__version__, jax.__version_info__, jaxlib.__version__) == ("0.10.2", (0, 10, 2), "0.10.2")
assert jax.version.__version__ == "0.10.2" and onax.__version__ == onax.version.__version__ != "0.10.2"
assert "numpy" in dir(jax) and "sin" in dir(jnp) and jnp.__doc__ == onax.numpy.__doc__
namespace = {}
exec("from jax.numpy import *", namespace)
assert namespace["sin"] is jnp.sin
print(jax.jit(jnp.sin)(0.0))
""")
    assert out == "0.0\n"


def test_a_second_call_changes_nothing():
    program = "import sys, jax; before = jax, list(sys.path), list(sys.meta_path)\n"
    program += jax_programs.INSTALL + "import jax; assert before == (jax, sys.path, sys.meta_path); print('same')"
    assert jax_programs.run_installed(program) == "same\n"


def test_a_jax_that_is_imported_is_not_replaced(tmp_path):
    (tmp_path / "jax.py").write_text("real = True\n")
    done = jax_programs.python("-c", "import jax\n" + jax_programs.INSTALL, PYTHONPATH=str(tmp_path))
    line = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1
    assert line.startswith("ImportError: onax cannot take the place of 'jax', which is imported already, from ")
    assert str(tmp_path / "jax.py") in line


def test_an_installed_jax_is_not_touched(tmp_path):
    (tmp_path / "jax.py").write_text("raise AssertionError('this is imported')\n")
    out = jax_programs.run_installed("import jax; print(jax.numpy.ones(2))", PYTHONPATH=str(tmp_path))
    assert out == "[1. 1.]\n"


PICKLED = """
import pickle, sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import PartitionSpec
path = sys.argv[1]
values = [jnp.arange(3.0), jax.tree.structure((1, {"a": 2})), PartitionSpec("x"), jnp.sin, jnp.bfloat16,
          jax.ShapeDtypeStruct((2,), jnp.float32), np.dtype(jnp.bfloat16)]
"""


def test_pickles_load_with_and_without(tmp_path):
    path = tmp_path / "values.pickle"
    (tmp_path / "write.py").write_text(PICKLED + "pickle.dump(values, open(path, 'wb'))")
    jax_programs.run(tmp_path / "write.py", path)
    with open(path, "rb") as file:
        values = pickle.load(file)
    assert isinstance(values[0], onax.Array) and values[0].tolist() == [0.0, 1.0, 2.0]
    assert values[1] == onax.tree.structure((1, {"a": 2}))
    assert values[2:4] == [onax.sharding.PartitionSpec("x"), jnp.sin]
    assert values[5:] == [onax.ShapeDtypeStruct((2,), jnp.float32), np.dtype(jnp.bfloat16)]
    with open(path, "wb") as file:
        pickle.dump(values, file)
    (tmp_path / "read.py").write_text(
        PICKLED + "loaded = pickle.load(open(path, 'rb'))\n"
        "assert loaded[0].tolist() == values[0].tolist() and loaded[1:] == values[1:]; print('equal')"
    )
    assert jax_programs.run(tmp_path / "read.py", path) == "equal\n"


@pytest.mark.parametrize("name", ["jax", "jaxlib"])
def test_metadata_and_specs_are_found(name):
    out = jax_programs.run_installed(
        "import importlib.metadata, importlib.util\n"
        f"print(importlib.metadata.version({name!r}), importlib.util.find_spec({name!r}).name)"
    )
    assert out == f"0.10.2 {name}\n"


def test_onax_itself_imports_nothing_of_it():
    done = jax_programs.python("-c", "import onax, sys; print([name for name in sys.modules if 'interop' in name])")
    assert done.stdout == "[]\n"


def test_arrays_give_jax_numpy_as_their_namespace_to_scipy():
    """SciPy's dispatch over array APIs: numbers as for NumPy, results that are arrays of onax."""
    out = jax_programs.run_installed(
        """
import numpy as np
import jax, jax.numpy as jnp
import scipy.fft, scipy.special, scipy.stats, scipy.signal
x = jnp.linspace(0.1, 0.9, 8)
assert x.__array_namespace__() is jnp and jnp.__array_namespace_info__().default_dtypes()
functions = [scipy.fft.rfft, scipy.special.logsumexp, scipy.special.gammaln, scipy.stats.skew, scipy.stats.zscore]
functions += [scipy.stats.gmean, scipy.signal.detrend, lambda a: scipy.signal.fftconvolve(a, a), scipy.stats.rankdata]
for f in functions:
    got, want = f(x), f(np.asarray(x))
    assert isinstance(got, jax.Array), f
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-5)
print(len(functions))
""",
        SCIPY_ARRAY_API="1",
    )
    assert out == "9\n"
