"""Removes the lines of Argo's executor from the log of a step."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Generator

    from flowdsl.runtime.logs.join import Part

    Reader = Generator[list[Part], None, bool]

# Source: emissary.go of Argo 3.6 to 4.1 writes to the step's standard error, with the field `argo=true` in each line.
_LINE = regex(
    rb'time="?\d{4}-\d\d-\d\dT[\d:.Z+-]+"? level=(?i:info|debug) msg=(?:"(?:[^"\\]|\\.)*"|[^\s"]+)'
    rb'(?: [\w.]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))*? argo=true(?: [\w.]+=(?:"(?:[^"\\]|\\.)*"|[^\s"]*))*\r?\n?'
)
"""A progress line of the executor; its warnings and errors do not match."""
_BEGIN = b"time="
_LONGEST = 1 << 12
"""The most bytes of a line to hold back until it is known whether it is the executor's."""
_MORE = 100
"""The most lines of the executor among the last ones of a log."""
_MOST = 10_000
"""The most lines to hold back until it is known which of them are the last."""


def asked(tail: int | None) -> int | None:
    """The number of last lines to request, so that enough of them are the step's."""
    return tail + _MORE if tail is not None and tail <= _MOST else tail


def of_the_step(reader: Reader, tail: int | None = None) -> Reader:
    """A log without the lines of the executor, cut to the last lines of the rest. Raises what the reader raises."""
    step = _step(reader)
    return step if tail is None or tail > _MOST else _last(step, tail)


def _step(reader: Reader) -> Reader:
    held: list[Part] = []
    while True:
        try:
            parts = next(reader)
        except StopIteration as end:
            if held and not _is_one(_text(held)):
                yield held
            whole: bool = end.value
            return whole
        given: list[Part] = []
        for part in parts:
            if part.first:
                given += held
                held = []
            if not held and not (part.first and _may_be(part.text)):
                given.append(part)
                continue
            held.append(part)
            text = _text(held)
            if not _may_be(text) or len(text) > _LONGEST or text.endswith(b"\n"):
                given += () if _is_one(text) else held
                held = []
        if given:
            yield given


def _last(reader: Reader, tail: int) -> Reader:
    lines: deque[list[Part]] = deque(maxlen=tail)
    while True:
        try:
            parts = next(reader)
        except StopIteration as end:
            if found := [part for line in lines for part in line]:
                yield found
            whole: bool = end.value
            return whole
        for part in parts:
            if part.first or not lines:
                lines.append([part])
            else:
                lines[-1].append(part)


def _text(parts: list[Part]) -> bytes:
    return b"".join(part.text for part in parts)


def _is_one(line: bytes) -> bool:
    return len(line) <= _LONGEST and _LINE.fullmatch(line) is not None


def _may_be(text: bytes) -> bool:
    """Whether a line with this beginning may be one of the executor."""
    return text[: len(_BEGIN)] == _BEGIN[: len(text)]
