"""Runs Jobs of Kubernetes and similar workloads: their pods are containers of one pod that run in parallel.

Their host names resolve to this machine. Emulated is what a training on several nodes needs: an object is applied, its
pods run to completion, and its conditions are evaluated. Source: WaitResource of Argo.
"""

from __future__ import annotations

import copy
import re
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.events import Outcome
from flowdsl.runtime.local.objects import objects, replaced
from flowdsl.runtime.local.pods import train_jobs
from flowdsl.runtime.local.pods.refusal import failed
from flowdsl.runtime.local.pods.workload_kind import Ended
from flowdsl.runtime.local.pods.workload_kinds import WORKLOAD_KINDS, kind_of
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from pathlib import Path

    from flowdsl.runtime.local.controller.events import StartPod
    from flowdsl.runtime.local.pods.settings import Settings
    from flowdsl.runtime.local.pods.train_jobs import Wanted
    from flowdsl.runtime.local.pods.workload_kind import Member, WorkloadKind

Json = dict[str, Any]

_MAKING = ("create", "apply")
_GONE = ("patch", "delete")
"""Actions on an object whose pods have ended: there is nothing left to change."""
_HOSTS = "flowdsl-hosts"
_DOT = regex(r"\.").search
_OWN = ("emptyDir", "ephemeral")
"""Volume types that are private to a pod."""
_ADDRESSES = ("MASTER_ADDR", "PET_MASTER_ADDR")
"""Variables whose whole value is a host name."""
_CLUSTER = "TF_CONFIG"
"""The variable with the addresses of all pods."""


def does(template: Json) -> set[str]:
    """What a `resource` template does that other templates rely on: it creates an object, or awaits it."""
    resource = part(template, "resource")
    kinds = {kind for one in objects(resource) if (kind := train_jobs.kind_of(one))}
    made = {f"makes {kind}" for kind in kinds if resource.get("action") in _MAKING}
    return made | {
        "awaits" for kind in kinds if kind != train_jobs.RUNTIME and resource.get("successCondition")
    }


def why_not(template: Json, others: Collection[str] | None = None) -> str:
    """Why the object of a `resource` template cannot be emulated here; empty if it can.

    `others`: what all templates of the workflow do, if known.
    """
    resource: Json = template["resource"]
    found = objects(resource)
    action = resource.get("action")
    if (
        len(found) == 1
        and (kind := train_jobs.kind_of(found[0]))
        and (kind != train_jobs.JOB_SET or action == "get")
    ):
        return _no_training(template, found[0], kind, others) or _no_path(template)
    service = [(one.get("apiVersion"), one.get("kind")) for one in found] == [("v1", "Service")]
    workload = kind_of(found[0]) if len(found) == 1 else None
    if workload is None and not service:
        return "applies an object to a cluster"
    if action in _GONE or (action in _MAKING and service):
        return ""
    if workload is None or action not in _MAKING:
        return "asks a cluster for an object"
    if not resource.get("successCondition"):
        return f"starts a {found[0]['kind']} that it does not wait for"
    return _no_pods(found[0]["kind"], workload, part(found[0], "spec")) or _no_path(template)


def _no_training(template: Json, found: Json, kind: str, others: Collection[str] | None) -> str:
    """Why an object of the Trainer cannot be emulated; empty if it can."""
    resource: Json = template["resource"]
    action, waits = resource.get("action"), resource.get("successCondition")
    if action in _GONE:
        return ""
    if kind == train_jobs.RUNTIME and action in _MAKING:
        pods = train_jobs.job_set({}, found)
        return train_jobs.unsupported_runtime(found) or _no_pods(
            train_jobs.TRAINING, WORKLOAD_KINDS[pods["apiVersion"], pods["kind"]], pods["spec"]
        )
    if kind == train_jobs.TRAINING and action in _MAKING:
        if why := train_jobs.unsupported_training(found):
            return why
        if others is not None and f"makes {train_jobs.RUNTIME}" not in others:
            return "starts a TrainJob whose TrainingRuntime is in a cluster"
        if not waits and others is not None and "awaits" not in others:
            return "starts a TrainJob that nothing waits for"
        return ""
    known = others is None or f"makes {train_jobs.TRAINING}" in others
    plain = not resource.get("failureCondition") and not part(template, "outputs")
    if kind == train_jobs.RUNTIME or action != "get" or not known or not (waits or plain):
        return "asks a cluster for an object"
    return ""


def _no_pods(what: str, kind: WorkloadKind, spec: Json) -> str:
    """Why the pods of an object cannot be emulated; empty if they can."""
    bodies = [part(one, "spec") for one in kind.templates(spec)]
    if any(len(several(one, "containers")) != 1 or several(one, "initContainers") for one in bodies):
        return f"starts a {what} whose pods have several containers"
    if _mixed(bodies):
        return f"starts a {what} whose pods have different volumes of one name"
    if kind.policy(spec).suspended:
        return f"makes a {what} that does not begin"
    return kind.unsupported(spec)


def _no_path(template: Json) -> str:
    """Why the outputs that a template reads from its object cannot be read here; empty if they can."""
    from flowdsl.runtime.local.pods.leaves import PLAIN

    what = objects(template["resource"])[0]["kind"]
    sources = (part(one, "valueFrom") for one in several(part(template, "outputs"), "parameters"))
    paths = (str(one["jsonPath"]) for one in sources if one.get("jsonPath"))
    if any(PLAIN.fullmatch(path) is None for path in paths):
        return f"reads a part of a {what} by a path that only kubectl follows"
    return ""


def _mixed(bodies: list[Json]) -> bool:
    """Whether different pod templates have different volumes of the same name."""
    named: dict[str, Json] = {}
    return any(
        named.setdefault(one["name"], one) != one for body in bodies for one in several(body, "volumes")
    )


class Job(NamedTuple):
    """An emulated Job or similar workload: its object, and the pod that stands for its pods."""

    name: str
    template: Json
    found: Json
    start: StartPod
    members: list[Member]
    leads: tuple[str, ...]
    """The members whose success ends the others."""
    names: tuple[str, ...]
    """The host names of its pods, if they have any."""
    deadline: float | None
    """The seconds after which they are stopped."""
    training: Json | None = None
    """The TrainJob that the conditions are about, if this is the JobSet of one."""

    @property
    def key(self) -> tuple[str, str]:
        """The kind and the name of its object."""
        return self.found["kind"], self.name

    @property
    def kind(self) -> WorkloadKind:
        """The workload kind of its object."""
        return WORKLOAD_KINDS[self.found["apiVersion"], self.found["kind"]]


def job(start: StartPod, settings: Settings, hosts: Path, wanted: Wanted | None = None) -> Job | None:
    """The Job that a `resource` template creates; None if nothing is to run. `hosts`: the path for a hosts file.

    `wanted`: the object that it waits for instead, if another template has created that.
    """
    resource = start.template["resource"]
    found, training = wanted or (replaced(resource)[0], None)
    kind = kind_of(found)
    if kind is None or (wanted is None and resource["action"] not in _MAKING):
        return None
    spec = part(found, "spec")
    given = part(found, "metadata")
    name = str(given.get("name") or f"{given.get('generateName', '')}{start.node.rpartition('-')[2]}")
    found = {**found, "metadata": {"namespace": settings.namespace, **given, "name": name}}
    members = kind.members(found)
    _, tries, deadline, pause = kind.policy(spec)
    names = tuple(_with_domains(kind.names(found, members), settings.namespace))
    listening = _listening([one.host for one in members])
    volumes: dict[str, Json] = {}
    for one in members:
        for volume in several(one.spec, "volumes"):
            own = any(kind in volume for kind in _OWN)
            called = f"{volume['name']}-{one.name}" if own else str(volume["name"])
            volumes[called] = {**volume, "name": called}
    if names:
        volumes[_HOSTS] = {"name": _HOSTS, "hostPath": {"path": str(hosts), "type": "File"}}
    first = kind.templates(spec)[0]
    metadata = part(first, "metadata")
    labels = {"job-name": name, "batch.kubernetes.io/job-name": name, **part(metadata, "labels")}
    template = {
        "name": start.template.get("name"),
        "metadata": {"labels": labels, "annotations": part(metadata, "annotations")},
        "containerSet": {
            "containers": [_worker(one, bool(names), listening) for one in members],
            "retryStrategy": {"retries": str(tries), "duration": f"{pause}s"},
        },
        "volumes": list(volumes.values()),
        "serviceAccountName": part(first, "spec").get("serviceAccountName"),
        "archiveLocation": {"archiveLogs": False},
    }
    pod = start._replace(template=template, volumes=[], keeps_result=False, patches=())
    leads = tuple(kind.leads(found, members))
    return Job(name, start.template, found, pod, members, leads, names, deadline, training)


def _listening(hosts: list[str]) -> Callable[[str], str]:
    """Returns a function that gives each pod its own port in a text with their addresses: they share one host here."""
    numbers = {host: number for number, host in enumerate(hosts)}
    known = "|".join(map(re.escape, sorted(hosts, key=len, reverse=True)))
    place = regex(rf"(?<![\w.-])({known})((?:\.[\w.-]+)?:)(\d+)")

    def own(found: re.Match[str]) -> str:
        host, between, port = found.groups()
        return f"{host}{between}{int(port) + numbers[host]}"

    return lambda text: place.sub(own, text)


def _worker(member: Member, named: bool, listening: Callable[[str], str]) -> Json:
    """One pod of a Job as a container."""
    (container,) = several(member.spec, "containers")
    own = {one["name"] for one in several(member.spec, "volumes") if any(kind in one for kind in _OWN)}
    env: list[Json] = []
    for one in several(container, "env"):
        field = part(part(one, "valueFrom"), "fieldRef").get("fieldPath")
        fields = member.fields
        env.append({"name": one["name"], "value": fields[field]} if field in fields else {**one})
    env += ({"name": name, "value": value} for name, value in member.variables.items())
    for one in env:
        if one["name"] == _CLUSTER and "value" in one:
            one["value"] = listening(str(one["value"]))
    found: Json = copy.deepcopy({**container, "name": member.name, "env": env})
    for mount in several(found, "volumeMounts"):
        if mount["name"] in own:
            mount["name"] = f"{mount['name']}-{member.name}"
    if named:
        mounts = [
            *several(found, "volumeMounts"),
            {"name": _HOSTS, "mountPath": "/etc/hosts", "readOnly": True},
        ]
        found["volumeMounts"] = mounts
    return found


def _with_domains(names: list[str], namespace: str) -> Iterator[str]:
    """The DNS names of pods and Services, short and full. Source: Kubernetes, DNS for Services and Pods."""
    for name in names:
        for suffix in ("", f".{namespace}", f".{namespace}.svc", f".{namespace}.svc.cluster.local"):
            yield f"{name}{suffix}"


def hosts_file(names: tuple[str, ...], usual: str) -> str:
    """The host's hosts file, with names that resolve to the host."""
    return "".join((usual.rstrip("\n") + "\n", *(f"127.0.0.1 {name}\n" for name in names)))


def renamed(start: StartPod, names: tuple[str, ...]) -> StartPod:
    """The pod with the address of this machine in place of names, for pods without their own hosts file."""
    ordered = sorted(names, key=len, reverse=True)
    known, dotted = ("|".join(map(re.escape, some)) for some in (ordered, filter(_DOT, ordered)))
    # A name is recognized in a URL, before a port, or by its dots.
    whole = regex(
        rf"(?<=//)(?:{known})(?![\w-]|\.\w)|(?<![\w./-])(?:(?:{known})(?=:\d)|(?:{dotted})(?![\w/-]|\.\w))"
    )

    def here(thing: Any) -> Any:
        if isinstance(thing, str):
            return whole.sub("127.0.0.1", thing)
        if isinstance(thing, list):
            return [here(one) for one in thing]  # pyright: ignore[reportUnknownVariableType] -- of JSON
        return thing

    template = copy.deepcopy(start.template)
    for body in template["containerSet"]["containers"]:
        for field in ("command", "args"):
            body[field] = here(body.get(field) or [])
        for one in body["env"]:
            if "value" in one:
                alone = one["name"] in _ADDRESSES and one["value"] in names
                one["value"] = "127.0.0.1" if alone else here(one["value"])
    return start._replace(template=template)


def over(emulated: Job, pod: Outcome, tried: Mapping[str, int], began: float, late: bool) -> Json:
    """The object of a Job whose pods have ended, with its status; `late`: whether its deadline ended them.

    `pod`: the outcome of the pod that stands for them. `tried`: how often each of them was started.
    """
    ways = pod.containers or {}  # there are none if nothing has started
    done = {name for name, (phase, _) in ways.items() if phase == "Succeeded"}
    status = emulated.kind.status(emulated.found, Ended(emulated.members, done, late, tried))
    return {**emulated.found, "status": {"startTime": rfc3339(began), **status}}


def outcome(emulated: Job, found: Json, again: bool = False) -> Outcome:
    """The outcome of the step that created the Job: that of its conditions on the object, with its outputs.

    `again`: the Job already existed, and has ended. Applying it once more changes nothing, creating it is refused.
    """
    from flowdsl.runtime.local.pods.leaves import KubectlError, conditions_of, met, shown

    resource = emulated.template["resource"]
    if emulated.training is not None:
        found = train_jobs.ended(emulated.training, found)
    try:
        if again and resource["action"] == "create":
            raise KubectlError(
                f'Error from server (AlreadyExists): {emulated.kind.plural} "{emulated.name}" already exists'
            )
        if not met(conditions_of(resource), found):
            what = f"'{resource['successCondition']}' is not true of the {found['kind']}, which has ended"
            raise KubectlError(f"{what}: Argo would wait for ever")
        parameters = shown(emulated.template, found)
    except KubectlError as error:
        return failed(error)
    return Outcome("Succeeded", "", {**({"parameters": parameters} if parameters else {}), "exitCode": "0"})
