"""The divergence report: where onax differs from NumPy, rule by rule, run live on every backend.

case            one comparison: a case, its outcome, and whether the two agree
indexing casts integers types numerics prng    the cases of each family of rules, listed by `families`
runners         the backends
report          runs the families on the backends
writers         the report as text, Markdown, JSON and HTML
user_function   the same comparison for a function of the user's
cli             the command line
"""
