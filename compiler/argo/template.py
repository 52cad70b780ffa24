"""Templates and tasks, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler import ir
from flowdsl.compiler.argo import (
    bodies,
    caching,
    code,
    companions,
    control,
    daemon,
    distributed,
    identity,
    placement,
)
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.patch import TASK, TEMPLATE
from flowdsl.compiler.argo.pod import OUTPUTS, container
from flowdsl.compiler.argo.sources import location, packing
from flowdsl.compiler.argo.volumes import volume
from flowdsl.compiler.expressions import condition, handed_on, length, simple, text_of
from flowdsl.compiler.tree import is_mapping
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Out, Param, Stored

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.argo.origins import Json, Origins
    from flowdsl.compiler.argo.patch import Patcher


USUAL = ir.Settings()
"""The settings of a step without options: a concern that is identical to its default writes nothing."""


class Writer:
    """Writes templates; those in `inline` are written inside the one task that uses them.

    Those in `foreign` are not written: their tasks refer to the cluster. `spec` and `claims` apply to
    all pods of the run, and so does what the pipeline patches: `everywhere`.
    """

    def __init__(
        self,
        origins: Origins,
        inline: Mapping[str, ir.Template],
        foreign: Mapping[str, ir.Template],
        patcher: Patcher,
        spec: Json,
        claims: tuple[ir.PodVolume, ...],
        everywhere: Mapping[str, Any],
    ) -> None:
        self.spec = spec
        self.everywhere = everywhere
        self.claims = claims
        self.origins = origins
        self.patcher = patcher
        self.inline = inline
        self.foreign = foreign

    # --- templates ---------------------------------------------------------------------------------

    def template(self, template: ir.Template) -> Json:
        """A template: a pod or a graph."""
        found = self._patched(template)
        runs: object = found.get("container") or found.get("script")
        if template.settings.distributed.workers and isinstance(template.body, ir.Pod) and is_mapping(runs):
            servers = distributed.aside(template)
            others = None if servers is None else placement.placed(self._patched(servers), self.everywhere)
            found = placement.placed(found, self.everywhere)
            found = distributed.job(found, template, self.spec, self.claims, others)
            for name in ("inputs", "resource"):
                self.origins.note(found, name, template.place)
        return found

    def _patched(self, template: ir.Template) -> Json:
        found = self._template(template)
        for patch in template.patches:
            self.patcher.merge(found, patch.fields, TEMPLATE, patch.place)
        return found

    def _template(self, template: ir.Template) -> Json:
        found: Json = {"name": template.name}
        body = template.body
        for name in ("name", "inputs", "outputs", "dag"):
            self.origins.note(found, name, template.place)
        if template.inputs:
            found["inputs"] = self._inputs(template.inputs)
        code.add_repository(found, template, self.origins)
        if template.outputs:
            found["outputs"] = self._outputs(template.outputs, isinstance(body, ir.Graph))
        if isinstance(body, ir.Graph):
            self._graph(found, template, body)
            return found
        settings = template.settings
        placed = settings.placement is not USUAL.placement
        if placed:
            fields = placement.fields(settings.placement, template.name)
            self.origins.write(found, placement.beside(fields, self.everywhere, template.places), template)
            for part in placement.OF_OTHERS & found.get("affinity", {}).keys():
                self.origins.option(found["affinity"], part, template, "placement")
        spot = settings.placement.spot and not settings.daemon.on  # a new daemon would have another address
        if settings.control is not USUAL.control or spot:
            self.origins.write(found, control.fields(settings.control, spot=spot), template)
        if settings.daemon is not USUAL.daemon:
            self.origins.write(found, daemon.fields(settings.daemon), template)
        if template.memo is not None:
            self.origins.write(found, caching.fields(template.memo), template)
        if placed or settings.identity is not USUAL.identity:
            identity.write(found, template, self.origins)
        if not isinstance(body, ir.Pod):
            key, found_body = bodies.body(template, self.spec, self.origins)
            found[key] = found_body
            self.origins.note(found, key, template.place)
            return found
        local = [ir.PodVolume(OUTPUTS, "scratch")] if body.output_folder else []
        if volumes := [volume(one) for one in (*local, *body.volumes)]:
            found["volumes"] = volumes
            self.origins.option(found, "volumes", template, "mounts", "shm")
        key = "container" if body.source is None else "script"
        found[key] = container(body, template, self.origins)
        self.origins.note(found, key, template.place)
        if settings.companions is not USUAL.companions:
            self.origins.write(found, companions.fields(settings.companions), template)
        return found

    def _graph(self, found: Json, template: ir.Template, body: ir.Graph) -> None:
        if body.parallelism is not None:
            found["parallelism"] = body.parallelism
            self.origins.option(found, "parallelism", template, "parallelism")
        self.origins.write(found, control.fields(template.settings.control), template)
        tasks = [self.task(task, body) for task in body.tasks]
        found["dag"] = {"failFast": False, "tasks": tasks} if body.whole else {"tasks": tasks}
        for index, task in enumerate(body.tasks):
            self.origins.note(tasks, index, task.place)

    def _inputs(self, inputs: tuple[ir.Input, ...]) -> Json:
        parameters: list[Json] = []
        artifacts: list[Json] = []
        for one in inputs:
            if one.kind != "artifact":
                default = {} if one.default is None else {"default": one.default}
                parameters.append({"name": one.name, **default, **_question(one)})
            if one.kind != "parameter":
                artifact: Json = {"name": one.name}
                if one.path is not None:
                    artifact["path"] = one.path
                artifact |= _optional(one.optional)
                if one.kind == "key":
                    artifact["archive"] = {"none": {}}  # else Argo unpacks a file that is an archive
                    artifact["s3"] = {"key": f"{{{{inputs.parameters.{one.name}}}}}"}
                if one.kind == "text":
                    # The JSON of a loop: a `$` occurs only inside its texts, where it may be escaped.
                    data = f"{{{{=replace(inputs.parameters['{one.name}'], '$', '\\\\u0024')}}}}"
                    artifact["raw"] = {"data": data}
                artifacts.append(artifact)
        return filled({"parameters": parameters, "artifacts": artifacts})

    def _outputs(self, outputs: tuple[ir.Output, ...], graph: bool) -> Json:
        parameters: list[Json] = []
        artifacts: list[Json] = []
        for one in outputs:
            if one.kind == "artifact":
                source = {**_artifact_source(one), **packing(one.archive)}
                artifacts.append({"name": one.name, **source, **_optional(one.optional)})
                continue
            if one.kind == "key":
                assert one.value is not None
                key = text_of(one.value, t.TEXT)
                parameters.append({"name": one.name, "value": key})
                stored: Json = {"path": one.path, "archive": {"none": {}}, "s3": {"key": key}}
                if one.kept:
                    stored["artifactGC"] = {"strategy": "Never"}  # a later run may find it in its cache
                artifacts.append({"name": one.name, **stored, **_optional(one.optional)})
            else:
                parameters.append({"name": one.name, **_parameter_source(one, graph)})
        return filled({"parameters": parameters, "artifacts": artifacts})

    # --- tasks -------------------------------------------------------------------------------------

    def task(self, task: ir.Task, graph: ir.Graph) -> Json:
        """A task of a graph."""
        found: Json = {"name": task.name, **self._called(task.template)}
        if task.after or task.ended:
            found["depends"] = _depends(task)
        if task.when is not None:
            found["when"] = "false" if isinstance(task.when, Const) else condition(task.when)
        loop = task.loop
        bears = task.may_fail or (loop is not None and loop.keep_going)
        if bears and len(graph.tasks) == 1:  # else the task after it does
            found["continueOn"] = {"failed": True, "error": True}
        if loop is not None:
            found |= _items(loop)
        if arguments := self._arguments(task):
            found["arguments"] = arguments
        for patch in task.patches:
            self.patcher.merge(found, patch.fields, TASK, patch.place, ("task",))
        return found

    def _called(self, name: str) -> Json:
        """The reference of a task to the template that it calls."""
        if name == ir.NOTHING:
            return {"inline": {"suspend": {}}}
        if name in self.foreign:
            library = self.foreign[name].settings.library
            place = {"name": library.library, "template": library.template}
            return {"templateRef": {**place, "clusterScope": True} if library.cluster else place}
        if name in self.inline:
            inner = self.template(self.inline[name])
            del inner["name"]
            return {"inline": inner}
        return {"template": name}

    def _arguments(self, task: ir.Task) -> Json:
        """The arguments of a task for its template; one of the cluster has its own names for them."""
        foreign = self.foreign.get(task.template)
        names: Mapping[str, str] = {} if foreign is None else foreign.settings.library.names
        parameters: list[Json] = []
        artifacts: list[Json] = []
        for port, kind, value, typed in task.arguments:
            name = names.get(port, port)
            if kind == "artifact":
                optional = isinstance(value.type, t.Maybe)
                artifacts.append({"name": name, **_from(value), **_optional(optional)})
            elif kind == "key" and foreign is not None:  # it is passed the location of the file
                stored: Json = {"archive": {"none": {}}, "s3": {"key": text_of(value, typed)}}
                artifacts.append({"name": name, **stored})
            else:
                parameters.append({"name": name, "value": text_of(value, typed)})
        return filled({"parameters": parameters, "artifacts": artifacts})


def _items(loop: ir.Loop) -> Json:
    """What a task iterates over."""
    if loop.items is not None:
        return {"withItems": list(loop.items)}
    if loop.elements:
        assert loop.over is not None
        return {"withParam": text_of(loop.over, t.JSON)}
    return {"withParam": f"{{{{=toJSON(0..{_count(loop)}-1)}}}}"}


def _depends(task: ir.Task) -> str:
    if not task.ended:
        return " && ".join(task.after)
    ways = [" || ".join(f"{name}.{result}" for result in results) for name, results in task.ended]
    if len(ways) == 1 and not task.after:
        return ways[0]
    return " && ".join([*task.after, *(f"({way})" for way in ways)])


def _count(loop: ir.Loop) -> str:
    """The number of items; lists that are iterated in parallel must have the same length."""
    assert loop.over is not None
    count, *others = map(length, (loop.over, *loop.beside))
    if loop.product or not others:
        return " * ".join((count, *others))
    alike = " && ".join(f"{count} == {other}" for other in others)
    return f"({alike} ? {count} : asInt('the lists that are walked together differ in length'))"


def _question(one: ir.Input) -> Json:
    """What people see of it. Without a default, a question is empty: Argo would take one as the answer."""
    if one.asked is None:
        return filled({"description": one.about})
    value = {} if one.default is not None or not one.asked.answered else {"value": ""}
    return value | filled({"enum": list(one.asked.choices), "description": one.asked.about or one.about})


def _optional(optional: bool) -> Json:
    return {"optional": True} if optional else {}


def _artifact(value: Expr) -> str:
    if isinstance(value, Out):
        return f"{{{{tasks.{value.task}.outputs.artifacts.{value.name}}}}}"
    assert isinstance(value, Param)
    return f"{{{{inputs.artifacts.{value.name}}}}}"


def _from(value: Expr) -> Json:
    return location(value) if isinstance(value, Stored) else {"from": _artifact(value)}


def _artifact_source(output: ir.Output) -> Json:
    if output.value is not None:
        return _from(output.value)
    return {"path": output.path}


def _parameter_source(output: ir.Output, graph: bool) -> Json:
    value = output.value
    if output.origin == "person":
        default = {} if output.default is None else {"default": output.default}
        return {"valueFrom": {"supplied": {}, **default}}
    if output.origin != "file":
        return {"valueFrom": {"jsonPath" if output.origin == "json path" else "jqFilter": output.path}}
    if value is None:
        return {"valueFrom": {"path": output.path}}
    if not graph:
        return {"value": text_of(value, t.TEXT)}
    default = {} if output.default is None else {"default": output.default}
    if isinstance(value, Out):
        tag = f"{{{{tasks.{value.task}.outputs.parameters}}}}" if not value.name else simple(value)
        return {"valueFrom": {"parameter": tag, **default}}
    return {"valueFrom": {"expression": handed_on(value), **default}}
