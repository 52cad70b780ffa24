"""Conditions: tasks that run only if a value of the run says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from flowdsl import types as t
from flowdsl.expr import Expr, Poison, negate
from flowdsl.lift import lift
from flowdsl.place import Argument, Site, here
from flowdsl.trace import Region, Trace, needed
from flowdsl.value import either_of, expr_of, is_value, value

if TYPE_CHECKING:
    from types import TracebackType

T = TypeVar("T")


class _Branch:
    """The context manager of `when`, `unless` and `otherwise`."""

    __slots__ = ("condition", "graph", "region", "site", "trace")

    def __init__(self, trace: Trace, condition: Expr, site: Site) -> None:
        self.trace = trace
        self.condition = condition
        self.site = site
        self.graph = trace.graph
        self.region: Region | None = None

    def __enter__(self) -> None:
        self.region = Region(self.condition, self.graph.region, self.site)
        self.graph.region = self.region
        self.graph.finished = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self.region is not None
        self.graph.region = self.region.parent
        self.graph.finished = self.region


def when(condition: bool) -> _Branch:
    """The tasks called in this `with` block run only if the condition holds at run time."""
    trace = needed("when")
    site = here()
    return _Branch(trace, _condition(trace, condition, site, "when"), site)


def unless(condition: bool) -> _Branch:
    """The tasks called in this `with` block run only if the condition does not hold at run time."""
    trace = needed("unless")
    site = here()
    return _Branch(trace, negate(_condition(trace, condition, site, "unless")), site)


def otherwise() -> _Branch:
    """The tasks called in this `with` block run if the `when` just before it did not hold."""
    trace = needed("otherwise")
    site = here()
    finished = trace.graph.finished
    if finished is None or finished.parent is not trace.graph.region:
        trace.report("OtherwiseAlone", site)
        return _Branch(trace, Poison(t.BOOL), site)
    return _Branch(trace, negate(finished.condition), site)


def _condition(trace: Trace, condition: object, site: Site, word: str) -> Expr:
    place = Argument(site, position=0)
    if is_value(condition):
        expr = expr_of(condition)  # type: ignore[arg-type]
        if isinstance(expr, Poison) or isinstance(expr.type, t.Flag):
            return expr
        trace.report("NotACondition", place, (), have=t.spell(expr.type), word=word)
    else:
        trace.report("KnownCondition", place, (), word=word, value=repr(condition))
    return Poison(t.BOOL)


def either(first: T | None, second: T) -> T:
    """The value of whichever ran: `first` if there is one, else `second`.

    `second` may be an ordinary value, so it is also how an optional output gets a default.
    """
    trace = needed("either")
    site = here()
    if not is_value(first):
        trace.report("EitherKnown", Argument(site, position=0))
        return second
    one = expr_of(first)  # type: ignore[arg-type]
    if isinstance(one, Poison):
        return cast(T, value(one))
    kind = one.type.item if isinstance(one.type, t.Maybe) else one.type

    def complain(name: str, **data: str) -> None:
        if name == "WrongType":
            trace.report("EitherType", Argument(site, position=1), (), **data)
        else:
            trace.report(name, Argument(site, position=1), (), **data)

    other = lift(second, kind, complain)
    if isinstance(other, Poison):
        return cast(T, value(other))
    return cast(T, either_of((one, other), kind))


