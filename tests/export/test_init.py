"""Names of the package come from their modules when they are first asked for."""

import subprocess
import sys

import pytest

import onax.export


@pytest.mark.parametrize("name", onax.export.__all__)
def test_every_name_has_its_object(name):
    value = getattr(onax.export, name)
    assert type(value) is int or value.__module__.startswith("onax.")
    assert name in dir(onax.export)


def test_other_names():
    with pytest.raises(AttributeError, match=r"module 'onax\.export' has no attribute 'exports'"):
        getattr(onax.export, "exp" + "orts")


def test_importing_it_imports_no_model_format():
    code = "import onax.export, sys; print('onnx' in sys.modules, 'onax.export.api' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
