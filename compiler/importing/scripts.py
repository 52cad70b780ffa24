"""Values that stand in the text of a script, handed to it as variables: what is data cannot be run as code any more."""

from __future__ import annotations

import io
import tokenize
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import masked, tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh")
_PYTHON = regex(r"(?:.*/)?python[0-9.]*")
_WORD = regex(r"[A-Za-z0-9_]")
_HERE = regex(r"<<-?\s*(['\"\\]?)(\w+)\1?")
_IMPORT = regex(r"^(?:import|from)\s+os\b(?!\.)", 8)


class Script(NamedTuple):
    """A script, and the tags in whose place variables stand in it."""

    text: str
    variables: dict[str, str]  # the tags by the names of the variables


def language(words: Sequence[str]) -> str:
    """What reads a script, by the words of its command: `sh`, `python`, or nothing that is known."""
    first = words[0].rpartition("/")[2] if words else ""
    if first == "env" and len(words) > 1:
        first = words[1]
    return "sh" if first in SHELLS else "python" if _PYTHON.fullmatch(first) else ""


def with_variables(text: str, kind: str, name: Callable[[str], str]) -> Script | None:
    """A script with variables in place of the values of the run; None where that cannot be done.

    `name` gives the variable for a tag, or nothing for what stays as it is.
    """
    found = [tag for tag in tags(text) if tag.kind != "unclosed" and name(text[tag.start : tag.end])]
    if not found:
        return Script(text, {})
    variables = {name(text[tag.start : tag.end]): text[tag.start : tag.end] for tag in found}
    spans = [(tag.start, tag.end, name(text[tag.start : tag.end])) for tag in found]
    if kind == "sh":
        if len(spans) == 1 and text.strip() == text[spans[0][0] : spans[0][1]]:
            return Script(f'eval "${spans[0][2]}"', variables)
        return _shell(text, spans, variables)
    if kind == "python":
        return _python(text, spans, variables)
    return None


def _shell(text: str, spans: list[tuple[int, int, str]], variables: dict[str, str]) -> Script | None:
    """In single quotes these are closed around the variable; elsewhere it stands as it is."""
    written: list[str] = []
    end = 0
    quotes = _quotes(masked(text))
    for start, stop, name in spans:
        written.append(text[end:start])
        quote = quotes[start]
        if quote == "<":
            return None
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
    return Script("".join(written) + text[end:], variables)


def _quotes(text: str) -> list[str]:
    """For each character of a shell script the quote it stands in, or nothing; `<` in a document that is as it is."""
    found: list[str] = []
    stack = [""]
    at = 0
    while at < len(text):
        sign, inside = text[at], stack[-1]
        step = 1
        if inside == "'":
            if sign == "'":
                stack.pop()
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
            stack.append("'")
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


def _python(text: str, spans: list[tuple[int, int, str]], variables: dict[str, str]) -> Script | None:
    """In a string its quotes are closed around the variable; elsewhere the value is a literal of Python."""
    strings = list(_strings(masked(text)))
    if strings and strings[-1] is None:
        return None
    made = text
    literal = False
    for start, stop, name in reversed(spans):
        variable = f'os.environ["{name}"]'
        around = next((one for one in strings if one is not None and one[0] <= start < one[1]), None)
        if around is None:
            literal = True
            made = f"{made[:start]}ast.literal_eval({variable}){made[stop:]}"
            continue
        first, last, quote = around
        if "f" in text[first : first + 3].partition(quote)[0].lower():
            return None
        opened = first + text[first:last].index(quote)
        inner = opened + len(quote)
        if start == inner and stop == last - len(quote):
            made = f"{made[:first]}{variable}{made[last:]}"
            continue
        before = text[inner:start]
        alone = sum(first <= one < last for one, _, _ in spans) == 1 and "\n" not in text[first:last]
        if not alone or (len(before) - len(before.rstrip("\\"))) % 2:
            return None
        behind = text[stop : last - len(quote)]
        prefix = text[first:opened]
        parts = [f"{prefix}{quote}{one}{quote}" if one else "" for one in (before, behind)]
        joined = " + ".join(filter(None, (parts[0], variable, parts[1])))
        made = f"{made[:first]}({joined}){made[last:]}"
    needed = [module for module, wanted in (("ast", literal), ("os", True)) if wanted]
    lines = "".join(f"import {one}\n" for one in needed if not (one == "os" and _IMPORT.search(text)))
    return Script(lines + made, variables)


def _strings(text: str) -> Iterator[tuple[int, int, str] | None]:
    """The strings of a Python text, with their quotes; at last None where the text cannot be read."""
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    opened: list[tuple[int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                yield start, end, _quote(token.string)
            elif kind == "FSTRING_START":
                opened.append((start, _quote(token.string)))
            elif kind == "FSTRING_END" and opened:
                begun, quote = opened.pop()
                yield begun, end, quote
    except (tokenize.TokenError, SyntaxError, IndexError):
        yield None


def _quote(text: str) -> str:
    bare = text.lstrip("rRbBuUfF")
    return bare[:3] if bare[:3] in ('"""', "'''") else bare[:1]
