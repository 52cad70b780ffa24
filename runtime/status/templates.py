"""Finds the template that a node executes among those stored in the Workflow object.

Source: GetStoredTemplate and resolveTemplateReference in pkg/apis/workflow/v1alpha1/workflow_types.go of Argo 4.1:
a template of another object is stored under its scope, the name of that object, and its own name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.runtime.parts import part, several, text

if TYPE_CHECKING:
    from flowdsl.runtime.status.node import Node

Json = dict[str, Any]


class Templates:
    """The templates of a run."""

    def __init__(self, workflow: Json) -> None:
        status = part(workflow, "status")
        spec = part(status, "storedWorkflowTemplateSpec") or part(workflow, "spec")
        self.spec = spec
        """The spec that the run executes: its own, or that of the WorkflowTemplate to which it refers."""
        self._stored = part(status, "storedTemplates")
        self._own = {text(one, "name"): one for one in several(spec, "templates")}

    def of(self, node: Node) -> Json:
        """The template of a node; empty if it is not known."""
        reference = part(node.found, "templateRef")
        if reference:
            scope = "cluster" if reference.get("clusterScope") else "namespaced"
            return self._kept(f"{scope}/{text(reference, 'name')}/{text(reference, 'template')}")
        scope = text(node.found, "templateScope")
        if scope and not scope.startswith("local/"):
            return self._kept(f"{scope}/{node.template}") or self._own.get(node.template, {})
        return self._own.get(node.template, {})

    def _kept(self, key: str) -> Json:
        return part(self._stored, key)
