"""The recipes of CONTRIBUTING.md, followed literally: their blocks are run as they stand there.

The blocks of "A primitive" make a primitive that passes the laws; those of the other recipes are tried on it.
"""

import gzip
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
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
from onax._core.slots import declared_slots
from onax._ground.config import enable_x64
from onax._tape.regions import fuse
from onax.export.lower.registry import lowering
from onax.numpy import _reductions

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = "tests/laws/samples/elementwise.py"
# file -> what a module needs to stand in for it: the names that the file has, and that of the new primitive's home
HEADS = {
    "pkg/onax/_prims/elementwise.py": ("onax._prims.elementwise", ""),
    "export/lower/elementwise.py": ("onax.export.lower.elementwise", "prims"),
    "pkg/onax/_control/block_code.py": ("onax._control.block_code", "e"),
    "pkg/onax/numpy/_ufuncs.py": ("onax.numpy._ufuncs", "lax"),
}


def blocks_of(title):
    """(language, code) of each code block of a recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(rf"^### {title}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL).group(1)
    found = re.findall(r"^ *```(\w+)\n(.*?)^ *```$", section, re.MULTILINE | re.DOTALL)
    return [(language, textwrap.dedent(code)) for language, code in found]


def recipe(title="A primitive"):
    """File -> code, from the Python blocks of a recipe."""
    found = {}
    for language, code in blocks_of(title):
        if language == "python":
            file, _, body = code.partition("\n")
            found[file.removeprefix("# ").partition(",")[0]] = body
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


# --- the other recipes --------------------------------------------------------------------------------------------


def test_a_function_of_jnp():
    ((file, code),) = recipe("A function of jnp").items()
    assert (ROOT / file).is_file()
    names = dict(vars(_reductions))
    exec(code, names)
    midrange = names["midrange"]
    x = np.array([[1, 5, 2], [3, 4, 9]])
    assert midrange(jnp.asarray(x), axis=1).tolist() == [3.0, 6.0]
    assert onax.jit(midrange, static_argnames="keepdims")(jnp.asarray(x), keepdims=True).tolist() == [[5.0]]
    assert "name=midrange" in str(onax.make_jaxpr(midrange)(1.0))
    with pytest.raises(TypeError, match="midrange requires ndarray or scalar arguments"):
        midrange([1, 2])


def test_a_lowering(package, sech_p, sech):
    ((file, code),) = recipe("A lowering").items()
    assert (ROOT / file).is_file()
    former = lowering.get(sech_p)
    lowering.remove(sech_p)
    try:
        exec(code, dict(vars(package[file])))
        for dtype in (np.float16, np.float32):
            x = X.astype(dtype)
            made = export.export(sech)(x)
            assert {"Cosh", "Reciprocal"} <= {node.op_type for node in made.onnx_model.graph.node}
            np.testing.assert_allclose(np.asarray(made.call(x), np.float32), 1 / np.cosh(X), rtol=1e-3)
    finally:
        lowering.set(sech_p, former, replace=True)


def test_a_fused_operation_names_what_the_table_has():
    codes = dict(blocks_of("A fused operation"))
    table = (ROOT / re.search(r"[\w/]+blocks_floats\.c", codes["text"]).group()).read_text()
    for word in re.findall(r"[A-Z]{3,}\w*", codes["text"]):
        assert re.search(rf"\b{word}\b", table), word
    ((file, code),) = recipe("A fused operation").items()
    assert (ROOT / file).is_file() and code.startswith("row(")


def test_every_file_that_the_recipes_name_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:pkg|export|tests|scripts|docs|cython_src)/[\w/.]+\.\w+)`", text))
    assert named and [path for path in sorted(named) if not (ROOT / path).is_file()] == []


@pytest.mark.slow
def test_why_a_program_is_slow_or_wrong(tmp_path):
    """The commands run, and say what the recipe says."""
    title = "Why a program is slow or wrong"
    for file, code in recipe(title).items():
        (tmp_path / file).write_text(code)
    (commands,) = [code for language, code in blocks_of(title) if language == "sh"]
    bin_folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    said = [
        subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        for line in commands.splitlines()
    ]
    assert "TRACING CACHE MISS" in said[0].stderr and "onax.Tape" in said[0].stdout
    assert {p.name.split("-")[-1] for p in (tmp_path / "passes").iterdir()} >= {"stage.txt", "form_tapes.txt"}
    assert "stays outside of fused regions" in said[2].stdout
    assert "-inf" in said[3].stdout and "ort-basic" in said[4].stdout
    assert "cluster" in (tmp_path / "model.dot").read_text()
    trace, *_ = (tmp_path / "profile").rglob("*.trace.json.gz")
    names = [event["name"] for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]]
    assert "PjitFunction(model)" in names and "jit_model" in names
    for options in ("JAX_DEBUG_NANS=1 JAX_DEBUG_INFS=1", "JAX_ENABLE_CHECKS=1"):
        line = f"{options} python look.py"
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert ("DEBUG" in options) == ("model.py" in done.stderr and "FloatingPointError" in done.stderr), done.stderr
