"""Floor 4: interpreters of the language: staging, jvp, linearize, transpose, batching, and their entry points."""
