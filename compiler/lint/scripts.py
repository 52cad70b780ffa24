"""Scripts in Python, which the rules read and never run."""

from __future__ import annotations

import ast
import warnings


def parse(source: str) -> ast.Module:
    """The syntax tree of a script. Raises what `ast.parse` raises; what Python warns of is its author's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)
