"""`python -m onax`: scripts, modules, code, arguments, paths, processes that the program starts, and usage."""

import json

import pytest

import jax_programs
from onax.interop import command

SHOW = """
import json, sys
import jax, jax.numpy as jnp
print(json.dumps([__name__, sys.argv, sys.path[0], float(jax.grad(jnp.sin)(0.0))]))
"""


def test_a_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import beside\n" + SHOW + "assert __file__ == sys.argv[0]")
    (tmp_path / "beside.py").write_text("")
    out = json.loads(jax_programs.run(script, "a", "--b", "-c"))
    assert out == ["__main__", [str(script), "a", "--b", "-c"], str(tmp_path), 1.0]


def test_the_file_of_a_script_is_a_whole_path(tmp_path):
    (tmp_path / "script.py").write_text("import sys\nprint(__file__, sys._getframe().f_code.co_filename, sys.argv[0])")
    out = jax_programs.run("script.py", cwd=tmp_path)
    assert out.split() == [str(tmp_path / "script.py")] * 2 + ["script.py"]


def test_a_module(tmp_path):
    (tmp_path / "program.py").write_text(SHOW)
    out = json.loads(jax_programs.run("-m", "program", "a", cwd=tmp_path))
    assert out == ["__main__", [str(tmp_path / "program.py"), "a"], str(tmp_path), 1.0]


def test_a_folder(tmp_path):
    (tmp_path / "__main__.py").write_text(SHOW)
    out = json.loads(jax_programs.run(tmp_path, "a"))
    assert out == ["__main__", [str(tmp_path), "a"], str(tmp_path), 1.0]


def test_code():
    assert json.loads(jax_programs.run("-c", SHOW, "a")) == ["__main__", ["-c", "a"], "", 1.0]


def test_pytest(tmp_path):
    (tmp_path / "test_it.py").write_text("import jax\ndef test():\n    assert jax.__version__ == '0.10.2'\n")
    assert "1 passed" in jax_programs.run("-m", "pytest", "-p", "no:cacheprovider", tmp_path)


CHILDREN = """
import multiprocessing, subprocess, sys

def double(x):
    import jax.numpy as jnp
    return float(2 * jnp.asarray(x))

if __name__ == "__main__":
    find = "import importlib.util as u, importlib.metadata as m; print(u.find_spec('jax').name, m.version('jaxlib'))"
    subprocess.run([sys.executable, "-c", find + "; import jax.numpy as jnp; print(jnp.ones(1))"], check=True)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(double, [1, 2]), flush=True)
"""


def test_processes_that_the_program_starts(tmp_path):
    (tmp_path / "script.py").write_text(CHILDREN)
    lines = jax_programs.run(tmp_path / "script.py").splitlines()
    assert lines == ["jax 0.10.2", "[1.]", "[2.0, 4.0]"]


def test_exit_codes_and_errors(tmp_path):
    assert jax_programs.python("-m", "onax", "-c", "raise SystemExit(3)").returncode == 3
    done = jax_programs.python("-m", "onax", tmp_path / "missing.py")
    assert done.returncode == 1 and "can't open file" in done.stderr and "Traceback" not in done.stderr
    (tmp_path / "script.py").write_text("def f():\n    1 / 0\nf()\n")
    done = jax_programs.python("-m", "onax", tmp_path / "script.py")
    assert done.returncode == 1 and 'script.py", line 2, in f\n    1 / 0' in done.stderr


@pytest.mark.parametrize("arguments", [[], ["-m"], ["-x", "script.py"]])
def test_usage(arguments, capsys):
    assert command.main(arguments) == 2
    assert capsys.readouterr().err == command.USAGE


def test_help(capsys):
    assert command.main(["--help"]) == 0
    assert capsys.readouterr().out == command.USAGE
