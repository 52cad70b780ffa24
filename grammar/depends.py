"""Parses Argo's `depends`: `a && (b.Failed || !c)`.

Source: Argo Workflows, workflow/common/ancestry.go. Argo finds the operands by a regular expression and evaluates
the text with expr-lang; the language here is the intersection of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, span
from flowdsl.grammar.logic import all_hold, any_holds, negated
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

RESULTS = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted", "Daemoned", "AnySucceeded", "AllFailed")
"""The results that may follow a task's name; the last two require a task with a loop."""

LOOP_RESULTS = frozenset(("AnySucceeded", "AllFailed"))

CONTENT = ("Succeeded", "Skipped", "Daemoned")
"""The results that satisfy a task without a result. Source: expandDependency."""

_TASK = r"[a-zA-Z0-9][-a-zA-Z0-9]*(?:\.[a-zA-Z]+)?"
_FLAT = rf"!?{_TASK}(?:\s*(?:&&|\|\|)\s*!?{_TASK})*"
_PART = rf"(?:!?{_TASK}|!?\({_FLAT}\))"
_USUAL = regex(rf"{_PART}(?:\s*(?:&&|\|\|)\s*{_PART})*")
_OPERAND = regex(_TASK)


class Operand(NamedTuple):
    """One task of a `depends` text, the result that is required, and its offsets in code points.

    Without a result Argo means any of CONTENT. Whether the result is one of RESULTS is left to the caller.
    """

    task: str
    result: str | None
    start: int
    end: int


def depends(text: str) -> tuple[Operand, ...]:
    """The operands of a `depends` text in order, with repeats. Raises GrammarError where it is malformed."""
    if _USUAL.fullmatch(text):
        return tuple(_operand(task[0], *task.span()) for task in _OPERAND.finditer(text))
    try:
        tokens: list[Any] = _lalr().parse(text).children
    except GrammarError as error:
        if error.found or error.expected != _CLOSE:
            raise
        start = _unclosed(text)
        raise GrammarError(text, start, start + 1, _CLOSE) from None
    return tuple(_operand(str(token), *span(token)) for token in tokens)


def asks(text: str) -> bool:
    """Whether a `depends` text requires certain results, and not only the success of tasks."""
    return "." in text or "!" in text


def follows_success(text: str) -> bool:
    """Whether a valid `depends` text holds whenever all tasks that it names succeed."""
    succeeded = (None, "Succeeded", "AnySucceeded")
    return not asks(text) or holds(text, [one.result in succeeded for one in depends(text)]) is True


_SIGNS = regex(r"&&|\|\||[!()]|[^\s!()&|]+")


def holds(text: str, answers: Iterable[bool | None]) -> bool | None:
    """Whether a valid `depends` text is true; `answers` are the values of its operands in order.

    None is an unknown value, and the result if that decides.
    """
    given, found, waiting = iter(answers), list[bool | None](), list[str]()

    def close(signs: tuple[str, ...]) -> None:
        """Apply the pending operators, while the last is one of these."""
        while waiting and waiting[-1] in signs:
            sign, last = waiting.pop(), found.pop()
            if sign == "!":
                found.append(negated(last))
            else:
                join = all_hold if sign == "&&" else any_holds
                found.append(join(found.pop(), last))

    for sign in _SIGNS.findall(text):
        if sign in ("!", "("):
            waiting.append(sign)
            continue
        if sign in ("&&", "||"):
            close(("&&",) if sign == "&&" else ("&&", "||"))
            waiting.append(sign)
            continue
        if sign == ")":
            close(("&&", "||"))
            waiting.pop()
        else:
            found.append(next(given))
        close(("!",))
    close(("&&", "||"))
    return found[0]


def _operand(written: str, start: int, end: int) -> Operand:
    task, dot, result = written.partition(".")
    return Operand(task, result if dot else None, start, end)


@cache
def _lalr() -> Lalr:
    return Lalr("depends.lark", _instead, _unreadable, junk=re.compile(r"[&|]|[^\s&|!()]+"))


_CLOSE = "a `)` for this `(`"


def _unreadable(rest: str, allowed: frozenset[str]) -> str:
    """What is allowed where no token begins."""
    if "TASK" not in allowed:
        return f"`{rest[0] * 2}`" if rest[0] in "&|" else "`&&` or `||`"
    return "a task" if rest[0] in "&|" else "a task, or a task and one result such as `a.Failed`"


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if "TASK" in allowed:
        return "a task"
    if not found:
        return _CLOSE
    return "`&&` or `||`; this `)` has no `(`" if found == ")" else "`&&` or `||`"


def _unclosed(text: str) -> int:
    """The offset of the last unclosed parenthesis."""
    opened: list[int] = []
    for sign in re.finditer(r"[()]", text):
        if sign[0] == "(":
            opened.append(sign.start())
        elif opened:
            opened.pop()
    return opened[-1]
