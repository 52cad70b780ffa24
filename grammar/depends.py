"""Argo's `depends`: `a && (b.Failed || !c)`.

Source: Argo Workflows, workflow/common/ancestry.go. Argo itself finds the operands by a regular
expression and hands the text to expr-lang; the language here is what both agree on.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from flowdsl.grammar.error import GrammarError

RESULTS = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed")
"""The words that may follow a task's name; the last two need a task with a loop."""

LOOP_RESULTS = frozenset(("AnySucceeded", "AllFailed"))

_TOKEN = re.compile(
    r"\s*(?:(&&|\|\||[!()])|([a-zA-Z0-9][-a-zA-Z0-9]*)(?:\.([a-zA-Z]+))?(?![^\s&|!()])|([&|]|[^\s&|!()]+))"
)


class Operand(NamedTuple):
    """One task of a `depends` text, the result that is asked of it, and its offsets in code points.

    Without a result Argo means `(task.Succeeded || task.Skipped || task.Daemoned)`. Whether the
    result is one of RESULTS is left to the caller.
    """

    task: str
    result: str | None
    start: int
    end: int


def depends(text: str) -> tuple[Operand, ...]:
    """The operands of a `depends` text in order, with repeats. Raises GrammarError where it is malformed."""
    found: list[Operand] = []
    opened: list[int] = []
    complete = False  # whether the text so far is a whole term
    for match in _TOKEN.finditer(text):
        operator, task, result, other = match.groups()
        start, end = match.start(match.lastindex or 0), match.end()
        if task is not None:
            start = match.start(2)
            if complete:
                raise GrammarError(text, start, end, "`&&` or `||`")
            found.append(Operand(task, result, start, end))
            complete = True
        elif other is not None:
            raise GrammarError(text, start, end, _instead(text, start, complete))
        elif operator in ("&&", "||"):
            if not complete:
                raise GrammarError(text, start, end, "a task")
            complete = False
        elif operator == ")":
            if not complete:
                raise GrammarError(text, start, end, "a task")
            if not opened:
                raise GrammarError(text, start, end, "`&&` or `||`; this `)` has no `(`")
            opened.pop()
        else:
            if complete:
                raise GrammarError(text, start, end, "`&&` or `||`")
            if operator == "(":
                opened.append(start)
    if not complete:
        raise GrammarError(text, len(text), len(text), "a task")
    if opened:
        raise GrammarError(text, opened[-1], opened[-1] + 1, "a `)` for this `(`")
    return tuple(found)


def _instead(text: str, start: int, complete: bool) -> str:
    """What may stand in place of a piece of text that is no token."""
    if complete:
        return f"`{text[start] * 2}`" if text[start] in "&|" else "`&&` or `||`"
    return "a task" if text[start] in "&|" else "a task, or a task and one result such as `a.Failed`"
