"""Docstrings of public functions: they say what is there, and their examples run.

Each function and class of a public module has a summary of one line, documents every parameter and the result, and
shows examples that print what they say.
"""

import ast
import dataclasses
import doctest
import enum
import inspect
import re
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

import onax
from onax import lax, nn
from onax import numpy as jnp
from public_members import members, public_modules

MODULES = (
    "onax",
    "onax.ad_checkpoint",
    "onax.api_util",
    "onax.core",
    "onax.custom_batching",
    "onax.custom_derivatives",
    "onax.debug",
    "onax.distributed",
    "onax.dlpack",
    "onax.dtypes",
    "onax.errors",
    "onax.example_libraries.optimizers",
    "onax.example_libraries.stax",
    "onax.experimental",
    "onax.experimental.buffer_callback",
    "onax.experimental.checkify",
    "onax.experimental.colocated_python",
    "onax.experimental.colocated_python.api",
    "onax.experimental.compilation_cache.compilation_cache",
    "onax.experimental.compute_on",
    "onax.experimental.control_deps",
    "onax.experimental.custom_partitioning",
    "onax.experimental.fused",
    "onax.experimental.hijax",
    "onax.experimental.jet",
    "onax.experimental.layout",
    "onax.experimental.mesh_utils",
    "onax.experimental.multihost_utils",
    "onax.experimental.ode",
    "onax.experimental.profiler",
    "onax.experimental.random",
    "onax.experimental.rnn",
    "onax.experimental.roofline",
    "onax.experimental.scheduling_groups",
    "onax.experimental.serialize_executable",
    "onax.experimental.shard_alike",
    "onax.experimental.shard_map",
    "onax.experimental.sparse",
    "onax.experimental.sparse.ad",
    "onax.experimental.sparse.api",
    "onax.experimental.sparse.bcoo",
    "onax.experimental.sparse.bcsr",
    "onax.experimental.sparse.coo",
    "onax.experimental.sparse.csr",
    "onax.experimental.sparse.linalg",
    "onax.experimental.sparse.random",
    "onax.experimental.sparse.transform",
    "onax.experimental.sparse.util",
    "onax.experimental.topologies",
    "onax.experimental.transfer",
    "onax.experimental.xla_metadata",
    "onax.export",
    "onax.extend.backend",
    "onax.extend.core",
    "onax.extend.core.primitives",
    "onax.extend.linear_util",
    "onax.extend.random",
    "onax.extend.source_info_util",
    "onax.extend.xla",
    "onax.ffi",
    "onax.flatten_util",
    "onax.image",
    "onax.interop",
    "onax.interpreters.ad",
    "onax.interpreters.batching",
    "onax.interpreters.mlir",
    "onax.interpreters.partial_eval",
    "onax.interpreters.pxla",
    "onax.interpreters.xla",
    "onax.lax",
    "onax.lax.linalg",
    "onax.monitoring",
    "onax.nn",
    "onax.nn.initializers",
    "onax.numpy",
    "onax.numpy.fft",
    "onax.numpy.linalg",
    "onax.onnx",
    "onax.ops",
    "onax.profiler",
    "onax.random",
    "onax.ref",
    "onax.scipy.cluster.vq",
    "onax.scipy.fft",
    "onax.scipy.integrate",
    "onax.scipy.interpolate",
    "onax.scipy.linalg",
    "onax.scipy.ndimage",
    "onax.scipy.optimize",
    "onax.scipy.signal",
    "onax.scipy.sparse.linalg",
    "onax.scipy.spatial.transform",
    "onax.scipy.special",
    "onax.scipy.stats",
    "onax.scipy.stats.bernoulli",
    "onax.scipy.stats.beta",
    "onax.scipy.stats.betabinom",
    "onax.scipy.stats.binom",
    "onax.scipy.stats.cauchy",
    "onax.scipy.stats.chi2",
    "onax.scipy.stats.dirichlet",
    "onax.scipy.stats.expon",
    "onax.scipy.stats.gamma",
    "onax.scipy.stats.gennorm",
    "onax.scipy.stats.geom",
    "onax.scipy.stats.gumbel_l",
    "onax.scipy.stats.gumbel_r",
    "onax.scipy.stats.laplace",
    "onax.scipy.stats.logistic",
    "onax.scipy.stats.multinomial",
    "onax.scipy.stats.multivariate_normal",
    "onax.scipy.stats.nbinom",
    "onax.scipy.stats.norm",
    "onax.scipy.stats.pareto",
    "onax.scipy.stats.poisson",
    "onax.scipy.stats.t",
    "onax.scipy.stats.truncnorm",
    "onax.scipy.stats.uniform",
    "onax.scipy.stats.vonmises",
    "onax.scipy.stats.wrapcauchy",
    "onax.sharding",
    "onax.stages",
    "onax.test_util",
    "onax.tree",
    "onax.tree_util",
)
NAMES = {"__name__": __name__, "jnp": jnp, "lax": lax, "nn": nn, "np": np, "onax": onax}  # what examples may use
PARAMETER = re.compile(r"  (?:  )?(\*{0,2}\w+(?:, \*{0,2}\w+)*):")


def parameters(value):
    """Names of the parameters of a function or class; None if there are none to document."""
    if isinstance(value, type):
        is_type = getattr(value, "_is_protocol", False) or issubclass(value, (BaseException, enum.Enum))
        if is_type or (value.__init__ is object.__init__ and value.__new__ is object.__new__):
            return None
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    return {n for n in signature.parameters if n[0] != "_"}


def documented(text):
    """Names that the section `Args` of a docstring documents."""
    section = re.search(r"^Args:\n((?:(?: .*)?\n?)*)", text, re.MULTILINE)
    rows = section[1].split("\n") if section else []
    indent = len(rows[0]) - len(rows[0].lstrip()) if rows else 0
    first = [row for row in rows if row[:indent].isspace() and row[indent : indent + 1] != " "]
    found = [m[1] for row in first if (m := PARAMETER.match(row))]
    return {name.strip("*") for names in found for name in names.split(", ")}


def returns_something(value):
    """Whether a function returns anything but None, as far as its source tells."""
    function = inspect.unwrap(value)
    if not isinstance(function, types.FunctionType) or not Path(function.__code__.co_filename).is_file():
        return True
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    return any(isinstance(n, ast.Yield) or (isinstance(n, ast.Return) and n.value is not None) for n in ast.walk(tree))


def faults(value):
    """What a docstring lacks or tells wrongly."""
    text = inspect.cleandoc(value.__doc__ or "")
    summary, _, rest = text.partition("\n")
    found = []
    if not summary.endswith((".", ":")) or (rest and rest[0] != "\n"):
        found.append(f"the summary is not one line and a full stop: {summary!r}")
    names = parameters(value)
    if names is None:
        return found
    listed = documented(text)
    found += [f"`{n}` is not documented" for n in sorted(names - listed)]
    found += [f"`{n}` is documented, but no parameter" for n in sorted(listed - names)]
    has_result = not isinstance(value, type) and returns_something(value)
    if has_result and not re.search(r"^(Returns|Yields):\n", text, re.MULTILINE):
        found.append("no section Returns")
    if not re.search(r"^Examples:\n", text, re.MULTILINE) or ">>>" not in text:
        found.append("no section Examples")
    return found


def run_examples(value, name):
    """Runs the examples of a docstring.  Returns how many there are, and a report of those that failed."""
    example = doctest.DocTestParser().get_doctest(inspect.cleandoc(value.__doc__ or ""), dict(NAMES), name, None, 0)
    report = []
    # No notes: before Python 3.13 doctest compares the last line of an error, which is a note's where there is one.
    with warnings.catch_warnings(), onax._ground.config.traceback_filtering("remove_frames"):
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    return result.attempted, "".join(report) if result.failed else ""


MEMBERS = [(m, n) for m in MODULES for n in members(m)]
WITH_EXAMPLES = [(m, n) for m in MODULES for n, f in members(m).items() if ">>>" in (getattr(f, "__doc__", "") or "")]


@pytest.mark.parametrize(("module", "name"), MEMBERS, ids=[f"{m}.{n}" for m, n in MEMBERS])
def test_docstring_is_complete(module, name):
    found = faults(members(module)[name])
    assert not found, f"{module}.{name}: " + "; ".join(found)


@pytest.mark.parametrize(("module", "name"), WITH_EXAMPLES, ids=[f"{m}.{n}" for m, n in WITH_EXAMPLES])
def test_examples_run(module, name):
    attempted, report = run_examples(members(module)[name], name)
    assert attempted and not report, report


def test_every_public_module_is_listed():
    assert sorted(MODULES) == public_modules()


def _undocumented(x, *rest, axis=0):
    """Returns x.

    Args:
      x: an array.
      y: a parameter that does not exist.

    Returns:
      The array.

    Examples:
      >>> 1 + 1
      3
    """
    return x


@dataclasses.dataclass
class _Undocumented:
    """A class without a word about its field"""

    size: int


def test_faults_are_found():
    assert faults(_undocumented) == [
        "`axis` is not documented",
        "`rest` is not documented",
        "`y` is documented, but no parameter",
    ]
    assert "3" in run_examples(_undocumented, "f")[1]
    assert [f.split()[0] for f in faults(_Undocumented)] == ["the", "`size`", "no"]


def test_functions_without_a_result_need_no_section_about_it():
    assert not returns_something(test_faults_are_found) and returns_something(_undocumented)
