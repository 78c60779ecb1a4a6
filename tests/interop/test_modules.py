"""Modules of jax: names that are missing, modules around them, and public modules of onax under the names of jax."""

import importlib
import subprocess

import pytest

import jax_programs
from onax.interop import modules


@pytest.mark.parametrize(
    "name, home",
    [
        ("jax", "onax"),
        ("jax.numpy", "onax.numpy"),
        ("jax.scipy.stats.norm", "onax.scipy.stats.norm"),
        ("jax.nonsense", None),
        ("jax.nonsense.more", None),
        ("jax._core", None),
        ("jax._src.core", None),
        ("jaxlib", None),
        ("numpy", None),
    ],
)
def test_homes(name, home):
    assert modules.find_home(name) == home


def test_what_is_missing():
    out = jax_programs.run_installed("""
import importlib.util
import jax
assert not hasattr(jax, "nonsense") and not hasattr(jax.numpy, "nonsense")
assert importlib.util.find_spec("jax.nonsense") is None
try:
    import jax.nonsense
except ModuleNotFoundError as error:
    print(error)
try:
    jax.numpy.nonsense
except AttributeError as error:
    print(error)
for text in ("import jax._src.nonsense", "from jaxlib import nonsense", "jax._src.core.nonsense"):
    try:
        exec(text)
    except (ImportError, AttributeError) as error:
        print(error)
""")
    lines = out.splitlines()
    assert lines[0] == "No module named 'jax.nonsense'"
    assert lines[1] == "module 'jax.numpy' has no attribute 'nonsense'"
    names = ["jax._src.nonsense", "jaxlib.nonsense", "jax._src.core.nonsense"]
    for line, name in zip(lines[2:], names, strict=True):
        assert line.startswith(f"onax has nothing in the place of {name}, a private name of JAX that <string>:1 reads.")
        assert "Please report this one as an issue of onax" in line


def test_what_is_not_available_says_why():
    out = jax_programs.run_installed("""
from jax.experimental import pallas as pl
import jax.experimental.pallas.triton as triton
assert not hasattr(pl, "pallas_call")
for read in (lambda: pl.pallas_call, lambda: triton.CompilerParams):
    try:
        read()
    except AttributeError as error:
        print(error)
""")
    names = ["jax.experimental.pallas.pallas_call", "jax.experimental.pallas.triton.CompilerParams"]
    for line, name in zip(out.splitlines(), names, strict=True):
        assert line.startswith(f"{name} is not available: it writes kernels for TPUs and GPUs")


def test_renamed():
    assert modules.renamed(3) == 3
    assert modules.renamed(subprocess) is subprocess
    inner = importlib.import_module("onax._core.trace")
    assert modules.renamed(inner) is inner
