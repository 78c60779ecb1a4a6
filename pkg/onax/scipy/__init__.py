"""onax.scipy: SciPy's functions on onax arrays."""
