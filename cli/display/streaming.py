"""Writes logs to standard output: raw bytes, or sanitized for a terminal; with or without prefixes."""

from __future__ import annotations

import codecs
import re
import sys
from typing import TYPE_CHECKING

from flowdsl.cli.display.paint import Paint
from flowdsl.cli.process import Refused, mute
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.logs.terminal import CONTROL, SEQUENCES

if TYPE_CHECKING:
    from flowdsl.runtime.logs.join import Part
    from flowdsl.runtime.logs.source import Source

_LONGEST = 1 << 16
"""Bytes of a line that are held back until it ends."""
_COLOURS = ("cyan", "green", "yellow", "magenta", "blue")

_RETURNS = regex(r"\r+\n?")
_OPEN_END = regex(rb"(?:\x1b(?:\[[0-?]*[ -/]*|\][^\x07\x1b]{0,200})?|\r+)\Z")
"""What must not be shown before it is known how it goes on."""


class ReaderGone(Exception):
    """The reader of standard output has closed it, as `| head` does."""


class Style(NamedTuple):
    """How lines are displayed. Without `prefix` it is for one log, or for several that are told apart otherwise."""

    prefix: bool = False
    timestamps: bool = False
    grep: re.Pattern[str] | None = None


class _Line:
    """The unfinished line of one log."""

    def __init__(self) -> None:
        self.held = b""
        self.stamp = b""
        self.begun = False
        """Whether some of it was written."""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")


class Writer:
    """Writes the parts of logs to standard output. Raises ReaderGone, and Refused if it accepts no more."""

    def __init__(self, style: Style) -> None:
        self._paint = Paint(sys.stdout)
        self._terminal = self._paint.terminal
        self._show_as(style)
        self._lines: dict[Source, _Line] = {}
        self._colours: dict[str, str] = {}
        self._unended: Source | None = None
        """Whose line stands on the output without its end."""
        self._out: list[bytes] = []
        self.stamp = b""
        """The time of the last line that was written."""

    def _show_as(self, style: Style) -> None:
        self._style = style
        self._whole = style.prefix or style.grep is not None
        """Whether lines are held back until they end."""
        self._plain = not (self._whole or self._terminal or style.timestamps)
        """Whether bytes go through as they are."""

    @property
    def prefix(self) -> bool:
        """Whether lines are prefixed with the names of their steps."""
        return self._style.prefix

    def tell_apart(self) -> None:
        """Prefix lines from now on."""
        self._show_as(self._style._replace(prefix=True))

    def write(self, source: Source, parts: list[Part]) -> None:
        """Write parts of a log."""
        if self._plain and self._unended in (None, source):
            self._out.extend(part.text for part in parts)
            self._unended = None if parts[-1].text.endswith(b"\n") else source
        else:
            line = self._lines.setdefault(source, _Line())
            for part in parts:
                if part.first:
                    self._flush(source, line)  # its end was lost, if anything is held
                    line.stamp, line.begun = part.stamp, False
                self._hold(source, line, part.text)
            if not self._whole:
                self._flush(source, line, goes_on=True)
        self.stamp = parts[-1].stamp or self.stamp
        self._send()

    def end(self, source: Source) -> None:
        """A log has ended: write what was held back."""
        line = self._lines.pop(source, None)
        if line is not None:
            self._flush(source, line)
        self._send()

    def close(self) -> None:
        """Write everything that was held back, and on a terminal end the last line."""
        for source in list(self._lines):
            self.end(source)
        if self._unended is not None and (self._terminal or self._whole):
            self._out.append(b"\n")
        self._unended = None
        self._send()

    # --- lines -----------------------------------------------------------------------------------------

    def _hold(self, source: Source, line: _Line, text: bytes) -> None:
        """Hold text until its line ends; on a terminal a carriage return before other text ends one, too."""
        line.held += text
        if text.endswith(b"\n") or len(line.held) > _LONGEST:
            self._flush(source, line)
        elif self._terminal:
            ended = line.held.rstrip(b"\r").rfind(b"\r") + 1
            if ended > 1:
                rest, line.held = line.held[ended:], line.held[:ended]
                self._flush(source, line)
                line.held = rest

    def _flush(self, source: Source, line: _Line, *, goes_on: bool = False) -> None:
        """Write held text; of an unfinished line without what cannot be decided yet."""
        if not line.held:
            return
        text, line.held = line.held, b""
        if not self._terminal:
            if self._style.grep is None or self._style.grep.search(text.decode("utf-8", "replace")):
                self._put(source, line, text)
            return
        if goes_on and (open_end := _OPEN_END.search(text)):
            text, line.held = text[: open_end.start()], text[open_end.start() :]
        shown = harmless(line.decoder.decode(text, not goes_on), begun=line.begun)
        if self._style.grep is None or self._style.grep.search(shown):
            for one in _split(shown):
                self._put(source, line, one.encode())

    def _put(self, source: Source, line: _Line, text: bytes) -> None:
        """Write text of one line, after its prefix."""
        if not text:
            return
        if self._unended is not None and not (self._unended == source and line.begun):
            self._out.append(b"\n")  # another line, or one whose end was lost
            self._unended = None
        if self._unended is None:
            self._out.append(self._before(source, line))
        self._out.append(text)
        line.begun = not text.endswith(b"\n")
        self._unended = source if line.begun else None

    def _before(self, source: Source, line: _Line) -> bytes:
        found = line.stamp + b" " if self._style.timestamps and line.stamp else b""
        if not self._style.prefix:
            return found
        colour = self._colours.setdefault(source.step, _COLOURS[len(self._colours) % len(_COLOURS)])
        return f"{self._paint(f'{source.called} |', colour)} ".encode() + found

    def _send(self) -> None:
        """Flush the output."""
        data, self._out = b"".join(self._out), []
        if not data or sys.stdout is None:
            return
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            mute(sys.stdout)
            raise ReaderGone from None
        except OSError as error:
            mute(sys.stdout)
            raise Refused(f"standard output cannot be written: {error.strerror}") from error


def _split(text: str) -> list[str]:
    *ended, rest = text.split("\n")
    return [*(f"{one}\n" for one in ended), *([rest] if rest else [])]


def harmless(text: str, *, begun: bool = False) -> str:
    """Text without sequences that move the cursor, change colours, or control the terminal.

    A carriage return ends the line that it would overwrite, so that nothing is hidden. `begun`: the text continues
    a line.
    """
    if text.removesuffix("\n").isprintable():
        return text
    text = _RETURNS.sub("\n", SEQUENCES.sub("", text))
    if not begun and text.strip("\n"):
        text = text.removeprefix("\n")
    return CONTROL.sub("", text)
