"""The command line, in this process: what it writes, what it says, its exit codes."""

import json
import os
import sys

import numpy as np
import pytest

import command_line
import onax
from onax._commands import export_main as main
from onax.export import load
from onax.export.cli import EXIT_DIFFERENT, EXIT_FAILED
from onax.export.targets import find_function

NET = """
import numpy as np
from helper import FACTOR
import onax.numpy
from onax import lax

W = lax.full((8, 4), 0.5)
CALLS = []

def predict(x):
    "Closed over W."
    return lax.dot(x, W)

def step(params, x):
    return params, lax.sin(lax.dot(x, params["w"]))

def scaled(x, *, factor, axes=()):
    return lax.mul(x, lax.full_like(x, factor * FACTOR))

def impure(x):
    CALLS.append(x)
    return lax.sin(x) if len(CALLS) == 1 else lax.cos(x)

def broken(x):
    return lax.dot(x, lax.full((3, 3), 1.0))

def with_keyword(x, *, shift):
    return lax.add(x, lax.broadcast(shift, (2,)))

def indexes(x, i):
    return x.at[i].set(0.0)[i + 100]

def both(x, y):
    return x + y

def branches(x):
    if x > 0:
        return x
    return -x

def nothing(x):
    lax.neg(x)

def not_a_number(x):
    return lax.log(lax.sub(lax.neg(lax.abs(x)), 1.0))

def prints(x):
    onax.debug.print("x {}", x)
    return lax.fori_loop(0, 2, lambda i, c: (onax.debug.print("c {}", c), c * 2)[1], x)

def negative(x):
    return onax.numpy.signbit(x)

class Model:
    @staticmethod
    def apply(x):
        return lax.neg(x)

number = 3
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "helper.py").write_text("FACTOR = 2.0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("net", "helper"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("net", "helper"):
        sys.modules.pop(name, None)


def test_default_output(project, capsys):
    assert main(["net.py:predict", "--arg", "f32[batch,8]", "--check"]) == 0
    said = capsys.readouterr().out
    assert "wrote predict.onnx" in said and "check with batch = " in said and "x  f32[batch,8]" in said
    assert load("predict.onnx").call(np.ones((2, 8), np.float32)).tolist() == [[4] * 4] * 2


@pytest.mark.parametrize("target", ["net.py:step", "net:step", "./net.py:step"])
def test_targets_and_trees(project, target):
    assert main([target, "--arg", "{w: f32[8,3]}", "--arg", "f32[5,8]", "-o", "s.onnx", "--quiet"]) == 0
    made = load("s.onnx")
    assert made.in_names == ("params.w", "x") and made.out_names == ("out.0.w", "out.1")


def test_attributes_and_opset(project, capsys):
    assert main(["net.py:Model.apply", "--arg", "f16[]", "--opset", "18", "-o", "m.onnx"]) == 0
    assert "opset 18, IR version 8" in capsys.readouterr().out
    assert load("m.onnx").opset == 18


def test_static_values(project):
    assert main(["net.py:scaled", "--arg", "f32[2]", "--static", "factor=1.5", "--quiet", "-o", "k.onnx"]) == 0
    made = load("k.onnx")
    assert made.in_names == ("x",) and made.call(np.ones(2, np.float32)).tolist() == [3, 3]


def test_keyword_arguments(project):
    arguments = ["net.py:with_keyword", "--arg", "f32[2]", "--arg", "shift=f32[]", "--quiet", "--check"]
    assert main(arguments) == 0 and load("with_keyword.onnx").in_names == ("x", "shift")


def test_concretization_errors_show_the_line(project, capsys):
    assert main(["net.py:branches", "--arg", "f32[]"]) == EXIT_FAILED
    said = capsys.readouterr().err
    assert "if x > 0:" in said and "TracerBoolConversionError" in said and "_transforms" not in said


def test_warnings_are_one_line(project, capsys):
    assert main(["net.py:both", "--arg", "f32[b]", "--arg", "f32[b]", "--quiet"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("warning: ONNX cannot assert that dimensions agree (b: x, y)") and said.count("\n") == 1


def test_constraints(project):
    assert main(["net.py:predict", "--arg", "f32[b,8]", "--constraint", "b >= 4", "--quiet", "--check"]) == 0
    assert load("predict.onnx").constraints == ("b >= 4",)


def test_quiet_says_nothing(project, capsys):
    assert main(["net.py:predict", "--arg", "f32[2,8]", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "arguments, parts",
    [
        (["net.py:predct", "--arg", "f32[2,8]"], ["net.py has no function 'predct'; did you mean predict?"]),
        (["net.py:number"], ["number in net.py is not a function; its type is int"]),
        (["none.py:f"], ["there is no file none.py"]),
        (["no_such_module:f"], ["there is no module no_such_module"]),
        (["net.py"], ["does not name a function"]),
        (["net.py:predict"], ["predict(x) does not take 0 --arg"]),
        (["net.py:predict", "--arg", "f32[2,8]", "--arg", "f32"], ["predict(x) does not take 2 --arg"]),
        (["net.py:scaled", "--arg", "f32[2]"], ["factor"]),
        (["net.py:scaled", "--arg", "f32", "--static", "factor"], ["NAME=VALUE"]),
        (["net.py:scaled", "--arg", "f32", "--static", "factor=open('x')"], ["not a Python literal"]),
        (["net.py:predict", "--arg", "f32[batch,8"], ["'[' is not closed", "\n    f32[batch,8\n       ^"]),
        (["net.py:predict", "--arg", "f32[2*,8]"], ["invalid shape", "\n    f32[2*,8]\n          ^"]),
        (["net.py:predict", "--arg", "f32[b*t,8]"], ["Cannot solve for values of dimension variables"]),
        (["net.py:predict", "--arg", "f32[2,8]", "--opset", "12"], ["opset 12 is not supported", "18 to 26"]),
        (
            ["net.py:predict", "--arg", "f32[2,8]", "-o", "none/p.onnx"],
            ["cannot write none/p.onnx: there is no folder"],
        ),
        (["net.py:predict", "--arg", "f32[2,8]", "-o", "."], ["cannot write .: it is a folder"]),
        (["net.py:predict", "--arg", "f32[b,8]", "--constraint", "b"], ["must contain one of"]),
        (
            ["net.py:predict", "--arg", "f32[b,8]", "--constraint", "b + q >= 2"],
            ["--constraint 'b + q >= 2': no argument has a dimension q; there are b"],
        ),
        (
            ["net.py:predict", "--arg", "f32[batch,8]", "--constraint", "batsh >= 2"],
            ["no argument has a dimension batsh; did you mean batch?"],
        ),
        (["net.py:zzz"], ["net.py has no function 'zzz'; it has both, branches, broken"]),
    ],
)
def test_errors(project, capsys, arguments, parts):
    before = sorted(os.listdir())
    assert main(arguments) == EXIT_FAILED
    said = capsys.readouterr()
    assert said.err.startswith("error: ") and "Traceback" not in said.err
    for part in parts:
        assert part in said.err
    assert [n for n in sorted(os.listdir()) if n not in before and n != "__pycache__"] == []


def test_errors_of_the_function_show_its_lines(project, capsys):
    assert main(["net.py:broken", "--arg", "f32[2,8]"]) == EXIT_FAILED
    said = capsys.readouterr().err
    assert "in broken" in said and "_prims" not in said


def test_differences_are_found_and_nothing_is_written(project, capsys):
    assert main(["net.py:impure", "--arg", "f32[3]", "--check"]) == EXIT_DIFFERENT
    assert "check failed: out differs" in capsys.readouterr().err and not os.path.exists("impure.onnx")


@pytest.mark.skipif(any(d.platform == "gpu" for d in onax.devices()), reason="there is a CUDA device")
def test_a_check_runs_on_the_provider_that_was_asked_for(project, capsys):
    assert main(["net.py:predict", "--arg", "f32[2,8]", "--check", "--provider", "cuda"]) == EXIT_FAILED
    assert "cuda" in capsys.readouterr().err.lower() and not os.path.exists("predict.onnx")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(project, capsys):
    os.mkdir("closed", 0o500)
    assert main(["net.py:predict", "--arg", "f32[2,8]", "-o", "closed/p.onnx"]) == EXIT_FAILED
    assert "read-only" in capsys.readouterr().err


def test_random_input_is_given_as_arrays(project):
    """The function is checked on arrays of onax, whose indexing differs from NumPy's."""
    assert main(["net.py:indexes", "--arg", "f32[3]", "--arg", "i32[2]", "--quiet", "--check"]) == 0


def test_a_file_does_not_take_a_modules_place(project):
    (project / "random.py").write_text("from onax import lax\ndef f(x):\n    return lax.sin(x)\n")
    before = sys.modules.get("random")
    assert find_function("random.py:f").__name__ == "f"
    assert before is None or sys.modules["random"] is before


def test_find_function_in_an_installed_module():
    assert find_function("onax.lax:sin").__name__ == "sin"


@pytest.fixture
def command_project(tmp_path, monkeypatch):
    yield from command_line.in_project(tmp_path, monkeypatch)


def test_external_data(command_project):
    exported = command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--external-data")
    assert os.path.getsize("p.onnx.data") > 3000
    np.testing.assert_allclose(
        np.asarray(exported.call(command_line.X)), command_line.wanted(command_line.X), rtol=1e-5, atol=1e-6
    )


def test_run(command_project, capsys):
    command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["run", "p.onnx", "--example", "inputs.npz", "-o", "results.npz"]) == 0
    with np.load("results.npz") as stored:
        np.testing.assert_allclose(stored["out"], command_line.wanted(command_line.X), rtol=1e-5, atol=1e-6)
    assert "out  float32[5, 4]" in capsys.readouterr().out
    assert main(["run", "p.onnx"]) == 0


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["inspect", "net.py"], "not an ONNX model"),
        (["run", "none.onnx"], "cannot read none.onnx"),
        (["check", "none.onnx"], "cannot read none.onnx"),
        (["export", "net.py:predict", "--params", "none.npz"], "none.npz cannot be read"),
        (["export", "net.py:predict", "--params", "none.safetensors"], "there is no file none.safetensors"),
        (["export", "net.py:predict", "--example", "net.py"], "net.py cannot be read"),
        (["export", "net.py:counts", "--arg", "f32[3]", "--dynamic", "7:0=b"], "matches no argument"),
        (["export", "net.py:counts", "--arg", "f32[3]", "--dynamic", "x=b"], "neither NAME nor"),
    ],
)
def test_errors_of_other_commands(command_project, capsys, arguments, message):
    before = sorted(os.listdir())
    assert main(arguments) == EXIT_FAILED
    assert message in capsys.readouterr().err
    assert [n for n in sorted(os.listdir()) if n not in before and n != "__pycache__"] == []


def test_a_wrong_shape_is_one_line(command_project, capsys):
    command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    np.savez("wrong.npz", np.ones((5, 9), np.float32))
    assert main(["run", "p.onnx", "--example", "wrong.npz"]) == EXIT_FAILED
    said = capsys.readouterr().err
    assert said.startswith("error: wrong.npz: ") and said.count("\n") == 1 and "9" in said
    np.savez("wrong.npz", np.ones((5, 8), np.int32))
    assert main(["run", "p.onnx", "--example", "wrong.npz"]) == EXIT_FAILED
    assert "expected float32 and called with int32" in capsys.readouterr().err


def test_run_says_that_inputs_were_random_and_what_came_out(command_project, capsys):
    command_line.made("--params", "weights.npz", "--example", "inputs.npz", "--dynamic", "batch")
    assert main(["run", "p.onnx", "--seed", "3"]) == 0
    assert capsys.readouterr().out.startswith("random inputs (seed 3), with batch = 3: --example gives others\n")
    assert main(["run", "p.onnx", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["random_inputs"] and told["seed"] == 0 and told["sizes"] == {"batch": 3}
    out = told["results"]["out"]
    assert out["shape"] == [3, 4] and out["dtype"] == "float32" and out["nan"] == out["infinite"] == 0
    assert -1.001 <= out["min"] <= out["mean"] <= out["max"] <= 1.001
    assert main(["run", "p.onnx", "--json", "--example", "inputs.npz"]) == 0
    assert json.loads(capsys.readouterr().out)["random_inputs"] is False


def test_errors_as_json(project, capsys):
    for argv, kind, message in [
        (["run", "none.onnx", "--json"], "ArtifactError", "cannot read none.onnx"),
        (["run", "--jsom", "--json", "x"], "UsageError", "did you mean --json?"),
        (["net.py:broken", "--arg", "f32[2,8]", "--json"], "ValueError", "dot"),
    ]:
        assert main(argv) == EXIT_FAILED
        said = capsys.readouterr()
        error = json.loads(said.out)["error"]
        assert error["kind"] == kind and message in error["message"] and said.err == ""
    assert "in broken" in error["traceback"]


def test_a_function_that_returns_nothing(project, capsys):
    assert main(["net.py:nothing", "--arg", "f32[3]", "--check", "-o", "n.onnx"]) == 0
    assert "nothing returns no arrays, so the model has no outputs" in capsys.readouterr().err
    assert load("n.onnx").call(np.ones(3, np.float32)) is None
    assert main(["run", "n.onnx"]) == main(["check", "n.onnx"]) == main(["inspect", "n.onnx"]) == 0


def test_checks_of_nothing_but_nan_say_so(project, capsys):
    assert main(["check", "net.py:not_a_number", "--arg", "f32[3]"]) == 0
    said = capsys.readouterr()
    assert "ok, all NaN" in said.out and "every element of every output is NaN" in said.err
    assert main(["net.py:not_a_number", "--arg", "f32[3]", "--check"]) == 0
    assert "every element of every output is NaN" in capsys.readouterr().err
    assert main(["check", "net.py:predict", "--arg", "f32[2,8]"]) == 0
    assert "NaN" not in "".join(capsys.readouterr())


def test_prints_are_left_out_with_a_warning(project, capsys):
    assert main(["net.py:prints", "--arg", "f32[3]", "--quiet"]) == 0
    said = capsys.readouterr().err
    assert said.count("warning: debug.print(") == 2 and "net.py" in said
    assert load("prints.onnx").call(np.ones(3, np.float32)).tolist() == [4, 4, 4]


def test_what_a_higher_opset_would_save_is_told(project, capsys):
    assert main(["net.py:negative", "--arg", "f32[3]"]) == 0
    said = capsys.readouterr().out
    assert "negative  (opset 21," in said and "nodes by 1 BitCast (--opset 26)\n" in said
    assert main(["net.py:negative", "--arg", "f32[3]", "--json"]) == 0
    (saving,) = json.loads(capsys.readouterr().out)["opset_savings"]
    assert saving["opset"] == 26 and saving["added"] == {"BitCast": 1} and saving["removed"] > 1


def test_both_files_are_told_with_their_sizes(command_project, capsys):
    arguments = ["net.py:predict", "--params", "weights.npz", "--example", "inputs.npz", "--external-data"]
    assert main(arguments) == 0
    sizes = {name: os.path.getsize(name) for name in ("predict.onnx", "predict.onnx.data")}
    said = capsys.readouterr().out
    assert all(f"{name}  ({size:,} bytes)" in said for name, size in sizes.items())
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == sizes
    assert main(["inspect", "predict.onnx"]) == 0
    assert f"predict.onnx.data  {sizes['predict.onnx.data']:,} bytes" in capsys.readouterr().out
