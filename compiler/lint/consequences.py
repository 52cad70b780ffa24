"""Suppresses findings that are consequences of other findings: each mistake is reported once."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from flowdsl.compiler.lint.missing_names import Names
from flowdsl.compiler.lint.pods.bodies import ArtifactPath, NeverGiven, OutputSource
from flowdsl.compiler.lint.pods.findings import Incomplete
from flowdsl.compiler.lint.variables.argument_values import NoArtifactSource
from flowdsl.compiler.lint.variables.arguments import MissingArgument
from flowdsl.compiler.lint.variables.findings import LiteralTag, UnknownOutput, UnknownVariable
from flowdsl.compiler.lint.workflow.bodies import SeveralBodies
from flowdsl.compiler.lint.workflow.calls import UndefinedTemplate
from flowdsl.compiler.lint.workflow.names import BadArtifactName, DuplicateName, NoName
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.schema.findings import (
    MissingField,
    PatternMismatch,
    TextLength,
    UnknownField,
    WrongType,
)
from flowdsl.compiler.tree import compact, is_list, is_mapping, value_at
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.missing_names import Name
    from flowdsl.compiler.tree import Object, Path


_WORD = regex(r"[\w-]+")
_BETWEEN = regex(r"[-_]")


class MisspeltName(Finding):
    """A name that nothing uses, while a similar one is used and does not exist."""

    code = "FD800"
    title = "`{meant}` is used but does not exist, and `{name}` is not used"
    label = "did you mean `{meant}`?"
    help = "write `{meant}`"
    name: str
    meant: str


def without_followers(view: View, found: list[Problem], by_schema: Sequence[Problem]) -> list[Problem]:
    """The problems without those that disappear when another one, or one of the schema, is fixed.

    Where names of a list are wrong or missing, as many unresolved references to that list are taken for
    consequences.
    """
    names, listed = Names(view), Lists(view.document)
    lost = Lost(listed, [*found, *by_schema])
    left = [problem for problem in found if not lost.meaning(problem)]
    asked = [names.asked(problem) for problem in left]
    about = [names.about(problem) for problem in left]
    missing = lost.found_in(filter(None, asked))
    meant = {wrong: given for given, wrong in _misspelt(listed, left, asked, about) if wrong not in missing}
    given = set(meant.values())
    kept = [
        (problem, one)
        for problem, one, other in zip(left, asked, about, strict=True)
        if one not in missing
        and one not in meant
        and other not in given
        and not (other is not None and lost.has(other))
    ]
    more = [
        Problem((*listed.entry(given), "name"), MisspeltName(given.name, wrong.name))
        for wrong, given in meant.items()
    ]
    return [*_explained([*_once(listed, kept)]), *more]


def _explained(problems: Sequence[Problem]) -> Iterator[Problem]:
    """The problems, with one for a text that is wrong because a tag stays in it: with the way out of the tag."""
    errors = [each for each in problems if each.finding.severity == "error"]
    literal = {each.path: each.finding for each in problems if isinstance(each.finding, LiteralTag)}
    wrong = {
        each.path
        for each in errors
        if each.path in literal and literal[each.path].name in each.finding.message and each.part is None
    }
    for problem in problems:
        tag = literal.get(problem.path)
        if tag is None or problem.path not in wrong:
            yield problem
        elif problem.finding.severity == "error":
            way = tag.way.partition(", or ignore")[0]
            yield problem._replace(
                finding=problem.finding.with_help(way.replace("{", "{{").replace("}", "}}"))
            )
        elif problem.finding is not tag:
            yield problem


class Lists:
    """The lists of named entries of a document, each read once."""

    def __init__(self, document: Object) -> None:
        self.document = document
        self._entries: dict[Path, dict[str, Path]] = {}

    def names(self, listed: Path) -> dict[str, Path]:
        """The names in a list of entries, or of groups of them, each with the path of its entry."""
        if listed not in self._entries:
            found = self._entries[listed] = {}
            stack = [(listed, value_at(self.document, listed))]
            while stack:
                path, value = stack.pop()
                if is_list(value):
                    stack += [((*path, index), each) for index, each in enumerate(value)]
                elif is_mapping(value) and isinstance(name := value.get("name"), str):
                    found.setdefault(name, path)
        return self._entries[listed]

    def entry(self, name: Name) -> Path:
        """The path of the entry of an existing name."""
        return self.names(name.listed)[name.name]

    def has(self, name: Name) -> bool:
        """Whether there is an entry with that name."""
        return name.name in self.names(name.listed)

    @cached_property
    def words(self) -> Counter[str]:
        """How often each word (of letters, digits, `_` and `-`) occurs in the document."""
        return Counter(_WORD.findall(compact(self.document)))

    def is_unused(self, name: str) -> bool:
        """Whether a name occurs in a document only where it is defined."""
        if _WORD.fullmatch(name):
            return self.words[name] == 1
        text = compact(self.document)
        return bool(name) and len(re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)) == 1


def _once(listed: Lists, problems: list[tuple[Problem, Name | None]]) -> Iterator[Problem]:
    """The problems, with one for each missing name, for each missing list, and for each name with a tag.

    A name with a tag is wrong because of the tag, and an artifact without a source because its variable is
    unknown.
    """
    tagged = {each.path for each, _ in problems if isinstance(each.finding, UnknownVariable)}
    gone: defaultdict[Path, list[Problem]] = defaultdict(list)
    for problem, name in problems:
        if name is not None and not value_at(listed.document, name.listed):
            gone[name.listed].append(problem)
    first = {
        path: next((each for each in several if each.finding.severity == "error"), several[0])
        for path, several in gone.items()
    }
    again = _again(listed, problems)
    for problem, name in problems:
        if name is not None and name.listed in first:
            if problem is first[name.listed]:
                yield _of_all(problem, gone[name.listed])
        elif name in again:
            if problem is again[name][0]:
                yield problem._replace(also=tuple(again[name][1:]))
        elif problem.path not in tagged or not isinstance(
            problem.finding, (BadArtifactName, NoArtifactSource, UndefinedTemplate)
        ):
            yield problem


def _again(
    listed: Lists, problems: Iterable[tuple[Problem, Name | None]]
) -> dict[Name | None, list[Problem]]:
    """The problems by the missing name that they refer to."""
    asking: defaultdict[Name | None, list[Problem]] = defaultdict(list)
    for problem, name in problems:
        if name is not None:
            asking[name].append(problem)
    return {
        name: sorted(several, key=lambda each: each.finding.severity)  # errors before warnings
        for name, several in asking.items()
        if name is not None and len(several) > 1 and not listed.has(name)
    }


def _of_all(problem: Problem, several: Iterable[Problem]) -> Problem:
    """A problem of a missing argument, combined with those that are missing in the same call."""
    finding = problem.finding
    names = [each.finding.name for each in several if isinstance(each.finding, MissingArgument)]
    if not isinstance(finding, MissingArgument) or len(names) < 2:
        return problem
    return problem._replace(finding=finding.of(names))


_OF_NAMES = (BadArtifactName, DuplicateName, PatternMismatch, TextLength, WrongType)


class Lost:
    """What other problems make unknown: names of lists, whole lists, and the bodies of templates."""

    def __init__(self, listed: Lists, told: Sequence[Problem]) -> None:
        self.entries = listed
        self.document = listed.document
        self.names: defaultdict[Path, set[str]] = defaultdict(set)
        self.count: Counter[Path] = Counter()
        self.lists: list[Path] = []
        self.unknown: list[UnknownField] = []
        self.mixed: set[Path] = set()
        self.needless: set[Path] = set()
        self.told: set[Path] = set()
        """The paths of the findings of the schema, and all their prefixes."""
        for problem in told:
            self._add(problem)

    def _add(self, problem: Problem) -> None:
        path, finding = problem.path, problem.finding
        if isinstance(finding, (MissingField, UnknownField, WrongType)):
            self.told.update(path[:length] for length in range(len(path) + 1))
        if isinstance(finding, (ArtifactPath, OutputSource, SeveralBodies)):
            self.mixed.add(path)
        elif isinstance(finding, NeverGiven):
            self.needless.add(path)
        elif isinstance(finding, UnknownField):
            self.unknown.append(finding)
        elif isinstance(finding, NoName) or (isinstance(finding, MissingField) and finding.field == "name"):
            self._name(path)
        elif isinstance(finding, MissingField):
            self.lists.append((*path, finding.field))
        elif path[-1:] == ("name",):
            value: object = value_at(self.document, path)
            if isinstance(finding, _OF_NAMES) or "{{" in str(value):
                self._name(path[:-1], "" if isinstance(finding, DuplicateName) else value)
        elif isinstance(finding, WrongType) and isinstance(path[-1], int):
            value = finding.value
            self._name(path, value if isinstance(value, (str, int, float)) else "")
        elif isinstance(finding, Incomplete) and path[-2:-1] == ("volumeClaimTemplates",):
            self._name(path)
        elif isinstance(finding, WrongType):
            self.lists.append(path)

    def _name(self, entry: Path, name: object = "") -> None:
        listed = entry
        while listed and isinstance(listed[-1], int):  # steps are listed in groups
            listed = listed[:-1]
        if listed[-1:] == ("volumeClaimTemplates",):  # whose claims are volumes of the pods
            listed = (*listed[:-1], "volumes")
        self.count[listed] += 1
        self.names[listed].add(str(name))

    def meaning(self, problem: Problem) -> bool:
        """Whether its variables are unknown: it is in a template with several bodies, or in a field in the wrong place.

        Of an object that is to be removed as a whole, its parts need no fix.
        """
        path = problem.path
        if not self.needless.isdisjoint(path[:length] for length in range(len(path))):
            return True
        return isinstance(problem.finding, (UnknownOutput, UnknownVariable)) and not self.mixed.isdisjoint(
            path[:length] for length in range(len(path) + 1)
        )

    def has(self, name: Name) -> bool:
        """Whether there is a problem with the definition of a name, or next to it."""
        if name.name in self.names[name.listed] or self._whole(name.listed):
            return True
        return self._is_told(name)

    def _is_told(self, name: Name) -> bool:
        """Whether the schema reports a problem of the entry of a name."""
        return self.entries.has(name) and self.entries.entry(name) in self.told

    def found_in(self, asked: Iterable[Name]) -> set[Name]:
        """Those of the missing names whose definition is probably the one with a problem."""
        wanted: defaultdict[Path, set[Name]] = defaultdict(set)
        for each in asked:
            wanted[each.listed].add(each)
        found: set[Name] = set()
        for listed, names in wanted.items():
            known = [name for name in self.entries.names(listed) if name not in self.names[listed]]
            lost = {each for each in names if near(each.name, known, 0.75) is None}
            if len(lost) <= self.count[listed] or self._whole(listed):
                found |= lost
            found |= {each for each in names if self._is_told(each)}
        return found

    def _whole(self, listed: Path) -> bool:
        """Whether a whole list is unknown, or may be below a misplaced field."""
        if any(listed[: len(each)] == each for each in self.lists):
            return True
        return value_at(self.document, listed) is None and any(
            listed[: len(each.steps) - 1] == each.steps[:-1]
            and (each.target is None or _holds(value_at(each.document, each.steps), listed[-1]))
            for each in self.unknown
        )


def _misspelt(
    listed: Lists, problems: list[Problem], asked: list[Name | None], about: list[Name | None]
) -> Iterator[tuple[Name, Name]]:
    """The names that are misspelt where they are defined: the name there, and the one that is referred to.

    A name with a single reference may be misspelt in the reference, unless no name there could be.
    """
    needless, both = Counter(about), Counter(zip(about, asked, strict=True))
    bare = {
        one for each, one in zip(problems, asked, strict=True) if isinstance(each.finding, MissingArgument)
    }
    parts: dict[Path, dict[str, list[str]]] = {}
    for wrong, times in Counter(filter(None, asked)).items():
        known = listed.names(wrong.listed)
        if wrong.listed not in parts:
            parts[wrong.listed] = _by_parts(known)
        longer = {
            *parts[wrong.listed].get(wrong.name, ()),
            *(one for one in _parts(wrong.name) if one and one in known),
        }
        close = longer.pop() if len(longer) == 1 else near(wrong.name, known, 0.7)
        if close is not None and listed.is_unused(close):
            given = wrong._replace(name=close)
            if times + needless[given] - both[given, wrong] > 1 or wrong in bare:
                yield given, wrong


def _parts(name: str) -> Iterator[str]:
    """The parts of a name before and after each hyphen and underscore."""
    for found in _BETWEEN.finditer(name):
        yield name[: found.start()]
        yield name[found.end() :]


def _by_parts(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by the parts before and after their hyphens and underscores."""
    found: dict[str, list[str]] = {}
    for name in names:
        for part in filter(None, _parts(name)):
            found.setdefault(part, []).append(name)
    return found


def _holds(node: object, key: str | int) -> bool:
    """Whether a key occurs anywhere in a value."""
    if is_mapping(node):
        return key in node or any(_holds(each, key) for each in node.values())
    return is_list(node) and any(_holds(each, key) for each in node)
