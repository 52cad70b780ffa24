"""Says why govaluate refuses a `when`, in its own words: they become the message of a node.

Source: parsing.go and lexerState.go of github.com/Knetic/govaluate at 7625b7f8c03d; shouldExecute in
workflow/controller/steps.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.values import ExpressionError, shown
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.compiler.evaluation.values import Value

_PREFIXES = ("-", "!", "~")
_SYMBOLS = {
    **dict.fromkeys(("+", "-", "*", "/", "%", "**", "&", "|", "^", ">>", "<<"), "MODIFIER"),
    **dict.fromkeys(("&&", "||"), "LOGICALOP"),
    **dict.fromkeys(("==", "!=", ">", ">=", "<", "<=", "=~", "!~"), "COMPARATOR"),
    **dict.fromkeys(("?", ":", "??"), "TERNARY"),
}
_VALUES = frozenset(("NUMERIC", "BOOLEAN", "VARIABLE", "STRING", "ACCESSOR", "CLAUSE"))
_BEGINS = _VALUES | {"PREFIX"}
_GOES_ON = frozenset(("MODIFIER", "COMPARATOR", "LOGICALOP", "CLAUSE_CLOSE", "TERNARY", "SEPARATOR"))
_NEXT = {
    "UNKNOWN": _BEGINS,
    "CLAUSE": _BEGINS | {"CLAUSE_CLOSE"},
    "CLAUSE_CLOSE": _GOES_ON | _VALUES - {"ACCESSOR"},
    **dict.fromkeys(("NUMERIC", "BOOLEAN", "STRING", "VARIABLE"), _GOES_ON),
    "ACCESSOR": _GOES_ON | {"CLAUSE"},
    **dict.fromkeys(("MODIFIER", "COMPARATOR", "LOGICALOP"), _BEGINS | {"CLAUSE_CLOSE"}),
    "PREFIX": _VALUES - {"STRING"} | {"CLAUSE_CLOSE"},
    "TERNARY": _BEGINS | {"SEPARATOR"},
    "SEPARATOR": _BEGINS,
}
"""Which kinds of tokens may follow one; before the first is an unknown one."""
_LAST = frozenset(("CLAUSE_CLOSE", "NUMERIC", "BOOLEAN", "STRING", "VARIABLE", "ACCESSOR"))
_HINT = ' (hint: try wrapping the affected expression in quotes ("))'


class _Token(NamedTuple):
    kind: str
    value: Value


def refusal(text: str) -> str | None:
    """The message about a `when` that is no expression for govaluate, or has a field of a variable."""
    try:
        tokens = list(_tokens(text))
        if sum({"CLAUSE": 1, "CLAUSE_CLOSE": -1}.get(token.kind, 0) for token in tokens):
            raise ExpressionError("Unbalanced parenthesis")
        _follow(tokens)
    except ExpressionError as error:
        hint = _HINT if "Invalid token" in str(error) else ""
        return f"Invalid 'when' expression '{text}': {error}{hint}"
    try:
        _follow([token._replace(kind="STRING") if token.kind == "VARIABLE" else token for token in tokens])
    except ExpressionError as error:
        return f"Failed to parse 'when' expression '{text}': {error}"
    fields: list[Value] = [token.value for token in tokens if token.kind == "ACCESSOR"]
    if not fields:
        return None
    variable = shown(fields[0]).strip("[]").partition(" ")[0]
    return f"Failed to evaluate 'when' expresion '{text}': No parameter '{variable}' found."


def _follow(tokens: list[_Token]) -> None:
    """Raise an ExpressionError for a token that cannot follow the one before it."""
    last = _Token("UNKNOWN", None)
    for token in tokens:
        if token.kind not in _NEXT[last.kind]:
            if (last.kind, token.kind) == ("VARIABLE", "CLAUSE"):
                raise ExpressionError(f"Undefined function {shown(last.value)}")
            first, then = (f"{one.kind} [{shown(one.value)}]" for one in (last, token))
            raise ExpressionError(f"Cannot transition token types from {first} to {then}")
        last = token
    if last.kind not in _LAST:
        raise ExpressionError("Unexpected end of expression")


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens of a text. Raises ExpressionError."""
    kind, at = "UNKNOWN", 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token, at = _token(text, at, kind)
        kind = token.kind
        yield token


def _token(text: str, at: int, before: str) -> tuple[_Token, int]:
    """The token at a place that is no space, and where it ends."""
    first = text[at]
    if _is_numeric(first):
        return _number(text, at)
    if first in ",()":
        kind = {",": "SEPARATOR", "(": "CLAUSE", ")": "CLAUSE_CLOSE"}[first]
        return _Token(kind, "," if first == "," else str(ord(first))), at + 1
    if first == "[":
        word, end = _read(text, at + 1, lambda one: one != "]", spaces=True)
        if end == len(text):
            raise ExpressionError("Unclosed parameter bracket")
        return _Token("VARIABLE", word), end + 1
    if first.isalpha():
        word, end = _read(text, at, lambda one: one.isalpha() or one.isdigit() or one in "_.")
        return _word(word), end
    if first in "'\"":
        word, end = _read(text, at + 1, lambda one: one not in "'\"", spaces=True)
        if end == len(text):
            raise ExpressionError("Unclosed string literal")
        return _Token("STRING", word), end + 1
    word, end = _read(text, at, lambda one: not (one.isalpha() or one.isdigit() or one in "()[]'\""))
    if word in _PREFIXES and "PREFIX" in _NEXT[before]:
        return _Token("PREFIX", word), end
    if word not in _SYMBOLS:
        raise ExpressionError(f"Invalid token: '{word}'")
    return _Token(_SYMBOLS[word], word), end


def _is_numeric(one: str) -> bool:
    return one.isdigit() or one == "."


def _number(text: str, at: int) -> tuple[_Token, int]:
    base, kind, start = (16, "hex", at + 2) if text[at : at + 2] == "0x" else (10, "numeric", at)
    word, end = _read(text, start, _is_numeric if base == 10 else lambda one: one in "0123456789abcdefABCDEF")
    try:
        return _Token("NUMERIC", float(word) if base == 10 else float(int(word, 16))), end
    except ValueError:
        size = "float64" if base == 10 else "uint64"
        raise ExpressionError(f"Unable to parse {kind} value '{word}' to {size}\n") from None


def _word(word: str) -> _Token:
    if word in ("true", "false"):
        return _Token("BOOLEAN", word == "true")
    if word in ("in", "IN"):
        return _Token("COMPARATOR", "in")
    if "." not in word:
        return _Token("VARIABLE", word)
    if word.endswith("."):
        raise ExpressionError(f"Hanging accessor on token '{word}'")
    for field in word.split(".")[1:]:
        if field[:1] != field[:1].upper():
            raise ExpressionError(f"Unable to access unexported field '{field}' in token '{word}'")
    return _Token("ACCESSOR", [*word.split(".")])


def _read(text: str, at: int, belongs: Callable[[str], bool], *, spaces: bool = False) -> tuple[str, int]:
    """The characters from a place on that belong together, without the backslashes before others, and their end.

    Spaces before them are left out, unless spaces belong to them.
    """
    found = ""
    while at < len(text):
        one = text[at]
        if one == "\\":
            found += text[at + 1 : at + 2]
            at += 2
            continue
        if one.isspace() and not spaces:
            if found:
                return found, at
        elif belongs(one):
            found += one
        else:
            break
        at += 1
    return found, min(at, len(text))
