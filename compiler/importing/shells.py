"""Replaces tags in shell scripts by variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.spans import Refused
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import masked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.spans import Span

_WORD = regex(r"[A-Za-z0-9_]")
_HERE = regex(r"<<-?\s*(['\"\\]?)(\w+)\1?")
#: Contexts of a tag that is part of something other than a word.
_ESCAPED = regex(r"(?<!\\)(?:\\\\)*\\$")
_NAMED = regex(r"\$$|\$\{[!#]?\w*$")
_OPENED, _CLOSED = regex(r"(?<!\$)\{[^\s{}]*$"), regex(r"[^\s{}]*\}")
_ASSIGNED = regex(r"(?:^|[;&|({]|\b(?:then|do|else)\s)\s*\w*$"), regex(r"\w*\+?=(?!=)")


def in_shell(text: str, spans: Sequence[Span]) -> str | Refused:
    """A shell script with variables for tags: single quotes are closed around them."""
    written: list[str] = []
    end = 0
    hidden = masked(text)
    quotes = _quotes(hidden)
    for start, stop, name in spans:
        written.append(text[end:start])
        quote = quotes[start]
        if quote in ("<", "$'") or not _is_word(hidden, start, stop, quote):
            return Refused(start)
        variable = f"${{{name}}}" if _WORD.match(text, stop) else f"${name}"
        end = stop
        if quote != "'":
            written.append(variable)
            continue
        if written[-1].endswith("'"):
            written[-1] = written[-1][:-1] + f'"{variable}"'
        else:
            written.append(f'\'"{variable}"')
        if text.startswith("'", stop):
            end += 1
        else:
            written.append("'")
    return "".join(written) + text[end:]


def _is_word(text: str, start: int, stop: int, quote: str) -> bool:
    """Whether a tag is a word of a shell, or a part of one, so that a variable can replace it."""
    if quote == "'":
        return True
    begin = text.rfind("\n", 0, start)
    while begin > 0 and text[begin - 1] == "\\":  # a continued line
        begin = text.rfind("\n", 0, begin)
    line = text[begin + 1 : start]
    if _ESCAPED.search(line) or _NAMED.search(line):
        return False
    if quote == '"':
        return True
    before, behind = _ASSIGNED
    if before.search(line) and behind.match(text, stop):
        return False
    opened, closed = _OPENED.search(line), _CLOSED.match(text, stop)
    return not (opened and closed and ".." in opened[0] + closed[0])


def _quotes(text: str) -> list[str]:
    """For each character of a shell script the quote around it, or nothing; `<` in a literal here-document."""
    found: list[str] = []
    stack = [""]
    at = 0
    while at < len(text):
        sign, inside = text[at], stack[-1]
        step = 1
        if inside in ("'", "$'"):
            if sign == "'":
                stack.pop()
            elif sign == "\\" and inside == "$'":
                step = 2
        elif sign == "\\":
            step = 2
        elif text.startswith("$(", at):
            stack.append(")")
            step = 2
        elif sign == "(" and inside == ")":
            stack.append(")")
        elif sign == ")" and inside == ")":
            stack.pop()
        elif sign == '"':
            stack.pop() if inside == '"' else stack.append('"')
        elif sign == "'" and inside != '"':
            stack.append("$'" if text.startswith("$", max(at - 1, 0)) else "'")
        elif sign == "#" and inside in ("", ")") and (at == 0 or text[at - 1] in " \t\n;"):
            behind = text.find("\n", at)
            step = (len(text) if behind < 0 else behind) - at
        elif sign == "<" and inside != '"' and (here := _HERE.match(text, at)) is not None:
            step = here.end() - at
            line = text.find("\n", here.end())
            close = -1 if line < 0 else text.find(f"\n{here[2]}", line)
            if close >= 0:
                found += [inside] * (line - at)
                found += ["<" if here[1] else '"'] * (close - line)
                at = close
                continue
        found += [inside] * step
        at += step
    return [*found, *[""] * 2]
