"""The objects that a workflow needs in a cluster, and which of them are missing.

Argo notices one pod at a time: a missing claim or key makes a pod wait forever, in the middle of a run. Names with a
tag are known only at run time, and are not looked up.
"""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from flowdsl.diagnostic import suggest
from flowdsl.runtime.certain import unconditional
from flowdsl.runtime.cluster.kinds import (
    ACCOUNT,
    CLAIM,
    CLUSTER_TEMPLATE,
    CONFIG_MAP,
    DEFINITION,
    PRIORITY_CLASS,
    SECRET,
    TEMPLATE,
)
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, Refusal, Unsupported
from flowdsl.runtime.documents import called, containers, is_run, workflow_spec
from flowdsl.runtime.fitting import Pod, unfitting
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.local.controller.templates import Templates
from flowdsl.runtime.local.controller.workflow import spec_of
from flowdsl.runtime.local.objects import bodies, is_known
from flowdsl.runtime.local.uses import reached
from flowdsl.runtime.parts import part, several
from flowdsl.runtime.problem import Problem, wanted_by
from flowdsl.runtime.references import SERVED, Need, inside, made, mounted, named_in, served, served_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.runtime.cluster.seam import Cluster, Kind
    from flowdsl.runtime.local.uses import Use

Json = dict[str, Any]

__all__ = ["Need", "Problem", "missing", "needs", "pods"]


# --- what is needed --------------------------------------------------------------------------------------


def needs(workflow: Json, references: Sequence[Json] = ()) -> list[Need]:
    """The objects that a workflow of any of Argo's kinds needs, as far as its steps can be reached.

    `references` are the templates that it may refer to; those are not needed, but searched. Nor is an object needed
    that a step of the workflow creates from a manifest.
    """
    spec, uses = _uses(workflow, list(references))
    same: dict[tuple[Kind, str, str | None], list[tuple[Need, str]]] = {}
    for need, step in _wanted(spec, uses, _certain(workflow, list(references))):
        if need.name and "{{" not in "".join((need.name, *need.keys, need.namespace or "")):
            same.setdefault((need.kind, need.name, need.namespace), []).append((need, step))
    found = [_joined(wanted) for wanted in same.values()]
    own = {pair for use in uses for pair in made(part(use.template, "resource"))}
    return [
        _unless_made(need, own)
        for need in found
        if (need.kind.name, need.name) not in own and not any(_is_met(need, one) for one in references)
    ]


def _joined(wanted: list[tuple[Need, str]]) -> Need:
    """Merges needs of one object; the result is soft if all of them are."""
    return wanted[0][0]._replace(
        keys=tuple(dict.fromkeys(key for need, _ in wanted for key in need.keys)),
        soft=wanted[0][0].soft if all(need.soft for need, _ in wanted) else "",
        steps=tuple(dict.fromkeys(step for _, step in wanted if step)),
    )


def _is_met(need: Need, reference: Json) -> bool:
    """Whether an existing template is the needed one."""
    name = part(reference, "metadata").get("name")
    same = (reference.get("kind"), name) == (need.kind.name, need.name)
    return same and keys_of(need.kind, reference).issuperset(need.keys)


def _unless_made(need: Need, own: set[tuple[str, str]]) -> Need:
    """A need that a step may satisfy itself, under a name that depends on the run."""
    if (need.kind.name, "") in own or (need.kind is SERVED and DEFINITION.name in {kind for kind, _ in own}):
        return need._replace(soft=need.soft or "a step makes such an object itself")
    return need


def pods(workflow: Json, references: Sequence[Json] = ()) -> list[Pod]:
    """The pods of a workflow, one for each reachable template."""
    spec, uses = _uses(workflow, list(references))
    certain = _certain(workflow, list(references))
    found: list[Pod] = []
    for use in uses:
        own = list(containers(use.template))
        starting = several(use.template, "initContainers")
        if own:
            pod: Json = {
                "containers": [one for one in own if not any(one is each for each in starting)],
                "initContainers": starting,
                **{key: value for key in _PLACED if (value := use.template.get(key) or spec.get(key))},
            }
            found.append(Pod(use.task, pod, _named(use) in certain))
        for body in bodies(part(use.template, "resource")):
            amounts = [one.get("resources") for one in several(body, "containers")]
            if any(amounts) and is_known(amounts):
                found.append(Pod(use.task, body, _named(use) in certain))
    return found


_PLACED = ("nodeSelector", "affinity", "tolerations")


def spec_to_run(workflow: Json, references: list[Json]) -> Json:
    """The spec that is executed; of templates without an entrypoint, one that may start with any of them."""
    spec = workflow_spec(workflow)
    with suppress(ArgoError):
        spec = spec_of({"spec": spec}, references)
    return spec if spec.get("entrypoint") or not spec.get("templates") else {**spec, "entrypoint": "{{any}}"}


def _uses(workflow: Json, references: list[Json]) -> tuple[Json, list[Use]]:
    spec = spec_to_run(workflow, references)
    return spec, list(reached(Templates("", spec, references), spec))


def _certain(workflow: Json, references: list[Json]) -> set[tuple[str, str]]:
    """The templates that run unconditionally."""
    plain = [{**one, "spec": unconditional(part(one, "spec"))} for one in references]
    spec = unconditional(spec_to_run(workflow, references))
    return {_named(use) for use in reached(Templates("", spec, plain), spec)}


def _named(use: Use) -> tuple[str, str]:
    return use.base.scope, str(use.template.get("name") or use.task)


def _wanted(spec: Json, uses: Iterable[Use], certain: set[tuple[str, str]]) -> Iterator[tuple[Need, str]]:
    """The needs, each with the step that has it."""
    elsewhere = ("templates", "volumes", "templateDefaults")
    for need in named_in({key: value for key, value in spec.items() if key not in elsewhere}):
        yield need, ""
    shared = {str(one.get("name")): one for one in several(spec, "volumes")}
    for use in uses:
        template = use.template
        for one in called(template):
            for need in named_in({key: value for key, value in one.items() if key != "inline"}):
                yield need, str(one.get("name") or use.task)
        outside = {key: value for key, value in template.items() if key not in ("volumes", "dag", "steps")}
        own = {**shared, **{str(one.get("name")): one for one in several(template, "volumes")}}
        resource = part(template, "resource")
        for need in (*named_in(outside), *served(resource), *inside(resource), *mounted(own, template)):
            doubt = "" if _named(use) in certain else "the step runs only on a condition"
            yield need._replace(soft=need.soft or doubt), use.task


# --- what is missing -------------------------------------------------------------------------------------


_TEMPLATES = (TEMPLATE, CLUSTER_TEMPLATE)


def missing(cluster: Cluster, workflow: Json, references: Sequence[Json] = ()) -> list[Problem]:
    """The needs of a workflow that a cluster does not satisfy, in the order of the workflow.

    Templates in the cluster are searched, too; those of `references` are assumed to exist. Nothing is written.
    Raises Unreachable, and Refusal for any answer except that an object does not exist or may not be read.
    """
    known = list(references)
    namespace = str(part(workflow, "metadata").get("namespace") or cluster.namespace)
    judged: dict[Need, Problem | None] = {}
    while new := [need for need in needs(workflow, known) if need.kind in _TEMPLATES and need not in judged]:
        for need in new:
            judged[need], found = look(cluster, need, need.namespace or namespace)
            if found is not None:
                known.append({**found, "kind": need.kind.name})
    for need in needs(workflow, known):
        if need not in judged:
            judged[need] = look(cluster, need, need.namespace or namespace)[0]
    problems = [problem for problem in judged.values() if problem is not None]
    return [*problems, *_arguments(workflow, known), *unfitting(cluster, namespace, pods(workflow, known))]


def _arguments(workflow: Json, references: list[Json]) -> Iterator[Problem]:
    """What prevents a run that refers to a whole template: no entrypoint, or wrong parameters."""
    own = part(workflow, "spec")
    reference = part(own, "workflowTemplateRef")
    if not is_run(workflow) or not reference:
        return
    bare = {key: value for key, value in own.items() if key != "arguments"}
    try:
        spec = spec_of({**workflow, "spec": bare}, references)
    except ArgoError:  # the template does not exist, or may not be read
        return
    template = f"the template `{reference.get('name')}`"
    if not spec.get("entrypoint"):
        yield Problem(f"{template} has no entrypoint", "its templates are for other workflows")
    given = [str(one.get("name")) for one in several(part(own, "arguments"), "parameters")]
    declared = {str(one.get("name")): one for one in several(part(spec, "arguments"), "parameters")}
    for name, one in declared.items():
        if name not in given and all(one.get(key) is None for key in ("value", "valueFrom", "default")):
            yield Problem(
                f"the parameter `{name}` of {template} has no value", f"give it with -p {name}=VALUE"
            )
    text = json.dumps([*references, bare])
    for name in given:
        if name not in declared and f"workflow.parameters.{name}" not in text:
            yield Problem(f"{template} has no parameter `{name}`", suggest(name, declared))


def look(cluster: Cluster, need: Need, namespace: str) -> tuple[Problem | None, Json | None]:
    """The problem with a needed object, and the object if it exists."""
    whose = wanted_by(need.steps)
    where = f" in namespace `{namespace}`" if need.kind.namespaced else ""
    what = f"{need.kind.name} `{need.name}`{where}"
    try:
        found = _read(cluster, need, namespace)
    except Unsupported as error:
        return Problem(f"whether there is a {what} cannot be told, {whose}: {error}", "", "unchecked"), None
    except Refusal as refusal:
        if refusal.code == FORBIDDEN:
            may = f"kubectl auth can-i get {need.kind.resource}{_within(need, namespace)}"
            return Problem(f"whether there is a {what} could not be read, {whose}", may, "unchecked"), None
        if refusal.code != NOT_FOUND:
            raise
        if refusal.no_such_kind and need.kind is not SERVED:
            return Problem(f"the cluster knows no {need.kind.name}, {whose}", "flowdsl doctor says why"), None
        if need.kind is SERVED:
            return _weighed(
                need, f"the cluster has no `{need.keys[0]}` of `{need.name}`, {whose}", _SERVE
            ), None
        return _weighed(need, f"there is no {what}, {whose}", _made(need, namespace)), None
    if need.kind is CLAIM and part(found, "status").get("phase") == "Lost":
        see = f"kubectl describe pvc {shlex.quote(need.name)}{_within(need, namespace)}"
        return Problem(f"the volume of {what} is lost, {whose}", see), found
    has = keys_of(need.kind, found)
    lacking = [key for key in need.keys if key not in has]
    if not lacking:
        return None, found
    shown = ", ".join(f"`{key}`" for key in lacking)
    if need.kind is SERVED:
        return _weighed(need, f"the cluster has no {shown} of `{need.name}`, {whose}", _SERVE), found
    word = "template" if need.kind in _TEMPLATES else "key"
    there = f"; it has {', '.join(sorted(has)[:8])}" if has and need.kind is not SECRET else ""
    problem = _weighed(need, f"the {what} has no {word} {shown}, {whose}{there}", _filled(need, namespace))
    return problem, found


def _read(cluster: Cluster, need: Need, namespace: str) -> Json:
    if need.kind is not SERVED:
        return cluster.get(need.kind, need.name, namespace=namespace)
    group, _, version = need.name.rpartition("/")
    return cluster.get(SERVED._replace(group=group, version=version), "")  # the list of what it serves


def keys_of(kind: Kind, found: Json) -> set[str]:
    """The keys of an object that a Need can name."""
    if kind in _TEMPLATES:
        return {str(one.get("name")) for one in several(part(found, "spec"), "templates")}
    if kind is SERVED:
        return served_by(found)
    return {*part(found, "data"), *part(found, "binaryData")}


def _weighed(need: Need, text: str, remedy: str) -> Problem:
    if need.soft:
        return Problem(f"{text} ({need.soft})", remedy, "note")
    return Problem(text, remedy)


_SERVE = "install what defines it: kubectl api-resources shows what there is"


def _within(need: Need, namespace: str) -> str:
    return f" -n {shlex.quote(namespace)}" if need.kind.namespaced else ""


def _made(need: Need, namespace: str) -> str:
    """The command that creates a missing object, or that lists the existing ones."""
    name, within = shlex.quote(need.name), _within(need, namespace)
    commands = {
        SECRET: f"kubectl create secret generic {name}{within}{_literals(need.keys)}",
        CONFIG_MAP: f"kubectl create configmap {name}{within}{_literals(need.keys)}",
        ACCOUNT: f"kubectl create serviceaccount {name}{within}",
        PRIORITY_CLASS: f"kubectl create priorityclass {name} --value=1000",
        TEMPLATE: f"apply it first: kubectl apply{within} -f FILE",
        CLUSTER_TEMPLATE: "apply it first: kubectl apply -f FILE",
    }
    return commands.get(need.kind, f"kubectl get {need.kind.resource}{within} shows what there is")


def _literals(keys: Iterable[str]) -> str:
    return "".join(f" --from-literal={shlex.quote(key)}=VALUE" for key in keys)


def _filled(need: Need, namespace: str) -> str:
    """The command that adds what an object lacks."""
    return f"kubectl edit {need.kind.resource} {shlex.quote(need.name)}{_within(need, namespace)}"
