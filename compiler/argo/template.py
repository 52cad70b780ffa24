"""Templates and tasks, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl import types as t
from flowdsl.compiler import ir
from flowdsl.compiler.argo import caching, code, control, placement
from flowdsl.compiler.argo.origins import filled
from flowdsl.compiler.argo.pod import OUTPUTS, container
from flowdsl.compiler.expressions import condition, raw, simple, text_of
from flowdsl.expr import Expr, Out, Param

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.argo.origins import Json, Origins


class Writer:
    """Writes templates; those `inline` are written inside the one task that uses them."""

    def __init__(self, origins: Origins, inline: Mapping[str, ir.Template]) -> None:
        self.origins = origins
        self.inline = inline

    # --- templates ---------------------------------------------------------------------------------

    def template(self, template: ir.Template) -> Json:
        """A template: a pod or a graph."""
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
            if body.parallelism is not None:
                found["parallelism"] = body.parallelism
            tasks = [self.task(task, body) for task in body.tasks]
            found["dag"] = {"tasks": tasks}
            self.origins.update(((id(tasks), index), task.place) for index, task in enumerate(body.tasks))
            return found
        settings = template.settings
        self.origins.write(found, placement.fields(settings.placement), template)
        self.origins.write(found, control.fields(settings.control), template)
        self.origins.write(found, caching.fields(template.memo), template)
        volumes = code.volumes(template)
        if body.output_folder:
            volumes.append({"name": OUTPUTS, "emptyDir": {}})
        if volumes:
            found["volumes"] = volumes
        key = "container" if body.source is None else "script"
        found[key] = container(body, template, self.origins)
        self.origins.note(found, key, template.place)
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
        return filled({"parameters": parameters, "artifacts": artifacts})

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
                if one.kept:
                    stored["artifactGC"] = {"strategy": "Never"}  # a later run may find it in its cache
                artifacts.append({"name": one.name, **stored, **_optional(one.optional)})
            else:
                parameters.append({"name": one.name, **_parameter_source(one, graph)})
        return filled({"parameters": parameters, "artifacts": artifacts})

    # --- tasks -------------------------------------------------------------------------------------

    def task(self, task: ir.Task, graph: ir.Graph) -> Json:
        """A task of a graph."""
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
            found["arguments"] = filled({"parameters": parameters, "artifacts": artifacts})
        return found


def _count(loop: ir.Loop) -> str:
    """How many elements a list has; lists that are walked together must have as many."""
    assert loop.over is not None
    count, *others = [f"len(fromJSON({raw(one)}))" for one in (loop.over, *loop.beside)]
    if not others:
        return count
    alike = " && ".join(f"{count} == {other}" for other in others)
    return f"({alike} ? {count} : asInt('the lists that are walked together differ in length'))"


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
