"""The record of what compiled code calls in Python."""

import operator

import pytest

import onax
from onax._native.hooks import OPERATOR_NAMES, Hooks, hooks


def test_the_import_leaves_none_out():
    assert onax.numpy and hooks.missing() == []
    hooks.check_complete()


def test_what_is_missing_is_named():
    fresh = Hooks()
    fresh.is_internal = len
    assert "is_internal" not in fresh.missing() and {"eval_trace", "operators"} <= set(fresh.missing())
    with pytest.raises(RuntimeError, match=r"imported in part: .* axes_text, .* vary_operands, "):
        fresh.check_complete()


def test_tables_of_operators():
    fresh = Hooks()
    fresh.operators = {"add": operator.add}
    fresh.operator_primitives = {"add": (onax.lax.add_p, "fV")}
    assert fresh.operators == {"add": operator.add} and fresh.operator_primitives == {"add": (onax.lax.add_p, "fV")}
    fresh.operator_primitives = {}
    assert fresh.operator_primitives == {}
    for name in ("operators", "operator_primitives"):
        with pytest.raises(ValueError, match="no operator is called 'plus'; there are add, sub"):
            setattr(fresh, name, {"plus": None})
    assert set(hooks.operators) <= set(OPERATOR_NAMES)
