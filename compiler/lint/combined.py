"""A workflow with templates of other objects added, and the findings that occur only in this combination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.progress.daemons import LostDaemon
from flowdsl.compiler.lint.variables.findings import UnknownVariable
from flowdsl.compiler.lint.variables.global_outputs import TooEarly
from flowdsl.compiler.tree import value_at
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from flowdsl.compiler.lint.manifest.view import Template, View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.diagnostic import Finding


class Guest(NamedTuple):
    """A template that a workflow has at run time, the object that defines it, and the place that brings it in."""

    owner: View
    template: Template
    via: Path
    finding: Callable[[Finding], Finding]


class Whole(NamedTuple):
    """A workflow with all of its templates; the first `own` of them are its own.

    `follows` says that the values of its own calls can be traced further than without the guests.
    """

    document: Object
    own: int
    guests: list[Guest]
    follows: bool

    def guest(self, view: View, path: Path) -> Guest | None:
        """The guest that a path leads into; None for the workflow's own templates."""
        start = len(view.path)
        if path[start : start + 1] != ("templates",) or len(path) == start + 1:
            return None
        index = int(path[start + 1]) - self.own
        return self.guests[index] if index >= 0 else None


def beside(view: View, made: Iterable[tuple[Object, Guest]]) -> Whole | None:
    """A document with run-time variants of its templates added to them; None if there are no variants."""
    guests: list[Guest] = []
    templates = [each.data for each in view.listed]
    taken = set(view.named)
    for data, guest in made:
        template = guest.template
        name = next(each for n in range(len(taken) + 1) if (each := f"{template.name}-{n}") not in taken)
        taken.add(name)
        templates.append({**data, "name": name})
        guests.append(guest)
    if not guests:
        return None
    return Whole(
        view.with_spec({**view.spec, "templates": templates}), len(view.listed), guests, follows=False
    )


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
            if (
                whole.follows
                and (path, finding.code) not in known[id(view)]
                and value_at(view.document, path) is not None
            ):
                found.append(problem)
            continue
        owner = guest.owner
        if id(owner) not in known:
            known[id(owner)] = _marks(find(owner.document))
        rest = path[len(view.path) + 2 :]
        there = *guest.template.path, *rest
        if (
            _is_spared(view, guest, finding)
            or rest == ("name",)
            or (there, finding.code) in known[id(owner)]
            or finding.message in messages
        ):
            continue
        here = guest.finding(finding)
        if (guest.via, here.code) not in known[id(view)] and (guest.via, finding.message) not in seen:
            seen.add((guest.via, finding.message))
            found.append(problem._replace(path=guest.via, finding=here, on_key=False, part=None, also=()))
    return found


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
