"""Variables of the workflow that templates read, and that become parameters of functions."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.renamed import FORMULAS
from flowdsl.compiler.tree import entries, inside, is_list, is_mapping
from flowdsl.grammar.template import is_filled, references, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.importing.model import Json, Key

_AT_THE_END = ("status", "duration")


class Needs:
    """The values of the workflow that each template needs, for itself and for the templates that it calls."""

    def __init__(self, templates: dict[str, Json]) -> None:
        self._templates: dict[str, Json] = {}
        self._found: dict[str, tuple[str, ...]] = {}
        #: The kinds and names of the inputs that tasks pass to each template.
        self.given: defaultdict[str, set[Key]] = defaultdict(set)
        #: The kinds and names of the outputs that graphs use of tasks that call each template.
        self.asked: defaultdict[str, set[Key]] = defaultdict(set)
        #: The templates that tasks call, also as hooks.
        self.called = set[str]()
        for name, template in templates.items():
            self.add(name, template)

    def add(self, name: str, template: Json) -> None:
        """Add a template."""
        self._templates[name] = template
        calls = defaultdict[str, set[str]](set)  # the templates that the tasks of a name call
        for task in _tasks(template):
            called = str(task.get("template") or "")
            calls[str(task.get("name"))].add(called)
            self.called.update(_called(task))
            self.given[called].update(
                (kind, str(one.get("name")))
                for kind in ("parameters", "artifacts")
                for one in entries(task, "arguments", kind)
            )
        for path in _paths(template) if calls else ():
            match path:
                case ("steps" | "tasks", caller, "outputs", "result"):
                    key = "result", ""
                case ("steps" | "tasks", caller, "outputs", kind, *_):
                    key = kind, path[-1]
                case ("steps" | "tasks", caller, "ip"):
                    key = "ip", ""
                case _:
                    continue
            for called in calls[caller]:
                self.asked[called].add(key)

    def of(self, name: str) -> tuple[str, ...]:
        """The parameters of the workflow that a template needs; other fields of it begin with a dot."""
        if name not in self._found:
            self._found[name] = ()  # recursion is reported elsewhere
            template = self._templates.get(name, {})
            own = {**template, "inputs": _without_sources(inside(template, "inputs"))}
            found = [*_named(own)]
            for task in _tasks(template):
                for called in _called(task):
                    found += self.of(called)
                    found += _named(inside(self._templates.get(called, {}), "inputs"))
                if is_mapping(task.get("inline")):
                    found += _named(task["inline"])
            self._found[name] = tuple(dict.fromkeys(found))
        return self._found[name]


def _without_sources(inputs: Json) -> Json:
    """Inputs without the fields that are set in calls of the template."""
    return {
        "parameters": [{"name": one.get("name")} for one in entries(inputs, "parameters")],
        "artifacts": [{"path": one.get("path")} for one in entries(inputs, "artifacts")],
    }


def _tasks(template: Json) -> Iterator[Json]:
    for group in entries(template, "steps"):
        yield from group if is_list(group) else entries(group, "steps")
    yield from entries(template, "dag", "tasks")


def _called(task: Json) -> Iterator[str]:
    if task.get("template"):
        yield str(task["template"])
    if task.get("onExit"):
        yield str(task["onExit"])
    leaving = inside(task, "hooks", "exit")
    if leaving and not leaving.get("expression"):
        yield str(leaving.get("template"))


def _named(value: Any) -> Iterator[str]:
    """The fields of the workflow that the tags in a value refer to."""
    for path in _paths(value):
        match path:
            case ("workflow", "parameters", name, *_):
                yield name
            case ("workflow", name) if name in _AT_THE_END:
                yield f".{name}"
            case _:
                pass


def _paths(value: Any, formula: bool = False) -> Iterator[tuple[str, ...]]:
    """The paths of the variables that the tags in a value refer to."""
    if isinstance(value, str):
        found = references(value) if is_filled(value) else variables(value) if formula else ()
        yield from (one.path for one in found)
    elif is_mapping(value):
        for key, one in value.items():
            yield from _paths(one, key in FORMULAS)
    elif is_list(value):
        for one in value:
            yield from _paths(one)
