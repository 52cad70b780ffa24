"""Selects the cluster and the run that a command refers to, and the exit code of its failures."""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from flowdsl.cli.process import GONE, LATE, REFUSED, STDIN, UNKNOWN, WRONG, Refused, note
from flowdsl.cli.root import seconds_of
from flowdsl.diagnostic import near
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_dns_label, is_dns_subdomain
from flowdsl.grammar.reason import reason
from flowdsl.runtime.local import FOLDER
from flowdsl.runtime.names import LATEST, of_pipeline

if TYPE_CHECKING:
    from flowdsl.compiler.profile import Profile
    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.cluster.trouble import ClusterError

Json = dict[str, Any]

RUNS = Path(FOLDER) / "runs"
"""Where the runs on this machine are."""
_SHOWN = 5  # names of runs in a message
_HERE = Path("flowdsl.toml")
SUBMITTED = RUNS.parent / "submitted"
"""A file that is as old as the last submission from this folder to the usual cluster."""
_DAY = 86400
_WHILE = 60.0
_LETTERS = "small letters, digits and hyphens, with a letter or digit first and last"


@Parameter(name="*")
@dataclass(frozen=True)
class Reach:
    """Which cluster to use, and how to connect to it."""

    namespace: Annotated[str | None, Parameter(name=["--namespace", "-n"])] = None
    """The namespace; else that of the cluster's settings, or of the context."""
    context: str | None = None
    """A context of the kubeconfig; else that of the cluster's settings, or the current one."""
    cluster: str | None = None
    """A cluster of the project's settings."""
    argo_server: str | None = None
    """An Argo server to go through, HOST:PORT or a URL; else $ARGO_SERVER, if no cluster is named."""
    request_timeout: Annotated[str, Parameter(show_default=True)] = "15s"
    """How long one request may take: 30s, 1m, or a number of seconds."""
    beside: Annotated[Path, Parameter(parse=False)] = _HERE
    """A file of the project whose settings are meant; else that of the current folder."""

    @property
    def named(self) -> bool:
        """Whether a cluster or a namespace is given, so that local runs are not meant."""
        return bool(self.flags())

    def of(self, target: str) -> Reach:
        """The same for FILE or FILE:NAME, whose project may have other settings than the current folder."""
        from flowdsl.cli.config import settings_file

        found = None if target == STDIN else settings_file(Path(target))
        return self if found in (None, settings_file(_HERE)) else replace(self, beside=found)

    def flags(self) -> str:
        """The options that select the same from the current folder, each preceded by a space."""
        here = self.beside == _HERE
        context, namespace = (self.context, self.namespace) if here else self._settings()
        named = (
            ("--namespace", namespace),
            ("--context", context),
            ("--cluster", self.cluster if here else None),
            ("--argo-server", self.argo_server),
        )
        return "".join(f" {option} {shlex.quote(value)}" for option, value in named if value)

    def connect(self) -> Cluster:
        """The connection to the cluster; no request is sent yet. Raises ClusterError and Refused."""
        from flowdsl.runtime.cluster.kubernetes import Kubernetes
        from flowdsl.runtime.cluster.policy import Policy
        from flowdsl.runtime.cluster.transport import Access, Transport

        policy = Policy(self._patience(), tell=_Trouble())
        context, namespace = self._settings()
        if namespace and not is_dns_label(namespace):
            raise Refused(f"`{namespace}` is not the name of a namespace: it has {_LETTERS}")
        named = self.context or self.cluster
        if url := self.argo_server or ("" if named else os.environ.get("ARGO_SERVER")):
            from flowdsl.runtime.cluster.argo_server import ArgoServer
            from flowdsl.runtime.cluster.argo_transport import server_of

            return ArgoServer(server_of(url, namespace=namespace), policy)
        return Kubernetes(Transport(Access(context, namespace)), policy)

    def _patience(self) -> float:
        """The seconds that one request may take. Raises Refused."""
        text = self.request_timeout
        try:
            seconds = float(text)
        except ValueError:
            seconds = seconds_of("--request-timeout", text)
        if not 0 < seconds <= _DAY:
            raise Refused(f"--request-timeout {text}: must be longer than 0, and at most a day, such as 30s")
        return seconds

    def within(self, namespace: str | None) -> Reach:
        """The cluster with the namespace that an object names, if it does. Raises Refused if both are given."""
        if not namespace:
            return self
        if self.namespace and self.namespace != namespace:
            raise Refused(f"--namespace {self.namespace}: the workflow is for the namespace `{namespace}`")
        return replace(self, namespace=namespace)

    def profile(self) -> Profile:
        """The profile of the cluster in the project's settings. Raises Refused."""
        from flowdsl.cli.config import project

        profile, _, wrong = project(self.beside, self.cluster, others=False)
        wrong = [one for one in wrong if one.finding.severity == "error"]
        if wrong:
            from flowdsl.cli.display.report import render
            from flowdsl.places.source import Sources

            raise Refused(render(wrong, Sources(), "concise").partition("\n")[0])
        return profile

    def place(self) -> tuple[str | None, ...]:
        """What is known of the place without asking the kubeconfig: the context, the namespace and the server."""
        return *self._settings(), self.argo_server

    def _settings(self) -> tuple[str | None, str | None]:
        profile = self.profile()
        return self.context or profile.context, self.namespace or profile.namespace


class _Trouble:
    """Reports why nothing happens, and that it is retried; not more than once in a while."""

    def __init__(self) -> None:
        self._next = -math.inf

    def __call__(self, error: Exception, seconds: float) -> None:
        """Report it."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _WHILE
            note(f"{error}; it is tried again for {seconds:.0f} seconds")


USUAL = Reach()
"""The cluster of the user's settings."""


class Found(NamedTuple):
    """A run: its Workflow, with readable nodes if possible, and where it is."""

    workflow: Json
    folder: Path | None = None
    """Of a run on this machine, its folder."""
    cluster: Cluster | None = None
    """Of a run on a cluster, the way there."""

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.workflow["metadata"]["name"])


def find(
    name: str,
    reach: Reach = USUAL,
    *,
    nodes: bool = True,
    within: float | None = None,
    local: bool = False,
    broken: bool = False,
) -> Found:
    """The run of a name: a local one, if there is one and no cluster was given; else one on the cluster.

    `@latest` is the one that was created last: the last local one, unless one was submitted after it. With `local`,
    no other counts. Without `nodes` these are left compressed. `broken`: a local run whose state cannot be read is
    found too, as one that ended with an error. `within`: the seconds in which all requests to the
    cluster have to end, including the later ones for this run. Raises Refused and ClusterError.
    """
    from flowdsl.runtime.cluster.kinds import WORKFLOW
    from flowdsl.runtime.cluster.seam import metadata_of
    from flowdsl.runtime.cluster.trouble import Misconfigured, Refusal
    from flowdsl.runtime.status.compressed import readable

    if name != LATEST and not is_dns_subdomain(name):
        way = f"the last one is {LATEST}" if name.startswith("@") else f"it has {_LETTERS}"
        raise Refused(f"`{name}` is not the name of a run: {way}")
    named = reach.named
    if not named and (folder := _local(name, alone=local)) is not None:
        return Found(_read(folder, broken=broken), folder)
    if local:
        raise Missing(f"there is no run `{name}` in {RUNS}{_near(name)}")
    began = time.monotonic()
    try:
        cluster = reach.connect()
    except Misconfigured as error:
        if named:
            raise
        raise Refused(f"there is no run `{name}` in {RUNS}{_near(name)}, and {error}") from None
    if within is not None:  # what gives the credentials may have taken long
        cluster.policy = cluster.policy.ending(within - (time.monotonic() - began))
    if name == LATEST:
        runs = cluster.list(WORKFLOW, keep=metadata_of).items
        if not runs:
            raise Refused(f"there is no run in namespace `{cluster.namespace}`")
        name = str(max(runs, key=lambda one: str(one["metadata"]["creationTimestamp"]))["metadata"]["name"])
    try:
        found = cluster.get(WORKFLOW, name)
        return Found(readable(found) if nodes else found, None, cluster)
    except Refusal as refusal:
        if not refusal.absent:
            raise
        beside = f", and none in {RUNS}{_near(name)}" if not named and RUNS.is_dir() else ""
        where = f"in namespace `{cluster.namespace}` of {cluster.called}"
        raise Missing(f"there is no run `{name}` {where}{beside}: flowdsl list shows what there is") from None


class Missing(Refused):
    """There is no run of that name."""


def _local(name: str, *, alone: bool) -> Path | None:
    """The folder of a run on this machine; if only such runs count, `@latest` is always one of them."""
    from flowdsl.runtime.local.earlier import begun, is_run, newest_first

    if name == LATEST:
        last = next(iter(newest_first(RUNS)), None)
        return None if last is None or (not alone and begun(last) < _submitted()) else last
    folder = RUNS / name
    return folder if is_run(folder) else None


def note_submission(reach: Reach) -> None:
    """Record that a run was submitted, so that `@latest` is that one; without local runs it is so anyway.

    Only one in the place where commands look that name none: settings may name a cluster and a namespace, too.
    """
    with contextlib.suppress(OSError, Refused):
        if RUNS.is_dir() and reach.place() == USUAL.place():
            SUBMITTED.touch()


def _submitted() -> int:
    try:
        return SUBMITTED.stat().st_mtime_ns
    except OSError:
        return 0


def _read(folder: Path, *, broken: bool) -> Json:
    from flowdsl.runtime.local.earlier import state
    from flowdsl.runtime.local.status import STATE
    from flowdsl.runtime.phases import ERROR

    try:
        return state(folder)
    except (OSError, ValueError) as error:
        if broken:
            return {"metadata": {"name": folder.name}, "status": {"phase": ERROR}}
        raise Refused(
            f"{folder / STATE} cannot be read: {reason(error)}; "
            f"flowdsl run --resume {folder.name} writes it again, if the run has ended"
        ) from None


def _near(name: str) -> str:
    """The local run that may be meant: one with a similar name, else the last ones."""
    from flowdsl.runtime.local.earlier import newest_first

    names = [one.name for one in newest_first(RUNS)]
    alike = of_pipeline(name, names)
    meant = None if alike else near(name, names)
    if meant:
        return f" (is it `{meant}`?)"
    return f" (the last ones are {', '.join((alike or names)[:_SHOWN])})" if names else ""


def code_of(error: ClusterError) -> int:
    """The exit code of a command that fails with an error of a cluster and has created nothing."""
    from flowdsl.runtime.cluster.trouble import (
        Misconfigured,
        Overdue,
        Uncertain,
        Unfit,
        Unsupported,
        Vanished,
    )

    if isinstance(error, (Misconfigured, Unfit, Unsupported)):
        return WRONG
    if isinstance(error, Uncertain):
        return UNKNOWN
    if isinstance(error, Overdue):
        return LATE
    return GONE if isinstance(error, Vanished) else REFUSED
