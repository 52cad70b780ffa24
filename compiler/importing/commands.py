"""Converts the words of commands and the files of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.layout import Parts
from flowdsl.compiler.importing.model import ports
from flowdsl.compiler.tree import inside, is_list, is_mapping
from flowdsl.grammar.command_line import program_at, shell_text_at
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Function, Json

DOUBLED = regex(r"\$\$")


def paths(target: Function) -> dict[str, str]:
    """The paths of files by the tags that refer to them."""
    return {
        f"{side}.{one.kind}.{one.name}.path": str(path)
        for side in ("inputs", "outputs")
        for one in ports(target.template, side)
        if (path := one.said.get("path") or inside(one.said, "valueFrom").get("path"))
    }


#: The word behind which a program gets its script: the options in it before the letter that says so, and behind that.
_ASKS = {
    "sh": regex(r"-(?!-)([^c]*)c(.*)"),
    "python": regex(r"-([^-WXcm]*)c()"),  # what follows the others in a word is their value
    "node": regex(r"-()e()"),
}


def script_at(words: Sequence[str], kind: str) -> int | None:
    """The position of the script in a command such as `sh -c`."""
    if kind == "sh":
        return shell_text_at(words)
    for index in range(program_at(words) + 1, len(words) - 1):
        if not words[index].startswith("-"):
            break
        if _ASKS[kind].fullmatch(words[index]):
            return index + 1
    return None


def without_script(word: str, kind: str) -> str:
    """A word before the script as it is when the program gets a file; empty if it is not needed."""
    asks = _ASKS[kind].fullmatch(word)
    if asks is None:
        return word
    options = "".join(asks.groups())
    return options and f"-{options}"


def undoubled(text: str) -> str:
    """A text as the container gets it: the kubelet turns `$$` into `$`."""
    return DOUBLED.sub("$", text)


def read_at(origin: Json) -> str:
    """The place from which a `resource` step reads a result."""
    if origin.get("jqFilter"):
        return str(origin["jqFilter"])
    path = str(origin.get("jsonPath", ""))
    return path if path.startswith("{") else f"{{{path}}}"


def keys(options: Code | None) -> set[str]:
    """The keys of a dict that is written as an option."""
    if not isinstance(options, Parts):
        return set()
    return {name.strip('": ') for name, _ in options.items}


def changed(value: Any, change: Any) -> Any:
    """A value with a function applied to each of its texts."""
    if isinstance(value, str):
        return change(value)
    if is_mapping(value):
        return {key: changed(one, change) for key, one in value.items()}
    return [changed(one, change) for one in value] if is_list(value) else value
