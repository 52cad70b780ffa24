"""Several logs as one stream: merged by time, or in the order in which lines arrive."""

from __future__ import annotations

import heapq
import math
import queue
import threading
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import RUN
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.cluster.ended import states
from flowdsl.runtime.cluster.follow import follow
from flowdsl.runtime.cluster.kinds import POD, WORKFLOW
from flowdsl.runtime.cluster.trouble import Unread
from flowdsl.runtime.logs.container import Extent, read
from flowdsl.runtime.logs.executor import asked, of_the_step
from flowdsl.runtime.logs.join import Part, nanoseconds
from flowdsl.runtime.logs.run import Wanted, sources
from flowdsl.runtime.parts import name_of
from flowdsl.runtime.phases import over

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.logs.source import Source

    Reader = Generator[list[Part], None, bool]

Json = dict[str, Any]

_BATCHES = 64
"""The most pieces in the queue: a log that grows faster than it is shown is read no faster."""


class Given(NamedTuple):
    """Consecutive parts of a log; none at its end, with whether it is complete.

    `problem` is why it could not be read, if that is the reason.
    """

    source: Source
    parts: list[Part]
    whole: bool = True
    problem: str = ""


class _Stream:
    """A log that is being read, at one of its parts."""

    def __init__(self, source: Source, reader: Reader) -> None:
        self.source = source
        self._whole = True
        self._problem = ""
        self._reader = reader
        self._parts: list[Part] = []
        self._at = 0
        self.time = 0

    def more(self) -> bool:
        """Whether there is another part; `time` is its time."""
        while self._at >= len(self._parts):
            try:
                self._parts, self._at = next(self._reader), 0
            except StopIteration as end:
                self._whole = end.value
                return False
            except Unread as error:  # the other logs can be read
                self._whole, self._problem = False, str(error)
                return False
        self._timed()
        return True

    def end(self) -> Given:
        """The item at the end of the log."""
        return Given(self.source, [], self._whole, self._problem)

    def take(self, until: float) -> list[Part]:
        """The parts up to a time, as far as they have arrived; a line that was begun is continued."""
        began, parts = self._at, self._parts
        if until == math.inf:
            self._at = len(parts)
            return parts[began:] if began else parts
        self._at += 1
        while self._at < len(parts):
            if parts[self._at].first:
                self._timed()
                if self.time > until:
                    break
            self._at += 1
        return parts[began : self._at]

    def _timed(self) -> None:
        part = self._parts[self._at]
        if part.first and part.stamp:
            self.time = nanoseconds(part.stamp)


def merged(found: Sequence[Source], reader: Callable[[Source], Reader]) -> Iterator[Given]:
    """The lines of several logs by time. A log is requested when its container began, not before."""
    waiting = [(_time(source.started), at, source) for at, source in enumerate(found)]
    heapq.heapify(waiting)
    streams: list[tuple[int, int, _Stream]] = []
    while waiting or streams:
        while waiting and (not streams or waiting[0][0] <= streams[0][0]):
            _, at, source = heapq.heappop(waiting)
            stream = _Stream(source, reader(source))
            if stream.more():
                heapq.heappush(streams, (stream.time, at, stream))
            else:
                yield stream.end()
        if not streams:
            continue
        _, at, stream = heapq.heappop(streams)
        until = min(streams[0][0] if streams else math.inf, waiting[0][0] if waiting else math.inf)
        more = True
        while True:
            parts = stream.take(until)
            yield Given(stream.source, parts)
            more = stream.more()
            if not more or (parts[-1].text.endswith(b"\n") and stream.time > until):
                break
        if more:
            heapq.heappush(streams, (stream.time, at, stream))
        else:
            yield stream.end()


def _time(started: str) -> int:
    return nanoseconds(started.encode()) if started else 0


def as_they_are(
    cluster: Cluster, workflow: Json, pods: Sequence[Json], wanted: Wanted, extent: Extent
) -> Iterator[Given]:
    """The current logs of a run, merged by time. Raises Refusal, Unreachable."""
    namespace = workflow["metadata"].get("namespace")
    lost: set[str] = set()
    if wanted.as_stored:
        return merged(
            sources(workflow, pods, wanted), lambda one: read(cluster, one, extent, namespace, lost)
        )
    more = extent._replace(tail=asked(extent.tail))
    return merged(
        sources(workflow, pods, wanted),
        lambda one: of_the_step(read(cluster, one, more, namespace, lost), extent.tail),
    )


class _Follower:
    """The threads that follow a run, and the queue to which they send what they read."""

    def __init__(self, cluster: Cluster, workflow: Json, wanted: Wanted, extent: Extent) -> None:
        self._cluster = cluster
        self._workflow = workflow
        self._wanted = wanted
        self._extent = extent._replace(follow=True)
        self._namespace: str | None = workflow["metadata"].get("namespace")
        self._found: queue.Queue[Given | Json | Exception] = queue.Queue(_BATCHES)
        self._closed = threading.Event()
        self._begun: set[tuple[str, str]] = set()
        self._open = 0

    def run(self) -> Iterator[Given]:
        self._start(self._watch_pods)
        self._start(self._watch_workflow)
        ended = False
        try:
            while not ended or self._open:
                found = self._found.get()
                if isinstance(found, Exception):
                    raise found
                if isinstance(found, Given):
                    self._open -= not found.parts
                    yield found
                    continue
                if found["kind"] == POD.name:
                    self._begin([found])
                elif over(found):
                    ended = True
                    pods = self._cluster.list(POD, labels=self._labels, namespace=self._namespace)
                    self._begin(pods.items)
        finally:
            self._closed.set()

    @property
    def _labels(self) -> str:
        return f"{RUN}={name_of(self._workflow)}"

    def _begin(self, pods: Sequence[Json]) -> None:
        """Start reading the containers that have begun and are not read yet."""
        for source in sources(self._workflow, pods, self._wanted):
            if (source.uid, source.container) not in self._begun:
                self._begun.add((source.uid, source.container))
                self._open += 1
                self._start(self._read, source)

    def _start(self, function: Callable[..., None], *arguments: object) -> None:
        threading.Thread(target=self._kept, args=(function, *arguments), name="logs", daemon=True).start()

    def _kept(self, function: Callable[..., None], *arguments: object) -> None:
        try:
            function(*arguments)
        except Exception as error:
            self._put(error)

    def _put(self, found: Given | Json | Exception) -> bool:
        """Put an item into the queue, as soon as there is room; returns whether it is still wanted."""
        while not self._closed.is_set():
            try:
                self._found.put(found, timeout=0.2)
            except queue.Full:
                continue
            return True
        return False

    def _read(self, source: Source) -> None:
        reader = read(self._cluster, source, self._extent, self._namespace)
        if not self._wanted.as_stored:
            reader = of_the_step(reader)
        whole, problem = True, ""
        while True:
            try:
                parts = next(reader)
            except StopIteration as end:
                whole = end.value
                break
            except Unread as error:
                whole, problem = False, str(error)
                break
            if not self._put(Given(source, parts)):
                reader.close()
                return
        self._put(Given(source, [], whole, problem))

    def _watch_pods(self) -> None:
        changes = follow(self._cluster, POD, labels=self._labels, namespace=self._namespace)
        for change in changes:
            if self._closed.is_set():
                break
            if change is not None and change.type != "DELETED":
                self._put({**change.object, "kind": POD.name})
        changes.close()

    def _watch_workflow(self) -> None:
        self._put({**ended(self._cluster, self._workflow, self._closed.is_set), "kind": WORKFLOW.name})


def ended(cluster: Cluster, workflow: Json, enough: Callable[[], bool] = bool) -> Json:
    """Wait until a run has ended, and return it then. `enough` ends the waiting.

    Raises Vanished when it goes away, Overdue, Refusal, Unreachable.
    """
    metadata = workflow["metadata"]
    last = workflow
    for state in states(cluster, str(metadata["name"]), str(metadata["uid"])):
        if enough():
            break
        last = last if state is None else state
        if over(last):
            break
    return last


def followed(cluster: Cluster, workflow: Json, wanted: Wanted, extent: Extent) -> Iterator[Given]:
    """The logs of a run as they are printed, until it has ended: lines in the order of their arrival.

    Raises Vanished when the run goes away, Overdue, Refusal, and Unreachable when there was no answer for as long
    as the policy allows.
    """
    return _Follower(cluster, workflow, wanted, extent).run()
