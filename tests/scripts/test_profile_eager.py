"""The profile of eager operations: the forms that it times compute the same."""

import numpy as np
import pytest

import script_modules


@pytest.fixture
def profile_eager():
    with script_modules.imported("", "profile_eager") as modules:
        yield modules.profile_eager


def test_the_forms_compute_the_same(profile_eager):
    names = []
    for name, kernel, bind, call in profile_eager.operations():
        want = np.asarray(call())
        for form in (kernel, bind):
            if form is not None:
                np.testing.assert_allclose(np.asarray(form()), want, rtol=1e-6, err_msg=name)
        names.append(name)
    assert len(set(names)) == len(names) > 5


def test_the_table(profile_eager, monkeypatch, capsys):
    monkeypatch.setattr(profile_eager, "least", lambda function: 1.5)
    profile_eager.main()
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.split() == ["microseconds", "kernel", "bind", "call", "total"]
    assert len(lines) == len(list(profile_eager.operations())) and lines[0].split()[-1] == "1.50"


def test_the_least_of_several_batches(profile_eager):
    assert 0 < profile_eager.least(lambda: None, seconds=0.01, batches=2) < 1000
