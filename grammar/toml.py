"""Finds the position of a key in a TOML text, which the reader of the standard library does not tell."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

_KEY = r"(?:\"[^\"]*\"|'[^']*'|[\w-]+)"
_KEYS = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = regex(rf"[ \t]*\[{{1,2}}[ \t]*({_KEYS})[ \t]*\]")
_ENTRY = regex(rf"(?:^[ \t]*|[{{,][ \t]*)({_KEYS})[ \t]*=")
_ONE = regex(_KEY)
_TEXT = regex(r"\"[^\"]*\"|'[^']*'")


class Place(NamedTuple):
    """The line of a key, and its columns: lines and columns from 1, the end exclusive."""

    line: int
    column: int
    end: int


class _Level(NamedTuple):
    """A table, and the last key in it."""

    table: list[str]
    key: list[str]


def place(text: str, path: Sequence[str]) -> Place:
    """The place of the last key of a path, or of the nearest table or key around it; else the beginning.

    Text that only looks like a key, inside a multi-line string, may be taken for one.
    """
    places = _places(text)
    known = (places.get(tuple(path[:depth])) for depth in range(len(path), 0, -1))
    return next(filter(None, known), Place(1, 1, 1))


@lru_cache(maxsize=1)  # one file may have many findings
def _places(text: str) -> dict[tuple[str, ...], Place]:
    """The first place of each key and table, by its path."""
    found: dict[tuple[str, ...], Place] = {}
    table: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        entries: list[tuple[re.Match[str], list[str]]] = []
        if (header := _HEADER.match(line)) is not None:
            table = _names(header[1])
            entries = [(header, table)]
        else:
            levels = [_Level(table, table)]  # of inline tables, the innermost last
            end = 0
            for entry in _ENTRY.finditer(line):
                for _ in range(_TEXT.sub("", line[end : entry.start()]).count("}")):
                    levels = levels[:-1] or levels
                if line[entry.start()] == "{":
                    levels.append(_Level(levels[-1].key, levels[-1].key))
                levels[-1] = _Level(levels[-1].table, [*levels[-1].table, *_names(entry[1])])
                entries.append((entry, levels[-1].key))
                end = entry.end()
        for match, names in entries:
            here = Place(number, match.start(1) + 1, match.end(1) + 1)
            for depth in range(len(names)):
                found.setdefault(tuple(names[: depth + 1]), here)
    return found


def _names(keys: str) -> list[str]:
    return [key.strip("\"'") for key in _ONE.findall(keys)]
