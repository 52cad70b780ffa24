"""What a pipeline says of templates that the cluster has, in Argo's fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.values import types as t

if TYPE_CHECKING:
    from flowdsl.compiler.argo.origins import Json


def declared(program: ir.Program) -> list[Json]:
    """The objects with templates that a pipeline calls, as its functions declare them: their bodies are unknown."""
    found: dict[tuple[str, bool], dict[str, Json]] = {}
    for template in program.templates:
        if isinstance(template.body, ir.Reference):
            library = template.settings.library
            templates = found.setdefault((library.library, library.cluster), {})
            templates[library.template] = {"name": library.template, **_outputs(program, template)}
    return [
        {
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "ClusterWorkflowTemplate" if cluster else "WorkflowTemplate",
            "metadata": {"name": name},
            "spec": {"templates": list(templates.values())},
        }
        for (name, cluster), templates in found.items()
    ]


def _outputs(program: ir.Program, template: ir.Template) -> Json:
    names = template.settings.library.names
    parameters: list[Json] = []
    artifacts: list[Json] = []
    for out in t.outputs(program.signatures[template.name].returns):
        name = names.get(out.name, out.name)
        if t.holds_file(out.type):
            artifacts.append({"name": name, "path": f"/{name}"})
        else:
            parameters.append({"name": name, "valueFrom": {"path": f"/{name}"}})
    # A container without an image, as every template has a body.
    return {"outputs": {"parameters": parameters, "artifacts": artifacts}, "container": {"image": ""}}
