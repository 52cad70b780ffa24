"""The value of an expression: `evaluate`, `condition` and `text_of`, as Argo's controller has it.

Pure functions over the trees of `flowdsl.grammar`. What differs from Go: a sort of more than twelve equal elements
keeps their order, the keys of an object come in the order of the alphabet, and regular expressions are Python's.
"""
