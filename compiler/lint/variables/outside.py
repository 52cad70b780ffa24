"""References in tags and expressions outside of the templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF, GRAPH_BODIES
from flowdsl.compiler.lint.manifest.dag import cycles
from flowdsl.compiler.lint.manifest.globals import ALWAYS, CRON, workflow_variables
from flowdsl.compiler.lint.variables import reading, typing
from flowdsl.compiler.lint.variables.findings import BrokenExpression, LiteralTag, UnknownVariable
from flowdsl.compiler.lint.variables.hyphens import as_keys
from flowdsl.compiler.lint.variables.known import CRON_STOP, known_at
from flowdsl.compiler.lint.variables.scope import MEASURED, OF_TRIES, Scope, misspelt, workflow_fault
from flowdsl.compiler.lint.variables.texts import EXPRESSIONS, strings
from flowdsl.compiler.lint.variables.unreplaced import certain, is_early, left_open, unfit
from flowdsl.compiler.lint.variables.uses import Spot, expression_use, of_metric, unclosed
from flowdsl.compiler.lint.workflow.calls import LATE
from flowdsl.compiler.lint.workflow.passed_values import with_values
from flowdsl.compiler.tree import entries, inside, is_description, string, value_at
from flowdsl.grammar.template import ROOTS, only_tag, references, tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding


def workflow_references(view: View) -> Iterator[Problem]:
    """Tags outside of the templates name existing variables of the workflow."""
    known = workflow_variables(view)
    spec = {key: value for key, value in view.spec.items() if key != "templates"}
    for path, text in strings(spec, view.path):
        here = known | _AT_END if path[len(view.path)] == "metrics" else known
        if path[-3:-2] == ("labelsFrom",) and (meant := _in_braces(view, text)):
            way = "what a tag becomes is read as an expression"
            found = BrokenExpression(text, f"`{meant}` without braces", 1, f"write `{meant}`: {way}")
            yield Spot(path, (0, len(text))).problem(found)
            continue
        if path[-1] in EXPRESSIONS:
            yield from workflow_expression(view, path, text, here)
        for tag in tags(text):
            name = tag.body.strip()
            if left_open(tag):
                yield unclosed(path, text, tag)
                continue
            if is_description(path):
                continue  # Argo leaves what it cannot replace
            if tag.kind == "expression":
                yield from workflow_expression(view, path, tag.body, here, tag.inside)
                continue
            if tag.kind != "simple":
                continue
            finding = _fault(view, here, path, name)
            if finding is not None and not (of_metric(path) and isinstance(finding, LiteralTag)):
                yield Spot.of_name(path, name, tag).problem(finding)


def _in_braces(view: View, text: str) -> str:
    """What is meant by an expression that is one tag, if it is no expression after replacement; else empty."""
    tag = only_tag(text)
    if tag is None:
        return ""
    name = tag[1].lstrip("=").strip()
    value = with_values(view, f"{{{{{name}}}}}")
    plain = "{{" not in value or not name.startswith("workflow.parameters.")
    return as_keys(name) if plain and not value.startswith("workflow.") else ""


def circular(view: View) -> Iterator[Problem]:
    """No value of a parameter of the workflow refers to this parameter, directly or through others.

    Argo replaces the tags with the values each time it processes the workflow, and stores the result: a text
    that refers to itself among other words doubles each time. Source: Argo Workflows,
    substituteGlobalVariables in workflow/controller/operator.go.
    """
    parameters = entries(view.spec, "arguments", "parameters")
    at = {each.get("name"): index for index, each in enumerate(parameters)}
    texts = [string(each, "value") for each in parameters]
    named = [
        [(spot, at[name]) for spot, name in _parameters(view, index, text) if name in at]
        for index, text in enumerate(texts)
    ]
    for circle in cycles([[other for _, other in each] for each in named]):
        steps = [
            (index, after, next(spot for spot, other in named[index] if other == after))
            for index, after in zip(circle, [*circle[1:], circle[0]], strict=True)
        ]
        grows = any(not _is_alone(texts[index], *spot.part) for index, _, spot in steps)
        for _, after, spot in steps:
            name = f"workflow.parameters.{parameters[after]['name']}"
            if grows:
                yield spot.problem(UnknownVariable(name, (), _CIRCULAR + _GROWS))
            else:
                yield spot.problem(LiteralTag(name, "its value names itself", _CIRCULAR))


_CIRCULAR = "write a value: what a run is given takes its place"
_GROWS = "; this text names itself, and becomes longer each time that Argo looks at the run"


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a text is only a tag with the name at a location."""
    return not text[:start].strip(" {=") and not text[end:].strip(" }")


def _parameters(view: View, index: int, text: str) -> Iterator[tuple[Spot, str]]:
    """The parameters that the value of a parameter refers to, with their locations."""
    path = (*view.path, "arguments", "parameters", index, "value")
    for one in references(text) if "{{" in text else ():
        if one.path[:2] == ("workflow", "parameters") and len(one.path) > 2:
            yield Spot(path, (one.start, one.end)), ".".join(one.path[2:])


def _fault(view: View, known: frozenset[str], path: Path, name: str) -> Finding | None:
    """What is wrong with a name in a tag, at a place outside of the templates."""
    place, root = path[len(view.path) :], name.partition(".")[0]
    if place[:2] == ("workflowMetadata", "labels") and name in LATE:
        return UnknownVariable(name, (), _IN_LABEL)
    if root == "workflow" and name != root and "{{" not in name:
        return None if name in known else workflow_fault(view, name, known)
    if place[0] == "hooks" and root in ROOTS and name not in known:
        return UnknownVariable(name, (), _IN_HOOK)
    if place[0] == "arguments" and name.startswith(_OF_TEMPLATES):
        return UnknownVariable(name, (), _IN_ARGUMENT)
    if _is_of_run(place) and root in ROOTS:
        return UnknownVariable(name, (), _OF_RUN)
    if place[0] == "podMetadata":
        return _in_metadata(view, known, name, place)
    if place[0] == "synchronization" and root in ROOTS:
        is_name = place[1] == "mutexes"  # others name something that is looked for
        return (
            LiteralTag(name, "it is no variable of the run", _OF_RUN)
            if is_name
            else UnknownVariable(name, (), _OF_RUN)
        )
    return _unfilled(view, name, path)


def _unfilled(view: View, name: str, path: Path) -> Finding | None:
    """The finding about a variable that a pod does not have, or Argo: an error in a field where braces are invalid."""
    place, root = path[len(view.path) :], name.partition(".")[0]
    if place[-2:] == ("retryStrategy", "expression") and root in OF_TRIES:
        way = f"write `{as_keys(name)}` without braces: Argo reads the expression as it is"
        return UnknownVariable(name, (), way)
    if place[0] == "retryStrategy" and root in ROOTS - {*OF_TRIES}:
        return UnknownVariable(name, (), _OF_RETRIES)
    # Only the pods that mount a volume need it.
    text: object = value_at(view.document, path)
    if place[0] == "volumes" and root in BODY_OF:
        return _of_no_call(view, name)
    reason = "" if place[0] == "volumes" else unfit(path, str(text), name)
    if name.startswith("inputs.parameters.") and (reason or place == ("podSpecPatch",)):
        return _in_all(view, name, path)
    # Argo fills in a patch of the spec before it knows of an attempt. Source: processPodSpecPatch.
    early = place[0] != "templateDefaults" or is_early(path)
    tried = root in OF_TRIES and not early and any(map(view.tries, view.templates))
    if reason and not tried and (root in _OF_CALLS or name.startswith("inputs.artifacts.")):
        way = "patch the template instead" if place == ("podSpecPatch",) else "remove it"
        return UnknownVariable(name, (), f"{way}: {reason}")
    if place == ("podSpecPatch",) and root in _OF_CALLS and name not in ALWAYS:
        return LiteralTag(
            name, "no pod has it on its own", "patch the template, with an input of it in the text"
        )
    meant = misspelt(name)
    return certain(meant, reason) if meant is not None and reason else meant


def _of_no_call(view: View, name: str) -> Finding | None:
    """The finding about an output, in a volume, that no task or step has: the pods that mount it would never start.

    Source: Argo Workflows, executeStepGroup and executeDAGTask, which replace the outputs that they know.
    """
    known = None if view.external or view.base is not None else view.outputs_of_calls
    return None if known is None or name in known else UnknownVariable(name, known)


def _in_metadata(view: View, known: frozenset[str], name: str, place: Path) -> Finding | None:
    """The finding about a variable in the metadata of all pods that a template does not have.

    Argo adds to each template the entries that it does not set itself, and validates them there, even if no
    pod runs; for an inline template they are left as they are. Source: Argo Workflows, addPodMetadata and
    validateLeaf.
    """
    without = [
        each.title
        for each in view.listed
        if each.body not in GRAPH_BODIES
        and place[-1] not in inside(each.data, "metadata", str(place[1]))
        and name not in Scope(view, each, known).allowed
    ]
    if without and name.startswith("inputs."):
        way = (
            f"this is for all templates, and `{without[0]}` has no such input: move it to those that have it"
        )
        return UnknownVariable(name, (), way)
    if without and name.startswith(_OF_TEMPLATES):
        return UnknownVariable(name, (), "remove it: no pod has it on its own")
    if without or any(each.is_pod and each.around is not None for each in view.templates):
        return _unfilled(view, name, (*view.path, *place))
    return None


def _in_all(view: View, name: str, path: Path) -> Finding | None:
    """The finding about an input in a setting for all pods that not all of their templates have.

    A template's own setting takes precedence, except for patches, which are all applied.
    """
    wanted = name.removeprefix("inputs.parameters.")
    field = next(str(each) for each in path[len(view.path) :] if each != "templateDefaults")
    pods = (each for each in view.templates if each.is_pod and wanted not in each.parameters)
    without = [each.title for each in pods if field == "podSpecPatch" or each.data.get(field) is None]
    if not without or not view.runs:
        return None
    way = f"this is for all pods, and `{without[0]}` has no such input: move it to the templates that have it"
    return UnknownVariable(name, (), way)


_OF_TEMPLATES = ("inputs.", "item.", "steps.", "tasks.")
"""Variables that Argo must replace where they are. Source: Argo Workflows, workflow/validate/validate.go."""
_OF_CALLS = ROOTS - {"inputs", "pod", "workflow"}
"""Roots of variables that pods do not have themselves. Source: Argo Workflows, substitutePodParams."""
_WHOLE = ("item", "retries")
"""Roots of variables that may be used without a further part."""
_AT_END = frozenset(("workflow.failures",))
"""Variables that also exist when a whole run is measured. Source: Argo Workflows, operate."""
_IN_HOOK = (
    "a hook of the workflow knows the variables of the workflow only: of an output with a `globalName`, "
    "it knows `workflow.outputs.parameters.` with that name"
)
_IN_ARGUMENT = (
    "what a workflow is given is put in as it is, where this means nothing: name one of the workflow"
)
_IN_LABEL = (
    "labels of a run are made before anything runs: write a parameter of the workflow, or a text in quotes"
)
_OF_RETRIES = (
    "the retries of all templates know the variables of the workflow only: write `retryStrategy` into "
    "the template"
)
_OF_RUN = "this is for the run as a whole: name a variable of the workflow"


def _is_of_run(place: Path) -> bool:
    """Whether a text belongs to volume claims or labels of a run, where braces are invalid."""
    if place[0] == "volumeClaimTemplates":
        return place[2:3] == ("spec",) or place[2:4] == ("metadata", "labels")
    return place[:2] == ("workflowMetadata", "labels")


def cron_references(view: View) -> Iterator[Problem]:
    """The conditions for starting and stopping runs of a CronWorkflow are valid and name existing variables."""
    if view.kind != "CronWorkflow":
        return
    spec = inside(view.document, "spec")
    stop = string(spec, "stopStrategy", "expression")
    path: Path = ("spec", "stopStrategy", "expression")
    for tag in tags(stop):
        name = tag.body.strip().removeprefix("=").strip()
        way = f"write `{name}` without braces: Argo reads the expression as it is"
        yield Spot(path, (tag.start, tag.end)).problem(UnknownVariable(name, (), way))
        break
    else:
        yield from _cron_expression(path, stop) if stop else ()
    when, path = string(spec, "when"), ("spec", "when")
    yield from (fault.at(path) for fault in reading.condition(when))
    for tag in tags(when):
        name = tag.body.strip()
        if tag.kind == "expression":
            whole = tag.start == 0 and tag.end == len(when)
            yield from _cron_expression(path, tag.body, tag.inside, whole)
        elif tag.kind == "simple" and name not in CRON:
            yield Spot.of_name(path, name, tag).problem(_no_history(name))


def _cron_expression(
    path: Path, text: str, offset: int | None = None, whole: bool = False
) -> Iterator[Problem]:
    """The findings about an expression over the history of a CronWorkflow, in a tag at an offset or in its field.

    `whole`: the tag is the whole condition.
    """
    use: typing.Use = "flag" if offset is None else "condition" if whole else "value"
    extra = CRON_STOP.extra(use) if offset is None else typing.Extra(use)
    read = reading.expression(text, extra, tag=offset is not None)
    yield from (fault.at(path, offset or 0) for fault in read.found)
    for reference in read.named:
        name = ".".join(reference.path[:2])
        if (
            reference.path[0] in ROOTS
            and len(reference.path) > 1
            and not reference.guarded
            and name not in CRON
        ):
            start = (offset or 0) + reference.start
            part = start, start + reference.end - reference.start
            yield Spot(path, part).problem(_no_history(reference.dotted))


def _no_history(name: str) -> Finding:
    """What is wrong with a variable that is not in the history of a CronWorkflow."""
    own = name.startswith("cronworkflow.")
    return UnknownVariable(name, CRON, "" if own else "only `cronworkflow` is known before there is a run")


def workflow_expression(
    view: View, path: Path, text: str, known: frozenset[str], offset: int | None = None
) -> Iterator[Problem]:
    """The findings about an expression outside of the templates, in a tag at an offset or alone in its field."""
    use: typing.Use = expression_use(path) if offset is None else "value"
    only = known_at(path) if offset is None else None
    extra = only.extra(use) if only else typing.Extra(use, MEASURED if of_metric(path) else frozenset())
    read = reading.expression(text, extra, tag=offset is not None)
    start = offset or 0
    yield from (fault.at(path, start) for fault in read.found)
    for reference in read.named:
        name = reference.dotted
        spot = Spot(path, (start + reference.start, start + reference.end), expression=only is None)
        if only is not None:
            if (fault := only.fault(reference, known)) is not None:
                yield spot.problem(fault)
            continue
        why = {"hooks": _IN_HOOK, "workflowMetadata": _IN_LABEL}.get(str(path[len(view.path)]))
        if why and reference.path[0] in ROOTS - {"workflow"} and name not in known:
            yield spot.problem(UnknownVariable(name, (), why))
            continue
        if reference.guarded or (len(reference.path) == 1 and name not in _WHOLE):
            continue
        if reference.path[0] != "workflow":
            if offset is not None and (finding := _unfilled(view, name, path)) is not None:
                yield spot.problem(finding)
            continue
        part = any(each.startswith(f"{name}.") for each in known)
        if name not in known and not part and (finding := workflow_fault(view, name, known)) is not None:
            yield spot.problem(finding)
