"""The text for bug reports."""

import numpy as np

import onax


def test_environment(capsys):
    text = onax.print_environment_info(return_string=True)
    assert text.startswith(f"onax:   {onax.__version__}\nonnxruntime") and f"numpy:  {np.__version__}" in text
    assert onax.print_environment_info() is None and capsys.readouterr().out == text + "\n"
