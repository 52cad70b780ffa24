"""Resolves plain scalars of YAML as kubectl, the API server and Argo do.

Source: resolve.go of go.yaml.in/yaml/v2, with which sigs.k8s.io/yaml parses YAML before it converts it to JSON.
"""

from __future__ import annotations

from flowdsl.grammar.regex import regex

_WORDS: dict[str, bool | float | None] = {
    **{form: True for word in ("y", "yes", "true", "on") for form in (word, word.upper(), word.capitalize())},
    **{
        form: False
        for word in ("n", "no", "false", "off")
        for form in (word, word.upper(), word.capitalize())
    },
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **{sign + word: float(f"{sign}inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
}
_WHOLE = regex(
    r"(?P<sign>[-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>0|[1-9][0-9]*))"
)
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_FLOAT = regex(rf"[-+]?(?:\.{_DIGITS}|{_DIGITS}(?:\.(?:{_DIGITS})?)?)(?:[eE][-+]?{_DIGITS})?")
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}


def plain(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar without a tag; a number without a fraction is an int, as in JSON."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    bare = text if text[0] == "." else text.replace("_", "")
    if (whole := _WHOLE.fullmatch(bare)) is not None:
        kind = whole.lastgroup or "d"
        number = int(whole[kind], _BASES[kind]) * (-1 if whole["sign"] == "-" else 1)
        if -(2**63) <= number < (2**63 if whole["sign"] else 2**64):
            return number
    return _float(text, bare)


def _float(text: str, bare: str) -> str | int | float:
    """The number, or the text if it is not one, or too large."""
    if _FLOAT.fullmatch(bare) is None:
        return text
    number = float(bare)
    if number in (float("inf"), float("-inf")):
        return text
    return int(number) if number.is_integer() and abs(number) < 2**63 else number
