"""Names with a hyphen in expressions, where a hyphen is a minus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.variables.typing_findings import UnknownName
from flowdsl.compiler.problem import Fault
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import ROOTS

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`"""
_KEY = rf"\[(?:{_TEXT})\]"
_VARIABLE = regex(
    rf"{_TEXT}|(?<![\w.$])(?P<name>(?:{'|'.join(sorted(ROOTS))})(?:{_KEY}|\??\.\w+(?:-\w+)*)+)(?![\w$(])"
)
_STEP = regex(rf"{_KEY}|\??\.(?P<word>\w+(?:-\w+)*)(?P<more>(?=[.?\[]))?")
_LET = regex(r"\blet\s+(\w+)")


def hyphenated(text: str, names: frozenset[str]) -> Iterator[Fault]:
    """The findings about variables of Argo with hyphenated names; `names` are those of this scope.

    None where a subtraction may be meant: before a known name, and before a number at the end.
    """
    known: set[str] = set()
    for match in _VARIABLE.finditer(text) if "-" in text else ():
        name: str | None = match["name"]
        if name is None or "-" not in name:
            continue
        known = known or {*ROOTS, *names, *_LET.findall(text)}
        if any(_is_name(step, known) for step in _STEP.finditer(name)):
            yield Fault(UnknownName("variable", name, (), as_keys(name)), match.span("name"))


def as_keys(text: str) -> str:
    """A text with its Argo variables as in expressions: hyphenated parts in brackets."""
    return _VARIABLE.sub(lambda match: _STEP.sub(_as_key, match[0]) if match["name"] else match[0], text)


def as_dotted(text: str) -> str:
    """A text with the keys in its brackets as parts of names, as simple tags have them."""
    return _IN_BRACKETS.sub(r".\1", text)


_IN_BRACKETS = regex(r"\[['\"]([^'\"]+)['\"]\]")


def _is_name(step: re.Match[str], known: set[str]) -> bool:
    """Whether what follows the hyphens of a step can only be parts of a name."""
    words = (step["word"] or "").split("-")[1:]
    return any(not word.isdecimal() and word not in known for word in words) or (
        words != [] and words[-1].isdecimal() and step["more"] is not None
    )


def _as_key(step: re.Match[str]) -> str:
    return f"['{step['word']}']" if "-" in (step["word"] or "") else step[0]
