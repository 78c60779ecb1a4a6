"""The divergence report: where onax differs from NumPy, by rule, on every backend, run live.

case        what one comparison is            runners    the backends
indexing casts integers types numerics prng   the families, listed by `families`
report      runs them                         writers    text, Markdown, JSON, HTML
user_function   the same for a function of the user's        cli    the command line
"""
