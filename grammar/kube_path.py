"""Parses JSONPath as kubectl does, for the `valueFrom.jsonPath` of a `resource` template.

Source: k8s.io/client-go, util/jsonpath (parser.go, and what jsonpath.go rejects whatever the object). The dialect
follows no standard: keys are in single quotes, a filter is one comparison.
"""

from __future__ import annotations

import re
from functools import cache

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr
from flowdsl.grammar.regex import regex

_USUAL = regex(r"\{(?:\.[A-Za-z_]\w*|\[(?:\*|[0-9]+)\])+\}")


def check(text: str) -> None:
    """Raise GrammarError if kubectl cannot read a path."""
    if _USUAL.fullmatch(text):
        return
    try:
        _lalr().parse(text)
    except GrammarError as error:
        if error.found or error.expected != _CLOSE:
            raise
        start = text.rindex("{")
        raise GrammarError(text, start, start + 1, "a closing `}`") from None


@cache
def _lalr() -> Lalr:
    return Lalr("kube_path.lark", _instead, junk=_JUNK, contextual=True)


_CLOSE = "a closing `}`"
_JUNK = regex(r"[0-9.]+|\w[\w-]*|\"[^\"\n]*\"?|'[^'\n]*'?|&&|\|\||=~|.", re.DOTALL)


def _instead(found: str, allowed: frozenset[str]) -> str:
    """What is allowed in place of `found`, given the terminals that the grammar would accept."""
    if "KEY" in allowed:
        return _subscript(found)
    if "OPERAND_FIELD" in allowed:
        if found in ("&&", "||"):
            return "one comparison, without `&&` and `||`"
        if found in ("=", "=~"):
            return "`==`"
        if "_END" in allowed:
            return "`)]` after the filter"
        return "a path such as `@.type`, or a value"
    if "FIELD" not in allowed:
        return "`]`"
    if not found or found.isspace():
        return _CLOSE
    if found[0] in "'\"":
        return f"a second {found[0]} after this one"
    return f"`.{found}`" if found[0].isalpha() else "a path such as `.status.phase`"


def _subscript(found: str) -> str:
    if found[:1] == '"' and len(found) > 2:
        return f"single quotes: `'{found.strip(chr(34))}'`"
    if found[:1] == "?":
        return "a filter such as `?(@.type=='Ready')`"
    if found[:1].isalpha():
        return f"quotes around the key: `'{found}'`"
    return "a number, a range such as `0:2`, `*` or a key such as `'name'`"
