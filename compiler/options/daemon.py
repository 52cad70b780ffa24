"""Whether a step serves the steps after it, and from when on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from flowdsl.companion import Ready
from flowdsl.compiler.findings import kinds
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.ir import Daemon, Probe
from flowdsl.compiler.options.reading import Wrong, filled_in, flag, said, seconds, text_option, whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.ir import Settings
    from flowdsl.compiler.options.reading import Reader


def settled(found: Mapping[str, Any]) -> Daemon:
    """The daemon that the options of a step result in."""
    return filled_in(Daemon(), found)._replace(on=found.get("daemon", False))


def doubts(made: Settings, found: Mapping[str, Any]) -> Iterator[tuple[str, Wrong]]:
    """A probe of what is not a daemon; retries of a daemon, since the next one has another address."""
    if not made.daemon.on and "ready" in found:
        finding = kinds.BadReady(
            "is asked of a daemon only", "this step ends on its own", "add `daemon=True`"
        )
        yield "ready", Wrong(finding, "name")
    if made.daemon.on and made.control.retries is not None and made.control.retries.limit:
        yield "retries", Wrong(kinds.DaemonRetries())


def _ready(name: str, written: object) -> Probe:
    if not isinstance(written, Ready):
        raise Wrong(OptionType(name, "Ready(port=...) or Ready(command=[...])", said(written)))
    port = cast("object", written.port)
    if (port is None) == (written.command is None):
        way = 'write Ready(port=8080), Ready(port=8080, path="/healthz") or Ready(command=["pg_isready"])'
        cause = "neither is there" if port is None else "both are there"
        raise Wrong(kinds.BadReady("needs a port or a command, and not both", cause, way))
    if port is not None:
        whole("port of Ready", port, 1, 65535, part="item:port")
    path = written.path
    if path is not None:
        text = text_option("path of Ready", path)
        if port is None or not text.startswith("/"):
            way = 'write Ready(port=8080, path="/healthz")'
            cause = "must begin with `/`" if port is not None else "no port is given"
            finding = kinds.BadReady("has a path that is not one of a port", cause, way)
            raise Wrong(finding, "item:path")
    command = words("command of Ready", written.command or ())
    times = {
        field: None if getattr(written, field) is None else round(seconds(field, getattr(written, field)))
        for field in ("delay", "every")
    }
    return Probe(written.port, path, command, times["delay"], times["every"])


READERS: dict[str, Reader] = {"daemon": flag, "ready": _ready}
