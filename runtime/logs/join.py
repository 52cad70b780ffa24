"""Joins the answers to several requests for one container's log: no byte is lost, none is repeated.

A log is a file to which lines are appended. A server returns the lines at or after a whole second, in the order of the
file, each with its timestamp; any answer may break off anywhere, also in a way that looks like its end. So the lines
that were already passed on and are not older than the time of the new request are at the beginning of the next answer.
They are recognized by their timestamps.

Sources: pkg/logs of k8s.io/cri-client gives the time of a line before its first piece only, and compares each piece
with `sinceTime`, so that an answer may begin in the middle of a line; the API server drops the fraction of
`sinceTime`. Times are in order, except that lines of the two streams of one container may be swapped within moments.
"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.times import rfc3339

_STAMP = regex(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)")
_USUAL = "2026-11-21T12:00:00.000000000Z"
_LONGEST = len("2026-11-21T12:00:00.000000000+00:00")
_SECOND = 10**9
_MARGIN = 1
"""Seconds by which lines may be out of order."""


class Part(NamedTuple):
    """A line, or a piece of one.

    `stamp` is its time as the server wrote it, empty if there is none; `text` ends with a newline if the line does;
    `first` says whether it begins its line.
    """

    stamp: bytes
    text: bytes
    first: bool = True


def nanoseconds(stamp: bytes) -> int:
    """Parse a time of RFC 3339 to nanoseconds since 1970. Raises ValueError."""
    if len(stamp) == len(_USUAL) and stamp[19:20] == b"." and stamp[29:] == b"Z":
        digits = stamp[20:29]
        if digits.isdigit():
            return _seconds(stamp[:19], b"Z") * _SECOND + int(digits)
    matched = _STAMP.fullmatch(stamp)
    if matched is None:
        raise ValueError(f"{stamp!r} is not a time of RFC 3339")
    whole, fraction, zone = matched.groups()
    return _seconds(whole, zone) * _SECOND + (int(fraction.ljust(9, b"0")) if fraction else 0)


@lru_cache(64)
def _seconds(whole: bytes, zone: bytes) -> int:
    found = datetime.fromisoformat((whole + zone.replace(b"Z", b"+00:00")).decode())
    return (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


class Joined:
    """One container's log. `since`, in nanoseconds: earlier lines are left out."""

    def __init__(self, since: int | None = None) -> None:
        self._from = since
        # The position in the log, across all answers.
        self._known = array("q")
        """The times of the complete lines that an answer may repeat, in order."""
        self._second: int | None = None
        """The second of the newest line."""
        self._open: int | None = None
        """The time of the unfinished line, if there is one; `_given` is the size of its known text."""
        self._given = 0
        self._newest = 0
        self._begin()

    # --- one answer ------------------------------------------------------------------------------------

    @property
    def since(self) -> str:
        """The start of the next request: RFC 3339, empty for all."""
        if self._second is not None:
            return rfc3339(self._second - _MARGIN)
        return "" if self._from is None else rfc3339(self._from // _SECOND)

    @property
    def begun(self) -> bool:
        """Whether a line has been seen."""
        return self._second is not None

    def begin(self) -> None:
        """Start another answer, which was requested from `since` on."""
        if self._second is not None:
            least = (self._second - _MARGIN) * _SECOND
            self._known = array("q", (one for one in self._known if one >= least))
        self._begin()

    def _begin(self) -> None:
        self.fresh = False
        """Whether this answer brought anything new."""
        self._at = 0
        """The number of known lines that it has repeated."""
        self._aligned = not self._known and self._open is None
        """Whether it has reached the first known line: a log of which only the end was requested has earlier ones."""
        self._head = b""
        """The beginning of a line whose time has not arrived completely."""
        self._line: bytes | None = None
        """The time of the current line as text; None between lines."""
        self._now = 0
        self._drop = False
        """Whether the current line is left out."""
        self._skip = 0
        """The number of its bytes that are known."""
        self._first = True
        self._unstamped = bool(self.since)
        """Whether a line without a time is the rest of an earlier one."""

    @property
    def reached(self) -> bool:
        """Whether this answer reached the end of the earlier ones, and not only a part of a line that they had."""
        if self._at < len(self._known) or self._head or self._drop_open:
            return False
        met = self._line is not None
        return met and not self._skip and bool(self._given) if self._open is not None else not met

    @property
    def _drop_open(self) -> bool:
        """Whether it broke off in a line that is left out."""
        return self._line is not None and self._drop

    def feed(self, piece: bytes) -> list[Part]:
        """The new parts in the next piece of the answer."""
        found: list[Part] = []
        data = self._head + piece
        self._head = b""
        at, size = 0, len(data)
        while at < size:
            if self._line is None:
                head = self._begins(data, at)
                if head is None:
                    self._head = data[at:]
                    break
                at = head
                if at == size:
                    break
            end = data.find(b"\n", at) + 1
            self._goes_on(data[at : end or size], found)
            if not end:
                break
            at = end
        self.fresh = self.fresh or bool(found)
        return found

    # --- lines -----------------------------------------------------------------------------------------

    def _begins(self, data: bytes, at: int) -> int | None:
        """Begin the line at an offset; returns the offset of its text, or None if that has not arrived yet."""
        blank = data.find(b" ", at, at + _LONGEST + 1)
        if blank < 0 and len(data) - at <= _LONGEST and data.find(b"\n", at) < 0:
            return None
        stamp = data[at:blank] if blank > 0 else b""
        try:
            now = nanoseconds(stamp)
        except ValueError:
            self._line, self._now = b"", self._newest
            self._drop, self._skip, self._first = self._unstamped, 0, True
            if not self._drop:
                self._place(self._now)
            self._unstamped = False
            return at
        self._unstamped = False
        self._line, self._now = stamp, now
        self._drop, self._skip, self._first = False, 0, True
        self._place(now)
        return blank + 1

    def _place(self, now: int) -> None:
        """Determine whether the line that begins is known, and how much of it."""
        if not self._aligned:
            first = self._known[0] if self._known else self._open
            if first is not None and now < first:
                self._drop = True  # before the first requested line
                return
            self._aligned = True
            try:
                self._at = self._known.index(now)
            except ValueError:
                self._at = len(self._known)  # the log file was rotated
        if self._at < len(self._known):
            if self._known[self._at] == now:
                self._at += 1
                self._drop = True
                return
            self._at = len(self._known)
        if self._open == now:
            self._skip, self._first = self._given, not self._given
        else:
            self._open = None

    def _goes_on(self, text: bytes, found: list[Part]) -> None:
        """Take text of the current line, to its end or to that of the piece."""
        stamp, ends = self._line or b"", text.endswith(b"\n")
        if not self._drop:
            new = text[self._skip :]
            self._skip = max(0, self._skip - len(text))
            if new:
                if self._open is None:
                    self._open, self._given = self._now, 0
                    self._pass(self._now)
                self._given += len(new)
                if self._from is None or self._now >= self._from:
                    found.append(Part(stamp, new, self._first))
                self._first = False
            if ends and self._open is not None:
                self._known.append(self._now)
                self._at += 1
                self._open = None
        if ends:
            self._line = None

    def _pass(self, now: int) -> None:
        """Set the time of the newest line, and forget the lines that no answer can repeat."""
        second = now // _SECOND
        self._newest = now
        if self._second is None or second > self._second:
            self._second = second
            if self._known and self._known[0] < (second - _MARGIN) * _SECOND:
                self._known = array("q", (one for one in self._known if one >= (second - _MARGIN) * _SECOND))
                self._at = len(self._known)
        elif second < self._second - _MARGIN:  # the clock was set back
            self._second, self._known, self._at = second, array("q"), 0
