"""Usual slips of the hand in a text that is no YAML, read off its lines."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import yaml


class Slip(NamedTuple):
    """The position of the slip, from 1, and the remedy."""

    line: int
    column: int
    way: str


_JOINED = re.compile(r"(\s*(?:- +)*)([A-Za-z][\w-]*):([^\s/:].*)")
_BLOCK = re.compile(r"(\s*(?:- )*)([\w-]+): *[|>][-+]?\d?\s*(?:#.*)?")
_KEY = re.compile(r"(?P<indent> *(?:- +)*)(?P<key>[\w./-]+):(?: +(?P<value>\S.*)?|$)")
_BRACES = re.compile(r"(?:^|[:\-,\[]) *(\{\{)")

_CLOSE = "close the bracket that begins here"


def slip(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Slip | None:
    """The slip that probably makes a text invalid YAML, or None."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return None
    at, column = min(mark.line, len(lines) - 1), mark.column
    line = lines[at]
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return Slip(at + 1, line.index("\t") + 1, "indent with spaces: YAML takes no tabs there")
    if (braces := _BRACES.search(line[: column + 1])) is not None:
        way = "put text that begins with `{{` in quotes: YAML takes a brace for a mapping"
        return Slip(at + 1, braces.start(1) + 1, way)
    if line[:column].rstrip().endswith(("'", '"')) and line[column : column + 1].strip():
        return Slip(at + 1, column + 1, "put the whole text in quotes: it ends where the quotes end")
    if "<document start>" in (error.problem or "") and not line[:column].strip():
        return Slip(at + 1, column + 1, "put `---` on a line of its own between two documents")
    return (
        _not_deeper(lines, at)
        or _joined(lines, at)
        or _valueless(lines, error)
        or _unclosed(error)
        or _unlike(lines, at)
    )


def _valueless(lines: Sequence[str], error: yaml.MarkedYAMLError) -> Slip | None:
    """Brackets in which a value is missing, or that the text ends in."""
    mark = error.problem_mark
    if mark is None or "flow node" not in (error.context or ""):
        return None
    if "\n".join(lines[mark.line :])[mark.column :].strip():
        way = "write the value that is missing before this sign, or leave out the sign"
        return Slip(mark.line + 1, mark.column + 1, way)
    if (begin := _open(lines)) is None:
        return None
    return Slip(begin.line + 1, begin.column + 1, _CLOSE)


def _open(lines: Sequence[str]) -> yaml.Mark | None:
    """Where the last bracket begins that is still open at the end."""
    import yaml

    begun: list[yaml.Mark] = []
    with suppress(yaml.YAMLError):
        for token in yaml.scan("\n".join(lines)):
            if isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken)):
                begun.append(token.start_mark)
            elif isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)) and begun:
                begun.pop()
    return begun[-1] if begun else None


def _unclosed(error: yaml.MarkedYAMLError) -> Slip | None:
    """Unclosed quotes or brackets, and texts that begin with an indicator of YAML."""
    context, begin = error.context or "", error.context_mark or error.problem_mark
    if begin is None:
        return None
    if "Unicode character escape" in (error.problem or "") and (mark := error.problem_mark) is not None:
        way = "write the character itself, or its whole number as in `\\U0001F600`: two halves of one are for JSON"
        return Slip(mark.line + 1, mark.column + 1, way)
    place = begin.line + 1, begin.column + 1
    if "quoted scalar" in context and "end of stream" in (error.problem or ""):
        return Slip(*place, "close the quotes that begin here")
    if "flow" in context:
        return Slip(*place, _CLOSE)
    if "alias" in context or "anchor" in context or "start any token" in (error.problem or ""):
        return Slip(
            *place, "put the whole text in quotes: it begins with a sign that YAML has another use for"
        )
    return None


def _unlike(lines: Sequence[str], at: int) -> Slip | None:
    """A line with deeper indentation than the one above, which has a value, or unlike any above."""
    above = [each for each in lines[:at] if each.strip() and not each.lstrip().startswith("#")]
    if not above or not _KEY.match(lines[at]):
        return None
    indent = _indent(lines[at])
    key = _KEY.match(above[-1])
    value = (key and key["value"]) or "#"
    if key is not None and not value.startswith(("|", ">", "&", "#")) and indent > len(key["indent"]):
        way = f"indent this line like the one above: `{key['key']}` has a value of its own"
        return Slip(at + 1, indent + 1, way)
    levels: set[int] = set()
    for each in above:
        levels = {level for level in levels if level < _indent(each)} | {_indent(each)}
        if (found := _KEY.match(each)) is not None:
            levels.add(len(found["indent"]))
    if indent < max(levels) and indent not in levels:
        return Slip(
            at + 1,
            indent + 1,
            "indent it, or the line above, like its neighbours: nothing above begins here",
        )
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _joined(lines: Sequence[str], at: int) -> Slip | None:
    """A key without a space after its colon, in an earlier line."""
    before = next((index for index in range(at - 1, -1, -1) if lines[index].strip()), None)
    found = None if before is None else _JOINED.fullmatch(lines[before].rstrip())
    if before is None or found is None or len(found[1]) != _indent(lines[at]):
        return None
    way = f"write a space after the colon: `{found[2]}: {found[3]}`"
    return Slip(before + 1, found.start(3) + 1, way)


def _not_deeper(lines: Sequence[str], at: int) -> Slip | None:
    """A block of text that is not indented deeper than its key."""
    for index in range(at - 1, -1, -1):
        found = _BLOCK.fullmatch(lines[index])
        below = next((each for each in range(index + 1, at + 1) if lines[each].strip()), None)
        if found is not None and below is not None:
            key = len(found[1])
            if all(_indent(each) <= key for each in lines[below : at + 1] if each.strip()):
                way = f"indent the text of `{found[2]}` further than `{found[2]}` itself"
                return Slip(below + 1, _indent(lines[below]) + 1, way)
            return None
    return None
