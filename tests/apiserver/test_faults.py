"""Every command, with its first request broken, then its second, until it is done before one is broken."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import pytest

from flowdsl.cli.app import run as flowdsl
from flowdsl.runtime.cluster import follow
from tests.apiserver.broken import behind
from tests.apiserver.client import WORKFLOWS
from tests.apiserver.history import load
from tests.apiserver.proofs import SHORT
from tests.apiserver.replay import Replay
from tests.cluster.faults import FAULTS, Fault, Proxy, until_it_passes
from tests.corpus import corpus

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.apiserver.client import Object
    from tests.apiserver.server import ApiServer


class Operation(NamedTuple):
    """A command on a run; `RUN` is its name. What it leaves behind is checked, and that it says the same each time."""

    arguments: tuple[str, ...]
    history: str
    steps: int | None = None
    """How far the run has come, in events of its recording; to its end without it."""
    after: str = ""
    """What the object of the run has then, as a text in its JSON; `gone` when there is none."""
    same: bool = True
    """Whether its output is the same however often it runs."""
    faults: tuple[Fault, ...] = FAULTS
    stride: int = 1
    """Of how many requests one is broken."""


READING = {
    "get": Operation(("get", "RUN"), "branches"),
    "list": Operation(("list",), "branches"),
    "logs": Operation(("logs", "RUN"), "artifacts-and-parameters"),
    "logs-followed": Operation(("logs", "RUN", "-f"), "artifacts-and-parameters"),
    "wait": Operation(("wait", "RUN", "--timeout", "60s"), "branches"),
    "top-node": Operation(("top", "node"), "branches"),
    # It only reads, as the others do, and asks sixty times.
    "doctor": Operation(("doctor",), "branches", faults=("cut",), stride=13 if SHORT else 1),
    "fetch-list": Operation(("fetch", "RUN", "--list"), "artifacts-and-parameters"),
}
CHANGING = {
    "stop": Operation(("stop", "RUN"), "fan-out-12", 12, '"shutdown":"Stop"'),
    "terminate": Operation(("terminate", "RUN"), "fan-out-12", 12, '"shutdown":"Terminate"'),
    "suspend": Operation(("suspend", "RUN"), "fan-out-12", 12, '"suspend":true'),
    "resume": Operation(("resume", "RUN"), "approve-then-go", 14, '"phase":"Succeeded"', same=False),
    "retry": Operation(("retry", "RUN"), "steps-fail-and-exit", None, '"phase":"Running"'),
    "delete": Operation(("delete", "RUN"), "branches", None, "gone"),
}
OPERATIONS = {**READING, **CHANGING}

numbers = count(1)


@pytest.fixture
def proxy(
    server: ApiServer, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Proxy]:
    with behind(server, tmp_path / "kubeconfig", namespace, late=1.3) as made:
        monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
        monkeypatch.setenv("COLUMNS", "140")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(follow, "WINDOW", 3.0)
        yield made


def replayed(server: ApiServer, namespace: str, operation: Operation) -> str:
    """A run that has come as far as an operation wants it."""
    name = f"f{next(numbers)}"
    replay = Replay(
        server, load(corpus("recordings", "histories") / f"{operation.history}.jsonl", name), namespace
    )
    if operation.steps is None:
        replay.run()
    for _ in range(operation.steps or 0):
        replay.step()
    return name


def found(server: ApiServer, namespace: str, name: str) -> Object | None:
    listed = server.admin.get(WORKFLOWS.format(namespace))["items"]
    return next((each for each in listed if each["metadata"]["name"] == name), None)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        (name, fault)
        for number, (name, each) in enumerate(OPERATIONS.items())
        for fault in each.faults
        if not SHORT or fault == each.faults[number % len(each.faults)]
    ],
)
def test_a_broken_request_changes_nothing_for_the_user(
    server: ApiServer,
    namespace: str,
    proxy: Proxy,
    name: str,
    fault: Fault,
    capsys: pytest.CaptureFixture[str],
) -> None:
    operation = OPERATIONS[name]
    changes = name in CHANGING
    runs: list[str] = [] if changes else [replayed(server, namespace, operation)]

    def command(run: str) -> tuple[int, str]:
        arguments = [one.replace("RUN", run) for one in operation.arguments]
        code = flowdsl([*arguments, "--request-timeout", "1"])
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        timeless = re.sub(r"\d+[smh]( ago)?\b", "TIME", said.out.replace(run, "RUN"))
        return code, re.sub(" {2,}", "  ", timeless)  # a time of more digits makes its column wider

    proxy.break_at(0, None)
    expected = command(replayed(server, namespace, operation) if changes else runs[0])
    assert expected[0] in (0, 1)

    def attempt(number: int) -> None:
        run = replayed(server, namespace, operation) if changes else runs[0]
        before = len(server.admin.get(WORKFLOWS.format(namespace))["items"])
        proxy.break_at(number, fault)
        code, said = command(run)
        assert code == expected[0], (number, said)
        if operation.same:
            assert said == expected[1]
        there = found(server, namespace, run)
        if operation.after == "gone":
            assert there is None
        else:
            assert there is not None
            assert operation.after in json.dumps(there, separators=(",", ":"))
        after = len(server.admin.get(WORKFLOWS.format(namespace))["items"])
        assert after == before - (operation.after == "gone")

    assert until_it_passes(proxy, fault, attempt, stride=operation.stride) >= 2
