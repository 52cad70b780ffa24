"""Conditions: tasks that run only if a run-time value says so."""

from __future__ import annotations

from functools import reduce
from itertools import takewhile
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flowdsl.places.place import Argument, Site, here
from flowdsl.tracing.trace import TOKEN, Region, Trace, needed, regions
from flowdsl.values import types as t
from flowdsl.values.expr import Either, Expr, Many, Op, Poison, flat, negate
from flowdsl.values.lift import as_written, lift, spelled
from flowdsl.values.operators import written
from flowdsl.values.value import expr_of, fields_of, is_value, maker, value

if TYPE_CHECKING:
    from types import TracebackType

    from flowdsl.tracing.trace import Graph

T = TypeVar("T")


class _Branch:
    """The context manager of `when`, `unless` and `otherwise`."""

    __slots__ = ("condition", "graph", "region", "site", "word")

    def __init__(self, word: str, graph: Graph, condition: Expr, site: Site) -> None:
        self.word = word
        self.graph = graph
        self.condition = condition
        self.site = site
        self.region: Region | None = None
        if not isinstance(condition, Poison):
            graph.pending.append((word, site))

    def __enter__(self) -> None:
        if (self.word, self.site) in self.graph.pending:
            self.graph.pending.remove((self.word, self.site))
        self.region = Region(self.condition, self.graph.region, self.site)
        self.graph.region = self.region
        self.graph.finished = None
        self.graph.enter(self.word, self.site)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self.region is not None
        self.graph.region = self.region.parent
        self.graph.finished = None if self.word == "otherwise" else self.region


def when(condition: bool) -> _Branch:
    """The tasks called in this `with` block run only if the condition holds at run time."""
    trace = needed("when")
    site = here()
    return _Branch("when", trace.graph, _condition(trace, condition, site, "when"), site)


def unless(condition: bool) -> _Branch:
    """The tasks called in this `with` block run only if the condition does not hold at run time."""
    trace = needed("unless")
    site = here()
    return _Branch("unless", trace.graph, negate(_condition(trace, condition, site, "unless")), site)


def otherwise() -> _Branch:
    """The tasks called in this `with` block run if the `when` just before it did not hold."""
    trace = needed("otherwise")
    site = here()
    finished = trace.graph.finished
    if finished is None or finished.parent is not trace.graph.region:
        trace.report("OtherwiseAlone", site)
        return _Branch("otherwise", trace.graph, Poison(t.BOOL), site)
    return _Branch("otherwise", trace.graph, negate(finished.condition), site)


def _condition(trace: Trace, condition: object, site: Site, word: str) -> Expr:
    place = Argument(site, "condition", 0)
    if is_value(condition):
        expr = expr_of(condition)
        if name := maker(condition):
            trace.report("NothingMade", place, (), maker=name)
            return Poison(t.BOOL)
        if isinstance(expr, Poison) or isinstance(expr.type, t.Flag):
            return expr
        trace.report("NotACondition", place, (), have=t.spell(expr.type), word=word)
    elif not trace.told(site):  # `not flag` has been reported
        known = as_written(condition)
        if known == "...":  # for a text, as a whole: it was meant as the condition
            known = TOKEN.sub("...", repr(condition)) if isinstance(condition, str) else spelled(condition)
        trace.report("KnownCondition", place, (), word=word, value=known)
    return Poison(t.BOOL)


def either(first: T | None, second: T) -> T:
    """The value of whichever ran: `first` if there is one, else `second`.

    `second` may be an ordinary value, so it is also how an optional output gets a default.
    """
    trace = needed("either")
    site = here()
    if not is_value(first) and isinstance(first, str) and TOKEN.search(first):

        def tell(name: str, **data: Any) -> None:
            trace.report(name, Argument(site, "first", 0), **data)

        made = lift(first, t.TEXT, tell)
        first = cast(T, value(made))
    if not is_value(first):
        if not trace.told(site):
            trace.report("EitherKnown", Argument(site, "first", 0))
        return cast(T, value(Poison())) if is_value(second) else second
    one = expr_of(first)
    if isinstance(one, Poison):
        return cast(T, value(one))
    if name := maker(first):
        trace.report("NothingMade", Argument(site, "first", 0), (), maker=name)
        return second
    return cast(T, value(_either(trace, site, one, second)))


def _either(trace: Trace, site: Site, one: Expr, second: object) -> Expr:
    """One value, or a second one where it is missing, in their common type; Poison after a mistake."""
    place = Argument(site, "second", 1)
    kind = t.without_none(one.type)
    if t.without_default(one.type):
        return _unsupported(trace, site, "several files")
    if isinstance(one, Many) and any(
        isinstance(out.type, t.Maybe) and t.holds_file(out.type) for out in t.outputs(one.type)
    ):
        return _unsupported(trace, site, "records with a file")
    wrong: list[str] = []

    def complain(name: str, **data: Any) -> None:
        if name == "WrongType":
            wrong.append(data["have"])
        else:
            trace.report(name, place, (), **data)

    # The common type as a type checker sees it: a str beside a Literal, a float beside an int,
    # and an optional value beside one of the same type.
    plain = (kind, t.base(kind), *([t.FLOAT] if t.base(kind) == t.INT else ()))
    for wider in (*plain, *map(t.Maybe, plain)):
        wrong.clear()
        other = lift(second, wider, complain)
        if not wrong:
            return other if isinstance(other, Poison) else _choice(trace.graph, one, other, wider)
    trace.report("EitherType", place, (), want=t.spell(kind), have=wrong[0])
    return Poison()


def _unsupported(trace: Trace, site: Site, what: str) -> Poison:
    operator = f"`either` of {what} that may be None"
    trace.report("UnsupportedOperator", Argument(site, "first", 0), (), operator=operator)
    return Poison()


def _choice(graph: Graph, one: Expr, other: Expr, kind: t.Type, part: bool = False) -> Expr:
    """The first of two values that exists; for two records the one whose task ran, field by field."""
    if isinstance(one, Many) and isinstance(kind, (t.Record, t.Fixed)):
        pairs = zip(fields_of(one), fields_of(other), strict=True)
        fields = (_choice(graph, left, right, left.type, part=True) for left, right in pairs)
        return Many(tuple(fields), one.names, kind)
    if kind == one.type and _repeats(one, other):
        return one
    made = written(_in_branch(graph, one, other, kind) or Either((one, other), kind, part))
    if graph.region is not None:
        graph.chosen[id(made)] = made, graph.region
    return made


def _repeats(one: Expr, other: Expr) -> bool:
    """Whether a second value is nothing but what a choice has tried already, so that it is never used."""
    chosen = isinstance(one, Either) or (isinstance(one, Op) and one.op == "?:")
    return chosen and all(each in flat((one,)) for each in flat((other,)))


def _in_branch(graph: Graph, one: Expr, other: Expr, kind: t.Type) -> Expr | None:
    """A choice whose first value is another `either` in a branch: it exists if the branch runs.

    A nested branch runs if the conditions of all branches around it hold.
    """
    _, branch = graph.chosen.get(id(one), (one, None))
    around = [*regions(graph.region)]
    left = [*takewhile(lambda region: region not in around, regions(branch))]
    if left and all(region.ended is None for region in left):
        alike = t.is_text(one.type) == t.is_text(other.type) == t.is_text(kind)
        if alike and (isinstance(kind, t.File) or not t.holds_file(kind)):
            conditions = [region.condition for region in reversed(left)]
            asked = reduce(lambda outer, inner: Op("&", (outer, inner), t.BOOL), conditions)
            return Op("?:", (asked, one, other), kind)
    elif isinstance(one, Op) and one.op == "?:":
        condition, there, otherwise = one.args
        return Op("?:", (condition, there, _choice(graph, otherwise, other, kind)), kind)
    return None
