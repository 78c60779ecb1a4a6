"""What mypy and pyright infer of programs of users."""

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onax import numpy as jnp
from onax._native.array import ArrayImpl
from script_modules import imported

TESTS = Path(__file__).resolve().parents[1]
SOURCE = TESTS.parent / "pkg"
PROGRAMS = TESTS.parent / "build" / "node" / "node_modules" / ".bin"  # of `make node`
PYRIGHT = shutil.which("pyright") or shutil.which("pyright", path=PROGRAMS)
MISTAKES = (TESTS / "typed_mistakes.py").read_text().count("  # ")


def mypy(path, folder):
    """The lines of mypy's report on a program, with the package laid out in a folder."""
    options = ["--config-file", str(TESTS.parent / "pyproject.toml"), "--check-untyped-defs", "--no-implicit-reexport"]
    options += ["--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(TESTS.parent / ".mypy_cache"), str(path)]
    environment = os.environ | {"MYPYPATH": str(folder)}
    done = subprocess.run(command, env=environment, cwd=TESTS, capture_output=True, text=True)
    assert not done.stderr
    return [line for line in done.stdout.splitlines() if path.name in line and ": error: " in line]


def pyright(path, folder):
    """The lines of pyright's report on a program."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"include": [path.name], "extraPaths": [str(folder)]}))
    shutil.copy(path, folder)
    command = [PYRIGHT, "--pythonpath", sys.executable, "--project", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert "No source files" not in done.stdout and not done.stderr, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if " - error: " in line]


def stub(name):
    """name of a method, property or attribute -> its definition in the stub of a class of `onax._native.array`."""
    tree = ast.parse((SOURCE / "onax" / "_native" / "array.pyi").read_text())
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return {node.target.id if isinstance(node, ast.AnnAssign) else node.name: node for node in found.body}


def parameters(node):
    """Names of the parameters of a method in a stub, with their stars."""
    a = node.args
    stars = [f"*{a.vararg.arg}"] if a.vararg else [], [f"**{a.kwarg.arg}"] if a.kwarg else []
    return [p.arg for p in a.posonlyargs + a.args][1:] + stars[0] + [p.arg for p in a.kwonlyargs] + stars[1]


def actual_parameters(method):
    named = list(inspect.signature(method).parameters.values())[1:]
    return [{p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name for p in named]


def test_the_stub_of_arrays_has_their_methods():
    listed, there = stub("Array"), {name for name in dir(ArrayImpl) if name[0] != "_"}
    assert {name for name in listed if name[0] != "_"} == there
    assert [name for name in listed if not hasattr(ArrayImpl, name)] == []
    methods = {name: node for name, node in listed.items() if name in there and not node.decorator_list}
    wrong = {
        name: (parameters(node), actual_parameters(method))
        for name, node in methods.items()
        if parameters(node) != actual_parameters(method := getattr(ArrayImpl, name))
    }
    assert not wrong


def test_the_stub_of_updates_has_their_methods():
    listed, update = stub("_IndexUpdateRef"), type(jnp.ones(1).at[0])
    assert {*listed} == {name for name in dir(update) if name[0] != "_"} - {"array", "index"}
    assert all(parameters(listed[name]) == actual_parameters(getattr(update, name)) for name in ("get", "apply"))
    call = stub("_Update")["__call__"]
    options = {name: True for name in parameters(call)[1:] if name not in ("mode", "out_sharding")}
    for name in {*listed} - {"get", "apply"}:
        assert ast.unparse(listed[name].annotation) == "_Update"
        assert getattr(jnp.ones(3).at[1], name)(2.0, mode="clip", out_sharding=None, **options).shape == (3,)


CHECKERS = [
    mypy,
    pytest.param(pyright, marks=pytest.mark.skipif(PYRIGHT is None, reason="pyright is not there: make node")),
]


@pytest.fixture
def layout(tmp_path):
    with imported("", "typecheck") as scripts:
        scripts.typecheck.lay_out(tmp_path)
    return tmp_path


@pytest.mark.parametrize("checker", CHECKERS)
def test_programs(checker, layout):
    assert checker(TESTS / "typed_programs.py", layout) == []


@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found(checker, layout):
    found = checker(TESTS / "typed_mistakes.py", layout)
    assert len(found) == MISTAKES, "\n".join(found)
