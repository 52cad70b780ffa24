"""Parses filters of jq, for the `valueFrom.jqFilter` of a `resource` template.

Source: github.com/itchyny/gojq 0.12.19 (parser.go.y, lexer.go, and the functions that it knows). Argo gives them no
modules and no further inputs.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, span
from flowdsl.grammar.regex import regex

_USUAL = regex(r"(?:\.[A-Za-z_][A-Za-z_0-9]*|\.?\[[0-9]*\])+")


def check(text: str) -> None:
    """Raise GrammarError if jq cannot read a filter, or has no such function."""
    if _USUAL.fullmatch(text) and text[0] == ".":
        return
    tree = _parse(text)
    defined = [
        str(name) for each in tree.find_data("definition") for name in each.children if isinstance(name, str)
    ]
    variables = {"$ENV", *defined, *(str(each.children[0]) for each in tree.find_data("bound"))}
    own = {name.lstrip("$") for name in defined}
    for call in tree.find_data("call"):
        name, *given = call.children
        count = sum(each is not None for each in given)
        if (str(name), count) not in FUNCTIONS and str(name) not in own:
            raise GrammarError(text, *span(name), _function(str(name)))
    for used in tree.find_data("variable"):
        if str(used.children[0]) not in variables:
            raise GrammarError(text, *span(used), "a variable that `as` binds before")


def _parse(text: str) -> Any:
    try:
        return _lalr().parse(text)
    except GrammarError as error:
        if error.found == "|" and text[: error.start].endswith("|"):
            raise GrammarError(text, error.start - 1, error.end, "`or`") from None
        raise


def _function(name: str) -> str:
    """What is expected in place of a function that jq does not have in this form."""
    counts = sorted(count for known, count in FUNCTIONS if known == name)
    if not counts:
        return "a function of jq"
    said = " or ".join(map(str, counts))
    return (
        f"`{name}` with {said} argument{'' if counts == [1] else 's'}" if counts != [0] else f"`{name}` alone"
    )


@cache
def _lalr() -> Lalr:
    return Lalr("jq.lark", _instead, junk=_JUNK, contextual=True)


_JUNK = regex(r"[0-9.]+\w*|[$@.]?\w+|\"[^\"\n]*\"?|'[^'\n]*'?|&&|\|\||.", re.DOTALL)


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if found[:1] == "&":
        return "`and`"
    if found[:1] == "'":
        return f'double quotes: `"{found.strip(chr(39))}"`'
    if "CLOSED" in allowed or (found[:1] == '"' and "STRING" in allowed):
        return 'a text up to a second `"`, with escapes as in JSON'
    if not found and (close := next((sign for name, sign in _CLOSING.items() if name in allowed), "")):
        return f"a closing `{close}`"
    if "NUMBER" in allowed:
        return "a value, such as `.status.phase`"
    if "INDEX" in allowed:
        return "an operator, or the end" if "$END" in allowed else "an operator"
    return " or ".join(said for name, said in _SAID.items() if name in allowed) or "the end"


_CLOSING = {"RPAR": ")", "RSQB": "]", "RBRACE": "}", "END": "end"}
_SAID = {
    "RPAR": "`)`",
    "RSQB": "`]`",
    "RBRACE": "`}`",
    "COLON": "`:`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "VBAR": "`|`",
    "IDENTIFIER": "a name",
    "VARIABLE": "a variable such as `$x`",
}


_BY_COUNT = {
    0: """
        abs acos acosh add all any arrays ascii_downcase ascii_upcase asin asinh atan atanh booleans
        builtins cbrt ceil combinations cos cosh empty env erf erfc error exp exp10 exp2 explode
        expm1 fabs finites first flatten floor frexp from_entries fromdate fromdateiso8601 fromjson
        gamma gmtime halt halt_error implode infinite isfinite isinfinite isnan isnormal iterables
        j0 j1 keys last length lgamma localtime log log10 log1p log2 logb ltrim max min mktime modf
        modulemeta nan nearbyint normals not now nulls numbers objects paths recurse reverse rint
        round rtrim scalars significand sin sinh sort sqrt strings tan tanh tgamma to_entries
        toboolean todate todateiso8601 tojson tonumber tostream tostring transpose trim trunc type
        unique utf8bytelength values y0 y1
    """,
    1: """
        IN INDEX add all any bsearch capture combinations contains debug del delpaths endswith error
        first flatten format fromstream getpath group_by halt_error has in index indices inside
        isempty join last ltrimstr map map_values match max_by min_by nth path paths pick range
        recurse repeat rindex rtrimstr scan select sort_by split splits startswith strflocaltime
        strftime strptime test trimstr truncate_stream unique_by walk with_entries
    """,
    2: """
        IN INDEX JOIN all any atan2 capture copysign drem fdim fmax fmin fmod gsub hypot jn ldexp
        limit match nextafter nexttoward nth pow range recurse remainder scalb scalbln scan setpath
        skip split splits sub test until while yn
    """,
    3: """
        JOIN fma gsub range sub
    """,
    4: """
        JOIN
    """,
}
FUNCTIONS = frozenset((name, count) for count, names in _BY_COUNT.items() for name in names.split())
"""The functions, with the number of their arguments; without those for further inputs."""
