"""Fifty runs that are waited for while the server is killed, forgets, and stands still."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from flowdsl.runtime.cluster import follow
from flowdsl.runtime.cluster.ended import states
from flowdsl.runtime.cluster.kubernetes import Kubernetes
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.transport import Access, Transport
from flowdsl.runtime.phases import phase
from tests.apiserver.client import WORKFLOWS
from tests.apiserver.proofs import SHORT
from tests.apiserver.server import ApiServer
from tests.apiserver.test_submit import end

RUNS = 50
TROUBLES = 3 if SHORT else 6


def test_fifty_waits_through_all_of_it(
    server: ApiServer, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "WINDOW", 3.0)
    chance = random.Random(11)
    template = {"name": "main", "container": {"image": "busybox", "command": ["true"]}}
    for number in range(RUNS):
        server.admin.create(
            WORKFLOWS.format(namespace),
            {
                "apiVersion": "argoproj.io/v1alpha1",
                "kind": "Workflow",
                "metadata": {"name": f"run-{number}"},
                "spec": {"entrypoint": "main", "templates": [template]},
            },
        )
    access = Access(namespace=namespace, kubeconfig=server.kubeconfig("admin", namespace))

    def wait(number: int) -> str:
        cluster = Kubernetes(Transport(access), Policy(request=4.0).ending(240))
        last = None
        for state in states(cluster, f"run-{number}"):
            last = state or last
        assert last is not None
        return phase(last)

    def kill() -> None:
        server.restart("apiserver")

    def forget() -> None:
        server.compact()
        server.restart("apiserver")

    def stand_still() -> None:
        with server.paused("apiserver"):
            time.sleep(6)

    with ThreadPoolExecutor(RUNS) as pool:
        waits = [pool.submit(wait, number) for number in range(RUNS)]
        left = chance.sample(range(RUNS), RUNS)
        troubles = [kill, forget, stand_still] * (TROUBLES // 3)
        chance.shuffle(troubles)
        for trouble in troubles:
            time.sleep(chance.uniform(0.2, 1.5))
            trouble()
            for number in left[: RUNS // TROUBLES]:
                end(server, namespace, f"run-{number}")
            left = left[RUNS // TROUBLES :]
        for number in left:
            end(server, namespace, f"run-{number}")
        assert [each.result() for each in waits] == ["Succeeded"] * RUNS
