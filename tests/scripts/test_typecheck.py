"""Type checking lays the package out as it installs, and returns mypy's status."""

from pathlib import Path
from types import SimpleNamespace

import script_modules


def test_the_layout(monkeypatch):
    seen = {}

    def run(command, cwd, env):
        package = Path(cwd) / "onax"
        seen.update(command=command, names={p.name for p in package.iterdir()}, path=env["MYPYPATH"], cwd=cwd)
        seen["resolved"] = [(package / name).resolve() for name in ("numpy", "export")]
        return SimpleNamespace(returncode=7)

    with script_modules.imported("", "typecheck") as modules:
        monkeypatch.setattr(modules.typecheck.subprocess, "run", run)
        assert modules.typecheck.main() == 7
    root = script_modules.SCRIPTS.parent
    assert seen["resolved"] == [root / "pkg" / "onax" / "numpy", root / "export"] and seen["path"] == seen["cwd"]
    assert {"__init__.py", "_native", "export"} <= seen["names"] and seen["command"][-2:] == ["-p", "onax"]
    assert not Path(seen["cwd"]).exists()
