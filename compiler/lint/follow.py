"""Findings that only follow from another one are not told: one mistake once."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.calls import UndefinedTemplate
from flowdsl.compiler.lint.findings import UnknownVariable
from flowdsl.compiler.lint.graph import SeveralBodies, UndefinedTask
from flowdsl.compiler.lint.names import DuplicateName, NoName
from flowdsl.diagnostic import near

if TYPE_CHECKING:
    from flowdsl.compiler.lint.tree import Path
    from flowdsl.compiler.problem import Problem


def without_followers(found: list[Problem]) -> list[Problem]:
    """The problems without those that are gone when another one is mended.

    Which variables there are in a template of several sorts is not known. Of the names that there are none of, as
    many are meant for templates, tasks or steps as have no name, or that of another.
    """
    mixed = {problem.path for problem in found if isinstance(problem.finding, SeveralBodies)}
    unnamed = Counter(place for problem in found if (place := _unnamed(problem)) is not None)
    if not mixed and not unnamed:
        return found
    asked: defaultdict[Path, set[str]] = defaultdict(set)
    places = [_asked(problem, unnamed) for problem in found]
    for place, name in filter(None, places):
        asked[place].add(name)
    return [
        problem
        for problem, at in zip(found, places, strict=True)
        if at is None or len(asked[at[0]]) > unnamed[at[0]]
        if not isinstance(problem.finding, UnknownVariable)
        or mixed.isdisjoint(problem.path[:length] for length in range(len(problem.path)))
    ]


_LISTS = {"template": 2, "task": 3, "step": 3}
"""How far above a named entry stands what its name is known in."""


def _unnamed(problem: Problem) -> Path | None:
    """Where a name is missing because of a problem, or None."""
    finding = problem.finding
    if isinstance(finding, DuplicateName):
        above = _LISTS.get(finding.what)
        return None if above is None else problem.path[: -1 - above]
    above = _LISTS.get(finding.what.removeprefix("the ")) if isinstance(finding, NoName) else None
    return None if above is None else problem.path[:-above]


def _asked(problem: Problem, unnamed: Counter[Path]) -> tuple[Path, str] | None:
    """Where names are missing, and the one that a problem is about; None where it is a slip, or about another thing."""
    finding, path = problem.finding, problem.path
    if not isinstance(finding, (UndefinedTemplate, UndefinedTask, UnknownVariable)):
        return None
    root, _, rest = finding.name.partition(".") if isinstance(finding, UnknownVariable) else ("", "", "")
    name = rest.partition(".")[0] if root else finding.name
    if root not in ("", "tasks", "steps") or not unnamed:
        return None
    if near(name, [each.removeprefix(f"{root}.") for each in finding.known]) is not None:
        return None
    inside = not isinstance(finding, UndefinedTemplate)
    around = [path[:length] for length in range(len(path)) if path[:length] in unnamed]
    place = next((each for each in reversed(around) if ("templates" in each) == inside), None)
    return None if place is None else (place, name)
