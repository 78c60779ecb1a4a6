"""The cases of `scripts/benchmark.py`, a module for each subject; all are written for `jax`, whichever it is."""
