"""Conditional parameters of a sweep: which of them a point searches. Resolved before any point is drawn."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, cast

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.space_condition import Compared, Condition, Joined, comparisons, condition
from flowdsl.places.place import Argument, Site
from flowdsl.space import Space
from flowdsl.tracing.call import default_of
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Poison
from flowdsl.values.signature import MISSING
from flowdsl.values.texts import WrongValue, meant
from flowdsl.values.value import is_value

if TYPE_CHECKING:
    from flowdsl.pipeline import PipelineDef
    from flowdsl.space import When
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Trace
    from flowdsl.values.signature import Parameter

_MOST = 10_000
"""The maximal number of combinations of values that are tried to check a condition."""

Values = Mapping[str, Any]
"""The values of a point, by parameter."""

_ORDERED = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


class Rule(NamedTuple):
    """When a parameter is searched, and its value in all other points.

    `conditions` all have to hold; `comparison` is the equivalent test of a value, if they amount to one.
    """

    holds: Callable[[Mapping[str, Expr]], bool]
    default: Expr
    conditions: tuple[Condition, ...]
    comparison: Callable[[Compared], Callable[[Any], bool]]


class _Range(NamedTuple):
    """The bounds of a space with very many values, and whether these are integers."""

    low: float
    high: float
    whole: bool


def rules(
    trace: Trace,
    target: StepDef | PipelineDef,
    spaces: Mapping[str, object],
    drawn: Mapping[str, list[Expr] | Callable[..., Expr] | None],
    site: Site,
) -> dict[str, Rule] | None:
    """The rule of each parameter that is searched in some points only, each after those that it depends on.

    None after a mistake, which is recorded. `drawn` are the values or sampling functions of the spaces.
    """
    given = {name: one for name, one in spaces.items() if isinstance(one, Space) and one.conditions}
    if not given:
        return {}
    reader = _Reader(trace, target, spaces, drawn)
    read = {name: [reader.read(name, one) for one in space.conditions] for name, space in given.items()}
    defaults = {name: reader.default(name, site) for name in given}
    if reader.failed:
        return None
    waits = {
        # The order of a set of texts differs between processes.
        name: dict.fromkeys(one.name for tree in trees if tree is not None for one in comparisons(tree))
        for name, trees in read.items()
    }
    try:
        order = [name for name in TopologicalSorter(waits).static_order() if name in given]
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]
        first = next(name for name in given if name in circle)
        at = circle.index(first)
        circle = [*circle[at:-1], *circle[:at], first] if at else circle
        way = ", ".join(f"`{one}` depends on `{two}`" for one, two in pairwise(circle))
        place = Argument(given[first].conditions[0].site, position=0)
        trace.report("ConditionCycle", place, (), name=first, way=way)
        return None
    made: dict[str, Rule] = {}
    for name in order:
        trees = [tree for tree in read[name] if tree is not None]
        for tree, one in zip(trees, given[name].conditions, strict=True):
            reader.judge(tree, one, made)
        holds = [reader.test(tree) for tree in trees]
        made[name] = Rule(_all_of(holds), defaults[name], tuple(trees), reader.comparison)
    return None if reader.failed else made


def _all_of(tests: list[Callable[[Values], bool]]) -> Callable[[Mapping[str, Expr]], bool]:
    def holds(point: Mapping[str, Expr]) -> bool:
        values = {name: one.value for name, one in point.items() if isinstance(one, Const)}
        return all(test(values) for test in tests)

    return holds


class _Reader:
    """Reads conditions by the types of the compared parameters; mistakes are recorded."""

    def __init__(
        self,
        trace: Trace,
        target: StepDef | PipelineDef,
        spaces: Mapping[str, object],
        drawn: Mapping[str, list[Expr] | Callable[..., Expr] | None],
    ) -> None:
        self.trace = trace
        self.target = target
        self.spaces = spaces
        self.drawn = drawn
        self.failed = False

    def read(self, name: str, given: When) -> Condition | None:
        """A condition of a parameter's space, if all of its comparisons are valid."""
        text = cast("object", given.text)
        problem = ""
        if is_value(text):
            problem = "it is a run-time value, and the trials are drawn while compiling"
        elif not isinstance(text, str):
            problem = f"it is a {type(text).__name__}, not a text"
        else:
            try:
                tree = condition(text)
            except GrammarError as error:
                problem = str(error)
            else:
                fine = [self._is_possible(name, given, one) for one in comparisons(tree)]
                return tree if all(fine) else None
        self._report("BadCondition", given, name=name, problem=problem)
        return None

    def default(self, name: str, site: Site) -> Expr:
        """The value of a parameter where it is not searched."""
        parameter = self._parameter(name)
        if parameter.default is MISSING and isinstance(parameter.type, t.Maybe):
            return Const(None, parameter.type)
        if parameter.default is MISSING and not isinstance(parameter.type, t.Unsupported):
            data = {"name": name, "step": self.target.name, "type": t.spell(parameter.type)}
            self.trace.report("NoDefault", Argument(site, "over", part=f"item:{name}"), (), **data)
        found = default_of(self.trace, self.target, parameter)
        self.failed |= isinstance(found, Poison)
        return found

    def test(self, tree: Condition) -> Callable[[Values], bool]:
        """Whether a condition holds for the values of a point."""
        if isinstance(tree, Compared):
            name, holds = tree.name, self.comparison(tree)
            return lambda values: holds(values[name])
        if isinstance(tree, Joined):
            parts = [self.test(one) for one in tree.parts]
            every = any if tree.word == "or" else all
            return lambda values: every(part(values) for part in parts)
        inner = self.test(tree.part)
        return lambda values: not inner(values)

    def judge(self, tree: Condition, given: When, before: Mapping[str, Rule]) -> None:
        """Record a comparison that holds in no point or in every one; if there is none, such a condition."""
        told = False
        for one in comparisons(tree):
            values = self._candidates(one, before)
            told |= self._tell(one.text, given, {one.name: values}, map(self.comparison(one), values))
        names = list(dict.fromkeys(one.name for one in comparisons(tree)))
        known = {other: self._values(other, before) for other in names}
        whole = {other: values for other, values in known.items() if isinstance(values, list)}
        if told or len(whole) < len(known) or math.prod(map(len, whole.values())) > _MOST:
            return
        test = self.test(tree)
        points = (dict(zip(whole, row, strict=True)) for row in product(*whole.values()))
        self._tell(given.text, given, whole, map(test, points))

    def _tell(
        self,
        part: str,
        given: When,
        values: Mapping[str, Iterable[Any]],
        answers: Iterable[bool],
    ) -> bool:
        found = set(answers)
        if len(found) != 1:
            return False
        others = " and ".join(f"`{other}`" for other in values)
        shown = "; ".join(self._shown(other) for other in values)
        kind = "ConditionAlways" if found == {True} else "ConditionNever"
        self.failed |= found == {False}
        place = Argument(given.site, position=0)
        self.trace.report(kind, place, (), part=part, others=others, values=shown)
        return True

    def _shown(self, name: str) -> str:
        space = self.spaces[name]
        if isinstance(space, Space) and space.kind != "choice":
            return f"`{name}` is drawn from {space!r}"
        values = [_said(one.value) for one in self._list(name) or () if isinstance(one, Const)]
        return f"`{name}` is {' or '.join(values[:5])}{' ...' if len(values) > 5 else ''}"

    def _list(self, name: str) -> list[Expr] | None:
        """The values of a space; None if it is drawn from a range, or invalid."""
        drawn = self.drawn[name]
        return None if drawn is None or callable(drawn) else drawn

    def _parameter(self, name: str) -> Parameter:
        return self.target.signature.by_name[name]

    def _report(self, kind: str, given: When, **data: Any) -> None:
        self.failed = True
        self.trace.report(kind, Argument(given.site, position=0), (), **data)

    def _is_possible(self, name: str, given: When, one: Compared) -> bool:
        """Whether a comparison is valid; otherwise it is recorded."""
        if one.name not in self.spaces:
            known = tuple(other for other in self.spaces if other != name)
            self._report("ConditionUnknown", given, name=name, other=one.name, known=known)
            return False
        if self.drawn[one.name] is None:  # its own mistake is recorded
            self.failed = True
            return False
        if not all(isinstance(value, Const) for value in self._list(one.name) or ()):
            self._report("ConditionRunTime", given, name=name, other=one.name)
            return False
        kind = self._parameter(one.name).type
        try:
            self.comparison(one)
        except WrongValue as wrong:
            said = {"part": one.text, "problem": str(wrong), "type": t.spell(kind), "way": _way(kind)}
            self._report("ConditionType", given, name=name, other=one.name, **said)
            return False
        return True

    def comparison(self, one: Compared) -> Callable[[Any], bool]:
        """The test of a value. Raises WrongValue for an invalid comparison."""
        kind = self._parameter(one.name).type
        inner = t.without_none(kind)
        plain = t.base(inner)
        if not isinstance(inner, (t.Text, t.Number, t.Flag, t.Choice, t.Enumeration, t.Json)):
            raise WrongValue("such a value cannot be compared")
        if not one.sign:
            if not isinstance(plain, t.Flag):
                raise WrongValue("a name alone is true or false")
            return lambda value: value is True
        if one.sign in _ORDERED:
            if not isinstance(plain, t.Number):
                raise WrongValue("only numbers are less or greater")
            bound = _number(one)
            compare = _ORDERED[one.sign]
            return lambda value: value is not None and compare(value, bound)
        wanted = [_wanted(each, kind, plain) for each in one.values]
        among = one.sign in ("==", "in")
        return lambda value: any(_same(value, each) for each in wanted) == among

    def _values(self, name: str, before: Mapping[str, Rule]) -> list[Any] | _Range:
        """The possible values of a parameter in a point, or their bounds."""
        drawn = self._list(name)
        if drawn is not None:
            found = [one.value for one in drawn if isinstance(one, Const)]
            if name in before and isinstance(default := before[name].default, Const):
                found.append(default.value)
            return found
        space = self.spaces[name]
        assert isinstance(space, Space), "a list has values"
        low, high = (-math.inf, math.inf) if space.kind == "normal" else space.arguments[:2]
        return _Range(low, high, space.kind == "integer")

    def _candidates(self, one: Compared, before: Mapping[str, Rule]) -> list[Any]:
        """Values of a parameter that cover all possible results of a comparison."""
        values = self._values(one.name, before)
        if isinstance(values, list):
            return values
        found: list[Any] = [values.low, values.high]
        kind = self._parameter(one.name).type
        if values.whole and one.sign not in _ORDERED:
            wanted = [_wanted(each, kind, t.base(kind)) for each in one.values]
            found += [each for each in wanted if each is not None and values.low <= each <= values.high]
        if one.name in before and isinstance(default := before[one.name].default, Const):
            found.append(default.value)
        return found


def _wanted(written: Any, kind: t.Type, plain: t.Type) -> Any:
    if isinstance(kind, t.Maybe) and written.text == "None":
        return None
    # An integer never equals 2.5, but the comparison is valid.
    if isinstance(plain, t.Number) and not isinstance(kind, t.Choice):
        return meant(written, t.Maybe(t.FLOAT) if isinstance(kind, t.Maybe) else t.FLOAT)
    return meant(written, kind)


def _number(one: Compared) -> float:
    (written,) = one.values
    found: float = meant(written, t.FLOAT)
    return found


def _same(one: Any, two: Any) -> bool:
    return bool(one == two) and isinstance(one, bool) == isinstance(two, bool)


def _said(value: Any) -> str:
    return str(getattr(value, "name", None) or value)


def _way(kind: t.Type) -> str:
    inner = t.without_none(kind)
    match inner:
        case t.Flag():
            return "by its name alone, or with true or false"
        case t.Enumeration(cls):
            return f"with {', '.join(cls.__members__)}"
        case t.Choice(values):
            return f"with {', '.join(map(str, values))}"
        case t.Number():
            return "with a number"
        case t.Text():
            return "with `==`, `!=` or `in (a, b)`"
        case _:
            return "in the step instead, which may leave the value alone"
