"""Recognition: nodes that spell a function out become the one operator of ONNX that has this meaning.

recognize.py    the pass, and the list of all rules
rewriting.py    applies rules to the nodes of a graph and keeps account of who reads which value
match.py        how rules look at values
<family>.py     the rules, one file a family, each a function from a node to a `Rewrite` or None
"""
