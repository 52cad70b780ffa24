"""What a graph and a list of steps have in common while they are executed."""

# Values of a manifest, and of expressions, may be anything.
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.expressions.evaluate import evaluate
from flowdsl.runtime.expressions.values import ExpressionError, shown
from flowdsl.runtime.local import items
from flowdsl.runtime.local.names import any_string, rfc3339
from flowdsl.runtime.local.node import ERROR, FAILED, OMITTED, SKIPPED, SUCCEEDED, Json, Node
from flowdsl.runtime.local.scope import Record, Scope
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.tags import ArgoError, Missing, replaced, tagged
from flowdsl.runtime.local.templates import ABSENT, Base, input_variables

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.run import Boundary, Leaf, Run, Turn

FAIL_FAST = "template has failed or errored children and failFast enabled"


class Frame:
    """A template of kind steps or dag that is executed: the boundary of its children."""

    def __init__(self, run: Run, execution: Leaf, node: Node, template: Json, base: Base) -> None:
        self.execution = execution
        self.machine = run
        self.node = node
        self.template = template
        self.base = base
        self.depth = execution.call.depth
        self.on_exit = execution.call.on_exit
        self.origin = execution.origin
        self.inputs = input_variables(template)
        self._made_at = self._seen = run.globals.changes
        self.over = False
        self.inside: dict[str, Boundary] = {}
        """The templates that are executed in this one, by the names of their nodes."""
        # Of the nodes whose boundary this is, of the types Pod, Steps and DAG. Source: node_counters.go.
        self.active = 0
        self.active_pods = 0
        self.unsuccessful = 0
        self.failures = 0
        """Of those, how many had failed when this pass began; that graphs and lists in it fail, it finds out."""
        self.grown = 0
        """In which pass a pod in it was last asked for."""
        self.postponed: list[Callable[[], None]] = []
        """What looks at it when it goes on again."""
        self.waiting: list[Turn] = []
        self.queued: deque[int] = deque()
        """The ranks of those of its children that wait for a place in the workflow, in the order of their turns."""
        self.daemons: list[Node] = []
        self.lost = ""
        """What is missing below it, without which a graph never ends."""

    def start(self) -> None:
        """Begin with what waits for nothing."""
        raise NotImplementedError

    def stuck(self) -> list[str]:
        """What waits for something that never comes, in a sentence each."""
        return []

    @property
    def parallelism(self) -> int:
        """How many of its children may be active, or 0."""
        found = self.template.get("parallelism")
        return int(found) if found else 0

    def blocked(self) -> bool:
        """Whether no child may be started now. Source: checkParallelism."""
        if self.gives_up():
            return True
        return bool(self.parallelism) and self.active >= self.parallelism

    def full(self) -> bool:
        """Whether as many of its pods were at work when this pass began as may: then Argo does not look at it."""
        return (
            bool(self.parallelism)
            and self.active_pods >= self.parallelism
            and self.grown != self.machine.passes
            and not self.node.retried
        )

    def turns_away(self, again: Callable[[], None]) -> bool:
        """Whether the exit hook of a child does not wait for a place where there is none; `again` asks for it anew."""
        return False

    def gives_up(self) -> bool:
        """Whether a child has failed, and `failFast` of the template lets nothing more begin."""
        return self.template.get("failFast") is True and self.unsuccessful > 0

    def fail_fast(self, *, begins: bool = False) -> bool:
        """End the frame where `failFast` of the template asks for it, and say whether it has ended.

        An attempt of a template that is tried again is asked only when a child begins (checkParallelism).
        """
        asked = self.gives_up() if begins else self.frozen()
        if not self.over and asked and not self.active_pods:
            self.abort()
        return self.over

    def comes_to(self, node: Node) -> bool:
        """Whether it goes on, and looks at a node in it that has ended."""
        return not self.over

    def frozen(self) -> bool:
        """Whether nothing goes on in it but its pods, for `failFast`: when they have ended, it fails."""
        return self.template.get("failFast") is True and self.failures > 0 and not self.node.retried

    def abort(self) -> None:
        """Fail at once, with children that are not started, or not ended."""
        self.finish(FAILED, FAIL_FAST)

    def finish(self, phase: str, message: str | None = None, error: str | None = None) -> None:
        """End with a phase: daemons are ended, but not for an error; what asked for the template goes on."""
        if self.over:
            return
        self.abandon()
        if error is None:
            for daemon in self.daemons:
                self.machine.end_daemon(daemon)
            self.machine.mark(self.node, phase, message)
        self.execution.body_ended(self.node, error)

    def abandon(self) -> None:
        """Begin nothing more, here and in what is executed in this one."""
        self.over = True
        self.waiting.clear()
        self.machine.end_frame(self)
        for frame in list(self.inside.values()):
            frame.abandon()

    def timed_out(self, node: Node, message: str) -> None:
        """A child has waited too long; it has failed."""

    def refuse(self, error: str) -> None:
        """End with an error of the template itself, such as an output that cannot be computed."""
        self.finish(ERROR, error=error)

    def shut_down(self) -> None:
        """The run is to stop, and this is no part of an exit handler."""
        raise NotImplementedError

    # --- variables ---------------------------------------------------------------------------------

    def renewed(self, made: Json, raw: Json) -> Json:
        """A part of the template as the variables of the workflow have it now; `raw` is the part with its tags.

        Raises ArgoError.
        """
        changes = self.machine.settled_at
        if changes <= self._made_at:
            return made
        if changes != self._seen:
            self._seen = changes
            inputs = {"inputs": part(self.origin.raw, "inputs")}
            if tagged(inputs):
                self.inputs = input_variables(self.origin.part(inputs))
        return self.origin.part(raw)

    def child(
        self,
        kind: str,
        name: str,
        holder: Json,
        created: Callable[[Node], None],
        done: Callable[[Node, str | None], None],
        rank: int = 0,
        node: Node | None = None,
    ) -> None:
        """Execute the template that a task or step names; `kind` is `tasks` or `steps`, `node` is there already."""
        self.machine.call(
            name,
            holder,
            part(holder, "arguments"),
            base=self.base,
            frame=self,
            on_exit=self.on_exit,
            kind=kind,
            rank=rank,
            created=created,
            done=done,
            node=node,
        )

    def record(self, node: Node, declared: Callable[[], Json | None], artifacts: bool) -> Record:
        """What a task handed on. Sources: buildLocalScope and addSkippedNodeOutputsToScope."""
        found: Record = {}
        own = node
        node = node.result()
        found["id"] = node.id
        found["startedAt"] = rfc3339(node.started)
        if node.finished is not None:
            found["finishedAt"] = rfc3339(node.finished)
        if node.ip:
            found["ip"] = node.ip
        found["status"] = node.phase
        if node.type == "Pod":
            found["hostNodeName"] = self.machine.host
        outputs: Json = node.outputs or {}
        if outputs.get("result") is not None:
            found["outputs.result"] = outputs["result"]
        if outputs.get("exitCode") is not None:
            found["exitCode"] = outputs["exitCode"]
        for one in several(outputs, "parameters"):
            if one.get("value") is not None:
                found[f"outputs.parameters.{one['name']}"] = any_string(one["value"])
        for one in several(outputs, "artifacts"):
            found[f"outputs.artifacts.{one['name']}"] = one
        if own.outputs is None and own.phase in (SKIPPED, OMITTED):
            template = declared()
            promised = part(template, "outputs")
            for one in several(promised, "parameters"):
                default = part(one, "valueFrom").get("default")
                found[f"outputs.parameters.{one['name']}"] = None if default is None else any_string(default)
            if artifacts:
                for one in several(promised, "artifacts"):
                    found[f"outputs.artifacts.{one['name']}"] = {}
        return found

    def declared(self, holder: Json) -> Json | None:
        """The template of a task, or None where it cannot be found."""
        try:
            return self.machine.templates.resolve(self.base, holder)[1]
        except ArgoError:
            return None

    def aggregate(self, children: list[Node]) -> Record:
        """What a loop handed on, by its rounds in order. Source: processAggregateNodeOutputs. Raises ArgoError."""
        rounds = [child for child in children if not child.hooked and not child.retried]
        if not children:
            return {}
        good = [child.outputs for child in rounds if child.outputs and child.phase == SUCCEEDED]
        found: Record = {
            "outputs.result": items.results([one["result"] for one in good if one.get("result") is not None])
        }
        lists = [
            [(one["name"], any_string(one.get("value"))) for one in outputs["parameters"]]
            for outputs in good
            if outputs.get("parameters")
        ]
        found["outputs.parameters"], by_name = items.rows(lists)
        found |= {f"outputs.parameters.{name}": text for name, text in by_name.items()}
        return found

    # --- arguments ---------------------------------------------------------------------------------

    def resolved(self, holder: Json, scope: Scope) -> Json:
        """A task or step with what those before it handed on; its hooks stay as they are.

        With a `when` that is false, nothing else is replaced. Raises ArgoError, and Missing.
        Sources: resolveDependencyReferences, resolveReferences.
        """
        hooks = holder.get("hooks")
        looped = loops(holder)
        made = {key: value for key, value in holder.items() if key not in ("hooks", "withItems", "when")}
        when = holder.get("when")
        if when:
            text: str = replaced(when, scope, "results")
            try:
                proceed = self.machine.condition(text)
            except ArgoError:
                if not looped:
                    raise
                proceed = True
            if not proceed:
                return {**holder, "when": text}
            made["when"] = when
        if arguments := made.get("arguments"):
            made["arguments"] = _marked(arguments, scope)
        found: Json = replaced(made, scope, "results")
        if holder.get("withItems"):
            found["withItems"] = replaced(holder["withItems"], scope, "results")
        if hooks is not None:
            found["hooks"] = hooks
        arguments = part(found, "arguments")
        if arguments.get("artifacts"):
            brought = [self.argument(one, scope) for one in arguments["artifacts"]]
            found["arguments"] = {**arguments, "artifacts": [one for one in brought if one is not None]}
        return found

    def argument(self, argument: Json, scope: Scope) -> Json | None:
        """An argument of a task with the place of its artifact, or None. Raises ArgoError."""
        return self.artifact(argument, scope)

    def step_argument(self, argument: Json, scope: Scope) -> Json | None:
        """An argument of a step or a hook with the place of its artifact, or None. Raises ArgoError."""
        try:
            return self.artifact(argument, scope, steps=True)
        except ArgoError as error:
            raise ArgoError(f"unable to resolve references: {error}") from None

    def artifact(self, argument: Json, scope: Scope, steps: bool = False) -> Json | None:
        """An argument or output with the place of its artifact; None of an optional one that is not there.

        Raises ArgoError. Source: resolveArtifact.
        """
        source, expression = argument.get("from"), argument.get("fromExpression")
        if not source and not expression:
            return argument
        try:
            found = _artifact_of(source, expression, scope)
        except ArgoError as error:
            if argument.get("optional") and (steps or "Unable to resolve" in str(error)):
                return None
            raise
        found = {**found, "name": argument["name"]}
        if argument.get("subPath"):
            path = any_string(replaced(argument["subPath"], scope, "nothing"))
            found = _below(found, path)
        if argument.get("optional"):
            found["optional"] = True
        return found

    def declared_outputs(self) -> Json:
        """What the template says that it hands on. Raises ArgoError."""
        raw = {"outputs": part(self.origin.raw, "outputs")}
        return part(self.renewed(self.template, raw), "outputs")

    def outputs(self, declared: Json, scope: Scope) -> Json | None:
        """What the template hands on. Raises ArgoError. Source: getTemplateOutputsFromScope."""
        if not declared.get("parameters") and not declared.get("artifacts"):
            return None
        made: Json = {}
        if declared.get("parameters"):
            made["parameters"] = [_handed_on(one, scope) for one in declared["parameters"]]
        if declared.get("artifacts"):
            found: list[Json] = []
            for one in declared["artifacts"]:
                if not one.get("from") and not one.get("fromExpression"):
                    continue
                try:
                    artifact = self.artifact(one, scope)
                except ArgoError as error:
                    raise ArgoError(f"unable to resolve outputs from scope: {error}") from None
                if artifact is not None:  # it keeps the global name that it was made with
                    found.append(artifact)
            made["artifacts"] = found
        return made


def loops(holder: Json) -> bool:
    """Whether a task or step has a loop (ShouldExpand)."""
    return (
        bool(holder.get("withItems"))
        or bool(holder.get("withParam"))
        or holder.get("withSequence") is not None
    )


def rounds(holder: Json) -> list[items.Item]:
    """The items of a loop whose tags are replaced. Raises ArgoError."""
    if holder.get("withItems"):
        return items.of_list(holder["withItems"])
    if holder.get("withParam"):
        return items.of_text(holder["withParam"])
    return items.of_sequence(part(holder, "withSequence"))


def each_round(holder: Json, found: list[items.Item], scope: Scope, proceed: bool) -> list[Json]:
    """A task or step for each item, its hooks included. Raises ArgoError. Source: processItem.

    A `when` that is false before the item is in it, as `'{{item}}' == 'a'` is, may be true with it: each round is
    judged by its own. So everything that is there is replaced, and the rest stays.
    """
    body = {key: value for key, value in holder.items() if key not in _LOOP}
    seen = scope if proceed else scope.given()
    made: list[Json] = []
    for item in found:
        try:
            one: Json = replaced(
                body, seen.with_layer(item.variables), "everything" if proceed else "nothing"
            )
        except Missing as error:
            raise ArgoError(str(error)) from None  # nothing that comes later gives an item another key
        one = {**one, "name": f"{holder['name']}({item.label})"}
        if holder.get("template"):
            one["template"] = holder["template"]
        made.append(one)
    return made


_LOOP = frozenset(("withItems", "withParam", "withSequence"))


def _marked(arguments: Json, scope: Scope) -> Json:
    """Arguments that are nothing but a reference to what a skipped task did not give count as not given."""
    parameters = arguments.get("parameters")
    if not parameters:
        return arguments
    made = [{**one, "value": ABSENT} if _absent(one.get("value"), scope) else one for one in parameters]
    return {**arguments, "parameters": made}


def _absent(value: Any, scope: Scope) -> bool:
    if not isinstance(value, str) or not value.startswith("{{") or not value.endswith("}}"):
        return False
    name = value[2:-2].strip()
    if "{{" in name or "}}" in name or name.startswith("="):
        return False
    found, given = scope.find(name)
    return found and given is None


def _artifact_of(source: str | None, expression: str | None, scope: Scope) -> Json:
    if expression:
        try:
            value = evaluate(expression, scope.tree)
        except (ExpressionError, GrammarError) as error:
            raise ArgoError(str(error)) from None
        shown_as = expression
    else:
        shown_as = tag = str(source).strip().removeprefix("{{").removesuffix("}}").strip()
        if tag.startswith("="):
            return _artifact_of(None, tag[1:], scope)
        there, value = scope.find(tag)
        if not there:
            raise ArgoError(f'Unable to resolve: "{tag}"')
    if value is None and expression:
        raise ArgoError(f"cannot fetch artifacts from <nil>: {shown_as}")
    if not isinstance(value, dict):
        raise ArgoError(f"Variable {{{{{shown_as}}}}} is not an artifact")
    found: Json = value
    return found


def _below(artifact: Json, path: str) -> Json:
    """An artifact within another, by its path."""
    for kind in ("s3", "gcs", "oss", "azure", "hdfs", "http", "artifactory"):
        location = artifact.get(kind)
        if isinstance(location, dict):
            field = {"azure": "blob", "hdfs": "path", "http": "url", "artifactory": "url"}.get(kind, "key")
            return {
                **artifact,
                kind: {**location, field: f"{str(location.get(field, '')).rstrip('/')}/{path}"},
            }
    raise ArgoError("artifact has no location that a subPath can be added to")


def _handed_on(declared: Json, scope: Scope) -> Json:
    source: Json | None = declared.get("valueFrom")
    if source is None:
        raise ArgoError("output parameters must have a valueFrom specified")
    default = source.get("default")
    try:
        value = _value_of(source, scope)
        if value is None:
            if default is None:
                raise ArgoError(
                    f'output parameter "{declared["name"]}": "{source.get("parameter", "")}" is an absent optional '
                    "(skipped/omitted node output with no default)"
                )
            value = any_string(default)
    except ArgoError:
        if default is None:
            raise
        value = any_string(default)
    rest = {name: one for name, one in declared.items() if name not in ("valueFrom", "value")}
    return {**rest, "value": value if isinstance(value, str) else shown(value)}


def _value_of(source: Json, scope: Scope) -> Any:
    if source.get("expression"):
        try:
            value = evaluate(source["expression"], scope.tree)
        except (ExpressionError, GrammarError) as error:
            raise ArgoError(str(error)) from None
        if value is None:
            raise ArgoError(f'failed to evaluate expression "{source["expression"]}"')
        return value
    if source.get("parameter"):
        tag = str(source["parameter"]).strip().removeprefix("{{").removesuffix("}}").strip()
        if tag.startswith("="):
            return _value_of({"expression": tag[1:]}, scope)
        there, value = scope.find(tag)
        if not there:
            raise ArgoError(f'Unable to resolve: "{tag}"')
        return value
    return ""
