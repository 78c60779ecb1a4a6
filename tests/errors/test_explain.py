"""`python -m onax.errors`: the sections of the page on errors, for an installed package."""

import pytest

from onax import errors
from onax.errors import explain


def test_every_section_has_a_title_with_its_names():
    for name, text in explain.sections().items():
        title = text.splitlines()[0]
        assert title.startswith("## ") and "<a id" not in text
        assert name in title or issubclass(getattr(errors, name), errors.StrictError)


@pytest.mark.parametrize("word, hint", [("Lowering", "did you mean LoweringError?"), ("zzz", "known: OnaxError")])
def test_an_unknown_name(word, hint, capsys):
    assert explain.main([word]) == 2
    assert hint in capsys.readouterr().err


def test_without_a_name_all_are_listed(capsys):
    assert explain.main([]) == 0
    assert set(capsys.readouterr().out.split()) == set(explain.sections())
