"""Jobs of Kubernetes on one machine: the pods of a Job are the containers of one pod, so they run at the same time.

A Service gives its pods names, which lead to this machine. What is played is what a training on several nodes needs:
an object is applied, its pods run to their end, and its conditions are judged. Sources: Kubernetes, Indexed Jobs
(variables, labels and host names of their pods), and WaitResource of Argo.
"""

from __future__ import annotations

import copy
import re
import time
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.labels import WORKER
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.events import Outcome
from flowdsl.runtime.local.objects import objects, replaced
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from flowdsl.runtime.local.controller.events import StartPod
    from flowdsl.runtime.local.pods.settings import Settings

Json = dict[str, Any]

_MAKING = ("create", "apply")
_GONE = ("patch", "delete")
"""What is done with an object whose pods have ended: nothing of it is left to be changed."""
_HOSTS = "flowdsl-hosts"
_DOT = regex(r"\.").search
_OWN = ("emptyDir", "ephemeral")
"""Volumes that each pod has for itself."""


def why_not(template: Json) -> str:
    """Why the object of a `resource` template cannot be played here; empty if it can."""
    from flowdsl.runtime.local.pods.leaves import PLAIN

    resource: Json = template["resource"]
    found = objects(resource)
    action = resource.get("action")
    kinds = {(str(one.get("apiVersion")), str(one.get("kind"))) for one in found}
    if len(found) != 1 or not kinds <= {("batch/v1", "Job"), ("v1", "Service")}:
        return "applies an object to a cluster"
    if action in _GONE or (action in _MAKING and found[0]["kind"] == "Service"):
        return ""
    if action not in _MAKING:
        return "asks a cluster for an object"
    spec = part(found[0], "spec")
    body = part(part(spec, "template"), "spec")
    if not resource.get("successCondition"):
        return "starts a Job that it does not wait for"
    if len(several(body, "containers")) != 1 or several(body, "initContainers"):
        return "starts a Job whose pods have several containers"
    if spec.get("suspend"):
        return "makes a Job that does not begin"
    if _count(spec, "completions") > _count(spec, "parallelism"):
        return "starts a Job whose pods run one after the other"
    sources = (part(one, "valueFrom") for one in several(part(template, "outputs"), "parameters"))
    paths = (str(one["jsonPath"]) for one in sources if one.get("jsonPath"))
    if any(PLAIN.fullmatch(path) is None for path in paths):
        return "reads a part of a Job by a path that only kubectl follows"
    return ""


def _count(spec: Json, field: str) -> int:
    """How many pods; without a number as many as the other field says, or one. A tag counts as one."""
    other = {"completions": "parallelism", "parallelism": "completions"}[field]
    given = spec.get(field, spec.get(other, 1))
    return given if isinstance(given, int) else 1


class Job(NamedTuple):
    """A Job that is played: its object, and the pod that stands for its pods."""

    name: str
    template: Json
    found: Json
    start: StartPod
    names: tuple[str, ...]
    """The names by which the pods of the Job are found, if a Service has them."""
    deadline: float | None
    """The seconds after which they are ended."""


def job(start: StartPod, settings: Settings, hosts: Path) -> Job | None:
    """The Job that a `resource` template makes; None where nothing is to run. `hosts` is where names may be written."""
    resource = start.template["resource"]
    (found,) = replaced(resource)
    if found["kind"] != "Job" or resource["action"] not in _MAKING:
        return None
    spec = part(found, "spec")
    body: Json = part(part(spec, "template"), "spec")
    metadata: Json = part(part(spec, "template"), "metadata")
    given = part(found, "metadata")
    name = str(given.get("name") or f"{given.get('generateName', '')}{start.node.rpartition('-')[2]}")
    found = {**found, "metadata": {**given, "name": name}}
    service = str(body.get("subdomain") or "")
    count = _count(spec, "completions")
    indexed = spec.get("completionMode") == "Indexed"
    (container,) = several(body, "containers")
    own = {str(one["name"]) for one in several(body, "volumes") if any(kind in one for kind in _OWN)}
    workers = [_worker(container, name, number, own, indexed, bool(service)) for number in range(count)]
    volumes = [
        {**one, "name": f"{one['name']}-{number}"} if one["name"] in own else one
        for number in range(count)
        for one in several(body, "volumes")
        if one["name"] in own or number == 0
    ]
    if service:
        volumes.append({"name": _HOSTS, "hostPath": {"path": str(hosts), "type": "File"}})
    tries = int(spec.get("backoffLimit", 6)) + 1
    labels = {"job-name": name, "batch.kubernetes.io/job-name": name, **part(metadata, "labels")}
    template = {
        "name": start.template.get("name"),
        "metadata": {"labels": labels, "annotations": part(metadata, "annotations")},
        "containerSet": {"containers": workers, "retryStrategy": {"retries": str(tries)}},
        "volumes": volumes,
        "serviceAccountName": body.get("serviceAccountName"),
        "archiveLocation": {"archiveLogs": False},
    }
    names = tuple(_names(name, service, settings.namespace, count)) if service else ()
    deadline = spec.get("activeDeadlineSeconds")
    pod = start._replace(template=template, volumes=[], keeps_result=False, patches=())
    return Job(name, start.template, found, pod, names, None if deadline is None else float(deadline))


def _worker(container: Json, job_name: str, number: int, own: set[str], indexed: bool, named: bool) -> Json:
    """One pod of a Job as a container."""
    name = f"{job_name}-{number}"
    known = {
        "metadata.name": name,
        f"metadata.annotations['{WORKER}']": str(number),
        f"metadata.labels['{WORKER}']": str(number),
    }
    own_name = [{"name": "HOSTNAME", "value": name}]
    if indexed:
        own_name.append({"name": "JOB_COMPLETION_INDEX", "value": str(number)})
    env: list[Json] = []
    for one in several(container, "env"):
        field = part(part(one, "valueFrom"), "fieldRef").get("fieldPath")
        env.append({"name": one["name"], "value": known[field]} if field in known else one)
    found: Json = copy.deepcopy({**container, "name": str(number), "env": [*env, *own_name]})
    for mount in several(found, "volumeMounts"):
        if mount["name"] in own:
            mount["name"] = f"{mount['name']}-{number}"
    if named:
        mounts = [
            *several(found, "volumeMounts"),
            {"name": _HOSTS, "mountPath": "/etc/hosts", "readOnly": True},
        ]
        found["volumeMounts"] = mounts
    return found


def _names(job_name: str, service: str, namespace: str, count: int) -> Iterator[str]:
    """The names of the pods behind a Service, and its own. Source: Kubernetes, DNS for Services and Pods."""
    for host in (*(f"{job_name}-{number}.{service}" for number in range(count)), service):
        for suffix in ("", f".{namespace}", f".{namespace}.svc", f".{namespace}.svc.cluster.local"):
            yield f"{host}{suffix}"


def hosts_file(names: tuple[str, ...], usual: str) -> str:
    """The hosts file of the machine, with names that lead to it."""
    return "".join((usual.rstrip("\n") + "\n", *(f"127.0.0.1 {name}\n" for name in names)))


def renamed(start: StartPod, names: tuple[str, ...]) -> StartPod:
    """The pod with the address of this machine instead of names, where it has no hosts file of its own."""
    ordered = sorted(names, key=len, reverse=True)
    known, dotted = ("|".join(map(re.escape, some)) for some in (ordered, filter(_DOT, ordered)))
    # A name stands in a URL, before a port, or is told from other words by its dots.
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
                one["value"] = here(one["value"])
    return start._replace(template=template)


def over(played: Job, pod: Outcome, began: float, late: bool) -> Json:
    """The object of a Job whose pods have ended, as the pod says that stood for them; `late`: by its deadline."""
    ways = pod.containers or {}  # there are none where nothing has begun
    done = sorted(int(name) for name, (phase, _) in ways.items() if phase == "Succeeded")
    failed = len(several(part(played.start.template, "containerSet"), "containers")) - len(done)
    status: Json = {"startTime": rfc3339(began)}
    if done:
        status["succeeded"] = len(done)
    if failed:
        reason = "DeadlineExceeded" if late else "BackoffLimitExceeded"
        status |= {"failed": failed, "conditions": [{"type": "Failed", "status": "True", "reason": reason}]}
    else:
        status |= {
            "completionTime": rfc3339(time.time()),
            "conditions": [{"type": "Complete", "status": "True"}],
        }
    if part(played.found, "spec").get("completionMode") == "Indexed":
        status["completedIndexes"] = ",".join(map(str, done))
    return {**played.found, "status": status}


def outcome(played: Job, found: Json, again: bool = False) -> Outcome:
    """How the step ends that has made the Job: as its conditions say of the object, with its results.

    `again`: the Job was there, and has ended. To apply it once more changes nothing, to create it is refused.
    """
    from flowdsl.runtime.local.pods.leaves import KubectlError, conditions_of, met, shown

    resource = played.template["resource"]
    try:
        if again and resource["action"] == "create":
            raise KubectlError(
                f'Error from server (AlreadyExists): jobs.batch "{played.name}" already exists'
            )
        if not met(conditions_of(resource), found):
            what = f"'{resource['successCondition']}' is not true of the Job, which has ended"
            raise KubectlError(f"{what}: Argo would wait for ever")
        parameters = shown(played.template, found)
    except KubectlError as error:
        return Outcome("Failed", f"main: Error (exit code 64): {error}", {"exitCode": "64"})
    return Outcome("Succeeded", "", {**({"parameters": parameters} if parameters else {}), "exitCode": "0"})
