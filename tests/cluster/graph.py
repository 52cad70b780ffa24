"""A graph: which tasks run, what they are given, and what the graph hands on.

Source: workflow/controller/{dag,scope,operator}.go of Argo 4.1.2; names of functions there are given where one
follows. Tasks run one after the other, in an order that their `depends` allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.expressions.values import json_of, shown
from tests.cluster.expr import evaluate
from tests.cluster.items import item, raw_items, yaml_to_json
from tests.cluster.node import (
    ERROR,
    FAILED,
    NOT_SUPPLIED,
    OMITTED,
    SKIPPED,
    SUCCEEDED,
    Hang,
    Json,
    Node,
    only,
)
from tests.cluster.store import location
from tests.cluster.syntax import ExprError, Unsupported
from tests.cluster.tags import ArgoError, Missing, nested, replaced

if TYPE_CHECKING:
    from tests.cluster.run import Workflow

_TASK = {"name", "template", "inline", "depends", "when", "continueOn", "withItems", "withParam", "arguments"}


class Graph:
    """The tasks of one `dag` template whose inputs are known, and what became of each."""

    def __init__(self, workflow: Workflow, node: Node, template: Json) -> None:
        self.workflow = workflow
        self.node = node
        self.template = template
        only(template["dag"], {"tasks"})
        self.tasks: dict[str, Json] = {one["name"]: one for one in template["dag"]["tasks"]}
        if len(self.tasks) != len(template["dag"]["tasks"]):
            raise Unsupported("tasks of one name")
        self.results: dict[str, tuple[str, ...]] = {}
        self.before = {name: self.dependencies(task) for name, task in self.tasks.items()}
        self.done: dict[str, Node] = {}
        self._ancestors: dict[str, dict[str, None]] = {}

    def dependencies(self, task: Json) -> list[str]:
        """The tasks that a task waits for: names joined by `&&`, or results of one task joined by `||`.

        Anything else raises `Unsupported`.
        """
        only(task, _TASK)
        if "depends" in task and any("continueOn" in one for one in self.tasks.values()):
            raise Unsupported("continueOn in a graph with depends")
        results = [word.strip().split(".") for word in task.get("depends", "").split("||")]
        if all(len(one) == 2 for one in results) and len({name for name, _ in results}) == 1:
            self.results[task["name"]] = tuple(result for _, result in results)
            return [results[0][0]]
        found = [word.strip() for word in task.get("depends", "").split("&&") if word.strip()]
        if not all(one in self.tasks for one in found):
            raise Unsupported(f"depends {task['depends']}")
        return found

    def ancestors(self, name: str) -> dict[str, None]:
        """All that a task waits for, directly or through others, in the order of the graph."""
        if name not in self._ancestors:
            found: dict[str, None] = {}
            for one in self.before[name]:
                found |= self.ancestors(one)
                found[one] = None
            self._ancestors[name] = found
        return self._ancestors[name]

    def run(self) -> Node:
        """Run the tasks and take the outputs (executeDAG)."""
        rest = list(self.tasks)
        while rest:
            ready = [one for one in rest if all(other in self.done for other in self.before[one])]
            if not ready:
                raise Unsupported("a cycle")
            for one in ready:
                self.done[one] = self.task(self.tasks[one])
            rest = [one for one in rest if one not in self.done]
        phase = self.phase()
        if phase is not SUCCEEDED:
            return self.node.ended(phase)
        try:
            self.outputs()
        except ArgoError as error:
            if self.node.name == self.workflow.name:
                raise
            # A task that depends on this one is omitted, and the workflow stays Running.
            raise Hang(f"an output of {self.node.name} cannot be evaluated: {error}") from None
        return self.node.ended(SUCCEEDED)

    def phase(self) -> str:
        """How the graph ended: as the tasks that none depends on (assessDAGPhase)."""
        depended = {other for before in self.before.values() for other in before}
        for name in sorted(self.tasks.keys() - depended):
            node = self.done[name]
            phase = node.phase
            if phase in (SKIPPED, OMITTED):  # as those before it
                before = [self.done[one].phase for one in self.ancestors(name)]
                phase = next((one for one in before if one in (FAILED, ERROR)), SUCCEEDED)
            if phase in (FAILED, ERROR) and not _goes_on(self.tasks[name], phase):
                return phase
        return SUCCEEDED

    def task(self, task: Json) -> Node:
        """Run one task (executeDAGTask)."""
        name = f"{self.node.name}.{task['name']}"
        node = self.workflow.nodes[name] = Node(name)
        try:
            if not self.wanted(task):
                return node.ended(OMITTED, "depends condition not met")
            resolved = self.resolved(task)
            if resolved is None:
                return node.ended(SKIPPED, "when is false")
            if "withItems" not in task and "withParam" not in task:
                return self.execute(name, resolved)
            return self.loop(node, resolved)
        except Missing as error:
            raise Hang(f"{name}: {error}") from None
        except (ArgoError, ExprError) as error:
            return node.ended(ERROR, str(error))

    def wanted(self, task: Json) -> bool:
        """Whether the results of what it waits for let a task run (evaluateDependsLogic)."""
        results: Json = {}
        parts: list[str] = []
        for one in self.before[task["name"]]:
            name = one.replace("-", "_")
            words = self.results.get(task["name"], (SUCCEEDED, SKIPPED, "Daemoned"))
            phase = {ERROR: "Errored"}.get(self.done[one].phase, self.done[one].phase)
            results[name] = {word: phase == word for word in words}
            parts.append(f"({' || '.join(f'{name}.{word}' for word in words)})")
        return evaluate(" && ".join(parts), results) is True if parts else True

    # --- references --------------------------------------------------------------------------------

    def scope(self, names: Mapping[str, None]) -> dict[str, Any]:
        """Inputs, and what tasks that have ended handed on (buildLocalScopeFromTask)."""
        found: dict[str, Any] = {}
        for one in self.template["inputs"]["parameters"]:
            found[f"inputs.parameters.{one['name']}"] = one["value"]
        for name in names:
            node = self.done[name]
            found[f"tasks.{name}.status"] = node.phase
            if node.items is not None:
                found |= _aggregate(name, node.items)
            elif node.parameters is not None:
                for output, value in node.parameters.items():
                    found[f"tasks.{name}.outputs.parameters.{output}"] = value
            elif node.phase in (SKIPPED, OMITTED):
                for one in self.called(self.tasks[name]).get("outputs", {}).get("parameters", []):
                    default = one.get("valueFrom", {}).get("default")
                    found[f"tasks.{name}.outputs.parameters.{one['name']}"] = default
        return found

    def called(self, task: Json) -> Json:
        """The template of a task, which may stand in the task itself."""
        found: Json = task["inline"] if "inline" in task else self.workflow.templates[task["template"]]
        return found

    def resolved(self, task: Json) -> Json | None:
        """A task with what those before it handed on, or None where it is not to run (resolveDependencyReferences)."""
        scope = {**self.workflow.globals, **self.scope(self.ancestors(task["name"]))}
        rest = {key: value for key, value in task.items() if key not in ("when", "depends")}
        if "when" in task:
            answer = replaced(task["when"], scope, "tasks")
            if answer not in ("true", "false"):
                raise Unsupported(f"when {answer}")
            if answer == "false":
                return None
        arguments = rest.get("arguments", {})
        if "parameters" in arguments:
            parameters = [_marked(one, scope) for one in arguments["parameters"]]
            rest["arguments"] = {**arguments, "parameters": parameters}
        made: Json = replaced(rest, scope, "tasks")
        if "artifacts" in arguments:
            found = [self.artifact(one) for one in made["arguments"]["artifacts"]]
            made["arguments"]["artifacts"] = [one for one in found if one is not None]
        return made

    def artifact(self, argument: Json) -> Json | None:
        """An argument with the place of its artifact; None where it may be missing, and is (resolveArtifact)."""
        only(argument, {"name", "from", "optional"})
        kind, _, path = argument["from"].removeprefix("{{").removesuffix("}}").partition(".")
        if kind == "inputs":
            for one in self.template["inputs"]["artifacts"]:
                if path == f"artifacts.{one['name']}":
                    return {**one, "name": argument["name"]}
        elif kind == "tasks":
            task, _, output = path.partition(".outputs.artifacts.")
            node = self.done.get(task)
            if node is not None and output in node.artifacts:
                return node.artifacts[output].spec(argument["name"])
        if argument.get("optional"):
            return None
        raise ArgoError(f"Unable to resolve: {argument['from']}")

    def outputs(self) -> None:
        """What the graph hands on (getTemplateOutputsFromScope)."""
        declared = self.template.get("outputs", {})
        scope = self.scope(dict.fromkeys(self.done))
        found: dict[str, str] = {}
        for one in declared.get("parameters", []):
            only(one, {"name", "valueFrom"})
            found[one["name"]] = _handed_on(one["valueFrom"], scope)
        self.node.parameters = found
        for one in declared.get("artifacts", []):
            artifact = self.artifact(one)
            if artifact is not None:
                self.node.artifacts[one["name"]] = location(artifact)

    # --- running -----------------------------------------------------------------------------------

    def execute(self, name: str, task: Json) -> Node:
        """Run the template of a task whose references are resolved."""
        node = self.workflow.template(name, self.called(task), task.get("arguments", {}))
        if node.items is None:
            return node
        raise Unsupported("a loop that is a template")

    def loop(self, node: Node, task: Json) -> Node:
        """Run a task for each item (expandTask, processItem)."""
        scope = {**self.workflow.globals, **self.scope(self.ancestors(task["name"]))}
        text = task["withParam"] if "withParam" in task else yaml_to_json(task["withItems"])
        try:
            items = raw_items(text)
        except ValueError:
            raise ArgoError(f"withParam value could not be parsed as a JSON list: {text}") from None
        if not items:
            return node.ended(SKIPPED, "empty params")
        body = {key: value for key, value in task.items() if key not in ("withItems", "withParam")}
        try:
            made = [replaced(body, {**scope, **item(one)}, "everything") for one in items]
        except Missing as error:  # nothing else can come, so it is not tried again
            raise ArgoError(str(error)) from None
        node.items = [self.execute(f"{node.name}({number})", one) for number, one in enumerate(made)]
        failed = [one.phase for one in node.items if one.phase in (FAILED, ERROR)]
        return node.ended(failed[-1] if failed else SUCCEEDED)


def _goes_on(task: Json, phase: str) -> bool:
    wanted = task.get("continueOn", {})
    return bool(wanted.get("failed" if phase is FAILED else "error"))


def _marked(argument: Json, scope: Mapping[str, Any]) -> Json:
    """An argument that is nothing but a reference to what was skipped counts as not given."""
    only(argument, {"name", "value"})
    value = argument["value"]
    name = value[2:-2].strip() if value.startswith("{{") and value.endswith("}}") else ""
    if name.startswith("tasks.") and name in scope and scope[name] is None:
        return {**argument, "value": NOT_SUPPLIED}
    return argument


def _aggregate(task: str, items: list[Node]) -> dict[str, Any]:
    """What a loop hands on: rows of those that succeeded, and a list for each output."""
    rows = [one.parameters for one in items if one.phase == SUCCEEDED and one.parameters]
    found: dict[str, Any] = {f"tasks.{task}.outputs.parameters": json_of(rows)}
    for name in {name: None for row in rows for name in row}:
        # Objects and lists are embedded; nothing that the compiler writes asks for these lists.
        found[f"tasks.{task}.outputs.parameters.{name}"] = json_of([row.get(name, "") for row in rows])
    return found


def _handed_on(source: Json, scope: Mapping[str, Any]) -> str:
    """The value of an output of a graph (resolveParameter)."""
    only(source, {"parameter", "expression", "default"})
    default: str | None = source.get("default")
    try:
        if "expression" in source:
            value = evaluate(source["expression"], nested(scope))
        else:
            name = source["parameter"].removeprefix("{{").removesuffix("}}").strip()
            if name not in scope:
                raise ArgoError(f"Unable to resolve: {name!r}")
            value = scope[name]
        if value is None and default is None:
            raise ArgoError(f"{source} is an absent optional")
    except (ArgoError, ExprError) as error:
        if default is None:
            raise ArgoError(str(error)) from None
        return default
    return shown(value) if value is not None else str(default)
