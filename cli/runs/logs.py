"""`logs`: the output of the steps of a run."""

from __future__ import annotations

import re
import shlex
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from flowdsl.cli.clusters.reach import Found, find
from flowdsl.cli.display.streaming import ReaderGone, Style, Writer, harmless
from flowdsl.cli.process import DONE, INTERRUPTED, REFUSED, UNKNOWN, Refused, say
from flowdsl.cli.root import FLAG, option, seconds_of
from flowdsl.diagnostic import near
from flowdsl.runtime.phases import over

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.cli.clusters.reach import Json, Reach
    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.logs.run import Gone, Wanted
    from flowdsl.runtime.logs.together import Given

_NAMED = 3
"""How many steps a sentence names."""


@Parameter(name="*")
@dataclass(frozen=True)
class Options:
    """What of the logs is shown, and how."""

    follow: Annotated[bool, option("--follow", "-f")] = False
    """Also show what is printed from now on, until the run has ended."""
    failed: Annotated[bool, FLAG] = False
    """Only steps that failed, with their last attempts. With -f, when the run has ended."""
    since: str | None = None
    """Only lines that are not older: 5m, or 2026-11-21T12:00:00Z."""
    tail: int | None = None
    """Only the last N lines of each log."""
    grep: str | None = None
    """Only lines in which this regular expression is found."""
    timestamps: Annotated[bool, FLAG] = False
    """Begin lines with their times."""
    prefix: bool | None = None
    """Name the step of each line. By default, if there are several logs."""
    container: Annotated[str | None, Parameter(name=["--container", "-c"])] = None
    """A container other than main."""
    all_containers: Annotated[bool, FLAG] = False
    """All containers of each step."""


DEFAULTS = Options()


def show(name: str, step: str | None, options: Options, reach: Reach) -> int:
    """Show the logs of a run; returns the exit code. Raises Refused, ClusterError."""
    from flowdsl.runtime.logs.run import Wanted

    since = None if options.since is None else _time(options.since)
    style = Style(False, options.timestamps, _pattern(options.grep))
    if options.tail is not None and not 0 <= options.tail < 1 << 63:
        raise Refused(f"--tail {options.tail}: must be a number of lines, 0 or more")
    if options.container is not None and options.all_containers:
        raise Refused("--container names one, --all-containers are all: leave out one of them")
    wanted = Wanted(step, options.container, options.all_containers, options.failed)
    found = find(name, reach)
    writer = Writer(style)
    if found.cluster is None:
        return _shown(_Local(found, wanted, options), writer, reach)
    return _shown(_Remote(found, found.cluster, wanted, options, since), writer, reach)


def follow(found: Found, reach: Reach) -> int:
    """Show the output of a run on a cluster until it ends; returns the exit code. Raises Refused, ClusterError."""
    from flowdsl.runtime.logs.run import Wanted

    assert found.cluster is not None
    remote = _Remote(found, found.cluster, Wanted(), Options(follow=True), None)
    return _shown(remote, Writer(Style(False, False, None)), reach)


def _time(text: str) -> int:
    """Parses a time, or a duration before now, to nanoseconds since 1970. Raises Refused."""
    from flowdsl.runtime.logs.join import nanoseconds

    try:
        return nanoseconds(text.upper().encode())
    except ValueError:
        pass
    ago = seconds_of("--since", text, also="; or a time such as 2026-11-21T12:00:00Z")
    return time.time_ns() - round(ago * 10**9)


def _pattern(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise Refused(f"--grep {text}: not a valid regular expression: {error}") from None


def _shown(logs: _Local | _Remote, writer: Writer, reach: Reach) -> int:
    """Write logs, and report problems with them on standard error; returns the exit code."""
    from flowdsl.runtime.cluster.trouble import Refusal, Unreachable

    options = logs.options
    try:
        try:
            given, several = logs.begin()
            if several if options.prefix is None else options.prefix:
                writer.tell_apart()
            unread = _written(given, writer, options)
        finally:
            writer.close()
        logs.end()
    except ReaderGone:
        return DONE
    except KeyboardInterrupt:
        if not options.follow:
            raise
        say(f"detached from {logs.found.name}; to continue:", f"  {_again(logs, writer, reach)}")
        return INTERRUPTED
    except (Unreachable, Refusal) as error:
        if not options.follow or (isinstance(error, Refusal) and error.for_good):
            raise
        say(str(error), "the run may continue; to follow it again:", f"  {_again(logs, writer, reach)}")
        return UNKNOWN
    return REFUSED if unread else DONE


def _written(given: Iterable[Given], writer: Writer, options: Options) -> bool:
    """Write parts of logs as they arrive; returns whether something could not be read.

    Once another step begins, lines get the names of their steps, unless the user has turned that off.
    """
    before = None
    unread = False
    known: set[tuple[str, str]] = set()
    for source, parts, whole, problem in given:
        if parts:
            known.add((source.step, source.container))
            if options.prefix is None and len(known) > 1 and not writer.prefix:
                writer.tell_apart()
            if before not in (None, source) and options.follow and not writer.prefix:
                say(source.called)
            before = source
            writer.write(source, parts)
            continue
        writer.end(source)
        unread = unread or bool(problem)
        if not whole:
            why = harmless(problem) or "its pod is gone"
            say(f"the log of {source.called} is not there to its end: {why}")
    return unread


def _again(logs: _Logs, writer: Writer, reach: Reach) -> str:
    """The command that continues to follow a run. It starts at a whole second, as servers count."""
    options, step = logs.options, logs.wanted.step
    words = ["flowdsl", "logs", logs.found.name, *([step] if step is not None else []), "-f"]
    if writer.stamp:
        whole, _, zone = re.sub(r"\.\d+", " ", writer.stamp.decode()).partition(" ")
        words += ["--since", whole + zone]
    pairs = (
        ("--tail", None if options.tail is None or writer.stamp else str(options.tail)),
        ("--container", options.container),
        ("--grep", options.grep),
    )
    words += [word for flag, value in pairs if value is not None for word in (flag, value)]
    flags = (
        ("--timestamps", options.timestamps),
        ("--all-containers", options.all_containers),
        ("--failed", options.failed),
        ("--prefix", options.prefix is True),
        ("--no-prefix", options.prefix is False),
    )
    words += [flag for flag, on in flags if on]
    return shlex.join(words) + reach.flags()


class _Logs:
    """The logs of a run, and whether they had any content."""

    def __init__(self, found: Found, wanted: Wanted, options: Options) -> None:
        self.found = found
        self.wanted = wanted
        self.options = options
        self._seen = False

    def _seeing(self, given: Iterator[Given]) -> Iterator[Given]:
        for one in given:
            self._seen = True
            yield one


class _Local(_Logs):
    """The logs of a run on this machine."""

    def __init__(self, found: Found, wanted: Wanted, options: Options) -> None:
        for flag, given in (("--since", options.since is not None), ("--timestamps", options.timestamps)):
            if given:
                raise Refused(f"{flag}: a run on this machine keeps no times of lines")
        super().__init__(found, wanted, options)

    def begin(self) -> tuple[Iterator[Given], bool]:
        """The parts of the logs, and whether they are of several."""
        from flowdsl.runtime.local.runner import going_on
        from flowdsl.runtime.logs import files

        folder, workflow, wanted = self.found.folder, self.found.workflow, self.wanted
        assert folder is not None
        _check_step(workflow, wanted)
        if self.options.follow and going_on(folder):
            if not wanted.failed:
                return self._seeing(files.growing(folder, workflow, wanted, self.options.tail)), _many(
                    workflow, wanted
                )
            for _ in files.growing(folder, workflow, wanted):
                pass
        workflow = files.read(folder, workflow)
        several = len(files.files_of(folder, workflow, wanted)) > 1
        return self._seeing(files.written(folder, workflow, wanted, self.options.tail)), several

    def end(self) -> None:
        """Report that there were no logs."""
        if not self._seen:
            say(_nothing(self.found.workflow, self.wanted))


class _Remote(_Logs):
    """The logs of a run on a cluster."""

    def __init__(
        self, found: Found, cluster: Cluster, wanted: Wanted, options: Options, since: int | None
    ) -> None:
        super().__init__(found, wanted, options)
        self._cluster = cluster
        self._workflow = found.workflow
        self._since = since

    def begin(self) -> tuple[Iterator[Given], bool]:
        """The parts of the logs, and whether they are of several."""
        from flowdsl.runtime.logs.container import Extent
        from flowdsl.runtime.logs.run import sources
        from flowdsl.runtime.logs.together import as_they_are, ended, followed

        extent = Extent(since=self._since, tail=self.options.tail)
        pods = self._pods()
        _check_step(self._workflow, self.wanted, pods)
        _check_container(self.wanted, pods)
        if self.options.follow and not over(self._workflow):
            if not self.wanted.failed:
                given = followed(self._cluster, self._workflow, self.wanted, extent)
                return self._seeing(given), _many(self._workflow, self.wanted)
            self._workflow = ended(self._cluster, self._workflow)
            pods = self._pods()
        given = as_they_are(self._cluster, self._workflow, pods, self.wanted, extent)
        return self._seeing(given), len(sources(self._workflow, pods, self.wanted)) > 1

    def _pods(self) -> Sequence[Json]:
        from flowdsl.runtime.logs.run import pods_of

        return pods_of(self._cluster, self._workflow)

    def end(self) -> None:
        """Report which logs do not exist, and where they are kept."""
        from flowdsl.runtime.cluster.kinds import WORKFLOW
        from flowdsl.runtime.cluster.trouble import NOT_FOUND, Refusal
        from flowdsl.runtime.logs.run import gone
        from flowdsl.runtime.status.compressed import hidden, readable

        if self.options.follow:
            namespace = self._workflow["metadata"].get("namespace")
            try:
                self._workflow = readable(self._cluster.get(WORKFLOW, self.found.name, namespace=namespace))
            except Refusal as refusal:
                if refusal.code == NOT_FOUND:  # it was followed to its end, and is cleared away
                    return
                raise
        missing = gone(self._workflow, self._pods(), self.wanted)
        kept = [one for one in missing if one.kept]
        lost = [one for one in missing if not one.kept]
        if kept:
            say(f"{_are_gone(kept)}; what was printed is kept: flowdsl fetch {shlex.quote(self.found.name)}")
        if lost:
            say(f"{_are_gone(lost)}, and so is what was printed; @pipeline(archive_logs=True) keeps it")
        if not self._seen and not missing:
            say(_nothing(self._workflow, self.wanted))
        if why := hidden(self._workflow):
            say(f"{why}; of steps whose pods are gone nothing is known")


def _many(workflow: Json, wanted: Wanted) -> bool:
    """Whether an unfinished run will have several logs."""
    from flowdsl.runtime.logs.run import of_one_step

    return wanted.all_containers or (wanted.step is None and not of_one_step(workflow))


def _are_gone(missing: Sequence[Gone]) -> str:
    named = [one.called for one in missing[:_NAMED]]
    if len(missing) > _NAMED:
        named.append(f"{len(missing) - _NAMED} more")
    text = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"the pods of {text} are gone" if len(missing) > 1 else f"the pod of {text} is gone"


def _nothing(workflow: Json, wanted: Wanted) -> str:
    """The message that there is no log."""
    from flowdsl.runtime.logs.run import MAIN

    step = "" if wanted.step is None else f" of `{wanted.step}`"
    when = " of a step that failed" if wanted.failed else "" if over(workflow) else " yet"
    which = f" of a container `{wanted.container}`" if wanted.container not in (None, MAIN) else ""
    return f"{workflow['metadata']['name']} has no log{which}{step}{when}"


def _check_step(workflow: Json, wanted: Wanted, pods: Sequence[Json] = ()) -> None:
    """Refuse the name of a step that the run neither has nor will have."""
    from flowdsl.runtime.logs import run

    if wanted.step is None or run.knows(workflow, wanted.step, pods):
        return
    names = run.names(workflow)
    if callers := run.callers(workflow, wanted.step):
        known = f"it is the function of {', '.join(callers)}"
    elif meant := near(wanted.step, names):
        known = f"is it `{meant}`?"
    else:
        known = f"it has {', '.join(names[:12])}"
    raise Refused(f"{workflow['metadata']['name']} has no step `{wanted.step}`: {known}")


def _check_container(wanted: Wanted, pods: Sequence[Json]) -> None:
    """Refuse the name of a container that no pod has, if there are pods."""
    if wanted.container is None or not pods:
        return
    every = {
        str(each["name"]): None
        for pod in pods
        for kind in ("containers", "initContainers")
        for each in pod["spec"].get(kind) or ()
    }
    if wanted.container not in every:
        raise Refused(f"there is no container `{wanted.container}`: the pods have {', '.join(every)}")
