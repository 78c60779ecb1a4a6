"""The shape of the source: floors import downward, files and functions stay short, lowerings mirror primitives."""

import ast
import functools
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
    "version": 1,
    "_ground": 1,
    "_core": 2,
    "_pages": 2,
    "_prims": 3,
    "_transforms": 4,
    "_control": 5,
    "_tape": 6,
    "export": 7,
    "_compile": 8,
    "lax": 9,
    "numpy": 9,
    "nn": 9,
    "random": 9,
    "scipy": 9,
    "image": 9,
    "ops": 9,
    "experimental": 9,
    "onnx": 9,
}
FACE = 10  # modules directly in the package
PRIMS_ORDER = (
    "placement convert shaping varying creation elementwise slicing padding stacking reductions cumulative indexing "
    "windows dot conv sorting special linalg fft random collectives checks sinks refs"
).split()
FILE_CEILING, FUNCTION_CEILING = 800, 60
# The one module that imports inside functions: what stands behind it is imported when something is first compiled.
LAZY_IMPORT = "onax._compile.lazy_import"
BEHIND_THE_DOOR = {f"onax._compile.{name}" for name in ("first_call", "devices", "explain", "persistent_cache")}
BEHIND_THE_DOOR.add("onax._ground.process_group")  # sockets and threads, for programs of several processes


def modules():
    """(dotted name, path) of every Python module of the package."""
    for folder, prefix in ((PACKAGE, "onax"), (EXPORT, "onax.export")):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            yield ".".join((prefix, *parts)), path


MODULES = dict(modules())


@functools.cache
def tree_of(path):
    """The syntax tree of a source file."""
    return ast.parse(path.read_text())


@functools.cache
def nodes_of(path):
    """All nodes of the syntax tree of a source file."""
    return list(ast.walk(tree_of(path)))


@pytest.fixture(scope="module", autouse=True)
def _trees_are_dropped():
    yield
    tree_of.cache_clear()
    nodes_of.cache_clear()


def floor_of(name):
    parts = name.split(".")
    return FACE if len(parts) == 1 else FLOORS.get(parts[1], FACE)


def imports_of(name, path):
    """Dotted names of onax that a module imports, with the line; only those that exist as modules."""
    for node in nodes_of(path):
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
    graph = {
        n: {t for t, _ in imports_of(n, p) if t in MODULES and t != n} for n, p in MODULES.items() if n != LAZY_IMPORT
    }
    graph[LAZY_IMPORT] = set()  # its imports run after all modules are loaded
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
    if name == LAZY_IMPORT:
        return
    for function in functions(MODULES[name]):
        for node in ast.walk(function):
            assert not isinstance(node, (ast.Import, ast.ImportFrom)), f"{name}:{node.lineno} imports in a function"


def test_the_lazy_import_imports_the_compiler_and_what_few_programs_need_alone():
    assert {target for target, _ in imports_of(LAZY_IMPORT, MODULES[LAZY_IMPORT])} == BEHIND_THE_DOOR


def test_deferred_packages_are_not_ours():
    nodes = nodes_of(MODULES["onax._ground.lazy"])
    calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "LazyModule"]
    names = [call.args[0].value for call in calls]
    assert "numpy" not in names and len(names) > 10
    assert not [name for name in names if name.partition(".")[0] == "onax"]


def functions(path):
    for node in nodes_of(path):
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
        first = function.body[0]
        documentation = first.end_lineno - first.lineno + 1 if ast.get_docstring(function) else 0
        length = function.end_lineno - function.lineno + 1 - documentation
        assert length <= FUNCTION_CEILING, f"{name}:{function.lineno} {function.name} has {length} lines"


def test_lowerings_mirror_primitives():
    lowered = {p.stem for p in (EXPORT / "lower").glob("*.py")} - {
        "__init__",
        "registry",
        "driver",
        "components",
        "control",
        "exported",
        "native",
        "native_tape",
        "narrow",
    }
    families = {family_of(p.stem) or p.stem for p in (PACKAGE / "_prims").glob("[!_]*.py")}
    assert {family_of(s) or s for s in lowered} <= families


def assigned_attributes(name):
    """(module it is from, object, attribute) of each assignment to an attribute of an object that a module imports."""
    nodes = nodes_of(MODULES[name])
    origin = {a.asname or a.name: node.module for node in nodes if isinstance(node, ast.ImportFrom) for a in node.names}
    for node in nodes:
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


def test_the_document_names_what_is_there():
    """Paths in backticks in docs/architecture.md; a module may be named from its floor on, without its ending."""
    folders = ["", "pkg/onax/", "pkg/onax/_compile/devices/", "cython_src/onax/", "cython_src/onax/_native/"]
    named = set(re.findall(r"`([\w./]+)`", DOCUMENT.read_text()))
    paths = [n for n in named if "/" in n or n.endswith((".py", ".h", ".md"))]
    assert len(paths) > 20
    missing = [n for n in paths if not any((ROOT / f"{f}{n}{end}").exists() for f in folders for end in ("", ".pyx"))]
    assert not missing


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


# ---- nothing but slots is keyed by primitives


ALLOWED = {  # (module, name of a container): why it holds primitives, or names that primitives have too
    ("onax.lax", "_NAMED"): "the names are those of functions of the module",
    ("onax.numpy._array_methods", "OPERATORS"): "the names are those of Python's operators",
    ("onax._divergence.indexing", "_UFUNCS"): "the names are those of functions of jnp",
    ("onax._divergence.numerics", "_FUNCTIONS"): "the names are those of functions of jnp",
}
GROUND = 1  # floors up to here know no primitives: names in their tables are other names
BUILDERS = ("dict", "set", "frozenset", "list", "tuple", "OrderedDict", "defaultdict")


def is_primitive(node):
    """Whether an expression is a primitive by its name: `add_p`, `lax.add_p`."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.endswith("_p")


@functools.cache
def names_of_primitives():
    """The first argument of each call whose result is bound to a name that ends in _p."""
    found = set()
    for path in MODULES.values():
        for node in nodes_of(path):
            if isinstance(node, ast.Assign):
                targets = [e for t in node.targets for e in (t.elts if isinstance(t, ast.Tuple) else [t])]
                if any(map(is_primitive, targets)):
                    calls = [n for n in ast.walk(node.value) if isinstance(n, ast.Call) and n.args]
                    found |= {c.args[0].value for c in calls if isinstance(c.args[0], ast.Constant)}
    return {name for name in found if isinstance(name, str)}


def elements(node):
    """What a container holds: its elements, keys and values, those of containers in it, words of a split text."""
    if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
        parts = node.elts
    elif isinstance(node, ast.Dict):
        parts = [*node.keys, *node.values]
    elif isinstance(node, ast.DictComp):
        parts = [node.key, node.value, *[g.iter for g in node.generators]]
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        parts = [node.elt, *[g.iter for g in node.generators]]
    elif isinstance(node, ast.Call) and is_builder(node.func):
        parts = [*node.args, *[k.value for k in node.keywords]]
    elif isinstance(node, ast.Call) and called_name(node) == "split" and isinstance(node.func, ast.Attribute):
        text = node.func.value
        return [ast.Constant(w) for w in text.value.split()] if isinstance(text, ast.Constant) else []
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Starred):
        parts = [node.value]
    else:
        return [node]
    return [e for part in parts if part is not None for e in elements(part)]


def is_builder(function):
    if isinstance(function, ast.Attribute):
        return function.attr in ("fromkeys", "update")
    return isinstance(function, ast.Name) and function.id in BUILDERS


def called_name(call):
    """The last part of the name of what is called."""
    return getattr(call.func, "id", getattr(call.func, "attr", ""))


def holds_primitives(node):
    """Whether a container holds primitives, or (as keys) two names of primitives among not many other texts."""
    held = elements(node)
    if held == [node]:
        return False
    if any(map(is_primitive, held)):
        return True
    keys = [e for key in node.keys if key for e in elements(key)] if isinstance(node, ast.Dict) else held
    texts = {e.value for e in keys if isinstance(e, ast.Constant) and isinstance(e.value, str)}
    count = len(texts & names_of_primitives())
    return count >= 2 and 2 * count >= len(texts)


def module_level(tree):
    """Nodes that run when a module is imported, function bodies left out."""
    queue = list(ast.iter_child_nodes(tree))
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            queue += ast.iter_child_nodes(node)


def is_container(node):
    return elements(node) != [node]


def is_keyed_by_primitives(node, tables):
    """Whether a statement or expression stores something under a primitive in one of these tables.

    `table[p] = ...`, `table.add(p)`, `table.setdefault(p, ...)`, also in functions, where the primitive is a variable.
    """
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        table, key = node.value, node.slice
    elif isinstance(node, ast.Call) and called_name(node) in ("add", "setdefault") and len(node.args) > 0:
        table, key = getattr(node.func, "value", None), node.args[0]
    else:
        return False
    key = key.elts[0] if isinstance(key, ast.Tuple) and key.elts else key
    is_key = is_primitive(key) or (isinstance(key, ast.Name) and key.id in ("primitive", "prim", "p"))
    return is_key and isinstance(table, ast.Name) and table.id in tables


def tables_of_primitives(tree):
    """(line, name) of each container of primitives or of their names that a module keeps, slots apart."""
    nodes = list(module_level(tree))
    named = {}
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named[node.value] = ast.unparse(targets[0])
    inside_all = {n for value, name in named.items() if name == "__all__" for n in ast.walk(value)}
    stored = {n for n in nodes if isinstance(n, (ast.Tuple, ast.List)) and isinstance(n.ctx, ast.Store)}
    for node in nodes:
        if node not in inside_all and node not in stored and holds_primitives(node):
            yield node.lineno, named.get(node, ast.unparse(node)[:40])
    tables = {name for value, name in named.items() if is_container(value)}
    tables |= {a.asname or a.name for n in nodes if isinstance(n, ast.ImportFrom) for a in n.names}
    for node in ast.walk(tree):
        if is_keyed_by_primitives(node, tables):
            yield node.lineno, ast.unparse(node)[:40]


@pytest.mark.parametrize("name", MODULES)
def test_only_slots_are_keyed_by_primitives(name):
    found = [
        f"{name}:{line} {table}"
        for line, table in tables_of_primitives(tree_of(MODULES[name]))
        if (name, table) not in ALLOWED and floor_of(name) > GROUND
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "T = {add_p: 1}",
        "T = (add_p, lax.sub_p)",
        "T = frozenset((add_p,))",
        "T = {'x': [add_p]}",
        "T = {name: 1 for name in ('add', 'sinh')}",
        "T = frozenset('add sinh'.split())",
        "T = ['add', 'sinh', 'another']",
        "T = dict.fromkeys((add_p, sub_p), 1)",
        "T = {}\nT[add_p] = 1",
        "T = {}\nT.update({add_p: 1})",
        "T = {}\ndef f(primitive):\n    T[primitive] = 1",
        "T = set()\ndef f(p):\n    T.add(p)",
        "for p in (add_p, sub_p):\n    f(p)",
        "class C:\n    table = {add_p: 1}",
    ],
)
def test_a_table_of_primitives_is_found(text):
    assert list(tables_of_primitives(ast.parse(text)))


@pytest.mark.parametrize(
    "text",
    [
        "__all__ = ['add', 'sinh', 'add_p']",
        "add_p = Primitive('add')\n_, sub_p = binary('sub')",
        "slot.rule(add_p, sub_p)(1)",
        "def f(eqn):\n    return eqn.primitive in (add_p, sub_p)",
        "T = ['add', 'one', 'two', 'three', 'sinh']",
        "add_p.jvp, add_p.transpose = f, g",
        "T = {}\ndef f(name):\n    T[name] = 1",
    ],
)
def test_what_is_no_table_of_primitives(text):
    assert not list(tables_of_primitives(ast.parse(text)))


# ---- records are dataclasses


KEEP_INIT = {  # (module, class): why its `__init__` is written out although it only copies arguments
    ("onax._compile.stages", "Stage"): "a base class whose field is private",
    ("onax._core.meshes", "mesh_scope"): "a context manager: what it restores is made when it is entered",
    ("onax._core.trace", "Tracer"): "the base class is compiled, and the initializer runs for each traced operation",
    ("onax._transforms.autodiff", "VJP"): "a public class, two of whose fields are public",
    ("onax._transforms.staging", "DynamicJaxprTracer"): "as Tracer",
    ("onax.experimental.checkify", "Error"): "a public class whose fields are private",
    ("onax.interpreters._views", "RuleView"): "an abstract base class of collections gives its methods",
}


def is_copy(statement, parameters):
    """Whether a statement is `self.x = parameter`."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))], value=ast.Name(id=name)):
            return name in parameters
    return False


def classes_that_only_copy(nodes):
    """Names of the classes whose `__init__` only copies its arguments to fields."""
    for c in nodes:
        for method in c.body if isinstance(c, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                body = method.body[ast.get_docstring(method) is not None :]
                parameters = {a.arg for a in ast.walk(method.args) if isinstance(a, ast.arg)}
                if body and all(is_copy(statement, parameters) for statement in body):
                    yield c.name


def test_records_that_only_copy_arguments_are_dataclasses():
    found = {(name, c) for name, path in MODULES.items() for c in classes_that_only_copy(nodes_of(path))}
    assert found == set(KEEP_INIT)


def test_records_that_only_copy_arguments_are_found():
    copies = "class A:\n    def __init__(self, x, *, y=1):\n        'A.'\n        self.x = x\n        self._y = y\n"
    computes = "class A:\n    def __init__(self, x):\n        self.x = tuple(x)\n"
    assert list(classes_that_only_copy(ast.walk(ast.parse(copies)))) == ["A"]
    assert list(classes_that_only_copy(ast.walk(ast.parse(computes)))) == []


# ---- tests mirror the source


SOURCES = {"pkg/onax": "", "export": "export/", "scripts": "scripts/", "cython_src/onax": ""}  # folder -> in tests/
SPANNING = {  # folders of tests/ that mirror no package: what their files test
    "golden": "results and programs recorded from real JAX, of all packages",
    "laws": "what holds for every primitive",
    "oracle": "answers of real JAX, asked while the tests run",
    "programs": "programs as users write them, which several packages run together",
}
DOCUMENTS = {"architecture": "docs/architecture.md", "contributing": "CONTRIBUTING.md", "readme": "README.md"}
UNTESTED = {}  # path of a module without a test file of its own: why it has none


def mirrored(path):
    """The test file of a source file: `pkg/onax/_core/_foo.py` has tests/core/test_foo.py."""
    for folder, prefix in SOURCES.items():
        if path.is_relative_to(ROOT / folder):
            *packages, name = [p.strip("_") for p in path.relative_to(ROOT / folder).with_suffix("").parts]
            packages = packages if packages or prefix else ["faces"]
            return f"tests/{prefix}{'/'.join([*packages, f'test_{name}.py'])}"
    return f"tests/test_{path.stem}.py"


def does_something(tree):
    """Whether a module has code of its own: more than imports, names of types and constants, and the list `__all__`."""
    for node in tree.body:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                continue
            case ast.Expr(value=ast.Call(func=ast.Name(id="_wrap_api_functions"))):
                continue
            case ast.Assign(targets=[ast.Name(id="__getattr__")], value=ast.Call(func=ast.Name(id="_unavailable"))):
                continue  # names that are not there, with reasons
            case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()):
                if not any(isinstance(n, ast.Call | ast.Lambda | ast.comprehension) for n in ast.walk(node)):
                    continue
        return True
    return False


def source_files():
    """(path, whether it needs a test file) of all source files."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py*")):
            if path.suffix == ".pyx" or path.suffix == ".py":
                yield path, path.suffix == ".pyx" or does_something(tree_of(path))
    yield ROOT / "setup.py", True


def existing_tests():
    """Paths of the test files."""
    return {str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")}


def test_every_module_has_its_test_file():
    wanted = {str(p.relative_to(ROOT)): mirrored(p) for p, does in source_files() if does}
    existing = existing_tests()
    missing = {source: test for source, test in wanted.items() if test not in existing}
    found = [f"{source} needs {test}" for source, test in missing.items() if source not in UNTESTED]
    assert not found, "\n".join(found)
    assert UNTESTED.keys() <= missing.keys(), "exceptions that are no longer needed"


def test_every_test_file_has_its_module():
    mirrors = {mirrored(path) for path, _ in source_files()} | {f"tests/test_{name}.py" for name in DOCUMENTS}
    c_files = [path.stem for path in (ROOT / "cython_src/onax/_native").glob("*.c")]
    mirrors |= {f"tests/native/test_{name}.py" for stem in c_files for name in (stem, stem.split("_")[0])}
    stray = {t for t in existing_tests() if t.split("/")[1] not in SPANNING} - mirrors
    assert not stray, f"no source file has the name of {sorted(stray)}"
    assert all((ROOT / path).exists() for path in DOCUMENTS.values())
    assert all(any((ROOT / "tests" / folder).glob("test_*.py")) for folder in SPANNING), "a folder without tests"


@pytest.mark.parametrize("source, test", [
    ("pkg/onax/_strict.py", "tests/faces/test_strict.py"),
    ("pkg/onax/_compile/passes/simplify.py", "tests/compile/passes/test_simplify.py"),
    ("pkg/onax/numpy/_where.py", "tests/numpy/test_where.py"),
    ("pkg/onax/numpy/__init__.py", "tests/numpy/test_init.py"),
    ("pkg/onax/__init__.py", "tests/faces/test_init.py"),
    ("export/api.py", "tests/export/test_api.py"),
    ("export/lower/_forms.py", "tests/export/lower/test_forms.py"),
    ("cython_src/onax/_native/tree.pyx", "tests/native/test_tree.py"),
    ("scripts/gpu/run.py", "tests/scripts/gpu/test_run.py"),
    ("setup.py", "tests/test_setup.py"),
])  # fmt: skip
def test_where_the_tests_of_a_module_are(source, test):
    assert mirrored(ROOT / source) == test


@pytest.mark.parametrize("text, does", [
    ("'Names.'\nfrom onax import lax\nShape = tuple[int, ...]\nAxis: TypeAlias = int\n__all__ = ['Shape']", False),
    ("from onax.lax import add\n_wrap_api_functions(globals(), __name__)", False),
    ("add = make('add')", True),
    ("def f():\n    pass", True),
    ("hooks.f = f", True),
    ("for name in names:\n    del name", True),
    ("parse = lambda x: x", True),
])  # fmt: skip
def test_modules_that_do_something(text, does):
    assert does_something(ast.parse(text)) is does
