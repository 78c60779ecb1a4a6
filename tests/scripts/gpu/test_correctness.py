"""The stages of correctness, on the CPU in place of the device: items, agreement, refusals, skipped ones."""

import itertools

import pytest

import onax as jax
import script_modules


@pytest.fixture
def scripts(monkeypatch):
    with script_modules.imported("gpu", "correctness", "recording") as modules:
        monkeypatch.setattr(modules.correctness, "CUDA", {"provider": "cpu"})
        yield modules


def test_nests_pass_or_say_why_they_are_skipped(scripts):
    for name, check in itertools.islice(scripts.correctness.nests(), 0, 60, 12):
        try:
            check()
        except scripts.recording.Skip as reason:
            assert str(reason), name


def test_samples_run_one_by_one_where_one_is_refused(scripts, monkeypatch):
    calls = []

    def together(jax, primitive, samples):
        calls.append(list(samples))
        if "bad" in samples:
            raise jax.errors.LoweringError("no form")
        return [(s, []) for s in samples]

    monkeypatch.setattr(scripts.correctness, "_run_together", together)
    assert scripts.correctness.run_on_device(jax, None, ["a", "bad", "b"]) == [("a", []), ("b", [])]
    assert calls == [["a", "bad", "b"], ["a"], ["bad"], ["b"]]
    with pytest.raises(scripts.recording.Skip, match="no form for bad"):
        scripts.correctness.run_on_device(jax, None, ["bad"])


def test_a_wrong_result_is_no_pass(scripts, monkeypatch):
    monkeypatch.setattr(
        scripts.correctness,
        "run_on_device",
        lambda jax, p, samples: [(s, [x * 0 + 7 for x in s.operands]) for s in samples],
    )
    checks = dict(scripts.correctness.laws())
    with pytest.raises(AssertionError):
        checks["neg"]()
