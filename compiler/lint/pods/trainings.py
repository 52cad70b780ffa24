"""Kubeflow training jobs in `resource` templates: what their webhooks and operators reject.

Their manifests are read with types, and tags are words.
Source: Kubeflow Training Operator 1.8, pkg/webhooks; Kubeflow MPI Operator 0.6, pkg/apis/kubeflow/validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.jobs import RUN_POLICY, TRAININGS
from flowdsl.compiler.lint.pods.untyped import WORD, Lacking, bounds, count, counts, named, one_of
from flowdsl.compiler.tree import is_mapping, mapping_at, mappings_at, value_at
from flowdsl.diagnostic import instead
from flowdsl.grammar.names import DNS_LABEL_LENGTH, is_dns_label, is_service_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.lint.pods.untyped import Flaw
    from flowdsl.compiler.tree import Object

_RESTARTS = ("Always", "OnFailure", "Never", "ExitCode")


def training(body: Object) -> Iterator[Flaw]:
    """What is invalid in a PyTorchJob or TFJob.

    The roles of a TFJob may be in any case: they are normalized before they are checked.
    """
    kind: str = body["kind"]
    field, wanted, known = TRAININGS[kind].replicas, TRAININGS[kind].container, sorted(TRAININGS[kind].roles)
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    yield from _named(body, kind)
    yield from _run_policy(spec, kind)
    if spec.get(field) is None:
        yield Lacking(f"the {kind} has no `{field}`", f"add `{field}`, with {' or '.join(known)}")
    replicas = spec.get(field)
    for role, each in replicas.items() if is_mapping(replicas) else ():
        yield from _role(kind, str(role), known)
        number = each.get("replicas") if is_mapping(each) else None
        if kind == "PyTorchJob" and role == "Master" and isinstance(number, int) and number != 1:
            yield f"the PyTorchJob has {number} masters", "write `replicas: 1` there, and add workers"
        if kind == "PyTorchJob" and role == "Master" and is_mapping(each) and number is None:
            yield Lacking("the `Master` of the PyTorchJob has no `replicas`", "write `replicas: 1` there")
        if not is_mapping(each):
            continue
        owner = f"`{role}` of the {kind}"
        yield from counts(each, owner, ("replicas",))
        yield from one_of(each, "restartPolicy", owner, _RESTARTS)
        names = [str(one.get("name")) for one in mappings_at(each, "template", "spec", "containers")]
        if each.get("template") is None:
            yield Lacking(f"{owner} has no `template`", f"add it, with a container `{wanted}`")
        if names and wanted not in names and not any(WORD in name for name in names):
            yield f"{owner} has no container `{wanted}`", f"call the container `{wanted}`"
    if kind == "PyTorchJob":
        yield from _launched(spec, replicas)
    elif is_mapping(replicas):
        leads = [str(role) for role in replicas if str(role).lower() in ("chief", "master")]
        if len(leads) > 1:
            yield f"the TFJob has {' and '.join(f'`{role}`' for role in leads)}", "keep one of them"


def _role(kind: str, role: str, known: Sequence[str]) -> Iterator[Flaw]:
    """The role of replicas."""
    cased = {one.lower(): one for one in known}.get(role.lower()) if kind == "TFJob" else role
    if cased not in known and WORD not in role:
        yield f"the {kind} has replicas `{role}`, which there are not", instead(role, known)


def roles(body: Object) -> tuple[str, ...]:
    """The roles of the replicas of a training, as its operator names them; none if one is a tag."""
    training = TRAININGS.get(str(body.get("kind")))
    if training is None:
        return ()
    cased = {one.lower(): one for one in training.roles} if body["kind"] == "TFJob" else {}
    named_so = [str(role) for role in mapping_at(body, "spec", training.replicas)]
    return (
        () if any(WORD in one for one in named_so) else tuple(cased.get(one.lower(), one) for one in named_so)
    )


def pods(body: Object) -> Iterator[tuple[str, Object]]:
    """The pods of a training, each with its owner in words."""
    for role, each in mapping_at(body, "spec", TRAININGS[body["kind"]].replicas).items():
        if is_mapping(pod := value_at(each, ("template", "spec"))):
            yield f"`{role}` of the {body['kind']}", pod


def _named(body: Object, kind: str) -> Iterator[Flaw]:
    """The name of a training, which is also that of a Service."""
    name = named(body)
    if name is not None and not is_service_name(name):
        metadata = mapping_at(body, "metadata")
        written = metadata.get("name") or metadata.get("generateName")
        way = f"use at most {DNS_LABEL_LENGTH} lower-case letters, digits and `-`, with a letter first"
        yield f"the name of the {kind} cannot be `{written}`", way


def _run_policy(spec: Object, kind: str) -> Iterator[Flaw]:
    """The run policy of a training; its fields are refused in the spec itself, as kubectl asks for."""
    for field in RUN_POLICY:
        if field in spec:
            yield f"the {kind} has `{field}` in its `spec`, where it has none", "write it below `runPolicy`"
    policy = spec.get("runPolicy")
    if not is_mapping(policy):
        return
    owner = f"`runPolicy` of the {kind}"
    yield from counts(policy, owner, ("activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"))
    if kind == "MPIJob":
        yield from one_of(policy, "cleanPodPolicy", owner, ("None", "Running", "All"))


def _launched(spec: Object, replicas: Any) -> Iterator[Flaw]:
    """The number of processes that a PyTorchJob starts."""
    per_node = spec.get("nprocPerNode")
    if isinstance(per_node, str) and not (per_node.isdecimal() or WORD in per_node):
        yield from one_of(spec, "nprocPerNode", "the PyTorchJob", ("auto", "cpu", "gpu"))
    elastic = spec.get("elasticPolicy")
    if not is_mapping(elastic):
        return
    if is_mapping(replicas) and "Worker" not in replicas:
        yield "the PyTorchJob has `elasticPolicy` and no `Worker`", "add replicas `Worker`"
    if elastic.get("nProcPerNode") is not None and per_node is not None:
        found = "the PyTorchJob has `nprocPerNode` and `elasticPolicy.nProcPerNode`"
        yield found, "keep `nprocPerNode`"
    yield from bounds(elastic, "`elasticPolicy` of the PyTorchJob")


def train_job(body: Object) -> Iterator[Flaw]:
    """What is invalid in a TrainJob. Source: Kubeflow Trainer 2.0 to 2.2, pkg/apis/trainer/v1alpha1."""
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    runtime = spec.get("runtimeRef")
    if runtime is None or (is_mapping(runtime) and not runtime.get("name")):
        yield Lacking(
            "the TrainJob has no `runtimeRef.name`",
            "add the name of a runtime, as in `{name: torch-distributed}`",
        )
    trainer = mapping_at(spec, "trainer")
    yield from counts(trainer, "`trainer` of the TrainJob", ("numNodes",))


_MPI_RESTARTS = ("Never", "OnFailure")


def mpi(body: Object) -> Iterator[Flaw]:
    """What is invalid in an MPIJob, or makes its operator ignore it."""
    spec = body.get("spec")
    if not is_mapping(spec):
        return
    yield from _run_policy(spec, "MPIJob")
    yield from counts(spec, "the MPIJob", ("slotsPerWorker",))
    yield from one_of(spec, "mpiImplementation", "the MPIJob", ("OpenMPI", "Intel", "MPICH"))
    policies = ("AtStartup", "WaitForWorkersReady")
    yield from one_of(spec, "launcherCreationPolicy", "the MPIJob", policies)
    replicas = spec.get(TRAININGS["MPIJob"].replicas)
    if not is_mapping(replicas) or any(WORD in str(role) for role in replicas):
        return
    if "Launcher" not in replicas:
        yield Lacking("the MPIJob has no `Launcher`", "add one, whose container runs `mpirun`")
    for role, least, most in (("Launcher", 1, 1), ("Worker", 1, None)):
        each = replicas.get(role)
        if not is_mapping(each):
            continue
        owner = f"`{role}` of the MPIJob"
        number = each.get("replicas")
        if isinstance(number, int) and (number < least or (most is not None and number > most)):
            yield f"{owner} has {number} replicas", f"write `replicas: {least}` there"
        yield from one_of(each, "restartPolicy", owner, _MPI_RESTARTS)
    worker: Any = replicas.get("Worker")
    workers = count(worker.get("replicas", 1)) if is_mapping(worker) else 1
    if (name := named(body)) is not None and workers is not None:
        longest = f"{name}-worker-{max(workers, 1) - 1}"
        if not is_dns_label(longest):
            way = f"shorten the name: its pods have at most {DNS_LABEL_LENGTH} letters, digits and `-`"
            yield f"the MPIJob cannot name a pod `{longest}`", way
