"""Converts the words of commands and the files of programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.model import ports
from flowdsl.compiler.tree import inside, is_list, is_mapping
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Function, Json

DOUBLED = regex(r"\$\$")


def paths(target: Function) -> dict[str, str]:
    """The paths of files by the tags that stand for them."""
    return {
        f"{side}.{one.kind}.{one.name}.path": str(path)
        for side in ("inputs", "outputs")
        for one in ports(target.template, side)
        if (path := one.said.get("path") or inside(one.said, "valueFrom").get("path"))
    }


def script_at(words: Sequence[str]) -> int | None:
    """Where in a command such as `sh -c` the script stands."""
    for index, word in enumerate(words[1:], 1):
        if not word.startswith("-"):
            break
        if word.endswith("c") and index + 1 < len(words):
            return index + 1
    return None


def undoubled(text: str) -> str:
    """A text as it arrives: the kubelet makes one `$` of two."""
    return DOUBLED.sub("$", text)


def read_at(origin: Json) -> str:
    """Where a result of a `resource` step is read."""
    if origin.get("jqFilter"):
        return str(origin["jqFilter"])
    path = str(origin.get("jsonPath", ""))
    return path if path.startswith("{") else f"{{{path}}}"


def keys(options: Code | None) -> set[str]:
    """The keys of a dict that is written as an option."""
    if options is None or isinstance(options, str):
        return set()
    return {name.strip('": ') for name, _ in options.items}


def changed(value: Any, change: Any) -> Any:
    """A value with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if is_mapping(value):
        return {key: changed(one, change) for key, one in value.items()}
    return [changed(one, change) for one in value] if is_list(value) else value
