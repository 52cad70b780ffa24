"""The templates of a workflow that may run, and the tasks that run them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from typing import Any

from flowdsl.compiler.kinds import GRAPH_BODIES, kind
from flowdsl.grammar.named import NamedTuple
from flowdsl.runtime.documents import called
from flowdsl.runtime.local.controller.tags import ArgoError
from flowdsl.runtime.local.controller.templates import Base, Templates, Unknown
from flowdsl.runtime.local.controller.workflow import spec_of
from flowdsl.runtime.parts import name_of, part

Json = dict[str, Any]


class Use(NamedTuple):
    """A template, and the first task that runs it."""

    task: str
    template: Json
    base: Base


def steps(manifest: Json, references: list[Json]) -> dict[str, Json]:
    """The templates that may run, by the tasks that run them, or their own name."""
    try:
        spec = spec_of(manifest, references)
    except ArgoError:
        return {}
    run = name_of(manifest)
    templates = Templates(run, spec, references)
    uses = list(reached(templates, spec))
    found = {use.task: use.template for use in uses}
    for use in uses:
        for one in _that_may_run(use.template):
            if "{{" not in str(one.get("template", "")):
                with suppress(ArgoError):  # reported where it is checked what can run here
                    found.setdefault(str(one.get("name", "")), templates.resolve(use.base, one)[1])
    return found


def reached(
    templates: Templates, spec: Json, fakes: Set[str] = frozenset(), refusals: dict[str, None] | None = None
) -> Iterator[Use]:
    """The templates that may run, each once, without those of faked steps.

    `refusals`: to these sentences are added those about steps whose templates are not here.
    """
    refusals = {} if refusals is None else refusals
    waiting: list[tuple[str, Json, Base]] = []
    entry = spec.get("entrypoint")
    if entry:
        waiting.append(("", {"template": entry}, templates.local))
    if spec.get("onExit"):
        waiting.append(("onExit", {"template": spec["onExit"]}, templates.local))
    waiting.extend((name, hook, templates.local) for name, hook in part(spec, "hooks").items())
    seen: set[tuple[str, str, int]] = set()
    while waiting:
        task, holder, base = waiting.pop(0)
        if not any(holder.get(key) for key in ("inline", "template", "templateRef")):
            continue
        name = str(holder.get("template") or part(holder, "templateRef").get("template") or "")
        if "{{" in name:  # known only at run time: it may be any
            waiting.extend((task, {"template": one}, base) for one in base.templates)
            continue
        try:
            found, template = templates.resolve(base, holder)
        except Unknown:
            reference = part(holder, "templateRef")
            what = "ClusterWorkflowTemplate" if reference.get("clusterScope") else "WorkflowTemplate"
            out = f", or leave the step out: --fake {task}=VALUE" if task else ""
            refusals[
                f"{the_step(task)} runs a template of the {what} {reference.get('name')}, which is not here: "
                f"name its file, too{out}"
            ] = None
            continue
        except ArgoError as error:
            refusals[f"{the_step(task)}: {error}"] = None
            continue
        key = (found.scope, str(template.get("name", "")), id(holder) if holder.get("inline") else 0)
        leaf = kind(template) not in GRAPH_BODIES
        if key in seen or (leaf and {task, str(template.get("name", ""))} & fakes):
            continue
        seen.add(key)
        yield Use(task or str(template.get("name", "")), template, found)
        for one in _that_may_run(template):
            own = str(one.get("name", ""))
            waiting.append((own, one, found))
            hooks: Iterable[Json] = part(one, "hooks").values()
            waiting.extend((own, hook, found) for hook in hooks)
            if one.get("onExit"):
                waiting.append((own, {"template": one["onExit"]}, found))


def _that_may_run(template: Json) -> Iterator[Json]:
    """The tasks or steps of a template, without those that others only depend on."""
    return (one for one in called(template) if one.get("when") != "false")


def the_step(task: str) -> str:
    """A task in a sentence."""
    return f"the step `{task}`" if task else "the workflow"
