"""Logs through the API server's own path, with the options that the kubelet has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.apiserver.client import PODS, Refused
from tests.apiserver.kubelet import nanoseconds
from tests.apiserver.server import NODE, ApiServer

Object = dict[str, Any]

STAMPS = [f"2026-11-21T12:00:0{second}.{second}00000000Z" for second in range(4)]
TEXTS = [b"one\n", b"50%\r100%\n", b"\xff\xfe\x00\n", b"no newline"]


class Pod:
    """A pod of one container that runs, and prints what it is told."""

    def __init__(self, server: ApiServer, namespace: str) -> None:
        self.server = server
        self.namespace = namespace
        self.path = f"{PODS.format(namespace)}/talk"
        spec: Object = {
            "nodeName": NODE,
            "containers": [{"name": "main", "image": "busybox"}, {"name": "other", "image": "busybox"}],
            "terminationGracePeriodSeconds": 0,
        }
        self.object = server.admin.create(
            PODS.format(namespace), {"metadata": {"name": "talk"}, "spec": spec}
        )
        self.say({"running": {"startedAt": "2026-11-21T12:00:00Z"}})

    def say(self, state: Object) -> None:
        """The state of the container from now on."""
        statuses = [
            {"name": "main", "containerID": "test://main", "state": state, "image": "", "imageID": ""}
        ]
        self.object["status"]["containerStatuses"] = statuses
        self.server.kubelet.observe(self.object)

    def end(self) -> None:
        self.say({"terminated": {"exitCode": 0, "containerID": "test://main"}})

    def print(self, text: bytes, stamp: str = "") -> None:
        self.server.kubelet.append(self.namespace, "talk", "main", text, stamp)

    def log(self, **options: object) -> bytes:
        return self.server.admin.raw(f"{self.path}/log", {"container": "main", **options})


@pytest.fixture
def pod(server: ApiServer, namespace: str) -> Pod:
    return Pod(server, namespace)


@pytest.fixture
def told(pod: Pod) -> Pod:
    for stamp, text in zip(STAMPS, TEXTS, strict=True):
        pod.print(text, stamp)
    return pod


def stamped(first: int = 0) -> bytes:
    return b"".join(
        stamp.encode() + b" " + text for stamp, text in zip(STAMPS[first:], TEXTS[first:], strict=True)
    )


def test_bytes_are_kept(told: Pod) -> None:
    assert told.log() == b"".join(TEXTS)


def test_each_line_has_its_time(told: Pod) -> None:
    assert told.log(timestamps="true") == stamped()


def test_line_in_pieces_has_one_time(pod: Pod) -> None:
    for stamp, text in zip(STAMPS, [b"a", b"b", b"c\n", b"d\n"], strict=True):
        pod.print(text, stamp)
    assert pod.log(timestamps="true") == f"{STAMPS[0]} abc\n{STAMPS[3]} d\n".encode()


def test_since_time_counts_from_the_second_named(told: Pod) -> None:
    assert told.log(timestamps="true", sinceTime="2026-11-21T12:00:02Z") == stamped(2)
    assert told.log(timestamps="true", sinceTime="2026-11-21T13:00:03+01:00") == stamped(3)


def test_fraction_of_since_time_is_lost_in_the_api_server(told: Pod) -> None:
    assert told.log(timestamps="true", sinceTime="2026-11-21T12:00:02.9Z") == stamped(2)
    assert "sinceTime=2026-11-21T12%3A00%3A02Z&" in told.server.kubelet.asked[-1]


def test_since_seconds_counts_from_now(pod: Pod) -> None:
    pod.print(b"old\n", STAMPS[0])
    pod.print(b"new\n")
    assert pod.log(sinceSeconds=3600) == b"new\n"


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_tail_lines(told: Pod, count: int) -> None:
    assert told.log(tailLines=count) == b"".join(TEXTS[4 - min(count, 4) :])


@pytest.mark.parametrize("count", [1, 4, 7, 1000])
def test_limit_bytes(told: Pod, count: int) -> None:
    assert told.log(limitBytes=count) == b"".join(TEXTS)[:count]
    assert told.log(limitBytes=count, timestamps="true") == stamped()[:count]


def test_follow_ends_with_the_container(told: Pod) -> None:
    with ThreadPoolExecutor(1) as pool:
        followed = pool.submit(told.log, follow="true", tailLines=1)
        told.print(b" and more\n")
        told.end()
        assert followed.result(30) in {b"no newline and more\n", b" and more\n"}


def test_follow_gives_lines_as_they_are_printed(pod: Pod) -> None:
    options = {"container": "main", "follow": "true"}
    with pod.server.admin.open(f"{pod.path}/log", options) as stream:
        for text in (b"one\n", b"two\n"):
            pod.print(text)
            assert stream.readline() == text
        pod.end()
        assert stream.readline() == b""


def test_followers_get_the_same(pod: Pod) -> None:
    with ThreadPoolExecutor(4) as pool:
        followed = [pool.submit(pod.log, follow="true") for _ in range(4)]
        for number in range(200):
            pod.print(b"%d\n" % number)
        pod.end()
        assert {each.result(60) for each in followed} == {b"".join(b"%d\n" % number for number in range(200))}


def test_long_log_is_whole(pod: Pod) -> None:
    text = bytes(range(256)).replace(b"\n", b"") * 64 + b"\n"
    for _ in range(200):
        pod.print(text)
    assert pod.log() == text * 200


@pytest.mark.parametrize("follow", ["true", "false"])
def test_log_that_the_kubelet_breaks_off_looks_complete(told: Pod, follow: str) -> None:
    told.server.kubelet.cut = 6
    assert told.log(follow=follow) == b"".join(TEXTS)[:6]
    told.end()
    assert told.log(follow=follow) == b"".join(TEXTS)


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"waiting": {"reason": "ErrImagePull"}}, "is waiting to start: image can't be pulled"),
        (
            {"waiting": {"reason": "ImagePullBackOff"}},
            "is waiting to start: trying and failing to pull image",
        ),
        ({"waiting": {"reason": "ContainerCreating"}}, "is waiting to start: ContainerCreating"),
        ({"terminated": {"exitCode": 1}}, "is terminated"),
        ({}, "is waiting to start - no logs yet"),
    ],
)
def test_state_without_a_log(pod: Pod, state: Object, text: str) -> None:
    pod.say(state)
    with pytest.raises(Refused) as caught:
        pod.log()
    assert caught.value.code == 400
    assert caught.value.status["message"] == f'container "main" in pod "talk" {text}'


def test_previous_run_of_a_container_that_ran_once(pod: Pod) -> None:
    with pytest.raises(Refused) as caught:
        pod.log(previous="true")
    assert caught.value.code == 400
    assert caught.value.status["message"] == 'previous terminated container "main" in pod "talk" not found'


def test_container_that_the_kubelet_has_not_seen(pod: Pod) -> None:
    with pytest.raises(Refused) as caught:
        pod.log(container="other")
    assert caught.value.code == 400
    assert caught.value.status["message"] == 'container "other" in pod "talk" is not available'


def test_container_that_the_pod_has_not(pod: Pod) -> None:
    with pytest.raises(Refused) as caught:
        pod.log(container="nobody")
    assert caught.value.code == 400
    assert caught.value.status["message"] == "container nobody is not valid for pod talk"


def test_pod_that_the_node_has_forgotten(pod: Pod) -> None:
    pod.server.kubelet.forget(pod.namespace, "talk")
    with pytest.raises(Refused) as caught:
        pod.log()
    assert caught.value.code == 404


def test_logs_need_a_right_of_their_own(pod: Pod) -> None:
    rules: list[Object] = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    pod.server.allow("limited", pod.namespace, rules)
    limited = pod.server.client("limited")
    assert limited.get(pod.path)["metadata"]["name"] == "talk"
    with pytest.raises(Refused) as caught:
        limited.raw(f"{pod.path}/log", {"container": "main"})
    assert caught.value.code == 403
    rules = [{"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]}]
    pod.server.allow("limited", pod.namespace, rules)
    assert limited.raw(f"{pod.path}/log", {"container": "main"}) == b""


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1),
        ("1970-01-01T00:00:01.5Z", 1.5),
        ("1970-01-01T01:00:00.25+01:00", 0.25),
        ("1969-12-31T23:30:00.000000001-00:30", 1e-9),
    ],
)
def test_times_of_rfc_3339(stamp: str, seconds: float) -> None:
    assert nanoseconds(stamp) == round(seconds * 10**9)
