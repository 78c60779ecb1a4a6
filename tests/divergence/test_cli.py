"""The command line: exit codes, baselines, bad commands."""

import json

import pytest

from divergence.reports import wrong_family
from onax._divergence import cli


def test_departures_end_in_a_code_unless_the_baseline_has_them(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(cli, "FAMILIES", (wrong_family("TypeError"),))
    baseline = tmp_path / "baseline.json"
    assert cli.main(["--backends", "eager", "--format", "json", "-o", str(baseline)]) == cli.EXIT_DEPARTS
    assert json.loads(baseline.read_text())["departures"] == ["eager: wrong/x + 1//"]
    assert cli.main(["--backends", "eager", "--fail-on-new", str(baseline)]) == 0
    baseline.write_text('{"departures": []}')
    assert cli.main(["--backends", "eager", "--fail-on-new", str(baseline)]) == cli.EXIT_DEPARTS
    assert "new: eager: wrong/x + 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backends", "tpu"], "there is no backend tpu"),
        (["--only", "nothing"], "there is no family nothing"),
        (["--fail-on-new", "missing.json", "--only", "lists"], "missing.json is not a report"),
        (["--only", "lists", "-o", "no/such/folder/report.txt"], "no/such/folder"),
        (["--fn", "nowhere"], "does not name a function"),
    ],
)
def test_bad_commands(arguments, message, capsys):
    assert cli.main(arguments) == cli.EXIT_FAILED
    assert message in capsys.readouterr().err
