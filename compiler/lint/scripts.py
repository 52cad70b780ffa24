"""The programs of templates, which the rules read and never run: command lines, and scripts in Python."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from flowdsl.compiler.tree import inside
from flowdsl.grammar.command_line import program
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.lint.manifest.template import Template

POSIX_SHELLS = frozenset(("sh", "bash", "ash", "dash"))
"""The shells whose scripts the rules read: others expand words and options of `echo` in their own ways."""
_PYTHON = regex(r"python[\d.]*")


def command_line(template: Template) -> list[str]:
    """The words that a container or script runs, its source as if behind `-c`; empty where they are not known.

    A container without `command` runs that of its image.
    """
    container, script = inside(template.data, "container"), inside(template.data, "script")
    if len(script.get("command") or ()) == 1 and not script.get("args"):
        return [script["command"][0], "-c", template.source.strip()]
    command: list[str] = container.get("command") or []
    return [*command, *(container.get("args") or ())] if command else []


def is_python(words: Sequence[str]) -> bool:
    """Whether a command line runs Python."""
    return _PYTHON.fullmatch(program(words)) is not None


def parse(source: str) -> ast.Module:
    """The syntax tree of a script. Raises SyntaxError, or ValueError for what Python's parser has no room for.

    What Python warns of is its author's.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (MemoryError, RecursionError) as error:
        raise ValueError("too deep") from error
