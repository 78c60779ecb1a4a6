"""The options of the command line, and what is said of those that there are not."""

import pytest

from onax.export import options
from onax.export.options import UsageError, parse, suggestion


def test_the_command_export_may_be_left_out():
    command, chosen = parse(["net.py:f", "--arg", "f32[3]", "--quiet"])
    assert command == "export" and chosen["specs"] == ["f32[3]"] and chosen["quiet"] and chosen["opset"] is None
    assert parse(["diff", "a.onnx", "b.onnx"])[0] == "diff"


@pytest.mark.parametrize(
    "argv, message",
    [
        (["exprt", "net.py:f"], "there is no command 'exprt'; did you mean export?"),
        (["zzz"], "there is no command 'zzz'"),
        (["run", "a.onnx", "--ouput=x"], "run: there is no option --ouput; did you mean --output?"),
        (["net.py:f", "--zzzzzz"], "export: there is no option --zzzzzz"),
        (["inspect", "a.onnx", "b.onnx"], "inspect: what is 'b.onnx'?"),
        (["run"], "the following arguments are required: FILE"),
        (["net.py:f", "--opset", "k"], "argument --opset: invalid int value: 'k'"),
    ],
)
def test_what_there_is_not(argv, message):
    with pytest.raises(UsageError) as caught:
        parse(argv, "onax-export")
    assert str(caught.value) == message and caught.value.usage.startswith("usage: onax-export")


def test_a_suggestion_is_made_only_of_near_names():
    assert suggestion("predct", ["predict", "step"]) == "; did you mean predict?"
    assert suggestion("predct", ["step"]) == ""


def test_version(capsys):
    with pytest.raises(SystemExit) as caught:
        parse(["--version"])
    assert caught.value.code == 0 and capsys.readouterr().out.startswith("onax ")


def test_every_command_has_a_line_in_the_help(capsys):
    with pytest.raises(SystemExit):
        parse(["--help"])
    said = capsys.readouterr().out
    assert all(f"\n    {name} " in said for name in options.COMMANDS)
