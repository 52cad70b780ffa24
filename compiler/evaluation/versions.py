"""Semantic versions and version constraints, for `sprig.semver` and `sprig.semverCompare`.

Source: github.com/Masterminds/semver 3.5.0.
"""

# The type of a value is known only at run time, as in Go.
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.evaluation.values import ExpressionError, Long, Named
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.evaluation.values import Value

_TAIL = r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
_VERSION = regex(rf"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?{_TAIL}")
_WANTED = rf"v?([0-9xX*|]+)(?:\.([0-9xX*|]+))?(?:\.([0-9xX*|]+))?{_TAIL}"
_SIGNS = r"!=|>=|=>|<=|=<|~>|=|>|<|~|\^|"
_CONSTRAINT = regex(rf"({_SIGNS})\s*{_WANTED}")
_RANGE = regex(rf"\s*({_WANTED})\s+-\s+({_WANTED})\s*")
_BETWEEN = regex(r"\s*,\s*(?=\S)|\s+")


class Version(Named):
    """A version; `text` is its source."""

    kind = "*semver.Version"

    def __init__(
        self, numbers: tuple[int, int, int], before: str = "", build: str = "", text: str = ""
    ) -> None:
        self.numbers = numbers
        self.before = before
        self.build = build
        self.text = text or str(self)

    def __str__(self) -> str:
        front = ".".join(map(str, self.numbers))
        return front + f"-{self.before}" * bool(self.before) + f"+{self.build}" * bool(self.build)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and (str(self), self.text) == (str(other), other.text)

    def __hash__(self) -> int:
        return hash(self.text)

    def order(self) -> tuple[Any, ...]:
        """The sort key of a version, without the build."""
        parts = self.before.split(".") if self.before else []
        numbered = ((not one.isdecimal(), int(one) if one.isdecimal() else 0, one) for one in parts)
        return (self.numbers, not parts, *numbered)

    def compare(self, other: Version) -> int:
        """-1, 0 or 1."""
        one, two = self.order(), other.order()
        return (one > two) - (one < two)

    def next(self, part: int) -> Version:
        """The next major, minor or patch version."""
        made = [*self.numbers[: part + 1], 0, 0][:3]
        made[part] += not (part == 2 and self.before)
        found = Version((made[0], made[1], made[2]))
        found.text = "v" * self.text.startswith("v") + str(found)
        return found


def version(text: str) -> Version:
    """Parse a version, of which only the first number is required. Raises ExpressionError."""
    match = _VERSION.fullmatch(text)
    if match is None:
        raise ExpressionError("invalid semantic version")
    before, build = match[4] or "", match[5] or ""
    if any(one.isdecimal() and one != "0" and one.startswith("0") for one in before.split(".")):
        raise ExpressionError("version segment starts with 0")
    return Version((int(match[1]), int(match[2] or 0), int(match[3] or 0)), before, build, text)


def compared(constraint: str, text: str) -> bool:
    """Whether a version satisfies a constraint. Raises ExpressionError."""
    wanted = _RANGE.sub(lambda found: f">= {found[1]}, <= {found[7]} ", constraint)
    groups = [_constraints(one) for one in wanted.split("||")]
    found = version(text)
    return any(_holds(group, found) for group in groups)


def _constraints(text: str) -> list[tuple[str, Version, int]]:
    """Constraints that must all hold: operator, version, how many of its numbers are given. Raises ExpressionError."""
    made: list[tuple[str, Version, int]] = []
    place = len(text) - len(text.lstrip())
    while match := _CONSTRAINT.match(text, place):
        numbers: list[int] = []
        for part in match.group(2, 3, 4):
            if part in (None, "x", "X", "*"):
                break
            if not part.isdecimal():
                raise ExpressionError("constraint parser error")
            numbers.append(int(part))
        limit = version(".".join(map(str, [*numbers, 0, 0, 0][:3])) + f"-{match[5]}" * bool(match[5]))
        made.append((match[1] or "=", limit, len(numbers)))
        between = _BETWEEN.match(text, match.end())
        place = between.end() if between else match.end()
        if between is None or place == len(text):
            break
    if not made or place < len(text):
        raise ExpressionError(f'improper constraint: "{text}"')
    return made


def _holds(group: list[tuple[str, Version, int]], found: Version) -> bool:
    """Whether a version satisfies a group; a pre-release only if the constraint names one."""
    if found.before and not any(limit.before for _, limit, _ in group):
        return False
    return all(_is(sign, found, limit, given) for sign, limit, given in group)


def _is(sign: str, found: Version, limit: Version, given: int) -> bool:
    order, whole = found.compare(limit), given == 3
    match sign:
        case "=" if whole:
            return order == 0
        case "=" | "~" | "~>":
            fixed = 0 if given == 0 or (limit.numbers == (0, 0, 0) and whole) else min(given, 2)
            return order >= 0 and found.numbers[:fixed] == limit.numbers[:fixed]
        case "!=":
            same = found.numbers[:given] == limit.numbers[:given]
            return (
                order != 0 if given in (0, 3) else not (same and (given < 2 or found.before == limit.before))
            )
        case ">":
            return order > 0 if given in (0, 3) else found.numbers[:given] > limit.numbers[:given]
        case "<":
            return order < 0
        case "<=" | "=<":
            return order <= 0 if whole else found.numbers[: given or 2] <= limit.numbers[: given or 2]
        case "^":
            first = next((at for at in range(3) if limit.numbers[at]), 2)
            fixed = min(first + 1, given or 3)
            return order >= 0 and found.numbers[:fixed] == limit.numbers[:fixed]
        case _:
            return order >= 0


_OF_VERSIONS: dict[str, Callable[..., Value]] = {
    "Major": lambda one: Long(one.numbers[0]),
    "Minor": lambda one: Long(one.numbers[1]),
    "Patch": lambda one: Long(one.numbers[2]),
    "Prerelease": lambda one: one.before,
    "Metadata": lambda one: one.build,
    "Original": lambda one: one.text,
    "String": str,
    "IncMajor": lambda one: one.next(0),
    "IncMinor": lambda one: one.next(1),
    "IncPatch": lambda one: one.next(2),
    "Compare": lambda one, other: one.compare(other),
    "Equal": lambda one, other: one.compare(other) == 0,
    "LessThan": lambda one, other: one.compare(other) < 0,
    "LessThanEqual": lambda one, other: one.compare(other) <= 0,
    "GreaterThan": lambda one, other: one.compare(other) > 0,
    "GreaterThanEqual": lambda one, other: one.compare(other) >= 0,
}


def method(base: Value, name: str) -> Callable[..., Value] | None:
    """A method of a version, or None."""
    return _OF_VERSIONS.get(name) if isinstance(base, Version) else None
