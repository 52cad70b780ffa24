"""The pods of a distributed step, in the fields of Kubernetes: an Indexed Job, and a Service by which they meet.

The Job is made of what an ordinary template of the step would be, so each option is written by its own concern.
Its pods have stable names, `JOB-0.SERVICE` is the first, and each knows its number. When one fails, the others are
ended. Source: Kubernetes, Indexed Jobs and their pod hostnames; run on a real scheduler.

An operator makes the same pods out of an object of its own: see `flowdsl.compiler.argo.operators`.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from flowdsl.compiler.argo.document import OWNER, Source, Tagged, plain_data, yaml_text
from flowdsl.compiler.argo.operators import FORMS, JOB_SET, MEMBER, NAME, TERMINAL, train_job
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.volumes import volume
from flowdsl.compiler.ports import SCRIPT
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.duration import seconds_in
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.labels import ATTEMPT, QUEUE, RUN, WORKER_OF
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.operators import Form
    from flowdsl.compiler.argo.origins import Json

_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
_BEGIN = f"""\
import os, sys, tempfile
{{}}path = os.path.join(tempfile.mkdtemp(), "step.py")
with open(path, "wb") as file:
    file.write(os.environb.pop(b"{SCRIPT}"))
os.execv(sys.executable, [sys.executable, path])
"""
"""The pods of a Job get no script from Argo: it is passed in a variable, and written to a file."""

_EXPANDED = regex(r"\$(?=[$(])")
#: Fields with the same name in Argo's template and in the pods of a Job.
_POD = (
    *("nodeSelector", "affinity", "tolerations", "priorityClassName", "serviceAccountName", "schedulerName"),
    *("securityContext", "hostAliases", "automountServiceAccountToken"),
)
#: Fields that apply to all pods of a run, and their names in a pod.
_RUN = {
    "serviceAccountName": "serviceAccountName",
    "podPriorityClassName": "priorityClassName",
    "imagePullSecrets": "imagePullSecrets",
    "securityContext": "securityContext",
}
_SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": NAME, "ownerReferences": [OWNER]},
    "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {MEMBER: NAME}},
}
"""Gives the pods of a step host names, before they are ready."""


def beside(body: ir.Beside, spec: Json) -> Json:
    """The `resource` of an object in addition to the one that defines the pods, in a workflow of that `spec`."""
    match body.role:
        case "service":
            return {"action": "apply", "manifest": _text(_SERVICE)}
        case "job":
            queue = body.queue or spec.get("podMetadata", {}).get("labels", {}).get(QUEUE)
            return {"action": "apply", "manifest": _text(train_job(queue))}
        case "jobset":
            return {"action": "get", "manifest": _text(JOB_SET)}
        case "workers":
            return {"action": "get", **TERMINAL, "manifest": _text(JOB_SET)}


def aside(template: ir.Template) -> ir.Template | None:
    """The pods of a step that are not workers, as an ordinary template: chief, parameter servers, Launcher."""
    asked = template.settings.distributed.aside
    if asked is None:
        return None
    resources, placement = asked
    return template._replace(settings=template.settings._replace(resources=resources, placement=placement))


def job(
    found: Json, template: ir.Template, spec: Json, claims: Sequence[ir.PodVolume], aside: Json | None = None
) -> Json:
    """The template of a Job, or of an operator's equivalent, in a workflow of that `spec`.

    Its workers are defined by the template `found`; its other pods, if any, by `aside`.
    """
    asked = template.settings.distributed
    made = FORMS[asked.operator]
    attempt = "-{{retries}}" if "retryStrategy" in found else ""
    name = f"{NAME}{attempt}"
    pods = [_pods(one, made, asked, name, spec, claims) for one in (found, aside) if one is not None]
    queue, *_ = [one["metadata"]["labels"].pop(QUEUE, None) for one in pods]
    ends = filled({"activeDeadlineSeconds": _limit(found.get("timeout"), spec.get("activeDeadlineSeconds"))})
    marks = {} if made.marks is None else made.marks(asked)
    waited: Json = {}
    if made.conditions is None:  # another object starts them
        found.pop("timeout", None)
    else:
        marks |= filled({QUEUE: queue})
        waited = dict(zip(("successCondition", "failureCondition"), made.conditions(asked), strict=True))
    body = {
        "apiVersion": made.version,
        "kind": made.kind,
        "metadata": {"name": name, **filled({"labels": marks}), "ownerReferences": [OWNER]},
        "spec": made.spec(asked, ends, *pods),
    }
    found["resource"] = {"action": "apply", **waited, "manifest": _text(body)}
    return found  # the same dict, for which the origins of its fields are noted


def _pods(
    found: Json, made: Form, asked: ir.Distributed, job_name: str, spec: Json, claims: Sequence[ir.PodVolume]
) -> Json:
    """Turn the template of a step into that of its pods; the step keeps what is not part of a pod."""
    container: Json = found.pop("container", None) or found.pop("script")
    pod: Json = {theirs: spec[ours] for ours, theirs in _RUN.items() if ours in spec}
    pod |= {field: found.pop(field) for field in _POD if field in found}
    labels, annotations = _marks(spec.get("podMetadata"), found.get("metadata"))
    if _is_marked(found.get("metadata")):
        found.pop("metadata", None)
    mounted = {mount["name"] for mount in container.get("volumeMounts", ())}
    volumes = [_claim(one) for one in claims if one.name in mounted]
    volumes += found.pop("volumes") if is_list(found.get("volumes")) else []
    attempt = {ATTEMPT: "{{retries}}"} if "retryStrategy" in found else {}
    return {
        "metadata": {
            "labels": {RUN: "{{workflow.name}}", **made.labels, **labels},
            "annotations": {WORKER_OF: made.waiter, **attempt, **annotations},
        },
        "spec": {
            **made.pod,
            "containers": [{"name": made.container, **_container(container, made, asked, job_name)}],
            **filled({"volumes": volumes}),
            **pod,
        },
    }


def _container(found: Json, made: Form, asked: ir.Distributed, job_name: str) -> Json:
    """A container of a Job, with the variables by which its pod finds the others."""
    env = [*_meeting(made, asked, job_name, python="source" in found), *found.pop("env", [])]
    if "source" in found:
        source = _EXPANDED.sub("$$", found.pop("source"))
        env.append({"name": SCRIPT, "value": Source(source)})
        found |= {"command": ["python3"], "args": ["-c", _BEGIN.replace("{}", made.number)]}
    if made.port:
        found["ports"] = [{"name": made.port, "containerPort": asked.port}, *found.get("ports", [])]
    return {
        **{field: found[field] for field in ("image", "command", "args") if field in found},
        "env": env,
        **found,
    }


def _meeting(made: Form, asked: ir.Distributed, job_name: str, *, python: bool) -> list[Json]:
    role, port = "chief" if asked.ps else "worker", str(asked.port)
    host = made.host.replace("{job}", job_name).replace("{role}", role)
    hosts = [host.replace("{number}", str(number)) for number in range(asked.workers)]
    number: Json = {"valueFrom": {"fieldRef": {"fieldPath": _INDEX}}}
    found: dict[str, Json] = {"NODE_RANK": number} if made.indexed else {}
    if made.host:
        found |= {
            "MASTER_ADDR": {"value": hosts[0]},
            "MASTER_PORT": {"value": port},
            "WORLD_SIZE": {"value": str(asked.pods * asked.processes)},
        }
    if not asked.launched:
        found["LOCAL_WORLD_SIZE"] = {"value": str(asked.processes)}
    if made.indexed and asked.framework == "torch" and not python:  # the program is torchrun, or calls it
        found |= {
            "PET_NODE_RANK": number,
            "PET_MASTER_ADDR": {"value": hosts[0]},
            "PET_MASTER_PORT": {"value": port},
            "PET_NNODES": {"value": str(asked.workers)},
            "PET_NPROC_PER_NODE": {"value": str(asked.processes)},
        }
    if made.indexed and asked.framework == "tensorflow":
        cluster = json.dumps({"worker": [f"{host}:{port}" for host in hosts]})
        found["TF_CONFIG"] = {
            "value": f'{{"cluster": {cluster}, "task": {{"type": "worker", "index": $(NODE_RANK)}} }}'
        }
    return [{"name": name, **value} for name, value in found.items()]


def _claim(found: ir.PodVolume) -> Json:
    """A claim as a volume of a pod. Argo names one that it creates for a run after the run."""
    if found.kind == "new":
        return {
            "name": found.name,
            "persistentVolumeClaim": {"claimName": "{{workflow.name}}-" + found.name},
        }
    return volume(found)


def _limit(timeout: object, deadline: object) -> int | None:
    """The seconds after which the pods are terminated, unless a patch sets something else: Argo ends only its own."""
    limits = [deadline] if isinstance(deadline, int) else []
    with contextlib.suppress(GrammarError):  # reported for the template
        limits += [max(1, round(seconds_in(timeout)))] if isinstance(timeout, str) else []
    return min(limits, default=None)


def _marks(*several: object) -> tuple[dict[str, str], dict[str, str]]:
    """The labels and annotations for pods; what a patch has replaced them by is left where it is."""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for one in several:
        if _is_marked(one):
            labels |= one.get("labels", {})
            annotations |= one.get("annotations", {})
    return labels, annotations


def _is_marked(metadata: object) -> TypeGuard[Json]:
    """Whether this is metadata with labels and annotations as pods have them."""
    return is_mapping(metadata) and all(
        is_mapping(metadata.get(field, {})) for field in ("labels", "annotations")
    )


def _text(body: Json) -> str:
    """An object as YAML, whose texts may contain tags."""
    data, marks = plain_data(_tagged(body))
    return yaml_text(data, marks)


def _tagged(thing: object) -> Any:
    match thing:
        case dict():
            return {key: _tagged(value) for key, value in cast("Mapping[str, object]", thing).items()}
        case list():
            return [_tagged(one) for one in cast("list[object]", thing)]
        case str() if not isinstance(thing, Source) and "{{" in thing:
            return Tagged(thing)
        case _:
            return thing
