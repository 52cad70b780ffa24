"""Values that stand in the text of a script, handed to it as variables: what is data cannot be run as code any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.programs import in_javascript, in_python
from flowdsl.compiler.importing.shells import in_shell
from flowdsl.compiler.importing.spans import Refused
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import tags

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHELLS = ("sh", "bash", "ash", "dash", "zsh", "ksh")
_PYTHON = regex(r"(?:.*/)?python[0-9.]*")


class Script(NamedTuple):
    """A script, and the tags in whose place variables stand in it."""

    text: str
    variables: dict[str, str]  # the tags by the names of the variables


def language(words: Sequence[str]) -> str:
    """What reads a script, by the words of its command: `sh`, `python`, `node`, or nothing that is known."""
    first = words[0].rpartition("/")[2] if words else ""
    if first == "env" and len(words) > 1:
        first = words[1]
    if first in SHELLS:
        return "sh"
    if _PYTHON.fullmatch(first):
        return "" if "-m" in words else "python"  # the file is what a module reads
    return "node" if first in ("node", "nodejs") else ""


def with_variables(text: str, kind: str, name: Callable[[str], str]) -> Script | Refused:
    """A script with variables in place of the values of the run.

    `name` gives the variable for a tag, or nothing for what stays as it is.
    """
    found = [tag for tag in tags(text) if tag.kind != "unclosed" and name(text[tag.start : tag.end])]
    if not found:
        return Script(text, {})
    variables = {name(text[tag.start : tag.end]): text[tag.start : tag.end] for tag in found}
    spans = [(tag.start, tag.end, name(text[tag.start : tag.end])) for tag in found]
    if kind == "sh" and len(spans) == 1 and text.strip() == text[spans[0][0] : spans[0][1]]:
        return Script(f'eval "${spans[0][2]}"', variables)
    read = {"sh": in_shell, "python": in_python, "node": in_javascript}.get(kind)
    made = Refused(spans[0][0]) if read is None else read(text, spans)
    return made if isinstance(made, Refused) else Script(made, variables)
