"""The passes of the compiler, and what they consist of.

A pass is a function from a ClosedJaxpr to one that computes the same; `pipeline.py` has the list of them.
"""
