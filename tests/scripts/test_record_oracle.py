"""Recording answers of real JAX: what is asked, what is kept, what is written; the oracle is a stand-in."""

import gzip
import json
from types import SimpleNamespace

import pytest

import oracle
import script_modules


@pytest.fixture
def recorder(monkeypatch):
    """The module, the requests that the stand-in got, and what was saved."""
    asked, saved = [], {}

    def ask(request):
        asked.append(request)
        return {"ok": f"answer {len(asked)}"}

    monkeypatch.setattr(oracle, "live", lambda: SimpleNamespace(ask=ask, version="0.10.2"))
    monkeypatch.setattr(oracle, "save", lambda family, answers, version: saved.update({family: answers}))
    with script_modules.imported("", "record_oracle") as modules:
        yield SimpleNamespace(module=modules.record_oracle, asked=asked, saved=saved)


def test_known_answers_are_not_asked_again(recorder):
    known = oracle.load("stacking")
    count = recorder.module.record_family("stacking", again=False)
    assert count == len(recorder.saved["stacking"]) and not recorder.asked
    assert all(recorder.saved["stacking"][key] == known[key] for key in recorder.saved["stacking"])


def test_all_are_asked_again_on_request(recorder):
    count = recorder.module.record_family("stacking", again=True)
    assert len(recorder.asked) == count > 10


def test_calls_are_asked_by_name(recorder, capsys):
    count = recorder.module.record_calls("control_rules")
    assert count == len(recorder.asked) == len(recorder.saved["control_rules"])
    assert {r["kind"] for r in recorder.asked} == {"call"} and recorder.asked[0]["module"].endswith("control_rules.py")


def test_programs_are_written_in_one_file(recorder, tmp_path, monkeypatch):
    path = tmp_path / "golden" / "jaxprs.json.gz"
    monkeypatch.setattr(recorder.module, "GOLDEN", path)
    count = recorder.module.record_jaxprs()
    written = json.loads(gzip.decompress(path.read_bytes()))
    assert count == len(written) == len(recorder.asked) and next(iter(written.values())) == ["answer 1"]


def test_without_the_oracle_nothing_happens(recorder, monkeypatch):
    monkeypatch.setattr(oracle, "python", lambda: None)
    monkeypatch.setattr("sys.argv", ["record_oracle.py"])
    with pytest.raises(SystemExit, match="real JAX is not there"):
        recorder.module.main()
