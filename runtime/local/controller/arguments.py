"""Resolves the arguments of a task or step from those before it, and the outputs that a template passes on.

Sources: resolveDependencyReferences, resolveReferences and resolveArtifact in workflow/controller of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation.conditions import condition
from flowdsl.compiler.evaluation.evaluate import evaluate
from flowdsl.compiler.evaluation.values import ExpressionError, shown
from flowdsl.compiler.kinds import STORES
from flowdsl.compiler.tree import is_mapping
from flowdsl.grammar.error import GrammarError
from flowdsl.runtime.local.controller.items import loops
from flowdsl.runtime.local.controller.names import any_string
from flowdsl.runtime.local.controller.tags import ArgoError, replaced
from flowdsl.runtime.local.controller.templates import ABSENT
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.runtime.local.controller.node import Json
    from flowdsl.runtime.local.controller.scope import Scope


def holds(text: str) -> bool:
    """Whether a `when` whose tags are replaced holds. Raises ArgoError."""
    if not text or text in ("true", "false"):
        return text != "false"
    try:
        return condition(text)
    except ExpressionError as error:
        raise ArgoError(str(error)) from None


def resolved(holder: Json, scope: Scope, bring: Callable[[Json, Scope], Json | None]) -> Json:
    """A task or step with the outputs of its predecessors filled in, except in its hooks.

    If its `when` is false, nothing else is replaced. `bring` resolves the location of an artifact.
    Raises ArgoError, and Missing.
    """
    hooks = holder.get("hooks")
    looped = loops(holder)
    made = {key: value for key, value in holder.items() if key not in ("hooks", "withItems", "when")}
    when = holder.get("when")
    if when:
        text: str = replaced(when, scope, "results")
        try:
            proceed = holds(text)
        except ArgoError:
            if not looped:
                raise
            proceed = True
        if not proceed:
            return {**holder, "when": text}
        made["when"] = when
    if arguments := made.get("arguments"):
        made["arguments"] = marked(arguments, scope)
    found: Json = replaced(made, scope, "results")
    if holder.get("withItems"):
        found["withItems"] = replaced(holder["withItems"], scope, "results")
    if hooks is not None:
        found["hooks"] = hooks
    arguments = part(found, "arguments")
    if arguments.get("artifacts"):
        brought = [bring(one, scope) for one in arguments["artifacts"]]
        found["arguments"] = {**arguments, "artifacts": [one for one in brought if one is not None]}
    return found


def of_step(argument: Json, scope: Scope) -> Json | None:
    """An argument of a step or a hook with the location of its artifact, or None. Raises ArgoError."""
    try:
        return artifact(argument, scope, steps=True)
    except ArgoError as error:
        raise ArgoError(f"unable to resolve references: {error}") from None


def artifact(argument: Json, scope: Scope, steps: bool = False) -> Json | None:
    """An argument or output with the location of its artifact; None for an optional one that does not exist.

    One that exists is as optional as the output that it comes from. Raises ArgoError.
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
    return found


def outputs_of(declared: Json, scope: Scope) -> Json | None:
    """The outputs of a DAG or steps template. Raises ArgoError. Source: getTemplateOutputsFromScope."""
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
                place = artifact(one, scope)
            except ArgoError as error:
                raise ArgoError(f"unable to resolve outputs from scope: {error}") from None
            if place is not None:  # it keeps the global name of its origin
                found.append(place)
        made["artifacts"] = found
    return made


def marked(arguments: Json, scope: Scope) -> Json:
    """Arguments in which each mere reference to a missing output of a skipped task counts as not supplied."""
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
    if not is_mapping(value):
        raise ArgoError(f"Variable {{{{{shown_as}}}}} is not an artifact")
    found: Json = value
    return found


def _below(artifact: Json, path: str) -> Json:
    """The artifact at a path below another one."""
    for kind, field in {**STORES, "http": "url"}.items():
        location = artifact.get(kind)
        if is_mapping(location):
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
