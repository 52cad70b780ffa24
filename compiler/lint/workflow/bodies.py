"""The bodies of templates: what each of them runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODIES
from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import entries_at, inside, string
from flowdsl.diagnostic import Finding
from flowdsl.grammar.names import is_dns_label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Path


class NoBody(Finding):
    """A template that does nothing."""

    code = "FD512"
    title = "template `{name}` has nothing to run"
    label = "{reason}"
    help = "{way}"
    name: str
    bodies: tuple[str, ...]
    empty: str = ""

    def words(self) -> dict[str, str]:
        """The name and the fix, which depends on whether an empty body is given."""
        if not self.empty:
            way = f"give it exactly one of {', '.join(self.bodies)}"
            return {"name": self.name, "reason": "nothing says what it does", "way": way}
        way = "write `suspend: {}`" if self.empty == "suspend" else f"write its fields below `{self.empty}`"
        return {"name": self.name, "reason": f"nothing follows `{self.empty}:`", "way": way}


class SeveralBodies(Finding):
    """A template that has several types at once."""

    code = "FD513"
    title = "template `{name}` has {bodies} at once"
    label = "only one of them is possible"
    help = "keep one of {bodies}, and move the others to templates of their own"
    name: str
    bodies: tuple[str, ...]


class EmptyGraph(Finding):
    """Steps or a DAG without anything to do."""

    code = "FD528"
    title = "{owner} has no {what}"
    label = "{reason}"
    help = "add one, or remove {part}"
    owner: str
    what: str
    part: str = "the template"
    reason: str = "needs at least one"


class BadPlugin(Various):
    """A `plugin` template that does not name one plugin, or a plugin without what its pod needs."""

    code = "FD529"


def bodies(view: View) -> Iterator[Problem]:
    """Each template has exactly one body, which is not empty."""
    for template in view.templates:
        if len(template.bodies) > 1:
            yield Problem(template.path, SeveralBodies(template.title, tuple(template.bodies)))
        elif not template.bodies:
            empty = next((body for body in BODIES if body in template.data), "")
            place: Path = (*template.path, empty) if empty else template.path
            yield Problem(place, NoBody(template.title, BODIES, empty), on_key=bool(empty))
        elif template.body == "dag" and not template.calls:
            yield Problem((*template.path, "dag"), EmptyGraph(f"template `{template.title}`", "tasks"))
        elif template.body == "steps":
            yield from _empty_groups(template)


def _empty_groups(template: Template) -> Iterator[Problem]:
    """The findings about empty step groups before a non-empty one: those at the end complete at once.

    Source: a real controller, which does not process what it has started after an empty group.
    """
    groups: list[list[object]] = template.data["steps"]
    if not all(groups[:-1]):
        finding = EmptyGraph("the group", "steps", "it", "the run never gets beyond it")
        last = max((index for index, group in enumerate(groups) if group), default=0)
        for index, group in enumerate(groups[:last]):
            if not group:
                yield Problem((*template.path, "steps", index), finding)


def plugins(view: View) -> Iterator[Problem]:
    """A `plugin` template names one plugin; plugins of the workflow have a container with what Argo requires.

    Source: Argo Workflows, Plugin.UnmarshalJSON and Sidecar.Validate.
    """
    for template in view.templates:
        plugin = template.data.get("plugin")
        if plugin is not None and len(plugin) != 1:
            finding = BadPlugin(f"`plugin` has {len(plugin)} keys", "give one key, the name of the plugin")
            yield Problem((*template.path, "plugin"), finding)
    for place, each in entries_at(view.spec, view.path, "executorPlugins"):
        if not string(each, "metadata", "name"):
            yield Problem((*place, "metadata"), BadPlugin("the plugin has no name", "add `name`"))
        container = inside(each, "spec", "sidecar", "container")
        resources = inside(container, "resources")
        name = string(container, "name")
        if "name" in container and not is_dns_label(name):
            way = "use at most 63 lower-case letters, digits and `-`"
            finding = BadPlugin(f"the container of the plugin cannot be called `{name}`", way)
            yield Problem((*place, "spec", "sidecar", "container", "name"), finding)
        needed = {
            "ports": container.get("ports"),
            "resources.requests": resources.get("requests") is not None,
            "resources.limits": resources.get("limits") is not None,
            "securityContext": container.get("securityContext") is not None,
        }
        for field, given in needed.items():
            if not given:
                finding = BadPlugin(f"the container of the plugin has no `{field}`", f"add `{field}`")
                yield Problem((*place, "spec", "sidecar", "container"), finding)
