"""The shape of the source: floors import downward, files and functions stay short, lowerings mirror primitives."""

import ast
import inspect
import re
from pathlib import Path

import pytest

from onax._native.hooks import Hooks

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, EXPORT = ROOT / "pkg" / "onax", ROOT / "export"
DOCUMENT = ROOT / "docs" / "architecture.md"

FLOORS = {
    "_native": 0,
    "_ground": 1,
    "_core": 2,
    "_prims": 3,
    "_transforms": 4,
    "_control": 5,
    "export": 6,
    "_compile": 7,
    "lax": 8,
    "numpy": 8,
    "nn": 8,
    "random": 8,
    "scipy": 8,
    "image": 8,
    "ops": 8,
    "experimental": 8,
}
FACE = 9  # modules directly in the package
PRIMS_ORDER = (
    "convert shaping elementwise slicing stacking reductions cumulative indexing windows dot conv sorting special "
    "linalg fft random collectives misc"
).split()
FILE_CEILING, FUNCTION_CEILING = 800, 60
# Modules that may import inside a function: handles to packages that are slow or optional.
DEFERRING = {"onax._ground.lazy"}


def modules():
    """(dotted name, path) of every Python module of the package."""
    for folder, prefix in ((PACKAGE, "onax"), (EXPORT, "onax.export")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            yield ".".join((prefix, *parts)), path


MODULES = dict(modules())


def floor_of(name):
    parts = name.split(".")
    return FACE if len(parts) == 1 else FLOORS.get(parts[1], FACE)


def imports_of(name, path):
    """Dotted names of onax that a module imports, with the line; only those that exist as modules."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno} imports relatively"
            found = [f"{node.module}.{a.name}" for a in node.names]
            found = [f if f in MODULES else node.module for f in found]
        else:
            continue
        for target in found:
            if target == "onax" or target.startswith("onax."):
                yield target, node.lineno


@pytest.mark.parametrize("name", MODULES)
def test_imports_go_down(name):
    mine = floor_of(name)
    for target, line in imports_of(name, MODULES[name]):
        assert floor_of(target) <= mine, f"{name}:{line} (floor {mine}) imports {target} (floor {floor_of(target)})"


def family_of(module):
    """The family a file of _prims belongs to: `elementwise_kernels` is part of elementwise."""
    return next((f for f in PRIMS_ORDER if module == f or module.startswith(f + "_")), None)


@pytest.mark.parametrize("name", [n for n in MODULES if n.startswith("onax._prims.")])
def test_families_import_in_their_order(name):
    family = family_of(name.rsplit(".", 1)[-1])
    if family is None:
        return  # helpers with a leading underscore belong to no family
    for target, line in imports_of(name, MODULES[name]):
        if target.startswith("onax._prims."):
            other = family_of(target.rsplit(".", 1)[-1])
            if other is not None:
                assert PRIMS_ORDER.index(other) <= PRIMS_ORDER.index(family), f"{name}:{line} imports {target}"


def test_families_are_known():
    unknown = [
        n
        for n in MODULES
        if n.startswith("onax._prims.")
        and not n.rsplit(".", 1)[-1].startswith("_")
        and family_of(n.rsplit(".", 1)[-1]) is None
    ]
    assert not unknown


def test_no_import_cycles():
    graph = {n: {t for t, _ in imports_of(n, p) if t in MODULES and t != n} for n, p in MODULES.items()}
    done, path = set(), []

    def visit(node):
        assert node not in path, "cycle: " + " -> ".join([*path[path.index(node) :], node])
        if node in done:
            return
        path.append(node)
        for target in sorted(graph[node]):
            if not node.startswith(target + "."):  # a package is imported before its parts
                visit(target)
        path.pop()
        done.add(node)

    for node in graph:
        if node not in ("onax", "onax.export"):
            visit(node)


@pytest.mark.parametrize("name", MODULES)
def test_no_import_inside_a_function(name):
    if name in DEFERRING:
        return
    for function in functions(MODULES[name]):
        for node in ast.walk(function):
            assert not isinstance(node, (ast.Import, ast.ImportFrom)), f"{name}:{node.lineno} imports in a function"


def functions(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def sources():
    yield from MODULES.values()
    for folder, pattern in (
        ("cython_src", "*.p[yx][xd]"),
        ("cython_src", "*.[ch]"),
        ("scripts", "*.py"),
        ("tests", "*.py"),
    ):
        yield from sorted((ROOT / folder).rglob(pattern))


@pytest.mark.parametrize("path", [str(p.relative_to(ROOT)) for p in sources()])
def test_files_stay_short(path):
    assert len((ROOT / path).read_text().splitlines()) <= FILE_CEILING


@pytest.mark.parametrize("name", MODULES)
def test_functions_stay_short(name):
    for function in functions(MODULES[name]):
        length = function.end_lineno - function.lineno + 1
        assert length <= FUNCTION_CEILING, f"{name}:{function.lineno} {function.name} has {length} lines"


def test_lowerings_mirror_primitives():
    lowered = {p.stem for p in (EXPORT / "lower").glob("*.py")} - {
        "__init__",
        "registry",
        "driver",
        "components",
        "control",
        "native",
        "native_fused",
    }
    families = {family_of(p.stem) or p.stem for p in (PACKAGE / "_prims").glob("[!_]*.py")}
    assert {family_of(s) or s for s in lowered} <= families


def assigned_attributes(name):
    """(module it is from, object, attribute) of each assignment to an attribute of an object that a module imports."""
    tree = ast.parse(MODULES[name].read_text())
    origin = {
        a.asname or a.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for a in node.names
    }
    for node in ast.walk(tree):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            for target in targets:
                if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    if target.value.id in origin:
                        yield origin[target.value.id], target.value.id, target.attr


def test_the_text_counts_what_is_handed_down():
    hooks, impls = [], []
    for name in MODULES:
        for origin, owner, attribute in assigned_attributes(name):
            if origin == "onax._native.hooks":
                hooks.append((attribute, name))
            elif attribute == "impl" and floor_of(origin) < floor_of(name):
                impls.append((owner, name))
    fields = {key for key, value in vars(Hooks).items() if inspect.isdatadescriptor(value)}
    assert sorted(field for field, _ in hooks) == sorted(fields)
    said = re.search(r"(\d+) hooks and (\d+) `impl`.*?assigned in (\d+) files", DOCUMENT.read_text(), re.DOTALL)
    files = {name for _, name in hooks}
    assert tuple(map(int, said.groups())) == (len(hooks), len(impls), len(files)), (hooks, impls)


FORBIDDEN = (r"except Exception", r"except:\s*$", r"\bTODO\b", r"\bFIXME\b", r"if TYPE_CHECKING")


@pytest.mark.parametrize("name", MODULES)
def test_nothing_forbidden(name):
    text = MODULES[name].read_text()
    for pattern in FORBIDDEN:
        found = re.search(pattern, text, re.MULTILINE)
        assert not found, f"{name} contains {found.group()!r}"


def test_compiled_modules_import_nothing_of_onax():
    for path in (ROOT / "cython_src" / "onax" / "_native").glob("*.pyx"):
        for i, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r"\s*(?:from|import|cimport)\s+(onax[\w.]*)", line)
            if found:
                assert found.group(1).startswith("onax._native"), f"{path.name}:{i}: {line.strip()}"
