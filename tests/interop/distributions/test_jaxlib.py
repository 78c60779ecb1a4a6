"""`import jaxlib` in a process that knows of onax by its path alone."""

import jax_programs


def test_the_first_import():
    out = jax_programs.run_on_path(
        "import jaxlib; import jax, jaxlib, onax; assert jax.Array is onax.Array; print(jaxlib.__version__)"
    )
    assert out == "0.10.2\n"


def test_the_spec():
    out = jax_programs.run_on_path(
        "import importlib.util as u; print(u.find_spec('jaxlib').name, u.find_spec('jaxlib.version').name)"
    )
    assert out == "jaxlib jaxlib.version\n"
