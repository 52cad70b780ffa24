"""Recorded histories of workflows: every state of a workflow and of its pods, and what the pods printed.

The format is described beside the recordings, in `../shared/recordings/README.md`.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from flowdsl.runtime.local.controller.names import fnv32a, node_id
from tests.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]

STAMPS = {"creationTimestamp", "startedAt", "finishedAt", "startTime", "lastTransitionTime"}


class Event(NamedTuple):
    """One change: seconds since the recording began, what of, and the object after it."""

    at: float
    kind: Literal["wf", "pods"]
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    object: Object

    @property
    def name(self) -> str:
        return str(self.object["metadata"]["name"])


class Line(NamedTuple):
    """One line of a container's log: seconds as in Event, its time as recorded, and its bytes with the newline."""

    at: float
    pod: str
    container: str
    stamp: str
    text: bytes


class History(NamedTuple):
    """One recording; its events are in the order in which the server made them."""

    name: str
    run: str
    manifest: Object
    events: list[Event]
    logs: dict[tuple[str, str], bytes]
    lines: list[Line]

    def last(self, kind: str) -> dict[str, Object]:
        """The last state of each object that is still there at the end, by its name."""
        found: dict[str, Object] = {}
        for event in self.events:
            if event.kind == kind:
                found[event.name] = event.object
                if event.type == "DELETED":
                    del found[event.name]
        return found


def histories() -> list[Path]:
    """The recordings of the reference material."""
    return sorted(corpus("recordings", "histories").glob("*.jsonl"))


def load(path: Path, run: str | None = None) -> History:
    """A recording; with `run`, as if the workflow had had this name, and with it all that is named after it."""
    text = path.read_text("utf-8")
    if run is not None:
        text = renamed(text, run)
    first, *middle, last = [json.loads(line) for line in text.splitlines()]
    # Two watches wrote the recording: its order is that of arrival, the versions are in the order of the changes.
    middle.sort(key=lambda line: int(line["object"]["metadata"]["resourceVersion"]))
    events: list[Event] = []
    for line in middle:
        at = max(line["at"], events[-1].at if events else 0.0)
        events.append(Event(at, line["kind"], line["type"], line["object"]))
    logs = {_container(key): value.encode() for key, value in last["logs"].items()}
    began = max(stamp - event.at for event in events for stamp in _stamps(event.object))
    return History(
        path.stem,
        events[0].name,
        first["manifest"],
        events,
        logs,
        sorted(_lines(logs, began), key=lambda line: line.at),
    )


def renamed(text: str, run: str) -> str:
    """The text of a recording under another name. The names of nodes and pods end with hashes, which follow it."""
    lines = [json.loads(line) for line in text.splitlines()]
    old: str = lines[0]["manifest"]["metadata"]["name"]
    names: dict[str, str] = {old: run}
    for line in lines[1:-1]:
        for node in line["object"].get("status", {}).get("nodes", {}).values():
            if node["id"] != old:
                assert node["id"] == node_id(old, node["name"]), node["id"]
                names[str(fnv32a(node["name"]))] = str(fnv32a(run + node["name"].removeprefix(old)))
    pattern = (
        r"(?<![\w-])" + re.escape(old) + r"|(?<=-)(?:" + "|".join(n for n in names if n != old) + r")(?!\d)"
    )
    return re.sub(pattern if len(names) > 1 else re.escape(old), lambda found: names[found[0]], text)


def _container(key: str) -> tuple[str, str]:
    pod, _, container = key.partition("/")
    return pod, container


def _stamps(value: object) -> Iterator[float]:
    """The times in an object at which something had happened."""
    if isinstance(value, dict):
        for key, each in cast("Object", value).items():
            if key in STAMPS and isinstance(each, str):
                yield datetime.fromisoformat(each).timestamp()
            else:
                yield from _stamps(each)
    elif isinstance(value, list):
        for each in cast("list[object]", value):
            yield from _stamps(each)


def _lines(logs: dict[tuple[str, str], bytes], began: float) -> Iterator[Line]:
    for (pod, container), text in logs.items():
        for line in re.findall(rb"[^\n]*\n|[^\n]+$", text):
            stamp, _, rest = line.partition(b" ")
            seconds, _, parts = stamp.decode().removesuffix("Z").partition(".")
            at = datetime.fromisoformat(seconds + "+00:00").timestamp() + float(f"0.{parts or 0}") - began
            yield Line(at, pod, container, stamp.decode(), rest)
