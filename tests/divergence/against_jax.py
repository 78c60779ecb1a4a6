"""Run by the Python of real JAX: the families' documented results against what JAX itself gives.

    python against_jax.py FOLDER_OF_THE_FAMILIES

The families' sources are read with `jax` for `onax`; prints one line a case that differs, then the counts.
"""

import contextlib
import importlib.util
import sys
import types
import warnings
from pathlib import Path

import jax
import numpy as np

SKIPPED = {"accuracy"}  # held to mpmath, not to JAX


def load(folder):
    """The families, their modules made from sources in which onax is called jax."""
    package = types.ModuleType("onax_divergence")
    package.__path__ = []
    sys.modules["onax_divergence"] = package
    lazy = types.ModuleType("lazy")
    found = []
    for name in ("case", "indexing", "casts", "integers", "types", "numerics", "prng"):
        text = (folder / f"{name}.py").read_text()
        text = text.replace("from onax._ground import lazy", "lazy = None")
        text = text.replace("onax._divergence", "onax_divergence").replace("import onax\n", "import jax as onax\n")
        text = text.replace("import onax.numpy as", "import jax.numpy as").replace(
            "from onax import", "from jax import"
        )
        spec = importlib.util.spec_from_loader(f"onax_divergence.{name}", loader=None)
        module = importlib.util.module_from_spec(spec)
        module.__dict__["lazy"] = lazy
        sys.modules[spec.name] = module
        exec(compile(text, f"{name}.py", "exec"), module.__dict__)
        found += getattr(module, "FAMILIES", ())
    return sys.modules["onax_divergence.case"], found


def only_subnormals(case_module, case, outcome):
    """Whether JAX differs only where an operand is subnormal: XLA flushes those on the CPU."""
    if outcome.error is not None or len(case.args) != 1 or not case_module.is_float(case.args[0].dtype):
        return False
    x = case.args[0]
    tiny = case_module.ml_dtypes.finfo(x.dtype).smallest_normal
    small = (np.abs(x) < tiny) & (x != 0)
    if case.documented.dtype.itemsize < x.dtype.itemsize and case_module.is_float(case.documented.dtype):
        wanted_tiny = float(case_module.ml_dtypes.finfo(case.documented.dtype).smallest_normal)
        small |= (np.abs(x.astype(np.float64)) < wanted_tiny) & (x != 0)
    return bool(np.all(case_module.matching(outcome.value, case.documented, case.ulp) | small))


def precision(x64):
    return jax.enable_x64(x64) if hasattr(jax, "enable_x64") else contextlib.nullcontext()


def main():
    case_module, families = load(Path(sys.argv[1]))
    warnings.simplefilter("ignore")
    count = different = 0
    for family in families:
        if family.name in SKIPPED:
            continue
        for case in family.cases():
            count += 1
            with precision(case.x64), np.errstate(all="ignore"):
                try:
                    value = np.asarray(case.onax(*map(jax.numpy.asarray, case.args)))
                    outcome = case_module.Outcome(value=value)
                except (ArithmeticError, IndexError, NotImplementedError, TypeError, ValueError) as error:
                    outcome = case_module.Outcome(error=type(error).__name__, message=str(error))
            same = case_module.agrees(outcome, case.documented, case.ulp)
            if not same and not only_subnormals(case_module, case, outcome):
                different += 1
                wanted = case.documented
                print(f"{family.name}: {case.title} {case.dtype} {case.shape}: {outcome.text(40)}, documented {wanted}")
    print(f"cases {count}, different {different}")


if __name__ == "__main__":
    main()
