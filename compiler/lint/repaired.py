"""A manifest repaired as far as its author's intention is clear, without values of the wrong type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import BODIES
from flowdsl.compiler.schema import check_schema, fields, is_type
from flowdsl.compiler.schema.findings import MissingField, UnknownField, WrongType
from flowdsl.compiler.schema.table import gone
from flowdsl.compiler.tree import is_list, is_mapping, put, value_at
from flowdsl.grammar.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Object, Path

_NOTHING = object()
_NO = ("false", "no", "off", "n", "0")


class Sound(NamedTuple):
    """A repaired document for the rules, the findings of the schema in the original, and the original paths.

    `moved` has the original paths of fields that were renamed or moved.
    """

    document: Object
    problems: list[Problem]
    moved: dict[Path, Path]

    @property
    def has_kind(self) -> bool:
        """Whether its kind and version are known to the schema, so that the rules apply."""
        return not any(problem.path in ((), ("kind",), ("apiVersion",)) for problem in self.problems)

    def placed(self, problem: Problem) -> Problem:
        """A problem of the repaired document at its place in the original."""
        if not self.moved:
            return problem
        also = tuple(map(self.placed, problem.also))
        return problem._replace(path=_back(problem.path, self.moved), also=also)


def sound(document: Object, written: Callable[[Path], str] = lambda _: "") -> Sound:
    """The document with unknown fields and values of a wrong type as probably intended, or else left out.

    Consequences of a mistake that the schema reports are thus repaired, so that no rule reports it again.
    What remains wrong is replaced by something harmless. `written` returns the text of a scalar as it is in
    the file.
    """
    problems = [_as_written(problem, written) for problem in check_schema(document)]
    unfit = [each for each in problems if isinstance(each.finding, (UnknownField, WrongType)) and each.path]
    if not unfit:
        return Sound(document, problems, {})
    moved: dict[Path, Path] = {}
    for problem in unfit:
        finding, path = problem.finding, problem.path
        if isinstance(finding, WrongType):
            meant = _meant(finding.expression, finding.value, finding.written)
            if meant is not _NOTHING:
                document = put(document, path, meant)
        elif isinstance(finding, UnknownField) and finding.pair is not None:
            name, value = finding.pair
            moved[*path[:-1], "value"] = path
            document = put(document, path[:-1], {"name": name, "value": str(value)})
        elif isinstance(finding, UnknownField) and finding.target is not None:
            document = _at_target(document, path, finding.owner, finding.target, moved)
    left = [_as_written(each, lambda path: written(_back(path, moved))) for each in check_schema(document)]
    missing = {(each.path, each.finding.message) for each in left if isinstance(each.finding, MissingField)}
    kept = [
        each
        for each in problems
        if not isinstance(each.finding, MissingField) or (each.path, each.finding.message) in missing
    ]
    renamed = {there for there, path in moved.items() if there[:-1] == path[:-1]}
    inside = [each for each in left if any(each.path[:n] in renamed for n in range(len(each.path)))]
    kept += (each._replace(path=_back(each.path, moved)) for each in inside)
    return Sound(_harmless(document, left), kept, moved)


def _at_target(document: Object, path: Path, name: str, there: Path, moved: dict[Path, Path]) -> Object:
    """The document with an unknown field of a type moved to where it probably belongs, unless that is taken.

    What is moved is added to `moved`.
    """
    owner: object = value_at(document, there[:-1]) or {}
    if value_at(document, there) is not None or not is_mapping(owner) or _is_second(owner, there[-1]):
        return document
    value = value_at(document, path)
    if str(path[-1]) in gone(name) and not is_list(value):
        several = fields(name)[str(there[-1])].startswith("list:")
        if several and is_mapping(value):
            moved[*there, 0] = path
        value = [value] if several else value
    moved[there] = path
    cleared: Object = put(put(document, there, value), path, None)
    return cleared


def _is_second(template: Object, field: object) -> bool:
    """Whether a field would be a second body of a template, which a rule reports."""
    return field in BODIES and any(template.get(body) is not None for body in BODIES)


def _back(path: Path, moved: dict[Path, Path]) -> Path:
    """The original path of a place in the repaired document."""
    for length in range(len(path), 0, -1):
        if (there := moved.get(path[:length])) is not None:
            return there + path[length:]
    return path


def _as_written(problem: Problem, written: Callable[[Path], str]) -> Problem:
    """A problem of the schema, with the original text of its value where text may be intended."""
    finding = problem.finding
    if not isinstance(finding, WrongType):
        return problem
    text = written(problem.path)
    return problem._replace(finding=WrongType(finding.path, finding.expression, finding.value, text))


def _meant(expression: str, value: Any, written: str) -> Any:
    """The probable meaning of a value of the wrong type: a name for an object with one, an entry for a list."""
    outer, _, inner = expression.partition(":")
    if outer == "list":
        if is_mapping(value) and is_type(inner):
            return _listed(value, fields(inner))
        entry = _meant(inner, value, written)
        return [value if entry is _NOTHING else entry]
    if is_list(value):
        if outer == "string" and len(value) > 1 and all(isinstance(each, str) for each in value):
            return " && ".join(value)
        return value[0] if len(value) == 1 else _NOTHING
    if is_type(outer) and "name" in fields(outer) and not is_mapping(value) and value is not None:
        return {"name": written or str(value)}
    return _NOTHING


def _listed(value: Object, known: Mapping[str, str]) -> list[Any]:
    """A mapping as a list: with itself as the only entry, or with its values as entries named by its keys."""
    if value.keys() & known.keys() or "name" not in known:
        return [value]
    return [
        {"name": name, **each} if is_mapping(each) else {"name": name, "value": each}
        for name, each in value.items()
    ]


def _harmless(document: Object, problems: Sequence[Problem]) -> Object:
    """The document without unknown fields, and with every value of a wrong type replaced by a harmless one.

    A scalar instead of text becomes its text in the file, so that a name such as `1` is still found; anything
    else counts as left out.
    """
    for problem in problems:
        finding, path = problem.finding, problem.path
        if path and isinstance(finding, UnknownField):
            document = put(document, path, None)
        elif path and isinstance(finding, WrongType):
            document = put(document, path, _substitute(finding, in_list=isinstance(path[-1], int)))
    return document


def _substitute(finding: WrongType, in_list: bool) -> Any:
    value = finding.value
    if finding.expression == "boolean":
        return str(value).lower() not in _NO
    if finding.expression == "string":
        return finding.written or str(value) if isinstance(value, (bool, int, float)) else ""
    if not in_list:
        return None
    return [] if finding.expression.startswith("list:") else {}
