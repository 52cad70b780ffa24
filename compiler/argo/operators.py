"""The kinds of objects that create the pods of a distributed step: a Job, and those of the operators.

Each operator gives the pods names of its own, and some tell them themselves how they meet. Sources: PyTorchJob and
TFJob of Kubeflow's training operator 1.8; MPIJob of its MPI Operator 0.6; JobSet 0.8 of Kubernetes SIG Batch; TrainJob
and TrainingRuntime of Kubeflow's Trainer 2.0 to 2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.argo.document import OWNER
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.ports import WORKERS
from flowdsl.grammar.labels import QUEUE
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flowdsl.compiler import ir
    from flowdsl.compiler.argo.origins import Json

NAME = f"{{{{inputs.parameters.{WORKERS}}}}}"
"""The name of the objects of a step."""
_JOB = "worker"
"""The name of the Job in a JobSet."""
MEMBER = "flowdsl/workers"
"""The label of the pods of one step, by which the Service selects those of each attempt."""

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

_TRAINER = "trainer.kubeflow.org"
_NODE = "node"
"""The Trainer's name for the pods that train, and for their container."""
JOB_SET: Json = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": NAME}}
"""What the Trainer creates for a TrainJob, whose own conditions are listed in another order after a queue."""
TERMINAL = {
    "successCondition": "status.terminalState == Completed",
    "failureCondition": "status.terminalState == Failed",
}
_WAITER = "{{=sprig.trimSuffix('runtime', node.name) + 'workers'}}"
"""The node that waits for the pods, from the name of the sibling that defines them."""


def train_job(queue: str | None) -> Json:
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
    return {"replicatedJobs": [{"name": _JOB, "replicas": 1, "template": inner}]}


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
    return TERMINAL["successCondition"], TERMINAL["failureCondition"]


def _mastered(asked: ir.Distributed) -> tuple[str, str]:
    return _roles("Master", 1, ("Master", "Worker")[: asked.workers])


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


class Form(NamedTuple):
    """A kind of object that creates the pods of a step, and the conditions of its end.

    `room`: for how many characters of the step's name its own has room, before what is appended, such as
    `-worker-0-999-abcde`. `container`, `port`: the names that the container of the step, and the port on which it
    listens, must have. `pod`, `labels`: additional fields of its pods. `host`: the host name of a pod, from the name of
    the object; empty where the operator sets it. `indexed`: whether each knows its index, by the annotation of an
    Indexed Job; else a line of Python, `number`, finds it. `spec`: from the ends of a step and the templates of its
    pods. `conditions`: of success and of failure; None where another object starts the pods, and they are waited for
    there, by the node `waiter`. `marks`: its labels.
    """

    version: str
    kind: str
    container: str
    spec: Callable[..., Json]
    conditions: Callable[[ir.Distributed], tuple[str, str]] | None
    room: int
    port: str = ""
    pod: Mapping[str, Any] = {}
    labels: Mapping[str, str] = {}
    host: str = ""
    indexed: bool = False
    number: str = ""
    waiter: str = "{{node.name}}"
    marks: Callable[[ir.Distributed], dict[str, str]] | None = None


FORMS: dict[str, Form] = {
    "": Form(
        "batch/v1",
        "Job",
        "main",
        _indexed,
        _completed,
        room=40,
        pod={"subdomain": NAME, "restartPolicy": "Never"},
        labels={MEMBER: NAME},
        host=f"{{job}}-{{number}}.{NAME}",
        indexed=True,
    ),
    "jobset": Form(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "main",
        _set,
        _terminal,
        room=29,
        pod={"restartPolicy": "Never"},
        host=f"{{job}}-{_JOB}-0-{{number}}.{{job}}",
        indexed=True,
    ),
    "pytorchjob": Form(
        "kubeflow.org/v1",
        "PyTorchJob",
        "pytorch",
        _pytorch,
        _mastered,
        room=33,
        port="pytorchjob-port",
        number=_RANKED,
    ),
    "tfjob": Form(
        "kubeflow.org/v1",
        "TFJob",
        "tensorflow",
        _tensorflow,
        _cast,
        room=33,
        port="tfjob-port",
        host="{job}-{role}-{number}",
        number=_CAST,
    ),
    "trainjob": Form(
        f"{_TRAINER}/v1alpha1",
        "TrainingRuntime",
        _NODE,
        _runtime,
        None,
        room=31,
        pod={"restartPolicy": "Never"},
        host=f"{{job}}-{_NODE}-0-{{number}}.{{job}}",
        indexed=True,
        waiter=_WAITER,
        marks=_framework,
    ),
    "mpijob": Form(
        "kubeflow.org/v2beta1",
        "MPIJob",
        "mpi",
        _mpi,
        _launched,
        room=33,
        number=_STARTED,
    ),
}
