"""The texts that the command line prints: a summary of an export, and the comparison of model and function."""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from onax._ground import dims, dtypes
from onax._native.array import make_array
from onax.export import nodes, shapes

# Largest difference between model and function, relative to the largest value of a result.  The two add in different
# orders; the measured differences of small networks are ten times smaller than these.
TOLERANCES = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}


@dataclass(slots=True, eq=False, repr=False)
class Comparison:
    """The comparison of one result: its name, the largest differences, whether they are within the tolerance."""

    name: str
    absolute: float
    relative: float
    is_close: bool
    all_nan: bool = False


def random_arguments(exported, rng):
    """Random (args, kwargs) for an export, and the sizes chosen for its symbolic dimensions.

    Floats are normal; integers are 0 to 7, so that they can be labels or indices; bools are True with probability 1/2.
    """
    sizes = shapes.sample_values(exported._dim_solver)
    leaves = []
    for aval in exported.in_avals:
        x = random_array(rng, dims.evaluate_shape(aval.shape, sizes), aval.dtype)
        leaves.append(make_array(np.asarray(x), weak_type=aval.weak_type))
    return exported.in_tree.unflatten(leaves), sizes


def random_array(rng, shape, dtype):
    """A random array of a shape and dtype."""
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if dtypes.is_integer(dtype):
        limit = min(7, int(dtypes.iinfo(dtype).max))
        return rng.integers(0, limit, shape, endpoint=True).astype(dtype)
    if dtypes.is_complex(dtype):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if dtypes.is_float(dtype):
        return rng.standard_normal(shape).astype(dtype)
    raise TypeError(f"cannot make random values of dtype {dtype}")


def compare(name, actual, expected, rtol=None):
    """Compares a result with the expected one; `rtol` is relative to the largest expected value."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return Comparison(name, math.inf, math.inf, False)
    if not dtypes.is_inexact(expected.dtype):
        worst = float(np.max(actual != expected, initial=0))
        return Comparison(name, worst, worst, worst == 0)
    compute_dtype = np.complex128 if dtypes.is_complex(expected.dtype) else np.float64
    a, b = actual.astype(compute_dtype), expected.astype(compute_dtype)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
    apart = np.where(np.isnan(apart), math.inf, apart)
    absolute = float(np.max(apart, initial=0.0))
    finite = np.abs(b[np.isfinite(b)])
    scale = float(np.max(finite, initial=0.0))
    relative = 0.0 if absolute == 0 else absolute / scale if scale else math.inf
    limit = TOLERANCES[dtypes.real_dtype(expected.dtype).name] if rtol is None else rtol
    tiny = float(dtypes.finfo(dtypes.real_dtype(expected.dtype)).eps)
    return Comparison(name, absolute, relative, relative <= limit or absolute <= tiny, all_nan(expected))


def all_nan(x):
    """Whether an array of floats has elements and all of them are NaN."""
    return x.size > 0 and dtypes.is_inexact(x.dtype) and bool(np.isnan(x).all())


def statistics(x):
    """Shape, dtype and, for numbers, least, largest and mean finite element, and how many are NaN or infinite."""
    data = {"shape": list(x.shape), "dtype": x.dtype.name}
    if x.dtype.kind == "V" or dtypes.is_complex(x.dtype):
        return data
    numbers = x.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    data |= (
        {"min": float(finite.min()), "max": float(finite.max()), "mean": float(finite.mean())} if finite.size else {}
    )
    return data | {"nan": int(np.isnan(numbers).sum()), "infinite": int(np.isinf(numbers).sum())}


def check(exported, fun, rng, rtol=None, provider=None):
    """Runs model and function on the same random arguments; returns a Comparison for each result, and the sizes."""
    (args, kwargs), sizes = random_arguments(exported, rng)
    expected = exported.out_tree.flatten_up_to(fun(*args, **kwargs))
    if not exported.out_avals:
        return [], sizes
    session = exported.session({"provider": provider} if provider else {})
    actual = exported.results_of(session.run(exported.boundary_arguments(*args, **kwargs)))
    return [compare(n, g, w, rtol) for n, g, w in zip(exported.out_names, actual, expected)], sizes


def describe_types(names, avals):
    """One line for each argument or result: its name and type, aligned."""
    width = max(map(len, names), default=0)
    return [f"{name:<{width}}  {aval.str_short(short_dtypes=True)}" for name, aval in zip(names, avals)]


def operators(model):
    """{operator: number of nodes} of a model, including subgraphs, most frequent first."""
    counts = Counter(node.op_type for node in nodes.walk(model.graph))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def stored_numbers(model):
    """The number of elements in the model's initializers."""
    return sum(math.prod(tensor.dims) for tensor in model.graph.initializer)


def summary(exported):
    """Lines that summarize an export: arguments, results, dimensions, size."""
    model = exported.onnx_model
    counts = operators(model)
    lines = [f"{exported.fun_name}  (opset {exported.opset}, IR version {model.ir_version})"]
    for head, names, avals in (
        ("inputs", exported.in_names, exported.in_avals),
        ("outputs", exported.out_names, exported.out_avals),
    ):
        lines.append(head)
        lines += [f"  {line}" for line in describe_types(names, avals)]
    if exported.symbolic_dimensions:
        constraints = "".join(f", {text}" for text in exported.constraints)
        lines.append(f"symbolic dimensions  {', '.join(exported.symbolic_dimensions)}{constraints}")
    frequent = ", ".join(f"{op} {n}" for op, n in list(counts.items())[:8])
    shown = f" ({frequent}{', ...' if len(counts) > 8 else ''})" if counts else ""
    lines.append(f"nodes  {sum(counts.values())}{shown}")
    lines.append(f"stored numbers  {stored_numbers(model):,}")
    return lines
