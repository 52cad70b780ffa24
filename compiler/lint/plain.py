"""Expressions in the usual shapes, told from others without the parser: it takes as long to load as a compilation.

An expression is rewritten, from the inside to the outside, to the one letter of its kind. What is not rewritten to
the end is read by the parser; nothing is reported here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from flowdsl.compiler.lint.kinds import STATUSES
from flowdsl.grammar.regex import regex

_PATH = r"(?:inputs\.parameters|(?:tasks|steps)(?:\.\w+|\['[^'\\]*'\])\.outputs\.parameters)(?:\.\w+|\['[^'\\]*'\])"
_STATUS = r"(?:tasks|steps)(?:\.\w+|\['[^'\\]*'\])\.(?:status|outputs\.result)"
_LEAVES = regex(
    rf"(?P<T>(?:{_PATH}|{_STATUS}|workflow\.(?:name|namespace|uid|status)|item|retries)(?![\w.\[?$])"
    r"|'(?:[^'\\]|\\u[0-9a-f]{4}|\\[\\'nrt])*')"
    r"|(?P<A>#(?:\.\w+|\['[^'\\]*'\])*(?![\w.\[?$]))"
    r"|(?P<N>(?<![\w.$])[0-9]+(?:\.[0-9]+)?(?![\w.$])|(?<![\w.$])[0-9]+(?=\.\.))"
    r"|(?P<rest>[^\W\d][\w$]*)"
)
_NO_STATUS = rf"'(?!(?:{'|'.join(STATUSES)})')"
_STATUS_OF = regex(
    rf"tatus(?:'\])? (?:in\b|[!=]= (?!')|[!=]= {_NO_STATUS})|{_NO_STATUS}[^']*' [!=]= [^ ]*tatus"
)
"""A status that is compared with something else than a status."""

# T text, N number, F flag, L list, A anything; a rule does not reach past an operator that binds closer.
_CALL = r"(?<!\w)(?<![\w)\]]\.)"
_RULES = regex(
    rf"(?P<N>{_CALL}(?:(?:asFloat|asInt|int)\([TNA]\)|len\([TLA]\)|abs\([NA]\)|(?:min|max)\(L\))"
    r"|[NA] ?[-+*/] ?[NA](?![\w(\[.]))"
    rf"|(?P<T>{_CALL}(?:(?:toJSON|string)\([TNFLA]\)|replace\(T, T, T\))|T \+ [TA](?! \?\?|[\w(\[.]))"
    rf"|(?P<A>{_CALL}fromJSON\([TA]\)|(?<!\w)A\[[TN]\]|(?<!\w)A\.\w+|(?<!\w)L\[N\]|A \?\? \[\])"
    rf"|(?P<L>{_CALL}(?:filter\([LA], [FA]\)|map\([LA], [TNFLA]\)|N\.\.N(?![-\w.(\[]| [-+*/])))"
    r"|(?P<F>(?<![-+*/.] )(?<!\?\? )(?:[NA] (?:[<>]=?|[!=]=) [NA]|[TA] [!=]= [TA]|[TNA] in [LA])"
    r"(?![\w(\[.]| [-+*/]| \?\?)"
    rf"|{_CALL}not\(F\)|F (?:&&|\|\|) F)"
    r"|(?<!\w)\((?P<inner>[TNFLA])\)"
    r"|(?<=\()F \? (?P<either>[TNFLA]) : (?P=either)(?=\))|(?<=\()(?P<coalesced>[TA]) \?\? (?P=coalesced)(?=\))"
    r"|(?<=\()F \? [TNA] : [TNA](?=\))"
)


@lru_cache(maxsize=4096)
def kind(text: str) -> str:
    """The letter of the kind of an expression in which nothing can be wrong with kinds, or nothing."""
    if _STATUS_OF.search(text):
        return ""
    made = _LEAVES.sub(_leaf, f"({text})")
    for _ in range(40):
        made, changes = _RULES.subn(_letter, made)
        if not changes:
            break
    return made if len(made) == 1 else ""


def _leaf(match: re.Match[str]) -> str:
    if match.lastgroup == "rest":
        return "?" if match[0] in ("T", "N", "F", "L", "A") else match[0]
    return str(match.lastgroup)


def _letter(match: re.Match[str]) -> str:
    return match["inner"] or match["either"] or match["coalesced"] or match.lastgroup or "A"
