"""onax.debug: messages of a logger."""

import logging

import pytest

import onax
import onax.numpy as jnp
from onax import debug


@pytest.mark.parametrize("transform", [lambda f: f, onax.jit])
def test_log(caplog, transform):
    def told(x):
        debug.log("x={x} {}", 3, x=x)
        return x

    with caplog.at_level(logging.INFO, logger="onax.debug"):
        transform(told)(jnp.arange(2))
    (record,) = caplog.records
    assert record.getMessage() == "x=[0 1] 3" and record.filename == "test_debug.py" and record.funcName == "told"
    with caplog.at_level(logging.WARNING, logger="onax.debug"):
        transform(told)(jnp.arange(2))
    assert len(caplog.records) == 1
    with pytest.raises(ValueError, match="Unused positional arguments"):
        debug.log("nothing", 1)
