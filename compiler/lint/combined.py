"""A workflow with templates of other objects added, and the findings that occur only in this combination."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.progress.daemons import LostDaemon
from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.global_outputs import TooEarly
from flowdsl.compiler.schema.findings import dotted
from flowdsl.compiler.tree import value_at
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.diagnostic import Finding


NONE: Mapping[Path, Path] = MappingProxyType({})
"""No values."""


class Guest(NamedTuple):
    """A template that a workflow has at run time, the object that defines it, and the place that brings it in.

    `values` are the places of values that were put in place of texts, by their paths in the template; with them,
    a finding is reported at the value, or at its own place in the template. Without, it is reported at `via`.
    """

    owner: View
    template: Template
    via: Path
    finding: Callable[[Finding], Finding]
    values: Mapping[Path, Path] | None = None

    def place(self, path: Path) -> Path:
        """The place of a finding with a path in the template."""
        return self.via if self.values is None else self.values.get(path, (*self.template.path, *path))


class Whole(NamedTuple):
    """A workflow with all of its templates; the first `own` of them are its own.

    `follows` says that the values of its own calls can be traced further than without the guests. `values` are
    the places of values that were put in place of texts of the spec, by the paths of these texts.
    """

    document: Object
    own: int
    guests: list[Guest]
    follows: bool
    values: Mapping[Path, Path]

    def guest(self, view: View, path: Path) -> Guest | None:
        """The guest that a path leads into; None for the workflow's own templates."""
        start = len(view.path)
        if path[start : start + 1] != ("templates",) or len(path) == start + 1:
            return None
        index = int(path[start + 1]) - self.own
        return self.guests[index] if index >= 0 else None


def beside(
    view: View,
    made: Iterable[tuple[Object, Guest]],
    spec: Object | None = None,
    values: Mapping[Path, Path] = NONE,
) -> Whole | None:
    """A document with run-time variants of its templates added to them; None if there are no variants.

    `spec` replaces its spec, with `values` put into it.
    """
    guests: list[Guest] = []
    templates = [each.data for each in view.listed]
    taken = set(view.named)
    for data, guest in made:
        template = guest.template
        name = next(each for n in range(len(taken) + 1) if (each := f"{template.name}-{n}") not in taken)
        taken.add(name)
        templates.append({**data, "name": name})
        guests.append(guest)
    if not guests and not values:
        return None
    whole = view.with_spec({**(spec or view.spec), "templates": templates})
    return Whole(whole, len(view.listed), guests, follows=bool(values), values=values)


def only_together(
    view: View, whole: Whole, told: list[Problem], find: Callable[[Object], list[Problem]]
) -> list[Problem]:
    """The errors that a workflow has only in combination with its guests, each at its own place in it.

    `told` are its problems without the guests, and `find` returns the problems of a document.
    """
    found: list[Problem] = []
    messages = {each.finding.message for each in told}
    known = {id(view): _marks(told)}
    seen: set[tuple[Path, str]] = set()
    for problem in find(whole.document):
        path, finding = problem.path, problem.finding
        if finding.severity != "error":
            continue
        guest = whole.guest(view, path)
        if guest is None:
            place = whole.values.get(path, path)
            if (
                whole.follows
                and known[id(view)].isdisjoint(((path, finding.code), (place, finding.code)))
                and (place, finding.message) not in seen
                and value_at(view.document, place) is not None
            ):
                seen.add((place, finding.message))
                found.append(problem if place == path else _moved(view, whole, problem, place))
            continue
        owner = guest.owner
        if id(owner) not in known:
            known[id(owner)] = _marks(find(owner.document))
        at = len(view.path) + 2
        finding, rest = finding.with_texts(_as_written(whole, guest, path[:at])), path[at:]
        there = *guest.template.path, *rest
        if (
            _is_spared(view, guest, finding)
            or rest == ("name",)
            or (there, finding.code) in known[id(owner)]
            or (guest.values is None and finding.message in messages)
        ):
            continue
        here, place = guest.finding(finding), guest.place(rest)
        if (place, here.code) not in known[id(view)] and (place, finding.message) not in seen:
            seen.add((place, finding.message))
            found.append(_moved(view, whole, problem._replace(finding=here), place))
    return found


def _as_written(whole: Whole, guest: Guest, path: Path) -> Callable[[str], str]:
    """A function that replaces the name and the path of a guest in a text by those of its template."""
    name: str = value_at(whole.document, path)["name"]
    title, here, there = guest.template.title, dotted(path), dotted(guest.template.path)

    def replaced(text: str) -> str:
        return title if text == name else text.replace(f"`{name}`", f"`{title}`").replace(here, there)

    return replaced


def _moved(view: View, whole: Whole, problem: Problem, place: Path) -> Problem:
    """A problem at another place, with its part of the text if the text is the same there."""
    text: object = value_at(whole.document, problem.path)
    same = isinstance(text, str) and value_at(view.document, place) == text
    part = problem.part if same else None
    return problem._replace(path=place, on_key=False, part=part, also=())


def _is_spared(view: View, guest: Guest, finding: Finding) -> bool:
    """Whether a finding would be an error in a workflow's own template, but not in this guest.

    Argo stores the inline templates of other objects, where it finds them. It does not validate templates of
    other objects that hooks of the workflow name, nor the tags of a patch for all pods, which are left in its
    text. Source: Argo Workflows, SetStoredInlineTemplate, validateHooks, and processPodSpecPatch.
    """
    hooked = guest.via[len(view.path)] == "hooks"
    of_all = guest.via == (*view.path, "podSpecPatch")
    return (
        isinstance(finding, LostDaemon)
        or (hooked and isinstance(finding, TooEarly))
        or (of_all and isinstance(finding, UnknownVariable))
    )


def _marks(problems: list[Problem]) -> set[tuple[Path, str]]:
    return {(each.path, each.finding.code) for each in problems}
