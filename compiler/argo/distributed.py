"""The pods of a distributed step, in the fields of Kubernetes: an Indexed Job, and a Service by which they meet.

The Job is made of what an ordinary template of the step would be, so each option is written by its own concern.
Its pods have stable names, `JOB-0.SERVICE` is the first, and each knows its number. When one fails, the others are
ended. Source: Kubernetes, Indexed Jobs and their pod hostnames; run on a real scheduler.

An operator makes the same pods out of an object of its own, with names of its own, and some tell them themselves how
they meet. Sources: PyTorchJob and TFJob of Kubeflow's training operator 1.8; MPIJob of its MPI Operator 0.6; JobSet
0.8 of Kubernetes SIG Batch; TrainJob and TrainingRuntime of Kubeflow's Trainer 2.0 to 2.2.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from flowdsl.compiler.argo.document import OWNER, Source, Tagged, plain_data, yaml_text
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.volumes import volume
from flowdsl.compiler.ports import WORKERS
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.grammar.duration import seconds_in
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.labels import ATTEMPT, QUEUE, RUN, WORKER_OF
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json

NAME = f"{{{{inputs.parameters.{WORKERS}}}}}"
SCRIPT = "FLOWDSL_SCRIPT"
MEMBERS = "worker"
"""The name of the pods of a JobSet in it."""
MEMBER = "flowdsl/workers"
"""The label of the pods of one step, by which the Service selects those of each attempt."""

_INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
_BEGIN = f"""\
import os, sys, tempfile
{{}}path = os.path.join(tempfile.mkdtemp(), "step.py")
with open(path, "wb") as file:
    file.write(os.environb.pop(b"{SCRIPT}"))
os.execv(sys.executable, [sys.executable, path])
"""
"""The pods of a Job get no script from Argo: it is passed in a variable, and written to a file."""

_RANKED = 'os.environ["NODE_RANK"] = os.environ.pop("RANK")\n'
"""The operator calls the index of a pod its rank, which here is that of a process."""

_CAST = """\
import json
config = json.loads(os.environ.get("TF_CONFIG", "null")) or {"cluster": {}, "task": {"type": "worker", "index": 0}}
roles, task = ["chief", "worker", "ps"], config["task"]
before = [len(config["cluster"].get(role, ())) for role in roles[: roles.index(task["type"])]]
os.environ["NODE_RANK"] = str(sum(before) + int(task["index"]))
"""
"""The operator sets the role of a pod, and its index in it; for a single pod it sets nothing."""

_STARTED = """\
own = {"RANK": "RANK", "LOCAL_RANK": "LOCAL_RANK", "WORLD_SIZE": "SIZE", "LOCAL_WORLD_SIZE": "LOCAL_SIZE"}
os.environ.update({name: os.environ["OMPI_COMM_WORLD_" + word] for name, word in own.items()})
os.environ["NODE_RANK"] = str(int(os.environ["RANK"]) // int(os.environ["LOCAL_WORLD_SIZE"]))
"""
"""Open MPI sets the rank of each process."""

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
_TRAINER = "trainer.kubeflow.org"
_NODE = "node"
"""The Trainer's name for the pods that train, and for their container."""
_SERVICE: Json = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": NAME, "ownerReferences": [OWNER]},
    "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {MEMBER: NAME}},
}
"""Gives the pods of a step host names, before they are ready."""
_JOB_SET: Json = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": NAME}}
"""What the Trainer creates for a TrainJob, whose own conditions are listed in another order after a queue."""
_TERMINAL = {
    "successCondition": "status.terminalState == Completed",
    "failureCondition": "status.terminalState == Failed",
}
_WAITER = "{{=sprig.trimSuffix('runtime', node.name) + 'workers'}}"
"""The node that waits for the pods, from the name of the sibling that defines them."""


def _train_job(queue: str | None) -> Json:
    """The object that starts the pods of a TrainingRuntime."""
    return {
        "apiVersion": f"{_TRAINER}/v1alpha1",
        "kind": "TrainJob",
        "metadata": {
            "name": NAME,
            **filled({"labels": filled({QUEUE: queue})}),
            "ownerReferences": [OWNER],
        },
        "spec": {"runtimeRef": {"apiGroup": _TRAINER, "kind": "TrainingRuntime", "name": NAME}},
    }


def beside(body: ir.Beside, spec: Json) -> Json:
    """The `resource` of an object in addition to the one that defines the pods, in a workflow of that `spec`."""
    match body.role:
        case "service":
            return {"action": "apply", "manifest": _text(_SERVICE)}
        case "job":
            queue = body.queue or spec.get("podMetadata", {}).get("labels", {}).get(QUEUE)
            return {"action": "apply", "manifest": _text(_train_job(queue))}
        case "jobset":
            return {"action": "get", "manifest": _text(_JOB_SET)}
        case "workers":
            return {"action": "get", **_TERMINAL, "manifest": _text(_JOB_SET)}


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
    made = _FORMS[asked.operator]
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
    found: Json, made: _Form, asked: ir.Distributed, job_name: str, spec: Json, claims: Sequence[ir.PodVolume]
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


def _indexed(asked: ir.Distributed, ends: Json, template: Json) -> Json:
    return {
        "completionMode": "Indexed",
        "completions": asked.workers,
        "parallelism": asked.workers,
        "backoffLimit": 0,
        **ends,
        "template": template,
    }


def _set(asked: ir.Distributed, ends: Json, template: Json) -> Json:
    """One Job, whose failure fails the set: by default a JobSet restarts nothing."""
    inner = {"spec": _indexed(asked, ends, template)}
    return {"replicatedJobs": [{"name": MEMBERS, "replicas": 1, "template": inner}]}


def _runtime(asked: ir.Distributed, ends: Json, template: Json) -> Json:
    """One Job of a set, for which the Trainer sets the number of pods.

    With a policy for PyTorch it would add variables to them, and that has different fields in each of its versions.
    """
    labels = {f"{_TRAINER}/trainjob-ancestor-step": "trainer"}
    job = {"completionMode": "Indexed", "backoffLimit": 0, **ends, "template": template}
    inner = {"metadata": {"labels": labels}, "spec": job}
    jobs = [{"name": _NODE, "replicas": 1, "template": inner}]
    return {"mlPolicy": {"numNodes": asked.workers}, "template": {"spec": {"replicatedJobs": jobs}}}


def _pytorch(asked: ir.Distributed, ends: Json, template: Json) -> Json:
    """The first of the pods is the Master; when it has ended, the others are terminated."""
    replicas = _replicas({"Master": (1, template), "Worker": (asked.workers - 1, template)})
    return {
        "nprocPerNode": str(asked.processes),
        "runPolicy": {"cleanPodPolicy": "Running", **ends},
        "pytorchReplicaSpecs": replicas,
    }


def _tensorflow(asked: ir.Distributed, ends: Json, template: Json, aside: Json | None = None) -> Json:
    """With parameter servers the Chief ends the others, which serve forever; else all Workers have to succeed."""
    policy = {"cleanPodPolicy": "Running", **ends}
    workers = (asked.workers, template)
    if aside is None:
        return {
            "successPolicy": "AllWorkers",
            "runPolicy": policy,
            "tfReplicaSpecs": _replicas({"Worker": workers}),
        }
    roles = {"Chief": (1, aside), "Worker": workers, "PS": (asked.ps, aside)}
    return {"runPolicy": policy, "tfReplicaSpecs": _replicas(roles)}


def _mpi(asked: ir.Distributed, ends: Json, template: Json, aside: Json) -> Json:
    """The Launcher starts the processes on the Workers, which are SSH servers, and passes them its environment."""
    (worker,) = template["spec"]["containers"]
    (launcher,) = aside["spec"]["containers"]
    names = [*(one["name"] for one in launcher["env"]), "PATH", "LD_LIBRARY_PATH"]
    given = [word for name in dict.fromkeys(names) for word in ("-x", name)]
    count = str(asked.workers * asked.processes)
    program = [*launcher.pop("command", ()), *launcher.pop("args", ())]
    args = ["--allow-run-as-root", "-np", count, *given, *program]
    launcher = {
        "name": launcher.pop("name"),
        "image": launcher.pop("image", None),
        "command": ["mpirun"],
        "args": args,
        **launcher,
    }
    launcher.pop("volumeMounts", None)  # the processes are those of the Workers
    aside["spec"].pop("volumes", None)
    for unused in ("command", "args", "env"):
        worker.pop(unused, None)
    aside["spec"] = {**aside["spec"], "containers": [launcher]}
    return {
        "slotsPerWorker": asked.processes,
        "launcherCreationPolicy": "WaitForWorkersReady",  # it would fail: a Worker has no host name before
        "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0, **ends},
        "mpiReplicaSpecs": _replicas({"Launcher": (1, aside), "Worker": (asked.workers, template)}),
    }


def _replicas(roles: Mapping[str, tuple[int, Json]]) -> Json:
    return {
        role: {"replicas": count, "restartPolicy": "Never", "template": template}
        for role, (count, template) in roles.items()
        if count
    }


def _framework(asked: ir.Distributed) -> dict[str, str]:
    """The variables that the Trainer's own tools read."""
    return {f"{_TRAINER}/framework": asked.framework}


def _completed(asked: ir.Distributed) -> tuple[str, str]:
    return f"status.succeeded == {asked.workers}", "status.failed > 0"


def _terminal(asked: ir.Distributed) -> tuple[str, str]:
    return _TERMINAL["successCondition"], _TERMINAL["failureCondition"]


def _mastered(asked: ir.Distributed) -> tuple[str, str]:
    return _roles("Master", 1, ("Master", "Worker"))


def _launched(asked: ir.Distributed) -> tuple[str, str]:
    return _roles("Launcher", 1, ("Launcher", "Worker"))


def _cast(asked: ir.Distributed) -> tuple[str, str]:
    if asked.ps:
        return _roles("Chief", 1, ("Chief", "Worker", "PS"))
    return _roles("Worker", asked.workers, ("Worker",))


def _roles(first: str, count: int, roles: Sequence[str]) -> tuple[str, str]:
    """All pods of one role have to succeed, and none of any role may fail."""
    failed = ", ".join(f"status.replicaStatuses.{role}.failed > 0" for role in roles)
    return f"status.replicaStatuses.{first}.succeeded == {count}", failed


class _Form(NamedTuple):
    """A kind of object that creates the pods of a step, and the conditions of its end.

    `container`, `port`: the names that the container of the step, and the port on which it listens, must have. `pod`,
    `labels`: additional fields of its pods. `host`: the host name of a pod, from the name of the object; empty where
    the operator sets it. `indexed`: whether each knows its index, by the annotation of an Indexed Job; else a line of
    Python, `number`, finds it. `spec`: from the ends of a step and the templates of its pods. `conditions`: of success
    and of failure; None where another object starts the pods, and they are waited for there, by the node `waiter`.
    `marks`: its labels.
    """

    version: str
    kind: str
    container: str
    spec: Callable[..., Json]
    conditions: Callable[[ir.Distributed], tuple[str, str]] | None
    port: str = ""
    pod: Mapping[str, Any] = {}
    labels: Mapping[str, str] = {}
    host: str = ""
    indexed: bool = False
    number: str = ""
    waiter: str = "{{node.name}}"
    marks: Callable[[ir.Distributed], dict[str, str]] | None = None


_FORMS: dict[str, _Form] = {
    "": _Form(
        "batch/v1",
        "Job",
        "main",
        _indexed,
        _completed,
        pod={"subdomain": NAME, "restartPolicy": "Never"},
        labels={MEMBER: NAME},
        host=f"{{job}}-{{number}}.{NAME}",
        indexed=True,
    ),
    "jobset": _Form(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "main",
        _set,
        _terminal,
        pod={"restartPolicy": "Never"},
        host=f"{{job}}-{MEMBERS}-0-{{number}}.{{job}}",
        indexed=True,
    ),
    "pytorchjob": _Form(
        "kubeflow.org/v1",
        "PyTorchJob",
        "pytorch",
        _pytorch,
        _mastered,
        port="pytorchjob-port",
        number=_RANKED,
    ),
    "tfjob": _Form(
        "kubeflow.org/v1",
        "TFJob",
        "tensorflow",
        _tensorflow,
        _cast,
        port="tfjob-port",
        host="{job}-{role}-{number}",
        number=_CAST,
    ),
    "trainjob": _Form(
        f"{_TRAINER}/v1alpha1",
        "TrainingRuntime",
        _NODE,
        _runtime,
        None,
        pod={"restartPolicy": "Never"},
        host=f"{{job}}-{_NODE}-0-{{number}}.{{job}}",
        indexed=True,
        waiter=_WAITER,
        marks=_framework,
    ),
    "mpijob": _Form(
        "kubeflow.org/v2beta1",
        "MPIJob",
        "mpi",
        _mpi,
        _launched,
        number=_STARTED,
    ),
}


def _container(found: Json, made: _Form, asked: ir.Distributed, job_name: str) -> Json:
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


def _meeting(made: _Form, asked: ir.Distributed, job_name: str, *, python: bool) -> list[Json]:
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
