"""`import jax` in a process that knows of onax by its path alone."""

import jax_programs


def test_the_first_import():
    out = jax_programs.run_on_path(
        "import jax; import jax, jaxlib, onax; assert jax.Array is onax.Array; print(jax.__version__)"
    )
    assert out == "0.10.2\n"


def test_the_spec():
    out = jax_programs.run_on_path(
        "import importlib.util as u; print(u.find_spec('jax').name, u.find_spec('jax.version').name)"
    )
    assert out == "jax jax.version\n"
