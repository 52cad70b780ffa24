"""Brings a recorded workflow to life in the API server: what its user, its controller and its kubelet did."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, cast

from tests.apiserver.client import PODS, WORKFLOWS, Refused
from tests.apiserver.kubelet import state
from tests.apiserver.server import NODE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.apiserver.history import Event, History
    from tests.apiserver.server import ApiServer

Object = dict[str, Any]

SERVER_SET = {
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "namespace",
    "resourceVersion",
    "uid",
}
"""Metadata that is the server's to say, or that a replay chooses."""


def changes(before: Object, after: Object) -> Object:
    """The merge patch of JSON (RFC 7396) from one object to another."""
    found: Object = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, dict) and isinstance(old, dict):
            part = changes(cast("Object", old), cast("Object", value))
            if part:
                found[key] = part
        elif key not in before or json.dumps(old) != json.dumps(value):  # for Python 1 is True
            found[key] = value
    return found


def own(found: Object) -> Object:
    """An object without what the server sets, and without the names of the workflow's owner."""
    metadata = {key: value for key, value in found["metadata"].items() if key not in SERVER_SET}
    return {**found, "metadata": metadata}


class Replay:
    """A history on its way into a namespace of a server, one change at a time.

    A workflow of the history's name that is there already is taken for the one that was submitted. Only what the
    controller changed is written to it, so what others write meanwhile stays.
    """

    def __init__(self, server: ApiServer, history: History, namespace: str = "default") -> None:
        self.server = server
        self.history = history
        self.namespace = namespace
        self.at = 0.0
        """The time of the recording, in seconds, up to which the workflow has come."""
        self._events = list(history.events)
        self._lines = list(history.lines)
        self._client = server.admin
        self._workflows = WORKFLOWS.format(namespace)
        self._pods = PODS.format(namespace)
        self._before: dict[tuple[str, str], Object] = {}
        self._terminating: set[str] = set()
        self._recorded = str(history.events[0].object["metadata"]["uid"])
        self._uid = self._recorded

    def step(self) -> Event | None:
        """Apply the next event, and before it what was printed until then. None at the end."""
        if not self._events:
            self._print(None)
            return None
        event = self._events.pop(0)
        self._print(event.at)
        self.at = event.at
        target = self._placed(event.object)
        if event.kind == "wf":
            self._workflow(event, target)
        else:
            self._ended(event)
            self._pod(event, target)
        return event

    def until(self, enough: Callable[[Event], bool]) -> Event:
        """Go on as fast as possible until an event of a kind was applied. Raises LookupError."""
        while (event := self.step()) is not None:
            if enough(event):
                return event
        raise LookupError("no such event")

    def run(self, speed: float | None = None) -> None:
        """Go on to the end: as fast as possible, or so many times as fast as it was recorded."""
        began = time.monotonic() - (self.at / speed if speed else 0)
        while self._events:
            if speed:
                for at in sorted({line.at for line in self._lines if line.at < self._events[0].at}):
                    _sleep_until(began + at / speed)
                    self._print(at)
                _sleep_until(began + self._events[0].at / speed)
            self.step()
        self._print(None)

    # --- the parts -------------------------------------------------------------------------------------

    def _placed(self, recorded: Object) -> Object:
        """The object in this namespace, owned by the workflow that the server has."""
        text = json.dumps(recorded).replace(self._recorded, self._uid)
        target: Object = json.loads(text)
        target["metadata"]["namespace"] = self.namespace
        return target

    def _print(self, at: float | None) -> None:
        while self._lines and (at is None or self._lines[0].at <= at):
            line = self._lines.pop(0)
            self.server.kubelet.append(self.namespace, line.pod, line.container, line.text, line.stamp)

    def _ended(self, event: Event) -> None:
        """A container that has ended has printed all."""
        early = [
            line
            for line in self._lines
            if line.pod == event.name
            and "terminated" in (state(event.object, line.container) or {}).get("state", {})
        ]
        for line in early:
            self._lines.remove(line)
            self.server.kubelet.append(self.namespace, line.pod, line.container, line.text, line.stamp)

    def _workflow(self, event: Event, target: Object) -> None:
        path = f"{self._workflows}/{event.name}"
        key = event.kind, event.name
        if event.type == "ADDED":
            try:
                made = self._client.create(self._workflows, own(target))
            except Refused as answer:
                if answer.code != 409:
                    raise
                made = self._client.get(path)
            self._uid = made["metadata"]["uid"]
        elif event.type == "MODIFIED":
            self._client.patch(path, changes(self._before[key], own(target)))
        else:
            self._delete(path, 0)
        self._before[key] = own(target)

    def _delete(self, path: str, grace: int) -> None:
        try:
            self._client.delete(path, {"gracePeriodSeconds": grace})
        except Refused as answer:
            if answer.code != 404:  # with no grace, or no node, it was gone at once
                raise

    def _pod(self, event: Event, target: Object) -> None:
        path = f"{self._pods}/{event.name}"
        key = event.kind, event.name
        if event.type == "ADDED":
            self.server.kubelet.observe(target)
            self._before[key] = own(self._client.create(self._pods, own(target)))
            return
        if event.type == "DELETED":
            self._delete(path, 0)
            self.server.kubelet.forget(self.namespace, event.name)
            return
        before = self._before[key]
        self.server.kubelet.observe(target)
        if "deletionTimestamp" in target["metadata"] and event.name not in self._terminating:
            self._terminating.add(event.name)
            self._delete(path, target["metadata"]["deletionGracePeriodSeconds"])
        elif "nodeName" in target["spec"] and "nodeName" not in before["spec"]:
            # The scheduler's way. The server notes when it was done in the status; the next state sets that right.
            binding = {"metadata": {"name": event.name}, "target": {"kind": "Node", "name": NODE}}
            self._client.create(f"{path}/binding", binding)
            self._before[key] = own(self._client.get(path))
        else:
            patch = changes(before, own(target))
            part = "/status" if "status" in patch else ""
            self._before[key] = own(self._client.patch(path + part, patch))


def _sleep_until(when: float) -> None:
    time.sleep(max(0.0, when - time.monotonic()))
