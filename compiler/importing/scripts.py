"""Replaces tags in scripts by variables, so that values cannot be run as code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flowdsl.compiler.importing.programs import in_javascript, in_python
from flowdsl.compiler.importing.shells import in_shell
from flowdsl.compiler.importing.spans import Refused
from flowdsl.grammar.command_line import SHELLS, program, program_at
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PYTHON = regex(r"(?:.*/)?python[0-9.]*")


_NAME = regex(r"[A-Za-z_]\w*")
#: Names in programs of other languages: quoted, as in access to the environment, and in shell commands.
_NAMED = regex(r"(?:[\"'.]|\$\{?)([A-Za-z_]\w*)")
_ENVIRONMENT = regex(r"environ|getenv|\benv\b|\$")
#: Contexts in which a shell sets or reads a variable; the last follows one that `${x:=...}` sets.
_COMMAND = regex(r"(?:^|[;&|({\n]|\b(?:then|do|else|export|local|readonly))[ \t]*$")
_READ, _ANEW = regex(r"\$\{?$"), regex(r":?=")


class Script(NamedTuple):
    """A script, and the variables in it that replaced tags."""

    text: str
    variables: dict[str, str]  # the tags by the names of their variables
    runs_them: bool = False  # whether the values are run as code, as before


def language(words: Sequence[str]) -> str:
    """The interpreter of a script, from the words of its command: `sh`, `python`, `node`, or an empty text."""
    first = program(words[program_at(words) :])
    if first in SHELLS:
        return "sh"
    if _PYTHON.fullmatch(first):
        return "" if "-m" in words else "python"  # the module reads the file
    return "node" if first in ("node", "nodejs") else ""


def spoken(text: str, kind: str) -> set[str]:
    """The words of a script with which it may read or set variables of its own."""
    hidden = _blanked(text)
    if kind == "sh":
        return {*_NAME.findall(hidden)}
    return {*_NAMED.findall(hidden)} if _ENVIRONMENT.search(hidden) else set()


def is_set_to(text: str, name: str, tag: str) -> bool:
    """Whether a shell script assigns the value of a tag to a variable, once, before it reads it."""
    first, *more = _found(text, name)
    value = regex(rf"=([\"']?){re.escape(tag)}\1(?=[\s;&|)]|\Z)")
    line = text.rfind("\n", 0, first.start()) + 1
    set_first = _COMMAND.search(text[line : first.start()]) and value.match(text, first.end())
    return bool(set_first) and all(_is_read(text, one) for one in more)


def is_kept(text: str, kind: str, name: str) -> bool:
    """Whether a variable that a script gets keeps its value in all of the script."""
    return name not in spoken(text, kind) or (
        kind == "sh" and all(_is_read(text, one) for one in _found(text, name))
    )


def _found(text: str, name: str) -> list[re.Match[str]]:
    return [*regex(rf"(?<!\w){name}(?!\w)").finditer(_blanked(text))]


def _is_read(text: str, found: re.Match[str]) -> bool:
    return bool(_READ.search(text[max(found.start() - 2, 0) : found.start()])) and not _ANEW.match(
        text, found.end()
    )


def _blanked(text: str) -> str:
    """A script without its tags."""
    found, end = list[str](), 0
    for tag in tags(text):
        if tag.kind != "unclosed":
            found += [text[end : tag.start], " " * (tag.end - tag.start)]
            end = tag.end
    return "".join(found) + text[end:]


def with_variables(text: str, kind: str, name: Callable[[str], str]) -> Script | Refused:
    """A script with variables in place of the values of the run.

    `name` returns the variable for a tag, or nothing if the tag stays.
    """
    found = [tag for tag in tags(text) if tag.kind != "unclosed" and name(text[tag.start : tag.end])]
    if not found:
        return Script(text, {})
    variables = {name(text[tag.start : tag.end]): text[tag.start : tag.end] for tag in found}
    spans = [(tag.start, tag.end, name(text[tag.start : tag.end])) for tag in found]
    if kind == "sh" and len(spans) == 1 and text.strip() == text[spans[0][0] : spans[0][1]]:
        return Script(f'eval "${spans[0][2]}"', variables, runs_them=True)
    read = {"sh": in_shell, "python": in_python, "node": in_javascript}.get(kind)
    made = Refused(spans[0][0]) if read is None else read(text, spans)
    return made if isinstance(made, Refused) else Script(made, variables)
