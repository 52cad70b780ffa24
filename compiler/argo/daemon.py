"""A step that serves others, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.argo.origins import filled

if TYPE_CHECKING:
    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Field, Json


def fields(daemon: ir.Daemon) -> tuple[Field, ...]:
    """The fields of a template, each with the options that determine it."""
    return (("daemon", daemon.on, ("daemon",)),)


def probe(daemon: ir.Daemon) -> Json:
    """The readiness probe of the container; empty without one."""
    ready = daemon.ready
    if ready is None:
        return {}
    if ready.command:
        asked: Json = {"exec": {"command": list(ready.command)}}
    elif ready.path is not None:
        asked = {"httpGet": {"path": ready.path, "port": ready.port}}
    else:
        asked = {"tcpSocket": {"port": ready.port}}
    return asked | filled({"initialDelaySeconds": ready.delay, "periodSeconds": ready.every})
