"""A step on several pods: a graph around the Job of these pods.

Before the Job there is a name by which the pods meet; behind it stands a pod with the outputs of the step, which the
first pod of the Job has left on the volume of its files: Argo reads outputs of its own pods only. An operator gives the
pods their names itself. Kubeflow's Trainer is told in one object what the pods are, begins them with a second, and says
in a third, which it makes of these, how they have ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.argo.operators import FORMS
from flowdsl.compiler.findings.distributed import (
    BesideDistributed,
    ReadByWorkers,
    SharedByWorkers,
    WorkersReturn,
    WorkersTake,
)
from flowdsl.compiler.kinds import BODIES
from flowdsl.compiler.naming import volume_name
from flowdsl.compiler.options.distributed import beside
from flowdsl.compiler.placing import AT, INDEX
from flowdsl.compiler.ports import WORKERS
from flowdsl.compiler.tree import is_mapping
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.labels import QUEUE
from flowdsl.values import types as t
from flowdsl.values.expr import Attempt, Const, Join, Op, Out, Param, RunField

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flowdsl.diagnostic import Finding
    from flowdsl.tracing.trace import Call
    from flowdsl.values.expr import Expr
    from flowdsl.volume import Volume

_KEYS = "/root/.ssh"
"""Where the MPI Operator mounts the SSH keys."""

PODS, RESULTS = "workers", "results"
"""The tasks that wait for the pods, and that output what these return."""
_TOLD = {"trainjob": "runtime"}
"""The task that defines the pods, if it is not the one that waits for them."""
#: The tasks up to the one that waits for the pods, by the operator; else it is the only one.
_PARTS: dict[str, tuple[str, ...]] = {
    "": ("service", PODS),
    "trainjob": ("runtime", "job", "jobset", PODS),
}
#: Fields of a template about its execution, and the options for the same.
_OF_WAITING = {
    "retryStrategy": "retries",
    "timeout": "timeout",
    "activeDeadlineSeconds": "timeout",
    "synchronization": "locks",
    "memoize": "",
    "metrics": "",
}
_SOON = ir.Retry(
    limit=7,
    wait="5s",
    factor=2,
    expression="lastRetry.status == 'Error' || lastRetry.message contains '(NotFound)'",
)
"""An object that a controller creates for another does not exist immediately."""


def refused(
    call: Call, template: ir.Template, stored: bool, volumes: Iterable[Volume]
) -> Iterator[Diagnostic]:
    """What the pods of a step cannot be passed, cannot return, and cannot mount at once."""
    for one in template.inputs:
        if one.kind != "parameter":
            name = next(
                name for name in call.target.signature.by_name if f"{one.name}-".startswith(f"{name}-")
            )
            yield Diagnostic(WorkersTake(call.target.name, name), call.argument(name))
    for option, finding in beside(template.settings):
        yield Diagnostic(finding, template.places.get(option, template.place))
    assert isinstance(template.body, ir.Pod)
    own = "container" if template.body.source is None else "script"
    apart = template.settings.distributed.operator in _TOLD
    for patch in template.patches:
        for reason, way in (*_unreached(patch.fields, own), *_misled(patch.fields if apart else {})):
            yield Diagnostic(BesideDistributed("argo", reason, way), patch.place)
    launched = template.settings.distributed.launched
    if launched and any(one.path.rstrip("/") == _KEYS for one in template.body.mounts):
        reason = f"the operator mounts at {_KEYS} what the processes are started with"
        finding = BesideDistributed("mounts", reason, "mount it at another path")
        yield Diagnostic(finding, template.places.get("mounts", template.place))
    if t.outputs(call.target.signature.returns) and not stored:
        yield Diagnostic(WorkersReturn(call.target.name), call.site)
    yield from _shared(call, template, template.body.mounts, volumes)


def _shared(
    call: Call, template: ir.Template, mounts: Iterable[ir.Mount], volumes: Iterable[Volume]
) -> Iterator[Diagnostic]:
    """The claims that not all pods of a step can mount at the same time."""
    count, step = template.settings.distributed.pods, call.target.name
    if count < 2:
        return
    written: dict[str, bool] = {}
    for one in mounts:
        written[one.volume] = written.get(one.volume, False) or not one.read_only
    bound = "kubernetes.io/hostname" in template.settings.placement.node
    for volume in volumes:
        writes, mode = written.get(volume_name(volume.name)), volume.mode
        if writes is None or not (mode == "ReadWriteOncePod" or (mode == "ReadWriteOnce" and not bound)):
            continue
        finding: Finding = ReadByWorkers(step, count, volume.name)
        if writes or mode == "ReadWriteOncePod":
            finding = SharedByWorkers(step, count, volume.name, mode)
        yield Diagnostic(finding, call.site, (Related(volume.site, "declared here"),))


def _unreached(fields: Mapping[str, object], own: str) -> Iterator[tuple[str, str]]:
    """The parts of a patch that do not reach the pods, and the remedy; the body of the step is its `own`."""
    if "podSpecPatch" in fields:
        reason = "`podSpecPatch` is for pods of Argo, and these are pods of a Job"
        way = (
            'patch the container instead: argo={"container": {...}}, or under `@step`, argo={"script": {...}}'
        )
        yield reason, way
    for name in ("initContainers", "sidecars"):
        if fields.get(name):
            yield (
                f"Argo makes no `{name}` for the pods of a Job",
                "do it in the step, or in a step of its own",
            )
    for name in BODIES:
        if name != own and fields.get(name) is not None:
            yield f"the body of this step is its `{own}`", f'patch that instead: argo={{"{own}": {{...}}}}'
    inner = fields.get(own)
    for name in ("name", "command", "args") if own == "script" else ("name",):
        if is_mapping(inner) and name in inner:
            yield f"its pods have a `{name}` of their own", f"leave `{own}.{name}` out"


def _misled(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The parts of a patch that would apply to the object that defines the pods, and the remedy."""
    for name, option in _OF_WAITING.items():
        if fields.get(name) is not None:
            way = f"use `{option}`" if option else "leave it out"
            yield f"`{name}` would be about the object that describes the pods, not about the pods", way
    metadata = fields.get("metadata")
    labels = metadata.get("labels") if is_mapping(metadata) else None
    if is_mapping(labels) and QUEUE in labels:
        yield f"the label `{QUEUE}` belongs to the TrainJob, not to its pods", "use `queue`"


def spread(
    template: ir.Template, command: tuple[str, ...], store: ir.Mount | None, named: Callable[[str], str]
) -> list[ir.Template]:
    """The templates of a step of which `template` is one pod, the one that its tasks run first.

    `command` is what the pod with the outputs runs, in the image of the step; `store` is where the pods write
    the results; `named` returns names for the others.
    """
    place, settings = template.place, template.settings
    asked, control = settings.distributed, settings.control
    here = tuple(one for one in template.inputs if one.name in (AT, INDEX))
    told = _TOLD.get(asked.operator, PODS)
    again = told != PODS and control.retries is not None and control.retries.limit > 0
    name = ir.Argument(WORKERS, "parameter", _unique(template, here, again), t.TEXT)
    outputs = template.outputs
    handed = tuple(ir.Output(one.name, "parameter", value=Out(RESULTS, one.name, t.TEXT)) for one in outputs)
    parts = (*_PARTS.get(asked.operator, (PODS,)), *((RESULTS,) if outputs else ()))
    names = {task: named(task) for task in parts}
    tasks: list[ir.Task] = []
    for task, own in names.items():
        after = (tasks[-1].name,) if tasks else ()
        arguments = (name, *_given(template.inputs)) if task == told else (name,)
        arguments = _given(here) if task == RESULTS else arguments
        tasks.append(ir.Task(task, own, arguments, place, after))
    hidden = ir.Input(WORKERS, "parameter")
    graph = ir.Graph(tuple(tasks), around=True)
    around = ir.Template(template.name, template.inputs, handed, graph, place)
    workers = template._replace(name=names[told], inputs=(hidden, *template.inputs), outputs=())
    if told != PODS:  # the parts are retried together
        whole = ir.Control(retries=control.retries, locks=control.locks)
        around = around._replace(places=template.places, settings=ir.Settings(control=whole))
        once = ir.Control(retries=ir.Retry(0), timeout=control.timeout)
        workers = workers._replace(settings=workers.settings._replace(control=once))
    queue = settings.identity.labels.get(QUEUE, settings.placement.queue)
    besides = {
        "service": ir.Beside("service"),
        "job": ir.Beside("job", queue),
        "jobset": ir.Beside("jobset"),
        PODS: ir.Beside("workers"),
    }
    controls = {"jobset": ir.Control(retries=_SOON), PODS: ir.Control(timeout=control.timeout)}
    found = [around]
    for task in parts:
        if task == told:
            found.append(workers)
        elif task == RESULTS:
            found.append(_collecting(template, names[task], here, command, store))
        else:
            how = ir.Settings(control=controls.get(task, ir.Control()))
            found.append(ir.Template(names[task], (hidden,), (), besides[task], place, template.places, how))
    return found


def _unique(template: ir.Template, here: Iterable[ir.Input], again: bool) -> Expr:
    """The name of a step's objects, unique by run, place in it, and attempt if the step is retried."""
    run: tuple[str | Expr, ...] = (RunField("uid"), "/", *(Param(one.name, t.TEXT) for one in here))
    attempt: tuple[str | Expr, ...] = ("-", Attempt()) if again else ()
    short = _short(template.name, template.settings.distributed.operator)
    return Join((f"{short}-", Op("digest", (Join(run),), t.TEXT), *attempt))


def _collecting(
    template: ir.Template,
    name: str,
    here: tuple[ir.Input, ...],
    command: tuple[str, ...],
    store: ir.Mount | None,
) -> ir.Template:
    """The template of the pod that outputs the results of a step, which the other pods have stored."""
    environment = template.settings.environment
    words = tuple(Const(word, t.TEXT) for word in command)
    mounts = () if store is None else (store._replace(read_only=True),)
    pod = ir.Pod(words, None, (), mounts)
    kept = ir.Environment(environment.image, image_pull_policy=environment.image_pull_policy)
    settings = ir.Settings(environment=kept)
    return ir.Template(name, here, template.outputs, pod, template.place, template.places, settings)


def _short(name: str, operator: str) -> str:
    """The prefix for names of Services and Jobs: with digest, attempt and number a host name of 63 characters.

    The name of a Service or JobSet begins with a letter. Source: Kubernetes, RFC 1035 label names; JobSet,
    pkg/webhooks.
    """
    return f"{'' if name[0].isalpha() else 'step-'}{name[: FORMS[operator].room]}".rstrip("-")


def _given(inputs: tuple[ir.Input, ...]) -> tuple[ir.Argument, ...]:
    """The inputs of a graph as the arguments of a template with the same inputs."""
    return tuple(ir.Argument(one.name, "parameter", Param(one.name, t.TEXT), t.TEXT) for one in inputs)
