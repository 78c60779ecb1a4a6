"""`import onax` loads little: what is slow or optional comes when it is first used, and nobody notices."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import onax

SLOW = ("onnx", "onnxruntime", "scipy", "opt_einsum", "google.protobuf", "importlib.metadata", "argparse")
LATER = ("onax.export", "onax.nn", "onax.scipy")


def run(code):
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_import_loads_no_slow_module():
    names = (*SLOW, *LATER)
    assert run(f"import onax, sys; print(*[n for n in {names!r} if n in sys.modules])") == []


def test_eager_operations_load_no_slow_module():
    code = "import onax, sys; onax.grad(lambda x: (onax.numpy.sin(x) ** 2).sum())(onax.numpy.arange(3.0)); "
    assert run(code + f"print(*[n for n in {SLOW!r} if n in sys.modules])") == []


def test_nothing_is_imported_but_numpy_and_the_standard_library():
    code = (
        "import numpy, ml_dtypes, sys; before = set(sys.modules); import onax; "
        "new = {n.partition('.')[0] for n in set(sys.modules) - before}; "
        "print(*[n for n in new - sys.stdlib_module_names if n != 'onax' and not n.startswith(('_cython', 'cython'))])"
    )
    assert run(code) == []


@pytest.mark.parametrize(
    "code",
    [
        "import onax; print('nn' in dir(onax), onax.nn.relu(1.0))",
        "import onax.nn as nn; print(True, nn.relu(1.0))",
        "from onax import nn; print(True, nn.relu(1.0))",
    ],
)
def test_modules_that_are_imported_later_are_found(code):
    assert run(code) == ["True", "1.0"]


def test_the_stub_has_the_names_that_dir_names():
    names = run("import onax; print(*[n for n in dir(onax) if n[0] != '_' and n != 'importlib'])")
    body = ast.parse(Path(onax.__file__).with_suffix(".pyi").read_text()).body
    stub = {a.asname for node in body if isinstance(node, ast.ImportFrom) for a in node.names}
    assert stub - {"__version__", "__version_info__"} | {"P"} == {*names}


def test_a_public_module_has_what_dir_names():
    assert run("import onax; print(*[n for n in dir(onax) if not hasattr(onax, n)])") == []
