"""Loops: one task for each item of a list. What `fan_out` does before and after its items, `sweep` does too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial
from itertools import islice
from typing import Any, ParamSpec, TypeVar, cast

from flowdsl.diagnostic import near
from flowdsl.pipeline import Pipeline
from flowdsl.places.place import Argument, Site, here
from flowdsl.space import Grid, Space
from flowdsl.step import Step
from flowdsl.tracing.body import trace_graph
from flowdsl.tracing.call import begin, bind, result_of
from flowdsl.tracing.trace import Call, Loop, Trace, hidden, needed
from flowdsl.values import types as t
from flowdsl.values.changes import tell_changed
from flowdsl.values.expr import Const, Expr, Many, Poison
from flowdsl.values.lift import as_written, fits, lift
from flowdsl.values.signature import MISSING
from flowdsl.values.value import RunTimeValue, expr_of, is_value, maker_of, value

MOST = 100_000  # items of a loop, which come to more than a Workflow may have

P = ParamSpec("P")
R = TypeVar("R")


def fan_out(
    body: Step[P, R] | Pipeline[P, R],
    /,
    *,
    over: Mapping[str, object] | Grid,
    parallel: int | None = None,
    keep_going: bool = False,
    **fixed: object,
) -> list[R]:
    """Run a step or pipeline once for each item of `over`, at most `parallel` at a time.

    `over={"shard": shards}` names a parameter and its list, known now or made by a step; several
    lists are walked together, `grid(a=[...], b=[...])` is their product. `fixed` are the arguments
    that all items share. The results come in the order of the items. An item that fails fails the run;
    with `keep_going` it is left out of the results, and `failed(results)` has its number.
    """
    trace = needed("fan_out")
    site = here()
    loop = Loop("fan_out", site)
    loop.parallel = None if parallel is None else count(trace, site, "parallel", parallel)
    loop.keep_going = _flag(trace, site, "keep_going", keep_going)
    call = body_call(trace, body, site)
    if call is None:
        return cast("list[R]", value(Poison()))
    over = named_lists(trace, call, over, site, fixed)
    names = known_names(trace, call, over, site)
    _lists(trace, call, loop, over, names)
    finish(trace, call, loop, fan_out, filled(call, over, fixed), fixed)
    return cast("list[R]", value(result_of(call, call.target.signature.returns)))


def body_call(trace: Trace, body: object, site: Site) -> Call | None:
    """The call of the body of a loop, still without arguments; None, and recorded, if that is no step or pipeline."""
    if isinstance(body, Pipeline):
        trace_graph(trace, body._definition, site)  # pyright: ignore[reportPrivateUsage] -- as in call.py
    elif not isinstance(body, Step):
        data = hidden(expr_of(body)) if is_value(body) else None
        kind = "NotABody" if data is None else "HiddenFunction"
        trace.report(kind, Argument(site, position=0), (), **(data or _no_body(body)))
        return None
    return begin(trace, cast("Step[..., Any] | Pipeline[..., Any]", body), site)


def _no_body(body: object) -> dict[str, str]:
    """What stands in the place of the body, and the step or pipeline in it if it is a `partial`."""
    have, inner = said(body), ""
    if isinstance(body, partial):
        whole = cast("partial[object]", body).func
        inner = whole.__name__ if isinstance(whole, (Step, Pipeline)) else ""
    return {"have": f"a `partial` of `{inner}`" if inner else have, "inner": inner}


def finish(
    trace: Trace,
    call: Call,
    loop: Loop,
    word: Callable[..., object],
    names: frozenset[str],
    fixed: Mapping[str, object],
) -> None:
    """Bind the arguments that all items share, and add the call; `names` are the parameters that the loop fills."""
    call.loop = loop
    loop.keep_going |= call.may_fail
    call.may_fail = False  # only its items may fail
    call.arguments = bind(
        trace, call.target, (), _fixed(trace, call, loop, word, fixed), call.site, names, loop.kind
    )
    trace.add(call)


def own_words(word: Callable[..., object]) -> tuple[str, ...]:
    """The arguments of `fan_out` or `sweep` itself; all others are those of its body."""
    from inspect import signature

    return tuple(name for name, one in signature(word).parameters.items() if one.kind is one.KEYWORD_ONLY)


def _fixed(
    trace: Trace, call: Call, loop: Loop, word: Callable[..., object], fixed: Mapping[str, object]
) -> Mapping[str, object]:
    """The arguments that all items share; those that are meant for the loop itself are removed and recorded."""
    signature = call.target.signature
    unknown = [name for name in fixed if name not in signature.by_name]
    if not unknown or signature.variadic or signature.unreadable:
        return fixed
    from flowdsl.mistakes.words import argument_for

    known = own_words(word)
    own = [
        name
        for name in unknown
        if near(name, signature.by_name) is None and argument_for(loop.kind, name, known)
    ]
    for name in own:
        place = Argument(loop.site, name, part="name")
        trace.report("UnknownWord", place, (), word=loop.kind, name=name, known=known)
    return {name: given for name, given in fixed.items() if name not in own}


def said(thing: object) -> str:
    """A value for a message; never the text of a run-time value."""
    if is_value(thing):
        return "a run-time value"
    if type(thing) is Space:
        return "a search space"
    name = getattr(thing, "__name__", None)
    return f"the {type(thing).__name__} `{name}`" if isinstance(name, str) else type(thing).__name__


def shown(thing: object) -> str:
    """A value for a message; never the token of a run-time value."""
    if is_value(thing):
        return "a run-time value"
    name = getattr(thing, "__name__", None)
    return name if isinstance(name, str) else as_written(thing)


def count(trace: Trace, site: Site, word: str, given: object) -> int | None:
    """The count in the argument `word`, constant and at least 1; otherwise None, and it is recorded."""
    if is_value(given) or isinstance(given, bool) or not isinstance(given, int) or given < 1:
        trace.report("BadCount", Argument(site, word), (), word=word, have=shown(given))
        return None
    return given


def _flag(trace: Trace, site: Site, word: str, given: object) -> bool:
    if type(given) is bool:
        return given
    trace.report("NotAFlag", Argument(site, word), (), word=word, have=shown(given))
    return False


def named_lists(
    trace: Trace, call: Call, over: Any, site: Site, fixed: Mapping[str, object]
) -> Mapping[str, Any] | Grid:
    """The parameters and their lists; empty, and recorded, if `over` names none."""
    if not is_value(over) and isinstance(over, (Mapping, Grid)):
        named = cast("Mapping[str, Any] | Grid", over)
        if not lists_of(named):
            trace.report("EmptyOver", Argument(site, "over"))
        return named
    first = next((name for name in call.target.signature.by_name if name not in fixed), "parameter")
    trace.report("OverNotNamed", Argument(site, "over"), (), have=said(over), parameter=first)
    return {}


def lists_of(over: Mapping[str, Any] | Grid) -> Mapping[str, Any]:
    """The lists that a loop runs over, by parameter."""
    return over.lists if isinstance(over, Grid) else over


def known_names(trace: Trace, call: Call, over: Mapping[str, object] | Grid, site: Site) -> frozenset[str]:
    """The parameters that `over` names; unknown names are recorded."""
    lists = lists_of(over)
    signature = call.target.signature
    known = tuple(parameter.name for parameter in signature.parameters)
    for name in lists:
        if name not in signature.by_name and not signature.unreadable:
            place = Argument(site, "over", part=f"key:{name}")
            trace.report("UnknownOver", place, (), step=call.target.name, name=str(name), known=known)
    return frozenset(name for name in lists if name in signature.by_name)


def filled(call: Call, over: Mapping[str, object] | Grid, fixed: Mapping[str, object]) -> frozenset[str]:
    """The parameters that the loop fills, or would fill without a recorded mistake in `over`."""
    lists = lists_of(over)
    known = [parameter.name for parameter in call.target.signature.parameters]
    filled = {name for name in lists if name in known}
    unknown = [str(name) for name in lists if name not in known]
    missing = [name for name in known if name not in filled and name not in fixed]
    required = [name for name in missing if call.target.signature.by_name[name].default is MISSING]
    if not lists or len(unknown) >= len(required):
        filled |= set(required)
    return frozenset(filled | {close for name in unknown if (close := near(name, missing)) is not None})


def _lists(
    trace: Trace, call: Call, loop: Loop, over: Mapping[str, object] | Grid, names: frozenset[str]
) -> None:
    """Set the items of the loop: rows if all are constant, else lists."""
    site = loop.site
    lists = lists_of(over)
    columns = {name: _Column(trace, call, name, site).read(lists[name]) for name in lists if name in names}
    known = {name: column for name, column in columns.items() if isinstance(column, list)}
    if any(column is None for column in columns.values()):
        loop.rows = []
    elif len(known) == len(columns):
        empty = next((name for name, column in known.items() if not column), None)
        if empty is not None and not trace.told(site):  # `range(n)` of a run-time value has been reported
            trace.report("EmptyOver", Argument(site, "over", part=f"item:{empty}"))
        loop.rows = _product(trace, site, known) if isinstance(over, Grid) else _zip(trace, site, known)
    else:
        loop.product = isinstance(over, Grid)
        loop.lists = {
            name: column if not isinstance(column, list) else _listed(call, name, column)
            for name, column in columns.items()
            if column is not None
        }


def in_order(thing: object) -> list[object] | None:
    """The items of an ordered collection, at most one more than allowed; None for anything else."""
    # The order of a set differs from run to run.
    if isinstance(thing, (str, bytes, Mapping, Set)) or not isinstance(thing, Iterable):
        return None
    return list(islice(cast("Iterable[object]", thing), MOST + 1))


class _Column:
    """The items for one parameter of a loop, and the mistakes in them."""

    def __init__(self, trace: Trace, call: Call, name: str, site: Site) -> None:
        self._trace = trace
        self._step = call.target.name
        self._name = name
        self._kind = call.target.signature.by_name[name].type
        self._place = Argument(site, "over", part=f"item:{name}")
        self._wrong = False

    def read(self, items: object) -> list[Expr] | Expr | None:
        """A list of expressions, a run-time list, or None after a mistake."""
        if isinstance(self._kind, t.Unsupported):
            return None
        if is_value(items):
            return self._of_run(items)
        given = in_order(items)
        if given is None:
            self._is_no_list(said(items))
            return None
        if len(given) > MOST:
            self._trace.report("TooMany", self._place, (), what="items", name=self._name, most=MOST)
            return None
        column = [lift(item, self._kind, partial(self._mistaken, index)) for index, item in enumerate(given)]
        if any(isinstance(item, Poison) for item in column):
            return None
        tell_changed(self._complain, self._name, given, t.Sequence(self._kind))
        return column

    def _of_run(self, items: RunTimeValue) -> Expr | None:
        """A run-time list, or None after a mistake."""
        expr = expr_of(items)
        if isinstance(expr, Poison):
            return None
        if nobody := maker_of(expr):
            self._trace.report("NothingMade", self._place, (), maker=nobody)
            return None
        tupled = isinstance(expr.type, t.Sequence) and expr.type.tupled
        wanted = t.Sequence(self._kind, tupled)
        if isinstance(expr.type, (t.Sequence, t.Json)) and fits(expr.type, wanted):
            tell_changed(self._complain, self._name, items, wanted)
            return expr
        self._is_no_list(t.spell(expr.type))
        return None

    def _is_no_list(self, have: str) -> None:
        want = f"list[{t.spell(self._kind)}]"
        self._trace.report("OverNotAList", self._place, (), name=self._name, have=have, want=want)

    def _complain(self, kind: str, **data: Any) -> None:
        self._report(kind, self._place, **data)

    def _mistaken(self, index: int, kind: str, **data: Any) -> None:
        """Record a mistake about an item; wrong types once, since the items of a list mostly share them."""
        if kind == "WrongType" and self._wrong:
            return
        self._wrong = self._wrong or kind == "WrongType"
        self._report(kind, self._place._replace(path=(index, *data.pop("inside", ()))), **data)

    def _report(self, kind: str, place: Argument, **data: Any) -> None:
        if kind == "WrongType":
            data = {"parameter": self._name, "step": self._step, **data}
        self._trace.report(kind, place, (), **data)


def _listed(call: Call, name: str, column: list[Expr]) -> Expr:
    """A list of items as one value."""
    kind = t.Sequence(call.target.signature.by_name[name].type)
    if all(isinstance(item, Const) for item in column):
        return Const([item.value for item in column if isinstance(item, Const)], kind)
    return Many(tuple(column), (), kind)


def _zip(trace: Trace, site: Site, columns: dict[str, list[Expr]]) -> list[dict[str, Expr]]:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1 and all(lengths.values()):
        said = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        trace.report("UnevenLists", Argument(site, "over"), (), lengths=said)
        return []
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=False)]


def _product(trace: Trace, site: Site, columns: dict[str, list[Expr]]) -> list[dict[str, Expr]]:
    if math.prod(map(len, columns.values())) > MOST:
        trace.report("TooMany", Argument(site, "over"), (), what="items", name="over", most=MOST)
        return []
    rows: list[dict[str, Expr]] = [{}]
    for name, column in columns.items():
        rows = [{**row, name: item} for row in rows for item in column]
    return rows
