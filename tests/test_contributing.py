"""The recipe "A primitive" of CONTRIBUTING.md, followed literally: its blocks make a primitive that passes the laws."""

import importlib
import inspect
import re
import textwrap
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

import onax
from laws import test_laws
from laws.samples import elementwise as samples
from laws.sampling import Sample, numbers
from onax import export
from onax import numpy as jnp
from onax._compile.passes.regions import fuse
from onax._core.slots import declared_slots
from onax._ground.config import enable_x64

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = "tests/laws/samples/elementwise.py"
# file -> what a module needs to stand in for it: the names that the file has, and that of the new primitive's home
HEADS = {
    "pkg/onax/_prims/elementwise.py": ("onax._prims.elementwise", ""),
    "export/lower/elementwise.py": ("onax.export.lower.elementwise", "prims"),
    "pkg/onax/_control/block_code.py": ("onax._control.block_code", "e"),
    "pkg/onax/numpy/_ufuncs.py": ("onax.numpy._ufuncs", "lax"),
}


def recipe():
    """File -> code, from the blocks of the recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(r"^### A primitive\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL).group(1)
    blocks = re.findall(r"^( *)```python\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    found = {}
    for _, code in blocks:
        place, _, body = textwrap.dedent(code).partition("\n")
        found[place.removeprefix("# ").partition(",")[0]] = body
    return found


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package with one module for each file of the recipe, imported."""
    folder = tmp_path_factory.mktemp("recipe")
    package = folder / "toy_package"
    package.mkdir()
    (package / "__init__.py").touch()
    made = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        for path, (home, alias) in HEADS.items():
            name = home.rpartition(".")[2] + ("" if not alias else f"_{alias}")
            head = (
                f"import {home} as _home\nglobals().update({{n: v for n, v in vars(_home).items() if n[:2] != '__'}})\n"
            )
            head += f"from toy_package import elementwise as {alias}\n" if alias else ""
            (package / f"{name}.py").write_text(head + recipe()[path])
            made[path] = importlib.import_module(f"toy_package.{name}")
        yield made
    p = made["pkg/onax/_prims/elementwise.py"].sech_p
    for slot in declared_slots():
        slot.remove(p)


@pytest.fixture
def sech_p(package):
    return package["pkg/onax/_prims/elementwise.py"].sech_p


@pytest.fixture
def sech(package):
    return package["pkg/onax/numpy/_ufuncs.py"].sech


def test_a_primitive_takes_at_most_four_product_files():
    files = [path for path in recipe() if not path.startswith("tests/")]
    assert len(files) <= 4 and set(files) == set(HEADS) and SAMPLES in recipe()
    assert all((ROOT / path).is_file() for path in recipe())


LAWS = [
    (n, f)
    for n, f in vars(test_laws).items()
    if n.startswith("test_") and "primitive" in inspect.signature(f).parameters
]


@pytest.mark.parametrize("name, law", LAWS, ids=[n for n, _ in LAWS])
def test_the_primitive_passes_the_laws(name, law, package, sech_p, monkeypatch):
    home = package["pkg/onax/_prims/elementwise.py"]
    _, dtypes, (low, high) = eval(recipe()[SAMPLES], {**vars(samples), "lax": home})
    given = [Sample(sech_p, (numbers("sech", s, d, low, high),)) for d in dtypes for s in ((2, 3), ())]
    monkeypatch.setitem(test_laws.SAMPLES, sech_p, given)
    with enable_x64(True):
        for opset in test_laws.OPSETS if "opset" in inspect.signature(law).parameters else (None,):
            try:
                law(sech_p) if opset is None else law(sech_p, opset)
            except pytest.skip.Exception:
                assert "transpose" in name  # it is not linear


X = np.linspace(-3, 3, 7, dtype=np.float32)


def test_the_function_in_every_way(sech):
    want = 1 / np.cosh(X)
    np.testing.assert_allclose(sech(X), want, rtol=4e-7)
    np.testing.assert_allclose(onax.jit(sech)(X), want, rtol=4e-7)
    np.testing.assert_allclose(onax.vmap(onax.grad(sech))(X), -want * np.tanh(X), rtol=2e-6)
    np.testing.assert_allclose(onax.jit(onax.vmap(sech))(X.reshape(7, 1))[:, 0], want, rtol=4e-7)
    assert sech(jnp.arange(3)).dtype == jnp.float32


def test_the_function_in_a_file(sech, tmp_path):
    path = tmp_path / "sech.onnx"
    export.save(export.export(sech)(X), path)
    session = onnxruntime.InferenceSession(str(path))
    np.testing.assert_allclose(session.run(None, {session.get_inputs()[0].name: X})[0], 1 / np.cosh(X), rtol=1e-6)


def test_it_is_part_of_fused_regions(sech, sech_p):
    program = fuse(onax.make_jaxpr(lambda x: sech(x) * x + 1)(X))
    assert [eqn.primitive.name for eqn in program.eqns] == ["fused"]
