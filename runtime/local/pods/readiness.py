"""The readiness probe of a daemon. Source: probes of the kubelet."""

from __future__ import annotations

import itertools
import socket
import threading
import time
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.local.pods.web import unverified
from flowdsl.runtime.parts import several

if TYPE_CHECKING:
    from flowdsl.runtime.local.pods.program import Program

Json = dict[str, Any]
_PAUSE = 0.25
"""The longest pause between two probes in seconds: the default in a cluster is 10, but here probes are cheap."""
_numbers = itertools.count()


def ready(probe: Json | None, program: Program, over: Callable[[], bool]) -> bool:
    """Wait until a probe succeeds, or the wait is `over`; returns whether it has succeeded."""
    if not probe:
        return True
    time.sleep(min(float(probe.get("initialDelaySeconds", 0)), 1.0))
    while not over():
        if _holds(probe, program):
            return True
        time.sleep(min(float(probe.get("periodSeconds", 10)), _PAUSE))
    return False


def _holds(probe: Json, program: Program) -> bool:
    seconds = float(probe.get("timeoutSeconds", 1))
    if "exec" in probe:
        return _command([str(one) for one in probe["exec"]["command"]], program, seconds)
    if "tcpSocket" in probe:
        try:
            with socket.create_connection(("127.0.0.1", _port(probe["tcpSocket"], program)), seconds):
                return True
        except OSError:
            return False
    if "httpGet" in probe:
        return _request(probe["httpGet"], program, seconds)
    return True


def _port(target: Json, program: Program) -> int:
    port = target["port"]
    for one in several(program.unit.body, "ports"):
        if one.get("name") == port:
            return int(one["containerPort"])
    return int(port)


def _request(target: Json, program: Program, seconds: float) -> bool:
    scheme = str(target.get("scheme", "HTTP")).lower()
    path = str(target.get("path", "/"))
    url = f"{scheme}://127.0.0.1:{_port(target, program)}/{path.lstrip('/')}"
    headers = {one["name"]: one["value"] for one in several(target, "httpHeaders")}
    direct = urllib.request.build_opener(  # the kubelet uses no proxy
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unverified())
    )
    try:
        with direct.open(urllib.request.Request(url, headers=headers), timeout=seconds):
            return True
    except (OSError, ValueError):
        return False


def _command(words: list[str], program: Program, seconds: float) -> bool:
    context = program.pod.context
    done = threading.Event()
    codes: list[int] = []

    def answered(answer: Json) -> None:
        codes.append(int(answer["code"]))
        done.set()

    name = f"{program.id}#{next(_numbers)}"
    context.programs[name] = answered
    context.supervisor.probe(name, program.id, words, program.env, seconds)
    done.wait(seconds + 5)
    return codes == [0]
