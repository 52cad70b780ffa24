"""The journal of a run: its beginning and each event of its machine, one line each.

A line counts once its newline is there: what a crash cut off is dropped. Lines are written immediately, so that they
survive the process, and are synced to the disk by a thread of their own, so that they survive the machine; steps do not
wait for it.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import reason
from flowdsl.runtime.atomic import write
from flowdsl.runtime.local.controller import events
from flowdsl.runtime.local.controller.cache import Entry
from flowdsl.runtime.local.error import RunError

Json = dict[str, Any]

_VERSION = 1
_PAUSE = 0.05
"""Seconds between two syncs to the disk: the lines of quick steps are synced together."""
_written = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_EVENTS: dict[str, type[events.Event]] = {
    "started": events.Started,
    "running": events.PodRunning,
    "ended": events.PodEnded,
    "woken": events.Woken,
    "resumed": events.Resumed,
    "taken up": events.TakenUp,
    "shutdown": events.ShutDown,
}
_NAMES = {kind: name for name, kind in _EVENTS.items()}


FILE = "journal.jsonl"
"""The name of the journal in the folder of a run."""


def of_run(folder: Path) -> Path:
    """The journal of the run in a folder."""
    return folder / FILE


class Inputs(NamedTuple):
    """The inputs of a run: all that is needed to resume it."""

    manifest: Json
    references: list[Json]
    config: dict[str, dict[str, str]]
    settings: Json
    """How the run was requested, for whoever resumes it."""


class Contents(NamedTuple):
    """The inputs of a run, the caches with which it began, its events, and the size of its complete lines in bytes."""

    inputs: Inputs
    caches: dict[str, dict[str, Entry]]
    past: list[events.Event]
    size: int


def begin(path: Path, inputs: Inputs, caches: dict[str, dict[str, Entry]]) -> Journal:
    """Create a journal atomically, with the beginning of the run."""
    write(path, _lines([{"version": _VERSION, **inputs._asdict(), "cache": caches}]))
    return Journal(path)


def _lines(entries: list[Json]) -> bytes:
    return "".join(_written(entry) + "\n" for entry in entries).encode("utf-8", "surrogatepass")


class Journal:
    """A journal that is open for writing.

    Its methods raise OSError, also if an earlier line could not be synced to the disk.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._closed = False
        self._failure: OSError | None = None
        self._thread = threading.Thread(target=self._sync, name="journal", daemon=True)
        self._thread.start()

    def write(self, entries: list[Json]) -> None:
        """Append lines."""
        self._check()
        data = _lines(entries)
        while data:
            data = data[os.write(self._file, data) :]
        if not self._wanted.is_set():
            self._wanted.set()

    def close(self) -> None:
        """Sync everything to the disk."""
        if not self._closed:
            self._closed = True
            self._closing.set()
            self._wanted.set()
            self._thread.join()
            os.close(self._file)
            self._check()

    def _check(self) -> None:
        if self._failure is not None:
            raise OSError(self._failure.errno, self._failure.strerror, str(self._path))

    def _sync(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            closed = self._closed
            try:
                os.fdatasync(self._file)
            except OSError as error:
                self._failure = error
                return
            if closed:
                return
            self._closing.wait(_PAUSE)


def of_event(event: events.Event) -> Json:
    """Converts an event to a line."""
    found: Json = {"event": _NAMES[type(event)], **event._asdict()}
    if isinstance(event, events.PodEnded):
        found["outcome"] = {name: value for name, value in event.outcome._asdict().items() if value}
    return found


def event_of(line: Json) -> events.Event:
    """Converts a line to an event."""
    fields = {name: value for name, value in line.items() if name != "event"}
    if "outcome" in fields:
        outcome = fields["outcome"]
        containers = outcome.get("containers")
        if containers:
            outcome["containers"] = {name: tuple(one) for name, one in containers.items()}
        fields["outcome"] = events.Outcome(**outcome)
    return _EVENTS[line["event"]](**fields)


def read(path: Path) -> Contents:
    """Read the journal of a run. Raises RunError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RunError(f"{path}: {reason(error)}") from None
    whole = data.rfind(b"\n") + 1
    try:
        lines: list[Json] = [json.loads(line) for line in data[:whole].splitlines()]
    except ValueError as error:
        raise RunError(f"{path}: a line is not JSON: {error}") from None
    try:
        if not lines or lines[0].get("version") != _VERSION:
            raise RunError(f"{path} is not the journal of a run, or of another version of flowdsl")
        header, *rest = lines
        inputs = Inputs(*(header[field] for field in Inputs._fields))
        caches = {
            name: {key: Entry(*one) for key, one in entries.items()}
            for name, entries in header["cache"].items()
        }
        past = [event_of(line) for line in rest]
    except (AttributeError, KeyError, TypeError):
        raise RunError(f"{path} is damaged: a line of it is not what flowdsl writes") from None
    return Contents(inputs, caches, past, whole)
