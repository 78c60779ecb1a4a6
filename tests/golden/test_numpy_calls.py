"""jnp functions give real JAX's values, dtypes, weak types, errors and jaxprs (see tests/numpy_calls.py)."""

import gzip
import json
import re

import numpy as np
import pytest

import numpy_calls
import onax as jax
import onax.scipy.special

RECORDED = json.loads(gzip.decompress(numpy_calls.RECORDING.read_bytes()))
ARRAYS = numpy_calls.operands(jax.numpy)

# Functions whose values are JAX's but whose equations are not, and why.
OTHER_EQUATIONS = {
    "jnp.cov": "one matrix product instead of JAX's conversions of counts",
    "jnp.corrcoef": "the same, and the diagonal by a mask",
    "jnp.diagonal": "JAX branches for another compiler",
    "jnp.diagflat": "a diag, no scatter",
    "jnp.piecewise": "a chain of where; JAX stages a switch under vmap",
    "jnp.repeat": "with an array of repeats: one gather, no scatter",
    "jnp.delete": "a gather of the places kept",
    "jnp.insert": "a gather of old and new slices",
    "jnp.put": "no staged call of its own",
    "jnp.fill_diagonal": "indices need no wrapping",
    "jnp.bincount": "counts by one scatter-add without a staged clip",
    "jnp.unravel_index": "a loop over the axes",
    "jnp.nonzero": "counts of prefixes by one scatter-add, without staged calls",
    "x.nonzero": "as nonzero",
    "x.compress": "as nonzero",
    "jnp.lexsort(x,axis": "keys in one array are taken apart by other slices",
    "jnp.argpartition": "one scatter instead of a mapped one",
    "jnp.nanmedian": "counts are broadcast where JAX's operations do it themselves",
    "jnp.nanquantile": "as nanmedian",
    "jnp.nanpercentile": "as nanmedian",
    "inverted_cdf": "one gather along the axis, with all q",
    "jnp.unique": "places that exist need no wrapping",
    "jnp.union1d": "as unique",
    "jnp.intersect1d": "one sort of both arrays, as for setxor1d",
    "jnp.setdiff1d": "as unique",
    "jnp.setxor1d": "as intersect1d",
    "jnp.histogram": "limits one by one, counts by one scatter-add",
    "jnp.where(x>0)": "as nonzero",
    "jnp.argwhere": "as nonzero",
    "jnp.flatnonzero": "as nonzero",
    "jnp.extract": "as nonzero",
    "jnp.compress": "as nonzero",
    "jnp.tril_indices": "constants",
    "jnp.triu_indices": "constants",
    "jnp.roll(x,y": "shifts that are traced: one remainder each",
    "jnp.gradient(x,jnp": "weights in another order",
    "jnp.r_": "numbers are no copies",
    "jnp.c_": "columns by one broadcast",
    "jnp.choose": "mode='raise' looks at constants",
    "jnp.trim_zeros": "constants are known",
    "jnp.pad": "constants by another order of slices",
    "jnn.standardize(x,algorithm": "one mean less",
    "jnp.searchsorted": "one comparison of all with all, where JAX stages a scan",
    "jnp.digitize": "as searchsorted",
    "jnp.interp": "as searchsorted",
    "jnp.isin": "no staged call of its own",
    "jnp.packbits": "shifts in another order",
    "jnp.unpackbits": "shifts instead of masks",
    "jnp.polyadd": "a pad, no scatter-add",
    "jnp.polysub": "a pad, no scatter-add",
    "jnp.polyder": "factors are constants",
    "jnp.frompyfunc": "loops over the axis without staged calls of indexing",
    ".reduceat": "as frompyfunc",
    "jnp.subtract.": "as frompyfunc",
    ".accumulate(x,axis=1)": "a scan over the elements, where JAX's reads them at an index",
    "jnp.logical_or.a": "as accumulate",
    "jnp.logaddexp": "sums of exponentials along kept axes",
    ".at(x": "one loop over the indices",
    "jnp.logical_xor": "a reduction of truth values without a staged call",
    "jnp.bitwise_xor.reduce": "as logical_xor",
    "jnp.bitwise_and.reduce": "as logical_xor",
    "jnp.logical_and.reduce(x,initial": "as logical_xor",
}

DIVISIONS = ("floor_divide", "remainder", "mod(", "divmod")
# The same by the operands before the function: of floats, quotients and remainders that are 0 have NumPy's signs.
OTHER_EQUATIONS |= {
    f"{operands} | jnp.{name}": "signs of zeros" for operands in ("f", "f v", "f i") for name in DIVISIONS
} | {f"i | jnp.{name}(x,2.5": "as of floats" for name in DIVISIONS}


def close(got, want):
    """Whether two plain results agree: equal types, elements by the dtype's precision."""
    if isinstance(want, list):
        return isinstance(got, list) and len(got) == len(want) and all(map(close, got, want))
    if not isinstance(want, dict):
        return got == want
    if any(got[key] != want[key] for key in ("dtype", "shape", "weak")):
        return False
    x, y = (np.array([float(v) for v in r["data"]]) for r in (got, want))
    eps = {"float16": 1e-3, "bfloat16": 8e-3}.get(want["dtype"], 1e-6)
    # sums of up to 24 terms of either sign, after functions of a few ulp
    return np.allclose(x, y, rtol=20 * eps, atol=4 * eps, equal_nan=True)


def squeezed(text):
    """A jaxpr without white space and with NumPy integers as integers: they are an accident of JAX's code."""
    return re.sub(r"np\.int64\((-?\d+)\)|\s", r"\1", text)


@pytest.mark.parametrize("line", numpy_calls.lines("numpy") + numpy_calls.lines("nn"))
def test_call(line):
    wanted, got = RECORDED[line], numpy_calls.answer(line, jax, ARRAYS)
    if isinstance(wanted["value"], str) and wanted["value"].startswith("!!"):
        assert got["value"] == wanted["value"]
    else:
        assert not isinstance(got["value"], str) or got["value"] == wanted["value"], got["value"]
        assert close(got["value"], wanted["value"]), (got["value"], wanted["value"])
    if not any(name in line for name in OTHER_EQUATIONS):
        assert squeezed(got["jaxpr"]) == squeezed(wanted["jaxpr"])
