"""check: the assertion that checkify turns into a result."""

import numpy as np
import pytest

import onax
import onax.numpy as jnp
from onax._prims.checks import check_p, last_failure
from onax.experimental import checkify


class Sites:
    """Makes the exception of a failed check."""

    def exception(self, code, payload):
        return RuntimeError(f"check {code} failed: {[np.asarray(x).tolist() for x in payload]}")


def check(ok, code, *payload, debug=False):
    return check_p.bind(ok, np.int32(code), *payload, sites=Sites(), debug=debug)


def test_a_check_that_holds_has_no_results():
    assert check(np.bool_(True), 1) == []


def test_a_check_that_fails_raises_with_its_code_and_values():
    with pytest.raises(RuntimeError, match=r"check 7 failed: \[2\.5\]"):
        check(np.bool_(False), 7, np.float32(2.5))


def test_a_debug_check_does_nothing_without_checkify():
    assert check(np.bool_(False), 7, debug=True) == []


def test_a_mapped_check_reports_the_last_example_that_fails():
    ok, x = jnp.array([True, False, False, True]), jnp.array([0.0, 1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match=r"\[2\.0\]"):
        onax.vmap(lambda ok, x: check(ok, 3, x) or x)(ok, x)
    assert onax.vmap(lambda ok, x: check(ok, 3, x) or x)(ok[:1], x[:1]).tolist() == [0.0]


def test_a_mapped_check_of_no_examples_holds():
    assert onax.vmap(lambda ok: check(ok, 3) or ok)(jnp.zeros(0, bool)).shape == (0,)


def test_last_failure_of_rows():
    ok, (rows,) = last_failure(jnp.array([False, False, True]), [jnp.arange(6).reshape(3, 2)])
    assert not ok
    assert rows.tolist() == [2, 3]


def test_dead_code_elimination_keeps_checks():
    def f(x):
        checkify.check(x > 0, "not positive")
        return 1.0

    error, out = onax.jit(checkify.checkify(f))(-1.0)
    assert "not positive" in error.get()
    assert out == 1.0
