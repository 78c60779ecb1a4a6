"""Whether the results of a program are those that JAX gave."""

import ast

import numpy as np

DEFAULT = 2e-4  # of the largest element: some hundred roundings in float32, in another order than in XLA


def tolerance(path):
    """The program's own TOLERANCE, beside which it states the reason, or the default."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "TOLERANCE":
            return ast.literal_eval(node.value)
    return DEFAULT


def difference(path, expected, actual):
    """What differs, in words; empty if nothing does.  Integers and booleans are equal, others within the tolerance."""
    limit, problems = tolerance(path), []
    if expected.keys() != actual.keys():
        problems.append(f"results {sorted(actual)} instead of {sorted(expected)}")
    for name in expected.keys() & actual.keys():
        wanted, found = expected[name], actual[name]
        kinds = [(result["dtype"], result["shape"]) for result in (wanted, found)]
        if kinds[0] != kinds[1]:
            problems.append(f"{name}: {kinds[1]} instead of {kinds[0]}")
            continue
        a, b = (np.array(result["elements"], float) for result in (found, wanted))
        exact = wanted["dtype"] == "bool" or "int" in wanted["dtype"]
        scale = 0 if exact else limit * np.max(np.abs(b[np.isfinite(b)]), initial=1e-3)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= scale)
        if not same.all():
            i = np.argmin(same)
            problems.append(f"{name}: element {i} is {a[i]} instead of {b[i]} ({np.sum(~same)} of {same.size} differ)")
    return "\n".join(f"  {problem}" for problem in problems)
