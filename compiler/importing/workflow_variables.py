"""Variables of the workflow that templates read, and that become parameters of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.renamed import FORMULAS
from flowdsl.compiler.tree import entries, inside, is_list, is_mapping
from flowdsl.grammar.template import is_filled, references, variables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.importing.model import Json

_AT_THE_END = ("status", "duration")


class Needs:
    """The values of the workflow that each template needs, for itself and for the templates that it calls."""

    def __init__(self, templates: dict[str, Json]) -> None:
        self._templates = dict(templates)
        self._found: dict[str, tuple[str, ...]] = {}

    def add(self, name: str, template: Json) -> None:
        """Add a template."""
        self._templates[name] = template

    def given(self, name: str) -> set[tuple[str, str]]:
        """The kinds and names of the inputs that tasks pass to a template."""
        tasks = (task for template in self._templates.values() for task in _tasks(template))
        return {
            (kind, str(one.get("name")))
            for task in tasks
            if task.get("template") == name
            for kind in ("parameters", "artifacts")
            for one in entries(task, "arguments", kind)
        }

    def asked(self, name: str) -> set[tuple[str, str]]:
        """The kinds and names of the outputs that graphs use of tasks that call a template."""
        found = set[tuple[str, str]]()
        for template in self._templates.values():
            tasks = {str(task.get("name")) for task in _tasks(template) if task.get("template") == name}
            for path in _paths(template) if tasks else ():
                match path:
                    case ("steps" | "tasks", task, "outputs", "result") if task in tasks:
                        found.add(("result", ""))
                    case ("steps" | "tasks", task, "outputs", kind, *_) if task in tasks:
                        found.add((kind, path[-1]))
                    case ("steps" | "tasks", task, "ip") if task in tasks:
                        found.add(("ip", ""))
                    case _:
                        pass
        return found

    def called(self, name: str) -> set[str]:
        """The templates that the tasks of a template call, also as hooks."""
        tasks = _tasks(self._templates.get(name, {}))
        return {called for task in tasks for called in _called(task)}

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
