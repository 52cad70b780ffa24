"""Allocates the ports of Jobs, so that two runs on one machine get different ones.

A port belongs to the run that has locked the file with its number. One at which another program listens is skipped.
"""

from __future__ import annotations

import copy
import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.regex import regex
from flowdsl.runtime.lock import take
from flowdsl.runtime.parts import several

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

Json = dict[str, Any]

_PORTS = ("MASTER_PORT", "PET_MASTER_PORT")
"""Variables whose whole value is a port."""
_CLUSTER = "TF_CONFIG"
_PLACE = regex(r"(?<=:)\d+(?=\")")
_STEP, _FIRST, _LAST = 97, 1024, 32767
"""The step to the next candidate, and the range of candidates: above it are the ephemeral ports."""


class Ports:
    """The ports that this process has reserved."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[int, int]] = {}  # a locked file, and the number of users

    def settled(self, template: Json) -> tuple[Json, dict[int, int]]:
        """A template with free ports, and a mapping from the original ports to those."""
        found = {wanted: self._taken(wanted) for wanted in sorted(set(_asked(template)))}
        if all(wanted == port for wanted, port in found.items()):
            return template, found
        other = copy.deepcopy(template)
        for one in _variables(other):
            text = str(one["value"])
            if one["name"] == _CLUSTER:
                one["value"] = _PLACE.sub(lambda at: _here(at, found), text)
            elif text.isdecimal():
                one["value"] = str(found[int(text)])
        return other, found

    def _taken(self, wanted: int) -> int:
        """Reserve the port itself, or the next free one; returns the original port if none is free."""
        port = wanted
        for _ in range(_LAST // _STEP):
            if self._take(port):
                return port
            port = port + _STEP if port + _STEP <= _LAST else _FIRST + port % _STEP
        return wanted

    def _take(self, port: int) -> bool:
        """Reserve a port, or share one that is reserved by this process; returns whether that succeeded."""
        if port in self._held:
            file, count = self._held[port]
            self._held[port] = file, count + 1
            return True
        folder = Path(tempfile.gettempdir(), f"flowdsl-ports-{os.getuid()}")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            file = os.open(folder / str(port), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError:
            return _is_free(port)  # no folder for lock files
        if not take(file) or not _is_free(port):
            os.close(file)
            return False
        self._held[port] = file, 1
        return True

    def give(self, found: dict[int, int]) -> None:
        """Release ports."""
        for port in found.values():
            file, count = self._held.pop(port, (-1, 0))
            if count > 1:
                self._held[port] = file, count - 1
            elif count:
                os.close(file)


def _is_free(port: int) -> bool:
    """Whether no process listens at a port."""
    with socket.socket() as asked:
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asked.bind(("", port))
        except OSError:
            return False
    return True


def _variables(template: Json) -> Iterator[Json]:
    for container in several(template["containerSet"], "containers"):
        for one in several(container, "env"):
            if "value" in one and (one["name"] == _CLUSTER or one["name"] in _PORTS):
                yield one


def _asked(template: Json) -> Iterator[int]:
    """The ports in the variables of the containers."""
    for one in _variables(template):
        text = str(one["value"])
        if one["name"] == _CLUSTER:
            yield from map(int, _PLACE.findall(text))
        elif text.isdecimal():
            yield int(text)


def _here(at: re.Match[str], found: dict[int, int]) -> str:
    return str(found[int(at[0])])
