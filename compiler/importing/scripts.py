"""Values that stand in the text of a script, handed to it as variables: what is data cannot be run as code any more."""

from __future__ import annotations

import io
import tokenize
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import masked, tags

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh")
_PYTHON = regex(r"(?:.*/)?python[0-9.]*")
_WORD = regex(r"[A-Za-z0-9_]")
_JS_STRING = regex(
    r"//[^\n]*|/\*(?s:.*?)\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\(?s:.)|[^`\\])*`"
)
#: A regular expression with quotes in it, which look like those of a string.
_JS_REGEX = regex(r"[(=,:!&|]\s*/(?![/*])[^/\n]*['\"`]")
_HERE = regex(r"<<-?\s*(['\"\\]?)(\w+)\1?")
_FUTURE = regex(r"^from __future__ .*\n", 8)
_IMPORT = regex(r"^(?:import|from)\s+os\b(?!\.)", 8)


class Script(NamedTuple):
    """A script, and the tags in whose place variables stand in it."""

    text: str
    variables: dict[str, str]  # the tags by the names of the variables


class String(NamedTuple):
    """A string of a program by its offsets, its quotes, what stands before them, and whether it is filled in."""

    start: int
    end: int
    quote: str
    prefix: str
    filled: bool


Span = tuple[int, int, str]
"""A tag by its offsets, and the variable for it."""


def language(words: Sequence[str]) -> str:
    """What reads a script, by the words of its command: `sh`, `python`, `node`, or nothing that is known."""
    first = words[0].rpartition("/")[2] if words else ""
    if first == "env" and len(words) > 1:
        first = words[1]
    if first in SHELLS:
        return "sh"
    return "python" if _PYTHON.fullmatch(first) else "node" if first in ("node", "nodejs") else ""


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
    read = {"python": _python, "node": _javascript}.get(kind)
    return None if read is None else read(text, spans, variables)


def _shell(text: str, spans: list[Span], variables: dict[str, str]) -> Script | None:
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


class _Strings(NamedTuple):
    """How a language has values of variables around its strings."""

    read: str  # a variable as a text
    value: str  # a variable as a literal that it holds
    filled: str  # a variable between the braces of a string that is filled in


def _python(text: str, spans: list[Span], variables: dict[str, str]) -> Script | None:
    strings = list(_python_strings(masked(text)))
    form = _Strings('os.environ["{}"]', 'ast.literal_eval(os.environ["{}"])', "{{os.environ[{0}{1}{0}]}}")
    made = _rewritten(text, spans, strings, form)
    if made is None:
        return None
    needed = [module for module, word in (("ast", "ast.literal_eval(os."), ("os", "")) if word in made]
    lines = "".join(f"import {one}\n" for one in needed if not (one == "os" and _IMPORT.search(text)))
    first = max((one.end() for one in _FUTURE.finditer(made)), default=0)
    return Script(made[:first] + lines + made[first:], variables)


def _javascript(text: str, spans: list[Span], variables: dict[str, str]) -> Script | None:
    found = _JS_STRING.finditer(masked(text))
    strings = [
        String(one.start(), one.end(), one[0][0], "", one[0][0] == "`") for one in found if one[0][0] != "/"
    ]
    form = _Strings('process.env["{}"]', 'JSON.parse(process.env["{}"])', "${{process.env[{0}{1}{0}]}}")
    made = None if _JS_REGEX.search(text) else _rewritten(text, spans, strings, form)
    return None if made is None else Script(made, variables)


def _rewritten(text: str, spans: list[Span], strings: Sequence[String | None], form: _Strings) -> str | None:
    """A text in whose strings the quotes are closed around variables; elsewhere these are literals."""
    if strings and strings[-1] is None:
        return None
    made, at = "", 0
    for around, group in groupby(spans, lambda span: _around(span, strings)):
        held = list(group)
        if around is None:
            for start, stop, name in held:
                made, at = made + text[at:start] + form.value.format(name), stop
            continue
        rewritten = _filled(text, held, around, form) if around.filled else _joined(text, held, around, form)
        if rewritten is None:
            return None
        made, at = made + text[at : around.start] + rewritten, around.end
    return made + text[at:]


def _around(span: Span, strings: Sequence[String | None]) -> String | None:
    return next((one for one in strings if one is not None and one.start <= span[0] < one.end), None)


def _filled(text: str, spans: list[Span], around: String, form: _Strings) -> str:
    """A string that is filled in: an f-string, or a template of JavaScript."""
    made, at = "", around.start
    other = "'" if '"' in around.quote else '"'
    for start, stop, name in spans:
        made, at = made + text[at:start] + form.filled.format(other, name), stop
    return made + text[at : around.end]


def _joined(text: str, spans: list[Span], around: String, form: _Strings) -> str | None:
    """A string with its quotes closed around variables."""
    size = len(around.prefix) + len(around.quote)
    parts: list[str] = []
    at = around.start + size
    for start, stop, name in [*spans, (around.end - len(around.quote),) * 2 + ("",)]:
        piece = text[at:start]
        if (len(piece) - len(piece.rstrip("\\"))) % 2 or piece.endswith(around.quote[0]):
            return None
        parts += [f"{around.prefix}{around.quote}{piece}{around.quote}"] if piece else []
        parts += [form.read.format(name)] if name else []
        at = stop
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"


def _python_strings(text: str) -> Iterator[String | None]:
    """The strings of a Python text; at last None where the text cannot be read."""
    starts = [0, *accumulate(len(line) for line in text.splitlines(keepends=True))]
    opened: list[tuple[int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                yield _string(start, end, token.string)
            elif kind == "FSTRING_START":
                opened.append((start, token.string))
            elif kind == "FSTRING_END" and opened:
                yield _string(opened[-1][0], end, opened.pop()[1])
    except (tokenize.TokenError, SyntaxError, IndexError):
        yield None


def _string(start: int, end: int, text: str) -> String:
    bare = text.lstrip("rRbBuUfF")
    prefix = text[: len(text) - len(bare)]
    quote = bare[:3] if bare[:3] in ('"""', "'''") else bare[:1]
    return String(start, end, quote, prefix, "f" in prefix.lower())
