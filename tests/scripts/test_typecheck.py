"""Type checking lays the package out as it installs, and returns mypy's status."""

from pathlib import Path
from types import SimpleNamespace

import script_modules


def test_the_layout(monkeypatch):
    seen = {}

    def run(command, cwd, env):
        package = Path(cwd) / "onax"
        seen.update(command=command, names={p.name for p in package.iterdir()}, path=env["MYPYPATH"], cwd=cwd)
        seen["resolved"] = [(package / name).resolve() for name in ("numpy/__init__.py", "export")]
        seen["argument_types"] = {p.name for p in (package / "_ground").glob("argument_types.*")}
        return SimpleNamespace(returncode=7)

    with script_modules.imported("", "typecheck") as modules:
        monkeypatch.setattr(modules.typecheck.subprocess, "run", run)
        assert modules.typecheck.main() == 7
    root = script_modules.SCRIPTS.parent
    assert seen["resolved"] == [root / "pkg" / "onax" / "numpy" / "__init__.py", root / "export"]
    assert seen["path"] == seen["cwd"]
    assert {"__init__.py", "_native", "export"} <= seen["names"] and seen["command"][-2:] == ["-p", "onax"]
    assert seen["argument_types"] == {"argument_types.py"}  # the package is checked without the stub for users
    assert not Path(seen["cwd"]).exists()
