"""A step on several pods as Argo runs it: a graph around the Job of these pods.

Before the Job there is a name by which the pods meet; behind it stands a pod with the outputs of the step, which the
first pod of the Job has left on the volume of its files: Argo reads outputs of its own pods only. An operator gives the
pods their names itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.findings.distributed import (
    BesideDistributed,
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
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Join, Op, Out, Param, RunField

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flowdsl.tracing.trace import Call
    from flowdsl.values.expr import Expr
    from flowdsl.volume import Volume

_KEYS = "/root/.ssh"
"""Where the MPI Operator mounts the keys of SSH."""

SERVICE, JOB, RESULTS = "service", "workers", "results"


def refused(
    call: Call, template: ir.Template, stored: bool, volumes: Iterable[Volume]
) -> Iterator[Diagnostic]:
    """What the pods of a step cannot be given, cannot return, and cannot mount at once."""
    for one in template.inputs:
        if one.kind != "parameter":
            name = next(
                name for name in call.target.signature.by_name if f"{one.name}-".startswith(f"{name}-")
            )
            place = call.argument(name) if call.loop is None else call.site
            yield Diagnostic(WorkersTake(call.target.name, name), place)
    for option, finding in beside(template.settings):
        yield Diagnostic(finding, template.places.get(option, template.place))
    assert isinstance(template.body, ir.Pod)
    own = "container" if template.body.source is None else "script"
    for patch in template.patches:
        for reason, way in _unreached(patch.fields, own):
            yield Diagnostic(BesideDistributed("argo", reason, way), patch.place)
    launched = template.settings.distributed.launched
    if launched and any(one.path.rstrip("/") == _KEYS for one in template.body.mounts):
        reason = f"the operator mounts at {_KEYS} what the processes are started with"
        finding = BesideDistributed("mounts", reason, "mount it at another path")
        yield Diagnostic(finding, template.places.get("mounts", template.place))
    if t.outputs(call.target.signature.returns) and not stored:
        yield Diagnostic(WorkersReturn(call.target.name), call.site)
    count = template.settings.distributed.pods
    written = {one.volume for one in template.body.mounts if not one.read_only}
    for volume in volumes:
        if volume.mode == "ReadWriteOnce" and count > 1 and volume_name(volume.name) in written:
            related = (Related(volume.site, "declared here"),)
            yield Diagnostic(SharedByWorkers(call.target.name, count, volume.name), call.site, related)


def _unreached(fields: Mapping[str, object], own: str) -> Iterator[tuple[str, str]]:
    """What of a patch does not reach the pods, and what to do instead; the body of the step is its `own`."""
    if "podSpecPatch" in fields:
        reason = "`podSpecPatch` is about a pod of Argo's, and these are pods of a Job"
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


def spread(
    template: ir.Template, command: tuple[str, ...], store: ir.Mount | None, named: Callable[[str], str]
) -> list[ir.Template]:
    """The templates of a step of which `template` is one pod, the one that its tasks run first.

    `command` is what the pod with the outputs runs, in the image of the step; `store` is where the pods leave what is
    returned; `named` gives names to the others.
    """
    place = template.place
    here = tuple(one for one in template.inputs if one.name in (AT, INDEX))
    run: tuple[str | Expr, ...] = (RunField("uid"), "/", *(Param(one.name, t.TEXT) for one in here))
    operator = template.settings.distributed.operator
    unique = Join((f"{_short(template.name, operator)}-", Op("digest", (Join(run),), t.TEXT)))
    name = ir.Argument(WORKERS, "parameter", unique, t.TEXT)
    outputs = template.outputs
    handed = tuple(ir.Output(one.name, "parameter", None, Out(RESULTS, one.name, t.TEXT)) for one in outputs)
    parts = (*(() if operator else (SERVICE,)), JOB, *((RESULTS,) if outputs else ()))
    names = {task: named(task) for task in parts}
    arguments = {SERVICE: (name,), JOB: (name, *_given(template.inputs)), RESULTS: _given(here)}
    tasks: list[ir.Task] = []
    for task, own in names.items():
        after = (tasks[-1].name,) if tasks else ()
        tasks.append(ir.Task(task, own, arguments[task], after, None, None, place))
    hidden = ir.Input(WORKERS, "parameter")
    graph = ir.Graph(tuple(tasks), around=True)
    found = [ir.Template(template.name, template.inputs, handed, graph, place)]
    if not operator:
        found.append(ir.Template(names[SERVICE], (hidden,), (), ir.Rendezvous(), place))
    found.append(template._replace(name=names[JOB], inputs=(hidden, *template.inputs), outputs=()))
    if outputs:
        environment = template.settings.environment
        asked = ir.Environment(environment.image, pull_policy=environment.pull_policy)
        words = tuple(Const(word, t.TEXT) for word in command)
        mounts = () if store is None else (store._replace(read_only=True),)
        pod = ir.Pod(words, None, (), mounts)
        settings = ir.Settings(environment=asked)
        found.append(ir.Template(names[RESULTS], here, outputs, pod, place, template.places, settings))
    return found


#: How long the beginning of a name may be, before what an operator puts there: `-worker-999`, `-worker-0-999-abcde`.
_ROOM = {"": 40, "jobset": 29, "pytorchjob": 33, "tfjob": 33, "mpijob": 33}


def _short(name: str, operator: str) -> str:
    """The beginning of names of Services and Jobs: with digest, attempt and number a host name of 63 characters.

    A Service and a JobSet have a name that begins with a letter. Source: Kubernetes, RFC 1035 label names; JobSet,
    pkg/webhooks.
    """
    return f"{'' if name[0].isalpha() else 'step-'}{name[: _ROOM[operator]]}".rstrip("-")


def _given(inputs: tuple[ir.Input, ...]) -> tuple[ir.Argument, ...]:
    """What a graph hands on to a template that takes the same."""
    return tuple(ir.Argument(one.name, "parameter", Param(one.name, t.TEXT), t.TEXT) for one in inputs)
