"""The table of private names: its form, that each row resolves, its order, and the log of what a program reads."""

import itertools
from pathlib import Path

import pytest

import jax_programs
from onax.interop import table

TEXT = Path(table.__file__).with_name("private_names.txt").read_text()


def test_rows_resolve():
    for row in table.rows().values():
        for ours in row.ours:
            table.resolve(ours)
        assert len(row.ours) == 1 or row.name.endswith(".*")


def test_rows_are_sorted_and_unique():
    names = [row.name for row in table.parse(TEXT)]
    assert all(a < b for a, b in itertools.pairwise(names)), [(a, b) for a, b in itertools.pairwise(names) if a >= b]


def test_rows_have_four_columns():
    (row,) = table.parse("# a comment\n\njax._src.a.b | onax.numpy:sin | somebody | takes sines\n")
    assert row == table.Row("jax._src.a.b", ("onax.numpy:sin",), "somebody", "takes sines")
    with pytest.raises(ValueError, match=r"line 1 .* four columns"):
        list(table.parse("jax._src.a.b | onax.numpy"))


@pytest.mark.parametrize(
    "name, private",
    [("jax", False), ("jax.numpy.sin", False), ("jax.__version__", False), ("jax._src.core", True), ("jaxlib.x", True)],
)
def test_private_names(name, private):
    assert table.is_private(name) is private


def test_the_log(tmp_path):
    log = tmp_path / "names.txt"
    program = tmp_path / "program.py"
    program.write_text("import jaxlib.version\njaxlib.version.__version__\nfrom jaxlib.version import __version__\n")
    for _ in range(2):
        jax_programs.run(program, ONAX_INTEROP_LOG=str(log))
    lines = log.read_text().splitlines()
    assert lines == [f"jaxlib.version.__version__\t{program}:2"] * 2
