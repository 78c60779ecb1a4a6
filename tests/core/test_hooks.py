"""The functions of floors 1 and 2 that compiled code calls are the ones that Python has."""

import numpy as np
import pytest

import onax as jax
from onax._core import api_functions, result_checks, shards, trace
from onax._ground import source
from onax._native.hooks import hooks

ASSIGNED = {
    "is_internal": source.is_internal,
    "filter_traceback": source.filter_error,
    "source_traceback": source.SourceTraceback,
    "name_error": api_functions.name_error,
    "unhashable_error": api_functions.unhashable_error,
    "eval_trace": trace.eval_trace,
    "stray_tracer": trace.raise_stray_tracer,
    "checked_evaluation": result_checks.evaluate_checked,
    "locate_error": result_checks.locate_error,
    "first_device": shards.first_device,
    "array_sharding": shards.array_sharding,
    "aval_sharding": shards.aval_sharding,
}


@pytest.mark.parametrize("name", ASSIGNED)
def test_assigned(name):
    assert getattr(hooks, name) == ASSIGNED[name]


def test_compiled_code_calls_what_stands_there(monkeypatch):
    """A field of the record is read at each call."""
    monkeypatch.setattr(hooks, "array_sharding", lambda x: ("sharding of", x.shape))
    assert jax.numpy.ones(3).sharding == ("sharding of", (3,))
    monkeypatch.setattr(hooks, "checked_evaluation", lambda *args: "checked")
    with jax.debug_nans(True):
        assert jax.lax.sin(np.float32(1)) == "checked"
