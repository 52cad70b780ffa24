"""The logs of a run on this machine: a file per container, without timestamps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, BinaryIO

from flowdsl.runtime.local.earlier import state
from flowdsl.runtime.local.logs import of_node
from flowdsl.runtime.local.runner import going_on
from flowdsl.runtime.logs.join import Part
from flowdsl.runtime.logs.run import chosen_containers, entry_of, nodes_of, requested
from flowdsl.runtime.logs.source import Source, place
from flowdsl.runtime.logs.together import Given
from flowdsl.runtime.parts import name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from flowdsl.runtime.logs.run import Wanted

Json = dict[str, Any]

_PIECE = 1 << 16
_EVERY = 0.1
"""Seconds between two polls of the files."""


def files_of(folder: Path, workflow: Json, wanted: Wanted, done: Collection[str] = ()) -> dict[Source, Path]:
    """The requested logs that exist so far, in the order in which their steps began.

    Those of the nodes in `done` are left out.
    """
    found: dict[Source, Path] = {}
    has = requested(workflow, wanted)
    for name, node in nodes_of(workflow).items():
        where = place(name_of(workflow), name)
        identity = str(node["id"])
        if identity in done or not has(name, "", identity):
            continue
        logs = {one.stem: one for one in of_node(folder, identity)}
        chosen = chosen_containers(list(logs), list(logs), wanted)
        for container in chosen:
            called = where.called(entry_of(workflow))
            source = Source(
                where,
                f"{called}/{container}" if len(chosen) > 1 else called,
                ".".join(where.path),
                identity,
                container,
                str(node.get("startedAt") or ""),
            )
            found[source] = logs[container]
    return found


class _File:
    """A log that is read while it grows."""

    def __init__(self, path: Path, tail: int | None = None) -> None:
        self._file: BinaryIO = path.open("rb")
        self._first = True
        if tail is not None:
            self._file.seek(_start_of_last(self._file, tail))

    def parts(self) -> Iterator[list[Part]]:
        """What was appended since the last call."""
        while piece := self._file.read(_PIECE):
            found: list[Part] = []
            for line in _lines(piece):
                found.append(Part(b"", line, self._first))
                self._first = line.endswith(b"\n")
            yield found

    def close(self) -> None:
        self._file.close()


def _start_of_last(file: BinaryIO, lines: int) -> int:
    """The offset of the last lines."""
    at = end = file.seek(0, 2)
    left = lines
    while at > 0 and lines:
        began = max(0, at - _PIECE)
        file.seek(began)
        piece = file.read(at - began)
        stop = len(piece) - (at == end)  # the last newline does not begin another line
        while (stop := piece.rfind(b"\n", 0, max(0, stop))) >= 0:
            left -= 1
            if not left:
                return began + stop + 1
        at = began
    return 0 if lines else end


def _lines(piece: bytes) -> Iterator[bytes]:
    *ended, rest = piece.split(b"\n")
    for line in ended:
        yield line + b"\n"
    if rest:
        yield rest


def written(folder: Path, workflow: Json, wanted: Wanted, tail: int | None = None) -> Iterator[Given]:
    """The current logs of a run, one after the other."""
    for source, path in files_of(folder, workflow, wanted).items():
        file = _File(path, tail)
        for parts in file.parts():
            yield Given(source, parts)
        file.close()
        yield Given(source, [])


def growing(folder: Path, workflow: Json, wanted: Wanted, tail: int | None = None) -> Iterator[Given]:
    """The logs of a run as they are written, until no process runs it any more."""
    files: dict[Source, _File] = {}
    done: set[str] = set()
    begun = last = False
    while True:
        over = {str(node["id"]) for node in nodes_of(workflow).values() if node.get("finishedAt")}
        for source, path in files_of(folder, workflow, wanted, done).items():
            if source not in files:
                files[source] = _File(path, None if begun else tail)
        for source, file in list(files.items()):
            for parts in file.parts():
                yield Given(source, parts)
            if last or source.pod in over:
                file.close()
                del files[source]
                yield Given(source, [])
        done |= over
        begun = True
        if last:
            return
        last = not going_on(folder)
        if not last:
            time.sleep(_EVERY)
        workflow = read(folder, workflow)


def read(folder: Path, before: Json) -> Json:
    """The current Workflow of a run, or the previous one if it cannot be read."""
    try:
        return state(folder)
    except (OSError, ValueError):
        return before
