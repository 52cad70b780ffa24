"""What a workflow needs of a cluster, and what of it a cluster does not have.

Argo finds out one pod at a time: a claim or key that is not there lets a pod wait for ever, in the middle of a run.
What is known only when it runs, because its name has a tag, is not looked for.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from flowdsl.runtime.cluster.kinds import (
    ACCOUNT,
    CLAIM,
    CLUSTER_TEMPLATE,
    CONFIG_MAP,
    PRIORITY_CLASS,
    SECRET,
    TEMPLATE,
)
from flowdsl.runtime.cluster.seam import Kind
from flowdsl.runtime.cluster.trouble import FORBIDDEN, NOT_FOUND, Refusal, Unsupported
from flowdsl.runtime.fitting import Pod, unfitting
from flowdsl.runtime.local.honoured import Asked, called, containers, reached
from flowdsl.runtime.local.shapes import part, several
from flowdsl.runtime.local.tags import ArgoError
from flowdsl.runtime.local.templates import Templates
from flowdsl.runtime.local.workflow import spec_of
from flowdsl.runtime.problem import Problem, wanted_by
from flowdsl.runtime.references import SERVED, Need, mounted, named_in, served

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.local.honoured import Use

Json = dict[str, Any]

__all__ = ["Need", "Problem", "missing", "needs", "pods"]


# --- what is needed --------------------------------------------------------------------------------------


def needs(workflow: Json, references: Sequence[Json] = ()) -> list[Need]:
    """What a workflow of any of Argo's kinds needs, as far as its steps can be reached.

    `references` are the templates that it may refer to; those among them are no needs, but looked into.
    """
    found: dict[tuple[Kind, str, str | None], Need] = {}
    for need, step in _wanted(workflow, list(references)):
        if not need.name or "{{" in "".join((need.name, *need.keys, need.namespace or "")):
            continue
        key = (need.kind, need.name, need.namespace)
        known = found.get(key, need)
        found[key] = known._replace(
            keys=tuple(dict.fromkeys((*known.keys, *need.keys))),
            soft=known.soft and need.soft,
            steps=tuple(dict.fromkeys((*known.steps, *((step,) if step else ())))),
        )
    own = {(_kind(one), part(one, "metadata").get("name")) for one in references}
    return [need for need in found.values() if (need.kind, need.name) not in own]


def pods(workflow: Json, references: Sequence[Json] = ()) -> list[Pod]:
    """The pods of a workflow, one for each template that is reached."""
    spec, uses = _uses(workflow, list(references))
    found: list[Pod] = []
    for use in uses:
        own = list(containers(use.template))
        starting = several(use.template, "initContainers")
        if own:
            made: Json = {
                "containers": [one for one in own if one not in starting],
                "initContainers": starting,
                **{key: value for key in _PLACED if (value := use.template.get(key) or spec.get(key))},
            }
            found.append(Pod(use.task, made))
    return found


_PLACED = ("nodeSelector", "affinity", "tolerations")


def spec_to_run(workflow: Json, references: list[Json]) -> Json:
    """The spec that is executed; of templates alone without an entrypoint, one that may enter any of them."""
    if _kind(workflow).name == "CronWorkflow":
        workflow = {"spec": part(part(workflow, "spec"), "workflowSpec")}
    try:
        spec = spec_of(workflow, references)
    except ArgoError:
        spec = part(workflow, "spec")
    return spec if spec.get("entrypoint") or not spec.get("templates") else {**spec, "entrypoint": "{{any}}"}


def _uses(workflow: Json, references: list[Json]) -> tuple[Json, list[Use]]:
    spec = spec_to_run(workflow, references)
    return spec, list(reached(Templates("", spec, references), spec, Asked(), {}))


def _kind(document: Json) -> Kind:
    name = str(document.get("kind") or "")
    known = {one.name: one for one in (TEMPLATE, CLUSTER_TEMPLATE)}
    return known.get(name, Kind("", "", "", name))


def _wanted(workflow: Json, references: list[Json]) -> Iterator[tuple[Need, str]]:
    """What is needed, each with the step that needs it."""
    spec, uses = _uses(workflow, references)
    plain = {key: value for key, value in spec.items() if key not in ("templates", "volumes")}
    for need in named_in(plain):
        yield need, ""
    shared = {str(one.get("name")): one for one in several(spec, "volumes")}
    for use in uses:
        template = use.template
        graph = list(called(template))
        outside = {key: value for key, value in template.items() if key not in ("volumes", "dag", "steps")}
        own = {**shared, **{str(one.get("name")): one for one in several(template, "volumes")}}
        for one in graph:
            for need in named_in({key: value for key, value in one.items() if key != "inline"}):
                yield need, str(one.get("name") or use.task)
        for need in (*named_in(outside), *served(part(template, "resource")), *mounted(own, template)):
            yield need, use.task


# --- what is missing -------------------------------------------------------------------------------------


def missing(cluster: Cluster, workflow: Json, references: Sequence[Json] = ()) -> list[Problem]:
    """What a cluster does not have of what a workflow needs, in the order of the workflow.

    Templates that the cluster has are looked into, those of `references` are taken for what will be there. Nothing is
    written. Raises Unreachable, and Refusal for any answer but that an object is not there or may not be read.
    """
    known = list(references)
    namespace = str(part(workflow, "metadata").get("namespace") or cluster.namespace)
    judged: dict[tuple[Kind, str, str | None], Problem | None] = {}
    while True:
        new = [
            need for need in needs(workflow, known) if (need.kind, need.name, need.namespace) not in judged
        ]
        if not new:
            break
        for need in new:
            problem, found = _look(cluster, need, need.namespace or namespace)
            judged[need.kind, need.name, need.namespace] = problem
            if found is not None and need.kind in (TEMPLATE, CLUSTER_TEMPLATE):
                known.append({**found, "kind": need.kind.name})
    problems = [problem for problem in judged.values() if problem is not None]
    return [*problems, *unfitting(cluster, namespace, pods(workflow, known))]


def _look(cluster: Cluster, need: Need, namespace: str) -> tuple[Problem | None, Json | None]:
    """What is wrong with an object that is needed, and the object if there is one."""
    whose = wanted_by(need.steps)
    where = f" in namespace `{namespace}`" if need.kind.namespaced else ""
    what = f"{need.kind.said} `{need.name}`{where}"
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
            return Problem(f"the cluster knows no {need.kind.said}, {whose}", "flowdsl doctor says why"), None
        if need.kind is SERVED:
            return Problem(f"the cluster has no `{need.keys[0]}` of `{need.name}`, {whose}", _SERVE), None
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
        return Problem(f"the cluster has no {shown} of `{need.name}`, {whose}", _SERVE), found
    word = "template" if need.kind in (TEMPLATE, CLUSTER_TEMPLATE) else "key"
    there = f"; it has {', '.join(sorted(has)[:8])}" if has and need.kind is not SECRET else ""
    problem = _weighed(need, f"the {what} has no {word} {shown}, {whose}{there}", _filled(need, namespace))
    return problem, found


def _read(cluster: Cluster, need: Need, namespace: str) -> Json:
    if need.kind is not SERVED:
        return cluster.get(need.kind, need.name, namespace=namespace)
    group, _, version = need.name.rpartition("/")
    return cluster.get(Kind(group, version, "", "API", namespaced=False), "")  # the list of what it serves


def keys_of(kind: Kind, found: Json) -> set[str]:
    """What an object has of what a Need names by keys."""
    if kind in (TEMPLATE, CLUSTER_TEMPLATE):
        return {str(one.get("name")) for one in several(part(found, "spec"), "templates")}
    if kind is SERVED:
        return {str(one.get("kind")) for one in several(found, "resources")}
    return {*part(found, "data"), *part(found, "binaryData")}


def _weighed(need: Need, text: str, remedy: str) -> Problem:
    if need.soft:
        return Problem(f"{text} ({need.soft})", remedy, "note")
    return Problem(text, remedy)


_SERVE = "install what defines it: kubectl api-resources shows what there is"


def _within(need: Need, namespace: str) -> str:
    return f" -n {shlex.quote(namespace)}" if need.kind.namespaced else ""


def _made(need: Need, namespace: str) -> str:
    """The command that makes what is not there, or that shows what is."""
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
