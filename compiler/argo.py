"""The program as Argo's objects: the only place that writes Argo's field names.

A manifest is plain dicts and lists in the order they are written. Beside it go the origins: for each
part that a user's text decides, keyed by the identity of the dict or list that holds it and the key, the
place of that text.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from flowdsl import types as t
from flowdsl.compiler import ir
from flowdsl.compiler.expressions import condition, raw, simple, text_of
from flowdsl.compiler.ports import OUT
from flowdsl.compiler.split import inlined
from flowdsl.expr import Const, Expr, Join, Out, Param
from flowdsl.place import Place
from flowdsl.volume import Secret

Json = dict[str, Any]
Origins = dict[tuple[int, str | int], Place]

API_VERSION = "argoproj.io/v1alpha1"
OUTPUTS = "flowdsl-outputs"
"""The empty folder that a container step writes its outputs to: Argo makes none."""


class Manifest(NamedTuple):
    """One object for the cluster, and where its parts come from."""

    body: Json
    origins: Origins


def to_argo(program: ir.Program, kind: str) -> Manifest:
    """A program as a `Workflow` (to be created) or a `WorkflowTemplate` (to be applied)."""
    writer = _Writer()
    return Manifest(writer.document(program, kind), writer.origins)


class _Writer:
    def __init__(self) -> None:
        self.origins: Origins = {}
        self.inline: dict[str, ir.Template] = {}

    def document(self, program: ir.Program, kind: str) -> Json:
        options = program.options
        metadata: Json = (
            {"generateName": f"{program.name}-"} if kind == "Workflow" else {"name": program.name}
        )
        for field in ("labels", "annotations"):
            if field in options:
                metadata[field] = options[field]
                self._origin(metadata, field, program.places[field])
        if "name" in program.places:
            for key in metadata:
                self.origins.setdefault((id(metadata), key), program.places["name"])
        spec: Json = {"entrypoint": program.entrypoint}
        for field, option in _SPEC.items():
            if option in options:
                spec[field] = (
                    {"secondsAfterCompletion": options[option]} if option == "ttl" else options[option]
                )
                self._origin(spec, field, program.places[option])
        if program.parameters:
            spec["arguments"] = {
                "parameters": [
                    {"name": name} if value is None else {"name": name, "value": value}
                    for name, value in program.parameters
                ]
            }
        if program.volumes:
            spec["volumes"] = [
                {"name": name, "persistentVolumeClaim": {"claimName": claim}}
                for name, claim in program.volumes
            ]
        program, inline = inlined(program)
        self.inline = {one.name: one for one in program.templates if one.name in inline}
        spec["templates"] = [self.template(one) for one in program.templates if one.name not in inline]
        document = {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": spec}
        self._origin(document, "spec", program.place)
        self._origin(document, "metadata", program.place)
        return document

    def _origin(self, holder: Json, key: str, place: Place) -> None:
        self.origins[id(holder), key] = place

    # --- templates ---------------------------------------------------------------------------------

    def template(self, template: ir.Template) -> Json:
        found: Json = {"name": template.name}
        body = template.body
        for name in ("name", "inputs", "outputs", "dag"):
            self._origin(found, name, template.place)
        if template.inputs:
            found["inputs"] = self._inputs(template.inputs)
        if template.outputs:
            found["outputs"] = self._outputs(template.outputs, isinstance(body, ir.Graph))
        if isinstance(body, ir.Graph):
            if body.parallelism is not None:
                found["parallelism"] = body.parallelism
            tasks = [self.task(task, body) for task in body.tasks]
            found["dag"] = {"tasks": tasks}
            self.origins.update(((id(tasks), index), task.place) for index, task in enumerate(body.tasks))
            return found
        self._pod_fields(found, body, template)
        if body.output_folder:
            found["volumes"] = [{"name": OUTPUTS, "emptyDir": {}}]
        key = "container" if body.source is None else "script"
        found[key] = self._container(body, template)
        self._origin(found, key, template.place)
        return found

    def _inputs(self, inputs: tuple[ir.Input, ...]) -> Json:
        parameters: list[Json] = []
        artifacts: list[Json] = []
        for one in inputs:
            if one.kind != "artifact":
                default = {} if one.default is None else {"default": one.default}
                parameters.append({"name": one.name, **default})
            if one.kind != "parameter":
                artifact: Json = {"name": one.name}
                if one.path is not None:
                    artifact["path"] = one.path
                artifact |= _optional(one.optional)
                if one.kind == "key":
                    artifact["archive"] = {"none": {}}  # else Argo unpacks a file that is an archive
                    artifact["s3"] = {"key": f"{{{{inputs.parameters.{one.name}}}}}"}
                if one.kind == "text":
                    # The JSON of a loop: a `$` stands only inside its texts, where it may be escaped.
                    data = f"{{{{=replace(inputs.parameters['{one.name}'], '$', '\\\\u0024')}}}}"
                    artifact["raw"] = {"data": data}
                artifacts.append(artifact)
        return _filled({"parameters": parameters, "artifacts": artifacts})

    def _outputs(self, outputs: tuple[ir.Output, ...], graph: bool) -> Json:
        parameters: list[Json] = []
        artifacts: list[Json] = []
        for one in outputs:
            if one.kind == "artifact":
                artifacts.append({"name": one.name, **_artifact_source(one), **_optional(one.optional)})
                continue
            if one.kind == "key":
                assert one.value is not None
                key = text_of(one.value, t.TEXT)
                parameters.append({"name": one.name, "value": key})
                stored: Json = {"path": one.path, "archive": {"none": {}}, "s3": {"key": key}}
                artifacts.append({"name": one.name, **stored, **_optional(one.optional)})
            else:
                parameters.append({"name": one.name, **_parameter_source(one, graph)})
        return _filled({"parameters": parameters, "artifacts": artifacts})

    def _pod_fields(self, found: Json, pod: ir.Pod, template: ir.Template) -> None:
        placement = pod.placement
        fields: list[tuple[str, Any, str]] = [
            ("nodeSelector", dict(placement.node), "node"),
            ("affinity", _affinity(placement), "where"),
            ("tolerations", [dict(one) for one in placement.tolerations], "tolerations"),
            ("priorityClassName", placement.priority, "priority"),
            ("retryStrategy", _retries(pod.retries), "retries"),
            ("timeout", pod.timeout, "timeout"),
        ]
        for field, value, option in fields:
            if value:
                found[field] = value
                place = template.places.get(option) or template.places.get("gpu") or template.place
                self._origin(found, field, place)

    def _container(self, pod: ir.Pod, template: ir.Template) -> Json:
        places = template.places
        words = [pod_text(word) for word in pod.command]
        found: Json = {"image": pod.image, "command": words[:1]}
        if words[1:]:
            found["args"] = words[1:]
        self._origin(found, "image", places.get("image", template.place))
        env: list[Json] = []
        for name, value in pod.env:
            if isinstance(value, Secret):
                source = {"secretKeyRef": {"name": value.name, "key": value.key}}
                entry: Json = {"name": name, "valueFrom": source}
                place = places.get("secrets", template.place)
            else:
                entry = {"name": name, "value": pod_text(value)}
                place = places.get("env", template.place)
            self._origin(entry, "name", place)
            env.append(entry)
        if env:
            found["env"] = env
            self._origin(found, "env", places.get("env", template.place))
        resources = _filled({"requests": dict(pod.requests), "limits": dict(pod.limits)})
        if resources:
            found["resources"] = resources
            for amounts in resources.values():
                for name in amounts:
                    option = name if name in ("cpu", "memory") else "gpu"
                    self._origin(amounts, name, places.get(option, template.place))
        mounts = [_mount(mount) for mount in pod.mounts]
        if pod.output_folder:
            mounts.append({"name": OUTPUTS, "mountPath": OUT})
        if mounts:
            found["volumeMounts"] = mounts
            self._origin(found, "volumeMounts", places.get("mounts", template.place))
        if pod.source is not None:
            found["source"] = pod.source
        return found

    # --- tasks -------------------------------------------------------------------------------------

    def task(self, task: ir.Task, graph: ir.Graph) -> Json:
        found: Json = {"name": task.name}
        if task.template in self.inline:
            found["inline"] = self.template(self.inline[task.template])
            del found["inline"]["name"]
        else:
            found["template"] = task.template
        if task.after:
            found["depends"] = " && ".join(task.after)
        if task.when is not None:
            found["when"] = condition(task.when)
        loop = task.loop
        if loop is not None:
            if loop.keep_going:
                found["continueOn"] = {"failed": True, "error": True}
            if loop.items is not None:
                found["withItems"] = list(loop.items)
            else:
                found["withParam"] = f"{{{{=toJSON(0..{_count(loop)}-1)}}}}"
        parameters: list[Json] = []
        artifacts: list[Json] = []
        for name, kind, value, typed in task.arguments:
            if kind == "artifact":
                optional = isinstance(value.type, t.Maybe)
                artifacts.append({"name": name, "from": _artifact(value), **_optional(optional)})
            else:
                parameters.append({"name": name, "value": text_of(value, typed)})
        if parameters or artifacts:
            found["arguments"] = _filled({"parameters": parameters, "artifacts": artifacts})
        return found


def _count(loop: ir.Loop) -> str:
    """How many elements a list has; lists that are walked together must have as many."""
    assert loop.over is not None
    count, *others = [f"len(fromJSON({raw(one)}))" for one in (loop.over, *loop.beside)]
    if not others:
        return count
    alike = " && ".join(f"{count} == {other}" for other in others)
    return f"({alike} ? {count} : asInt('the lists that are walked together differ in length'))"


_SPEC = {
    "serviceAccountName": "service_account",
    "parallelism": "parallelism",
    "activeDeadlineSeconds": "timeout",
    "podPriorityClassName": "priority",
    "ttlStrategy": "ttl",
}


def _retries(limit: int | None) -> Json | None:
    """Retries also of pods that were evicted, preempted or deleted: those are errors, not failures, to Argo."""
    return {"limit": limit, "retryPolicy": "Always"} if limit else None


def _filled(fields: Json) -> Json:
    return {name: value for name, value in fields.items() if value}


def _optional(optional: bool) -> Json:
    return {"optional": True} if optional else {}


def _artifact(value: Expr) -> str:
    if isinstance(value, Out):
        return f"{{{{tasks.{value.task}.outputs.artifacts.{value.name}}}}}"
    assert isinstance(value, Param)
    return f"{{{{inputs.artifacts.{value.name}}}}}"


def _artifact_source(output: ir.Output) -> Json:
    if output.value is not None:
        return {"from": _artifact(output.value)}
    return {"path": output.path}


def _parameter_source(output: ir.Output, graph: bool) -> Json:
    value = output.value
    if value is None:
        return {"valueFrom": {"path": output.path}}
    if not graph:
        return {"value": text_of(value, t.TEXT)}
    default = {} if output.default is None else {"default": output.default}
    if isinstance(value, Out):
        tag = f"{{{{tasks.{value.task}.outputs.parameters}}}}" if not value.name else simple(value)
        return {"valueFrom": {"parameter": tag, **default}}
    return {"valueFrom": {"expression": raw(value)}}


def _affinity(placement: ir.Placement) -> Json | None:
    if not placement.affinity:
        return None
    terms = [
        {
            "matchExpressions": [
                {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
                for key, operator, values in group
            ]
        }
        for group in placement.affinity
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"nodeAffinity": required}


def _mount(mount: ir.Mount) -> Json:
    found: Json = {"name": mount.volume, "mountPath": mount.path}
    if mount.sub_path:
        found["subPath"] = mount.sub_path
    if mount.read_only:
        found["readOnly"] = True
    return found


_DOLLAR = re.compile(r"\$(?=[$(]|\Z)")


def pod_text(expr: Expr) -> str:
    """A word of a command line or a variable's value, such that the pod sees it as it is.

    The kubelet replaces `$(NAME)` and `$$`; a `$` that may begin either is doubled. Source: Kubernetes, the
    expansion of variables in command, args and env.
    """
    match expr:
        case Const(value):
            return _DOLLAR.sub("$$", str(value))
        case Join(parts):
            return "".join(pod_text(Const(p, t.TEXT) if isinstance(p, str) else p) for p in parts)
        case Param(name, kind) if may_hold_dollar(kind):
            return f"{{{{=replace(inputs.parameters['{name}'], '$', '$$')}}}}"
        case _:
            return text_of(expr, expr.type)


def may_hold_dollar(kind: t.Type) -> bool:
    """Whether the text of a value of the type may hold a `$`."""
    match kind:
        case t.Number() | t.Flag() | t.Nothing() | t.Enumeration():
            return False
        case t.Choice(values):
            return any("$" in str(value) for value in values)
        case t.Maybe(item) | t.Sequence(item):
            return may_hold_dollar(item)
        case _:
            return True
