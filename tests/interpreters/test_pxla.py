"""There are no compile options of XLA."""

import pytest

from onax.interpreters import pxla


def test_refusal():
    with pytest.raises(NotImplementedError, match="not with XLA"):
        pxla.create_compile_options(1)
