"""Replaces tags in Python and JavaScript programs by variables."""

from __future__ import annotations

import ast
import io
import tokenize
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from flowdsl.compiler.importing.spans import Refused
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.importing.spans import Span

_JS_STRING = regex(
    r"//[^\n]*|/\*(?s:.*?)\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\(?s:.)|[^`\\])*`"
)
#: A regular expression literal with quotes in it, which look like those of a string.
_JS_REGEX = regex(r"[(=,:!&|]\s*/(?![/*])[^/\n]*['\"`]")
#: The contexts in which an unquoted tag is a name, a property, or the target of an assignment or call.
_JS_BEFORE = regex(r"[\w$.]$|\b(?:let|const|var|function|class|import)\s+$")
_JS_BEHIND = regex(r"[\w$.(]|\s*=(?![=>])")
_FUTURE = regex(r"^from __future__ .*\n", 8)
_IMPORT = regex(r"^(?:import|from)\s+os\b(?!\.)", 8)


class String(NamedTuple):
    """A string of a program by its offsets, quotes and prefix, and whether it is an f-string or template literal."""

    start: int
    end: int
    quote: str
    prefix: str
    filled: bool


class _Strings(NamedTuple):
    """The templates by which a language inserts variables into strings."""

    read: str  # a variable as a text
    value: str  # a variable as the literal that it contains
    filled: str  # a variable between the braces of an f-string
    opening: str  # the start of such braces


def in_python(text: str, spans: Sequence[Span]) -> str | Refused:
    """A Python program with variables in place of tags."""
    strings = list(_python_strings(_without(text, spans)))
    if strings[-1:] == [None]:  # tags that are no values may contain quotes
        strings = list(_python_strings(masked(text)))
    loose = [span for span in spans if _around(span, strings) is None]
    whole = _expressions(text, spans)
    for span in loose:
        if whole is None or span[0] not in whole:
            return Refused(span[0])
    form = _Strings(
        'os.environ["{}"]', 'ast.literal_eval(os.environ["{}"])', "{{os.environ[{0}{1}{0}]}}", "{"
    )
    made = _rewritten(text, spans, strings, form)
    if isinstance(made, Refused):
        return made
    if whole is not None and not _parses(made):
        return Refused(spans[0][0])
    needed = [module for module, word in (("ast", "ast.literal_eval(os."), ("os", "")) if word in made]
    lines = "".join(f"import {one}\n" for one in needed if not (one == "os" and _IMPORT.search(text)))
    first = max((one.end() for one in _FUTURE.finditer(made)), default=0)
    return made[:first] + lines + made[first:]


def _without(text: str, spans: Sequence[Span]) -> str:
    """A text with its tags replaced by names of the same length: since 3.12 Python parses the inside of f-strings."""
    for start, stop, _ in spans:
        text = f"{text[:start]}{'x' * (stop - start)}{text[stop:]}"
    return text


def _expressions(text: str, spans: Sequence[Span]) -> set[int] | None:
    """The offsets of the tags that are values in a Python program, or in comments; None if it cannot be parsed."""
    made, at, places = "", 0, dict[str, int]()
    for index, (start, stop, _) in enumerate(spans):
        places[name := f"flowdsl_{index}_"] = start
        made, at = f"{made}{text[at:start]}{name}", stop
    made += text[at:]
    try:
        tree = ast.parse(made)
        tokens = [*tokenize.generate_tokens(io.StringIO(made).readline)]
    except (SyntaxError, ValueError, tokenize.TokenError):
        return None
    found = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(name)) | ast.Attribute(value=ast.Name(name)):
                found.discard(name)  # a name that the program binds, not a value
            case _:
                pass
    for token in tokens:
        if token.type == tokenize.COMMENT:
            found |= {name for name in places if name in token.string}
    return {place for name, place in places.items() if name in found}


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def in_javascript(text: str, spans: Sequence[Span]) -> str | Refused:
    """A JavaScript program with variables in place of tags."""
    found = [*_JS_STRING.finditer(masked(text))]
    strings = [
        String(one.start(), one.end(), one[0][0], "", one[0][0] == "`") for one in found if one[0][0] != "/"
    ]
    comments = [one.span() for one in found if one[0][0] == "/"]
    form = _Strings('process.env["{}"]', 'JSON.parse(process.env["{}"])', "${{process.env[{0}{1}{0}]}}", "${")
    for span in spans:
        start, stop, _ = span
        loose = _around(span, strings) is None
        told = any(begin <= start < end for begin, end in comments)
        if loose and not told and (_JS_BEFORE.search(text[:start]) or _JS_BEHIND.match(text, stop)):
            return Refused(start)
    return Refused(spans[0][0]) if _JS_REGEX.search(text) else _rewritten(text, spans, strings, form)


def _rewritten(
    text: str, spans: Sequence[Span], strings: Sequence[String | None], form: _Strings
) -> str | Refused:
    """A text whose strings are split around variables; outside of strings these are literals."""
    if strings and strings[-1] is None:
        return Refused(spans[0][0])
    made, at = "", 0
    for around, group in groupby(spans, lambda span: _around(span, strings)):
        held = list(group)
        if around is None:
            for start, stop, name in held:
                made, at = made + text[at:start] + form.value.format(name), stop
            continue
        rewritten = _filled(text, held, around, form) if around.filled else _joined(text, held, around, form)
        if rewritten is None or "b" in around.prefix.lower():
            return Refused(held[0][0])
        made, at = made + text[at : around.start] + rewritten, around.end
    return made + text[at:]


def _around(span: Span, strings: Sequence[String | None]) -> String | None:
    return next((one for one in strings if one is not None and one.start <= span[0] < one.end), None)


def _filled(text: str, spans: Sequence[Span], around: String, form: _Strings) -> str | None:
    """An f-string or JavaScript template literal with variables; None if a string inside of it contains a tag."""
    made, at = "", around.start
    other = "'" if '"' in around.quote else '"'
    hidden = masked(text)
    for start, stop, name in spans:
        held = _field(hidden[around.start : start], form.opening)
        if held is not None and any(held.count(quote) % 2 for quote in "'\"`"):
            return None
        value = (
            form.filled.format(other, name) if held is None else form.value.format(name).replace('"', other)
        )
        made, at = made + text[at:start] + value, stop
    return made + text[at : around.end]


def _field(text: str, opening: str) -> str | None:
    """The expression before the end of a text within open braces; None outside, and in a format spec of Python."""
    depth, since, at = 0, 0, 0
    while at < len(text):
        if depth == 0:
            doubled = opening == "{" and text[at : at + 2] in ("{{", "}}")
            if text.startswith(opening, at) and not doubled:
                depth, since = 1, at + len(opening)
            escaped = text[at] == "\\" and opening == "${"
            at += 2 if doubled or escaped else len(opening) if depth else 1
            continue
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(text[at], 0)
        if text[at] == ":" and depth == 1 and opening == "{":
            return _field(text[at + 1 :], opening)
        at += 1
    return text[since:] if depth else None


def _joined(text: str, spans: Sequence[Span], around: String, form: _Strings) -> str | None:
    """A string that is split around variables."""
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
    """The strings of a Python text; None at the end if it cannot be tokenized."""
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
