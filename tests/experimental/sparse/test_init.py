"""The names of the package."""

from onax.experimental import sparse


def test_modules_and_names():
    for name in ("ad", "api", "bcoo", "bcsr", "coo", "csr", "linalg", "random", "transform", "util"):
        assert getattr(sparse, name).__name__ == f"onax.experimental.sparse.{name}"
    assert issubclass(sparse.CuSparseEfficiencyWarning, sparse.SparseEfficiencyWarning)
