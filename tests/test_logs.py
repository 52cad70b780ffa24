"""Logs of runs: what arrives is what was printed, whatever breaks on the way, and however it is shown."""

from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.cli.app import run
from flowdsl.cli.display.streaming import Style, Writer, harmless
from flowdsl.runtime.cluster.kinds import POD
from flowdsl.runtime.cluster.policy import Policy
from flowdsl.runtime.cluster.seam import Change, Keep, Listing, whole
from flowdsl.runtime.cluster.trouble import Refusal, Unreachable, Vanished
from flowdsl.runtime.logs.container import Extent, read
from flowdsl.runtime.logs.join import Joined, Part, nanoseconds
from flowdsl.runtime.logs.run import Wanted, gone, knows, sources
from flowdsl.runtime.logs.source import Place, Source, place
from flowdsl.runtime.logs.together import as_they_are, followed
from tests.long_log import peak_of_a_log
from tests.standing import Standing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from flowdsl.runtime.cluster.seam import Excerpt, Json, Kind

BEGIN = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


class Entry(NamedTuple):
    """One line of a log file; without a newline if it is the last one and incomplete."""

    time: int
    text: bytes

    @property
    def raw(self) -> bytes:
        return raw(self)


@lru_cache(4096)
def raw(entry: Entry) -> bytes:
    """A line as the API returns it."""
    seconds, rest = divmod(entry.time, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z ".encode() + entry.text


class Cut(NamedTuple):
    """A response that breaks off after a number of bytes: with an error, or as if it were complete."""

    after: int
    silent: bool = True


class Fake(Standing):
    """A cluster of pods with given logs; `cuts` are those of the next responses, in order."""

    def __init__(self, logs: dict[str, list[Entry]], cuts: Iterable[Cut] = (), piece: int = 1 << 16) -> None:
        super().__init__()
        self.namespace, self.called = "default", "cluster `fake`"
        self.logs = logs
        self.cuts = iter(cuts)
        self.piece = piece
        self.time = 0.0
        self.policy = Policy(now=lambda: self.time, sleep=self.sleep)
        self.pods: dict[str, Json] = {name: pod(name) for name in logs}
        self.workflow: Json = workflow("Running")
        self.requests: list[tuple[str, str, bool]] = []
        self.when_asked: Callable[[], None] = lambda: None

    def sleep(self, seconds: float) -> None:
        self.time += seconds

    def get(self, kind: Kind, name: str, *, namespace: str | None = None) -> Json:
        found = self.pods.get(name) if kind == POD else self.workflow
        if found is None:
            raise Refusal(404, {"details": {"name": name}}, "get", kind, name, "default")
        return found

    def list(
        self,
        kind: Kind,
        *,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
        keep: Keep = whole,
    ) -> Listing:
        return Listing([keep(one) for one in (self.pods.values() if kind == POD else [self.workflow])], "1")

    def watch(
        self,
        kind: Kind,
        version: str,
        *,
        seconds: float,
        labels: str = "",
        fields: str = "",
        namespace: str | None = None,
    ) -> Generator[Change, None, None]:
        yield Change("BOOKMARK", {"metadata": {"resourceVersion": "2"}})

    def log(
        self,
        pod: str,
        container: str,
        excerpt: Excerpt,
        *,
        run: str,
        seconds: float = 30,
        namespace: str | None = None,
    ) -> Generator[bytes, None, None]:
        since, tail, follow = excerpt
        self.requests.append((pod, since, follow))
        self.when_asked()
        entries = self.logs[pod]
        if tail is not None:
            entries = entries[len(entries) - min(tail, len(entries)) :]
        least = nanoseconds(since.encode()) if since else 0
        assert least % 10**9 == 0, "the API drops the fraction"
        data = b"".join(entry.raw for entry in entries if entry.time >= least)
        cut = next(self.cuts, None)
        whole = data if cut is None else data[: cut.after]
        for at in range(0, len(whole), self.piece):
            yield whole[at : at + self.piece]
        if cut is not None and not cut.silent:
            raise Unreachable("the answer broke off: reset", sent=True)


def pod(
    name: str, state: Literal["running", "terminated"] = "terminated", at: int = 0, node: str = ""
) -> Json:
    begun = {"startedAt": f"{BEGIN + timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ}"}
    annotations = {"workflows.argoproj.io/node-name": node or f"r.{name}"}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "namespace": "default",
            "annotations": annotations,
        },
        "spec": {"containers": [{"name": "main"}, {"name": "wait"}], "initContainers": [{"name": "init"}]},
        "status": {
            "phase": "Running" if state == "running" else "Succeeded",
            "containerStatuses": [{"name": "main", "state": {state: begun}}],
        },
    }


def workflow(phase: str, nodes: Iterable[Json] = ()) -> Json:
    return {
        "metadata": {"name": "r", "uid": "r-uid", "namespace": "default", "resourceVersion": "1"},
        "spec": {
            "entrypoint": "main",
            "templates": [{"name": "main", "dag": {"tasks": [{"name": "later"}]}}],
        },
        "status": {"phase": phase, "nodes": {str(node["id"]): node for node in nodes}},
    }


def node(name: str, phase: str = "Succeeded", **more: object) -> Json:
    return {"id": f"id-{name}", "name": name, "type": "Pod", "phase": phase, **more}


def source(name: str = "a", at: int = 0) -> Source:
    started = f"{BEGIN + timedelta(seconds=at):%Y-%m-%dT%H:%M:%SZ}"
    return Source(Place((name,)), name, name, name, "main", started, f"uid-{name}")


def text_of(entries: Iterable[Entry]) -> bytes:
    return b"".join(entry.text for entry in entries)


NOW = Extent()


def all_of(cluster: Fake, extent: Extent = NOW) -> bytes:
    return b"".join(part.text for parts in read(cluster, source(), extent) for part in parts)


def lines(count: int, step: int, texts: Iterable[bytes] | None = None) -> list[Entry]:
    """A number of lines, `step` nanoseconds apart."""
    begin = int(BEGIN.timestamp()) * 10**9 + 123_456_789
    odd = [
        b"plain",
        b"",
        b"50%\r100%",
        b"\xff\xfe\x00",
        "größer".encode(),
        b" ",
        b"2026-11-21T12:00:00Z no time",
    ]
    chosen = itertools.cycle(odd if texts is None else texts)
    return [Entry(begin + at * step, next(chosen) + b"\n") for at in range(count)]


LOGS = {
    "one time": lines(80, 0),
    "one second": lines(80, 1_000),
    "many seconds": lines(80, 300_000_000),
    "slow": lines(80, 7_000_000_000),
    "no end": [*lines(79, 10_000_000), Entry(lines(80, 10_000_000)[-1].time, b"Error: exit status 1")],
    "out of order": [
        entry for pair in zip(*[iter(lines(80, 40_000_000))] * 2, strict=True) for entry in reversed(pair)
    ],
    "one long line": [Entry(lines(1, 0)[0].time, b"\r".join(b"%d%%" % at for at in range(800)))],
}


@pytest.mark.parametrize("log", LOGS)
def test_a_log_that_is_cut_anywhere_arrives_whole(log: str) -> None:
    entries = LOGS[log]
    places = range(0, sum(len(entry.raw) for entry in entries) + 1, 7 if log == "one second" else 13)
    ways = itertools.cycle(itertools.product((True, False), repeat=2))
    for at, (silent, follow) in zip(places, ways, strict=False):
        assert all_of(Fake({"a": entries}, [Cut(at, silent)]), Extent(follow)) == text_of(entries), at


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "loud"])
@pytest.mark.parametrize("follow", [True, False], ids=["follow", "now"])
def test_lines_of_all_kinds_cut_anywhere(silent: bool, follow: bool) -> None:
    begin = LOGS["one time"][0].time
    texts = [b"a\n", b"\n", b"50%\r100%\r\n", b"\xff\xfe\x00\n", b"2026-11-21T12:00:00Z no time\n", b"no end"]
    entries = [Entry(begin + at // 3 * 10**8, text) for at, text in enumerate(texts)]
    for at in range(sum(len(entry.raw) for entry in entries) + 1):
        for then in range(at, sum(len(entry.raw) for entry in entries) + 1, 7):
            cuts = [Cut(at, silent), Cut(then, not silent)]
            assert all_of(Fake({"a": entries}, cuts), Extent(follow)) == text_of(entries), cuts


@settings(max_examples=100, deadline=None)
@given(
    log=st.sampled_from(sorted(LOGS)),
    cuts=st.lists(st.builds(Cut, st.integers(0, 3600), st.booleans()), max_size=6),
    piece=st.integers(1, 200),
    follow=st.booleans(),
)
def test_a_log_that_is_cut_again_and_again_arrives_whole(
    log: str, cuts: list[Cut], piece: int, follow: bool
) -> None:
    # The end is believed if two responses agree, as two do that are cut at the same place and seem complete.
    places = [cut.after for cut in cuts if cut.silent]
    cuts = [cut for at, cut in enumerate(cuts) if not cut.silent or cut.after not in places[:at]]
    cuts = [cut for cut in cuts if not cut.silent or cut.after > 50]
    entries = LOGS[log]
    cluster = Fake({"a": entries}, grown(cuts), piece)
    assert all_of(cluster, Extent(follow)) == text_of(entries)


def grown(cuts: list[Cut]) -> list[Cut]:
    """Cuts, each of which lets more through than the one before."""
    found: list[Cut] = []
    for cut in cuts:
        found.append(cut._replace(after=cut.after + (found[-1].after if found else 0)))
    return found


def test_the_parts_of_lines_have_their_times() -> None:
    entries = LOGS["many seconds"]
    parts = [
        part for parts in read(Fake({"a": entries}, [Cut(777)], 10), source(), Extent()) for part in parts
    ]
    assert [part.stamp + b" " for part in parts if part.first] == [entry.raw[:31] for entry in entries]
    assert all(part.text.endswith(b"\n") == after.first for part, after in itertools.pairwise(parts))


def test_text_is_given_before_its_line_ends() -> None:
    joined = Joined()
    assert joined.feed(b"2026-11-21T12:00:00.5Z 10%\r") == [Part(b"2026-11-21T12:00:00.5Z", b"10%\r")]
    assert joined.feed(b"20%") == [Part(b"2026-11-21T12:00:00.5Z", b"20%", first=False)]
    joined.begin()
    assert joined.since == "2026-11-21T11:59:59Z"
    assert joined.feed(b"2026-11-21T12:00:00.5Z 10%\r20%\r30%") == [
        Part(b"2026-11-21T12:00:00.5Z", b"\r30%", first=False)
    ]


def test_a_line_that_began_before_what_was_asked_for_is_left_out() -> None:
    joined = Joined(nanoseconds(b"2026-11-21T12:00:05.5Z"))
    assert joined.since == "2026-11-21T12:00:05Z"
    found = joined.feed(
        b"the rest of a line\n2026-11-21T12:00:05.4Z early\n2026-11-21T13:00:05.6+01:00 late\n"
    )
    assert [part.text for part in found] == [b"late\n"]


def test_text_without_a_time_is_kept() -> None:
    joined = Joined()
    found = joined.feed(b"unable to retrieve container logs for containerd://0123456789abcdef")
    assert b"".join(part.text for part in found) == (
        b"unable to retrieve container logs for containerd://0123456789abcdef"
    )


def test_a_file_that_was_rotated_costs_no_line_that_is_there() -> None:
    entries = LOGS["many seconds"]
    cluster = Fake({"a": entries[:40]}, [Cut(10**6, silent=False)])

    def rotate() -> None:
        if len(cluster.requests) == 2:
            cluster.logs["a"] = entries[40:]

    cluster.when_asked = rotate
    assert all_of(cluster) == text_of(entries)


@pytest.mark.parametrize("count", [0, 1, 3, 1000])
@pytest.mark.parametrize("at", [0, 20, 33, 90, 10**6])
@pytest.mark.parametrize("log", ["one second", "many seconds", "no end"])
@pytest.mark.parametrize("follow", [True, False])
def test_tail_is_the_last_lines_also_when_it_is_cut(count: int, at: int, log: str, follow: bool) -> None:
    entries = LOGS[log]
    cluster = Fake({"a": entries}, [Cut(at, silent=False)])
    wanted = entries[len(entries) - min(count, len(entries)) :]
    assert all_of(cluster, Extent(follow, tail=count)) == text_of(wanted)


def test_since_is_exact() -> None:
    entries = LOGS["many seconds"]
    cluster = Fake({"a": entries}, [Cut(300)])
    assert all_of(cluster, Extent(since=entries[60].time)) == text_of(entries[60:])


def test_a_container_is_followed_until_it_has_ended() -> None:
    entries = LOGS["one second"]
    cluster = Fake({"a": entries[:0]})
    cluster.pods["a"] = pod("a", "running")
    there = iter([10, 10, 50, 51, 70, 79, 80])

    def print_more() -> None:
        count = next(there, 80)
        cluster.logs["a"] = entries[:count]
        if count == 80:
            cluster.pods["a"] = pod("a", "terminated")

    cluster.when_asked = print_more
    assert all_of(cluster, Extent(follow=True)) == text_of(entries)


def test_a_pod_that_goes_away_is_no_whole_log() -> None:
    cluster = Fake({"a": LOGS["one second"]}, [Cut(500)])
    cluster.pods["a"] = pod("a", "running")
    cluster.when_asked = cluster.pods.clear
    ends: list[bool] = []

    def reading() -> Generator[list[Part], None, None]:
        ends.append((yield from read(cluster, source(), Extent(follow=True))))

    assert text_of(LOGS["one second"]).startswith(
        b"".join(part.text for parts in reading() for part in parts)
    )
    assert ends == [False]


def test_a_cluster_that_stays_away_is_an_error() -> None:
    cluster = Fake({"a": LOGS["one second"]}, itertools.repeat(Cut(300, silent=False)))
    with pytest.raises(Unreachable, match="broke off"):
        all_of(cluster)
    assert cluster.time <= cluster.policy.patience + 60


@pytest.mark.parametrize(
    ("message", "none"),
    [
        ('container "main" in pod "a" is waiting to start: ContainerCreating', True),
        ('container "main" in pod "a" is not available', True),
        ("pod a does not have a host assigned", True),
        ("strconv.ParseInt: value out of range", False),
        ("request header or cookie too large", False),
    ],
)
def test_a_refusal_is_no_log_only_where_the_kubelet_says_so(message: str, none: bool) -> None:
    cluster = Fake({"a": []})

    def refuse() -> None:
        raise Refusal(400, {"message": message}, "read the log of", POD, "a", "default")

    cluster.when_asked = refuse
    if none:
        assert all_of(cluster) == b""
        return
    with pytest.raises(Refusal, match=message):
        all_of(cluster)


def test_times_of_long_ago_are_written_in_full() -> None:
    assert Joined(nanoseconds(b"0999-01-01T00:00:00Z")).since == "0999-01-01T00:00:00Z"


# --- which logs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "path", "attempts", "called"),
    [
        ("r", (), (), "main"),
        ("r(0)", (), (0,), "main"),
        ("r(2)", (), (2,), "main, attempt 3"),
        ("r.train", ("train",), (), "train"),
        ("r[0].ok", ("ok",), (), "ok"),
        ("r[0].loop(1:a:b)[2].ok(1)", ("loop(1)", "ok"), (1,), "loop(1).ok, attempt 2"),
        ("r.runs.train(3:lr:0.1,x:y)", ("runs", "train(3)"), (), "runs.train(3)"),
        ("r.train.train(3:lr:0.1)", ("train", "train(3)"), (), "train(3)"),
        ("r.t(0:f(x))", ("t(0)",), (), "t(0)"),
        ("r.t(0:v1.0 (beta)).u", ("t(0)", "u"), (), "t(0).u"),
        ("r.t(0:[1,2])", ("t(0)",), (), "t(0)"),
        ("r.t(0:)", ("t(0)",), (), "t(0)"),
        ("r.t(0:x", ("t(0)",), (), "t(0)"),
        ("r.runs.round-2.train(1:i:/13,lr:0.1).a", ("runs", "train(13)", "a"), (), "runs.train(13).a"),
        ('r.runs.round-2.train(1:{"i": "/0/13", "lr": "0.1"})', ("runs", "train(13)"), (), "runs.train(13)"),
        ("r.runs.round-2.train(1:lr:0.1)", ("runs", "round-2", "train(1)"), (), "runs.round-2.train(1)"),
        ("r.sub(1).train(0)", ("sub", "train"), (1, 0), "sub.train, attempt 2.1"),
        ("r.onExit", ("onExit",), (), "onExit"),
        ("r.a\x1b[2J", ("a\x1b", "[2J"), (), "a.[2J"),
        ("other", ("other",), (), "other"),
    ],
)
def test_a_node_is_called_as_its_author_knows_it(
    name: str, path: tuple[str, ...], attempts: tuple[int, ...], called: str
) -> None:
    found = place("r", name)
    assert found == Place(path, attempts)
    assert found.called("main") == called


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("runs", True),
        ("train", True),
        ("train(3)", True),
        ("runs.train", True),
        ("runs.train(3)", True),
        ("my_step", True),
        ("runs(3)", True),
        ("runs(3).my-step", True),
        ("runs(2)", False),
        ("train.my-step", True),
        ("train(2)", False),
        ("rain", False),
        ("runs.my-step", True),
        ("runs.train.my-step.more", False),
    ],
)
def test_a_name_means_a_step_and_what_it_is_part_of(wanted: str, found: bool) -> None:
    assert place("r", "r.runs.train(3:0.1).my-step").within(wanted) is found


def called(found: Iterable[Source]) -> list[str]:
    return [one.called for one in found]


def test_pods_are_in_the_order_of_their_start() -> None:
    pods = [pod("x", at=5, node="r.b(1)"), pod("y", at=1, node="r.b(0)"), pod("z", at=0, node="r.a")]
    pods.append({**pod("waits"), "status": {"phase": "Pending"}})
    assert called(sources(workflow("Running"), pods, Wanted())) == ["a", "b", "b, attempt 2"]
    assert called(sources(workflow("Running"), pods, Wanted("b"))) == ["b", "b, attempt 2"]
    assert called(sources(workflow("Running"), pods, Wanted("x"))) == ["b, attempt 2"]
    assert called(sources(workflow("Running"), pods, Wanted("id-r.a"))) == []


def test_containers_are_main_or_those_named() -> None:
    one = pod("x", node="r.a")
    begun = {"running": {"startedAt": "2026-11-21T12:00:00Z"}}
    one["status"]["containerStatuses"].append({"name": "wait", "state": begun})
    one["status"]["initContainerStatuses"] = [{"name": "init", "state": begun}]
    assert called(sources(workflow("Running"), [one], Wanted())) == ["a"]
    assert called(sources(workflow("Running"), [one], Wanted(container="wait"))) == ["a"]
    assert called(sources(workflow("Running"), [one], Wanted(container="nobody"))) == []
    every = sources(workflow("Running"), [one], Wanted(all_containers=True))
    assert called(every) == ["a/init", "a/main", "a/wait"]
    one["spec"]["containers"] = [{"name": "wait"}, {"name": "first"}]
    one["status"]["containerStatuses"].append({"name": "first", "state": begun})
    assert [each.container for each in sources(workflow("Running"), [one], Wanted())] == ["first"]


def test_pods_of_a_job_are_those_of_the_step_that_made_it() -> None:
    pods = [pod("x", at=0, node="r.a.workers")]
    for number in (1, 0):
        worker = pod(f"job-{number}", at=2 - number)
        worker["metadata"]["annotations"] = {"flowdsl/node": "r.a.workers"}
        worker["metadata"]["labels"] = {"batch.kubernetes.io/job-completion-index": str(number)}
        pods.append(worker)
    assert called(sources(workflow("Running"), pods, Wanted())) == ["a.workers", "a.workers/1", "a.workers/0"]
    assert called(sources(workflow("Running"), pods, Wanted("a"))) == [
        "a.workers",
        "a.workers/1",
        "a.workers/0",
    ]
    assert called(sources(workflow("Running"), pods, Wanted("job-1"))) == ["a.workers/1"]


def test_pods_of_a_training_operator_have_the_names_of_their_roles() -> None:
    worker = pod("train-x-worker-0")
    worker["metadata"]["annotations"] = {"flowdsl/node": "r.a.workers"}
    labels = {"replica-type": "worker", "replica-index": "0"}
    worker["metadata"]["labels"] = {f"training.kubeflow.org/{name}": text for name, text in labels.items()}
    assert called(sources(workflow("Running"), [worker], Wanted())) == ["a.workers/worker-0"]


def test_failed_are_the_last_attempts() -> None:
    phases = {
        "r.a(0)": "Failed",
        "r.a(1)": "Failed",
        "r.b(0)": "Failed",
        "r.b(1)": "Succeeded",
        "r.c": "Error",
    }
    run = workflow("Failed", [node(name, phase) for name, phase in phases.items()])
    pods = [pod(f"p{at}", at=at, node=name) for at, name in enumerate(phases)]
    assert called(sources(run, pods, Wanted(failed=True))) == ["a, attempt 2", "c"]


def test_steps_whose_pods_are_gone_are_known_with_what_was_kept() -> None:
    kept = {"artifacts": [{"name": "model"}, {"name": "main-logs", "s3": {"key": "k"}}]}
    run = workflow(
        "Failed",
        [
            node("r.a", outputs=kept),
            node("r.b", "Failed"),
            node("r.c"),
            node("r.d", "Skipped"),
            node("r.e", memoizationStatus={"hit": True}),
        ],
    )
    assert gone(run, [pod("c")], Wanted()) == [("a", "main-logs"), ("b", "")]
    assert gone(run, [pod("c")], Wanted(failed=True)) == [("b", "")]
    assert gone(run, [pod("c")], Wanted("a")) == [("a", "main-logs")]


def test_a_step_that_is_still_to_come_is_known() -> None:
    run = workflow("Running", [node("r.a")])
    assert knows(run, "a")
    assert knows(run, "later")
    assert knows(run, "later(3)")
    assert not knows(run, "nobody")


# --- several logs ------------------------------------------------------------------------------------------


def entries_at(*seconds: float) -> list[Entry]:
    begin = int(BEGIN.timestamp()) * 10**9
    return [Entry(begin + int(second * 10**9), b"%g\n" % second) for second in seconds]


def test_logs_are_merged_by_time_and_asked_for_when_their_containers_began() -> None:
    cluster = Fake({"a": entries_at(1, 2, 9), "b": entries_at(2, 3, 4.5), "c": entries_at(20, 21), "d": []})
    for at, name in enumerate("abcd"):
        cluster.pods[name] = pod(name, at=[1, 2, 20, 3][at])
    asked: list[int] = []
    found: list[bytes] = []
    for one in as_they_are(cluster, workflow("Running"), list(cluster.pods.values()), Wanted(), Extent()):
        asked.append(len({name for name, _, _ in cluster.requests}))
        found.extend(one.source.pod.encode() + part.text for part in one.parts)
    assert found == [b"a1\n", b"a2\n", b"b2\n", b"b3\n", b"b4.5\n", b"a9\n", b"c20\n", b"c21\n"]
    assert asked[0] == 1
    assert 4 not in asked[:4]


def test_a_line_is_not_torn_by_another() -> None:
    begin = entries_at(1)[0].time
    cluster = Fake({"a": [Entry(begin, b"x" * 1000 + b"\n")], "b": entries_at(1, 1, 1)}, piece=7)
    pods = list(cluster.pods.values())
    text = b"".join(
        part.text
        for one in as_they_are(cluster, workflow("Running"), pods, Wanted(), Extent())
        for part in one.parts
    )
    assert text == b"x" * 1000 + b"\n" + b"1\n" * 3


EXECUTOR = [
    b'time=2026-11-21T12:04:25.047Z level=INFO msg="waiting for signals" argo=true signalPath=/var/run/argo/ctr',
    b'time=2026-11-21T12:04:26.048Z level=INFO msg="sub-process exited" error="exit status \\"17\\"" argo=true',
    b"time=2026-11-21T12:04:13.305Z level=INFO msg=tarring argo=true source=/tmp/model",
    b'time="2026-11-21T12:04:13.305Z" level=info msg="capturing logs" argo=true',
]
STEPS_OWN = [
    b"time=2026-11-21T12:00:00Z loss=0.5",
    b"time=2026-11-21T12:00:00Z level=INFO msg=mine argo=trueish",
    b"echo time=2026-11-21T12:00:00Z level=INFO msg=mine argo=true",
    b'time=2026-11-21T12:00:00Z level=ERROR msg="failed to write exit code" argo=true',
    b"time=2026-11-21T12:00:00Z level=INFO msg=" + b"x" * 5000 + b" argo=true",
    b"t",
    b"",
]


@pytest.mark.parametrize("piece", [1, 7, 10**6])
@pytest.mark.parametrize("follow", [True, False])
def test_lines_of_the_executor_are_left_out(follow: bool, piece: int) -> None:
    mixed = [text for pair in itertools.zip_longest(EXECUTOR, STEPS_OWN, fillvalue=b"-") for text in pair]
    entries = [Entry(one.time, text + b"\n") for one, text in zip(lines(14, 1000), mixed, strict=True)]
    entries.append(Entry(entries[-1].time, b"time=12:00 level=INFO"))
    cluster = Fake({"a": entries}, piece=piece)
    cluster.workflow = workflow("Succeeded")

    def shown(wanted: Wanted, extent: Extent = NOW) -> bytes:
        pods = list(cluster.pods.values())
        found = (
            followed(cluster, workflow("Running"), wanted, extent)
            if follow
            else as_they_are(cluster, workflow("Running"), pods, wanted, extent)
        )
        return b"".join(part.text for one in found for part in one.parts)

    left = text_of(one for one in entries if one.text.removesuffix(b"\n") not in EXECUTOR)
    assert shown(Wanted()) == left
    assert shown(Wanted(container="main")) == text_of(entries)
    if not follow:
        cluster = Fake({"a": [*entries[1::2], *(Entry(entries[-2].time, one + b"\n") for one in EXECUTOR)]})
        assert shown(Wanted(), Extent(tail=1)) == b"\n"
        assert shown(Wanted(), Extent(tail=0)) == b""


def test_a_run_is_followed_from_pod_to_pod() -> None:
    cluster = Fake({"a": LOGS["one second"], "b": LOGS["many seconds"]})
    cluster.workflow = workflow("Succeeded")
    found: dict[str, bytes] = {"a": b"", "b": b""}
    for one in followed(cluster, workflow("Running"), Wanted(), Extent()):
        for part in one.parts:
            found[one.source.pod] += part.text
    assert found == {"a": text_of(LOGS["one second"]), "b": text_of(LOGS["many seconds"])}


@pytest.mark.parametrize("follow", [True, False])
def test_a_node_that_is_lost_takes_its_own_logs_only(follow: bool) -> None:
    entries = entries_at(1, 2, 3)
    cluster = Fake(dict.fromkeys("abc", entries))
    cluster.workflow = workflow("Succeeded")

    def lose() -> None:
        if cluster.requests[-1][0] == "b":
            status = {"message": "dial tcp 10.0.0.7:10250: connect: no route to host"}
            raise Refusal(500, status, "read the log of", POD, "b", "default")

    cluster.when_asked = lose
    pods = list(cluster.pods.values())
    found: dict[str, bytes] = {"a": b"", "b": b"", "c": b""}
    problems: dict[str, str] = {}
    given = (
        followed(cluster, workflow("Running"), Wanted(), Extent())
        if follow
        else as_they_are(cluster, workflow("Succeeded"), pods, Wanted(), Extent())
    )
    for one in given:
        found[one.source.pod] += b"".join(part.text for part in one.parts)
        if one.problem:
            problems[one.source.pod] = one.problem
    assert found == {"a": text_of(entries), "b": b"", "c": text_of(entries)}
    assert list(problems) == ["b"]
    assert "no route to host" in problems["b"]


def test_a_node_that_is_lost_is_waited_for_once() -> None:
    entries = entries_at(1, 2, 3)
    cluster = Fake(dict.fromkeys("abcd", entries))
    for name, host in zip("abcd", ("lost", "lost", "there", "lost"), strict=True):
        cluster.pods[name]["spec"]["nodeName"] = host

    def lose() -> None:
        if cluster.pods[cluster.requests[-1][0]]["spec"]["nodeName"] == "lost":
            raise Unreachable("the answer did not come", sent=True)

    cluster.when_asked = lose
    pods = list(cluster.pods.values())
    given = list(as_they_are(cluster, workflow("Succeeded"), pods, Wanted(), Extent()))
    assert [one.source.pod for one in given if one.problem] == ["a", "b", "d"]
    assert b"".join(part.text for one in given for part in one.parts) == text_of(entries)
    tries = [name for name, _, _ in cluster.requests]
    assert tries.count("a") > 2
    assert (tries.count("b"), tries.count("d")) == (1, 1)


def test_a_run_that_goes_away_while_it_is_followed() -> None:
    cluster = Fake({})
    cluster.workflow = {**workflow("Running"), "metadata": {**workflow("")["metadata"], "uid": "another"}}
    with pytest.raises(Vanished, match="replaced by another run of its name"):
        list(followed(cluster, workflow("Running"), Wanted(), Extent()))


# --- what is written ---------------------------------------------------------------------------------------


class Terminal(io.TextIOWrapper):
    """Standard output as a terminal."""

    def isatty(self) -> bool:
        return True


def written(
    monkeypatch: pytest.MonkeyPatch, style: Style, *batches: tuple[str, list[Part]], terminal: bool = False
) -> bytes:
    kept = io.BytesIO()
    stream = (Terminal if terminal else io.TextIOWrapper)(kept, encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("NO_COLOR", "1")
    writer = Writer(style)
    for name, parts in batches:
        writer.write(source(name), parts)
    writer.close()
    return kept.getvalue()


T = b"2026-11-21T12:00:00.5Z"


def test_bytes_go_through_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    data = bytes(range(256)) + b"\x1b]0;x\x07\r no end"
    assert written(monkeypatch, Style(), ("a", [Part(T, data[:99]), Part(T, data[99:], False)])) == data


def test_lines_say_whose_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [
        ("a", [Part(T, b"one\n"), Part(T, b"tw")]),
        ("b", [Part(T, b"x\n"), Part(T, b"no end")]),
        ("a", [Part(T, b"o\n", False)]),
    ]
    shown = written(monkeypatch, Style(prefix=True), *batches)
    assert shown == b"a | one\nb | x\na | two\nb | no end\n"
    shown = written(monkeypatch, Style(prefix=True, timestamps=True), batches[0])
    assert shown == b"a | %b one\na | %b tw\n" % (T, T)


def test_a_line_without_an_end_is_not_joined_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    long = b"y" * 70_000
    batches = [("a", [Part(T, long)]), ("b", [Part(T, b"x\n")]), ("a", [Part(T, b"rest\n", False)])]
    assert written(monkeypatch, Style(prefix=True), *batches) == b"a | %b\nb | x\na | rest\n" % long
    assert written(monkeypatch, Style(), *batches) == b"%b\nx\nrest\n" % long


def test_lines_are_searched_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [("a", [Part(T, b"lo"), Part(T, b"ss 0.5\n", False), Part(T, b"other\n"), Part(T, b"loss")])]
    style = Style(grep=re.compile("loss"))
    assert written(monkeypatch, style, *batches) == b"loss 0.5\nloss\n"
    assert written(monkeypatch, Style(grep=re.compile("größer")), ("a", [Part(T, "größer\n".encode())]))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (b"plain \t text\n", b"plain \t text\n"),
        (b"\x1b[31mred\x1b[0m \x1b[1;2Hx\x1b[?25l\n", b"red x\n"),
        (b"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", b"alink\n"),
        (b"\x1bP1$r0m\x1b\\a\x1b_x\x1b\\b\x1b(Bc\x1bc\x1b=d\n", b"abcd\n"),
        ("\x9b31mred\x9d0;t\x9c\x85end\n".encode(), b"redend\n"),
        (b"bell\x07 back\x08\x08 nul\x00 del\x7f\n", b"bell back nul del\n"),
        (b"10%\r20%\r\r100%\r\n", b"10%\n20%\n100%\n"),
        (b"\r10%\n", b"10%\n"),
        (b"\n", b"\n"),
        (b"\r\n", b"\n"),
        (b"\xff\xfeutf\xc3\xa4\n", "\ufffd\ufffdutfä\n".encode()),
        ("\u202eevil\u202c\n".encode(), b"evil\n"),
        (b"\x1b[31", b"[31\n"),
        (b"no end", b"no end\n"),
    ],
)
def test_a_terminal_gets_no_control_characters(
    monkeypatch: pytest.MonkeyPatch, text: bytes, shown: bytes
) -> None:
    whole = written(monkeypatch, Style(), ("a", [Part(T, text)]), terminal=True)
    assert whole == shown
    pieces = [("a", [Part(T, text[at : at + 1], not at)]) for at in range(len(text))]
    assert written(monkeypatch, Style(prefix=True), *pieces, terminal=True) == b"".join(
        b"a | %b" % line for line in shown.splitlines(keepends=True)
    )


@settings(deadline=None)
@given(st.binary(max_size=60), st.integers(1, 60))
def test_nothing_that_a_pod_prints_speaks_to_the_terminal(data: bytes, piece: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        parts = [Part(T, data[at : at + piece], not at) for at in range(0, len(data), piece)]
        shown = written(monkeypatch, Style(), *[("a", [part]) for part in parts], terminal=True)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown.decode())


def test_harmless_text_is_left_alone() -> None:
    assert harmless("größer 日本 \t ok\n") == "größer 日本 \t ok\n"


# --- the command, of runs on this machine ------------------------------------------------------------------

PIPELINE = """
from flowdsl import fan_out, pipeline, step

@step(image="python:3.12-slim", retries=1)
def train(n: int) -> int:
    print(f"epoch of {n}")
    if n == 2:
        raise ValueError("diverged")
    return n

@step(image="python:3.12-slim")
def first() -> int:
    print("first\\x1b[31m", end="\\r")
    return 1

@pipeline
def demo() -> None:
    train.options(name="one")(first())
    fan_out(train, over={"n": [1, 2]})
"""


@pytest.fixture(scope="module")
def place_of_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    (folder / "p.py").write_text(PIPELINE)
    command = [sys.executable, "-m", "flowdsl.cli", "run", "p.py", "--name", "demo-1", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    return folder


@pytest.fixture
def here(place_of_runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place_of_runs)
    return place_of_runs


def logs(capsysbinary: pytest.CaptureFixture[bytes], *arguments: str) -> tuple[int, bytes, str]:
    code = run(["logs", *arguments])
    said = capsysbinary.readouterr()
    return code, said.out, said.err.decode()


def test_one_log_is_the_bytes_of_the_file(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (stored,) = (
        path.read_bytes()
        for path in here.glob(".flowdsl/runs/demo-1/logs/*/main.log")
        if b"first" in path.read_bytes()
    )
    assert logs(capsysbinary, "demo-1", "first") == (0, stored, "")
    assert logs(capsysbinary, "@latest", "first", "--follow") == (0, stored, "")


def test_all_logs_of_a_run_say_whose_they_are(here: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    code, out, said = logs(capsysbinary, "demo-1", "--grep", "epoch")
    shown = {
        b"one | epoch of 1",
        b"train(0) | epoch of 1",
        b"train(1) | epoch of 2",
        b"train(1), attempt 2 | epoch of 2",
    }
    assert (code, set(out.splitlines()), said) == (0, shown, "")
    code, out, said = logs(capsysbinary, "demo-1", "train", "--no-prefix", "--grep", "epoch")
    assert (code, sorted(out.splitlines()), said) == (0, [b"epoch of 1", b"epoch of 2", b"epoch of 2"], "")


def test_failed_is_the_last_attempt_of_what_failed(
    here: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    code, out, said = logs(capsysbinary, "demo-1", "--failed", "--prefix", "--tail", "1")
    assert (code, out, said) == (0, b"train(1), attempt 2 | ValueError: diverged\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody-1"], "there is no run `nobody-1` in .flowdsl/runs"),
        (["demo-1", "trian"], "demo-1 has no step `trian`: is it `train`?"),
        (["demo-1", "--since", "5m"], "--since: a run on this machine keeps no times of lines"),
        (["demo-1", "--timestamps"], "--timestamps: a run on this machine keeps no times of lines"),
        (["demo-1", "--since", "yesterday"], "--since yesterday: "),
        (
            ["demo-1", "--grep", "("],
            "--grep (: not a valid regular expression: missing ), unterminated subpattern",
        ),
        (["demo-1", "--tail", "-1"], "--tail -1: must be a number of lines"),
        (["demo-1", "-c", "x", "--all-containers"], "--container names one"),
    ],
)
def test_a_wrong_argument_is_one_line(
    here: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(here / "none"))
    code, out, found = logs(capsysbinary, *arguments)
    assert (code, out) == (2, b"")
    assert found.startswith(f"flowdsl: {said}")
    assert found.count("\n") == 1


def test_a_reader_that_has_seen_enough_ends_it_quietly(here: Path) -> None:
    command = '"$0" -m flowdsl.cli logs demo-1 | head -c 1; exit ${PIPESTATUS[0]}'
    done = subprocess.run(["bash", "-c", command, sys.executable], cwd=here, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout) == 1


def test_a_run_is_followed_while_it_goes_on(here: Path) -> None:
    (here / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "flowdsl.cli"]
    with subprocess.Popen([*command, "run", "slow.py", "--name", "slow-1", "--quiet"], cwd=here) as going:
        while not (here / ".flowdsl/runs/slow-1/workflow.json").exists():
            assert going.poll() is None
        followed = subprocess.run(
            [*command, "logs", "slow-1", "-f"], cwd=here, capture_output=True, check=False
        )
    assert (followed.returncode, followed.stderr) == (0, b"")
    shown = followed.stdout.decode().splitlines()
    assert shown == [*(f"count | {at}" for at in range(20)), "after | after"]


SLOW = """
import time
from flowdsl import pipeline, step

@step(image="python:3.12-slim")
def count() -> int:
    import time
    for at in range(20):
        print(at, flush=True)
        time.sleep(0.1)
    return 1

@step(image="python:3.12-slim")
def after(n: int) -> None:
    print("after")

@pipeline
def slow() -> None:
    after(count())
"""


# --- memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("step", "line"), [(1_000_000, 900), (0, 900), (100, 900), (0, 100_000)])
def test_a_long_log_takes_little_memory(step: int, line: int) -> None:
    assert peak_of_a_log(100, step, line) < 100
