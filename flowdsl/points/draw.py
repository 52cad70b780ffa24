"""Draws the points of a sweep at compile time, from its seed: the same on every machine."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, cast, get_args

from flowdsl.loop import MOST, count, in_order, shown
from flowdsl.places.place import Argument, Site
from flowdsl.space import Learning, Method, Space, Tpe
from flowdsl.values import types as t
from flowdsl.values.changes import tell_changed
from flowdsl.values.expr import Const, Expr, Poison
from flowdsl.values.lift import items_of, lift
from flowdsl.values.value import is_value

if TYPE_CHECKING:
    from flowdsl.pipeline import PipelineDef
    from flowdsl.points.searched import Rule
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Loop, Trace

#: A source of random numbers from 0 to 1, and a space: its list of values, or a function that draws one.
_Source = Callable[[], float]
_Drawn = list[Expr] | Callable[[_Source], Expr]


def draw(
    trace: Trace,
    loop: Loop,
    target: StepDef | PipelineDef,
    spaces: Mapping[str, object],
    *,
    trials: int | None,
    search: str | Learning | None,
    seed: int,
) -> list[dict[str, Expr]]:
    """The points of a loop's search, each with all parameters; no points after a mistake, which is recorded.

    If the search learns, the loop gets its settings, and all but the first points are placeholders.
    """
    site = loop.site
    read = {name: _space(trace, target, name, space, site) for name, space in spaces.items()}
    _repeated(trace, read, site)
    kind = ("random" if trials is not None else "grid") if search is None else search
    method = Tpe() if kind == "tpe" else kind
    kind = method.kind if isinstance(method, Learning) else method
    if not _asked(trace, site, target, method, trials, seed):
        return []
    if kind != "grid":
        _ranges(trace, target, spaces, read, site)
    elif not _listed(trace, site, spaces, read):
        return []
    rules = _rules(trace, target, spaces, read, site)
    if any(space is None for space in read.values()) or not read or rules is None:
        return []
    whole = {name: space for name, space in read.items() if space is not None}
    lists = {name: space for name, space in whole.items() if not callable(space)}
    if trials is None or kind == "grid":
        return _grid(trace, site, lists, rules, trials)
    if isinstance(method, Learning):
        from flowdsl.points.learnt import learnt

        loop.learnt = learnt(trace, loop, target, spaces, lists, rules, method, trials, seed)
        if loop.learnt is None:
            return []
    finite = len(lists) == len(whole)
    if finite and trials > (size := _size(lists, rules, trials)):
        trace.report("TooManyTrials", Argument(site, "trials"), (), trials=trials, size=size)
        return []
    sources = _evenly(trace, site, spaces, seed) if kind == "sobol" else _at_random(seed)
    if sources is None:
        return []
    rows = _drawn(whole, rules, trials, sources)
    if len(rows) < trials and finite:
        # Points that conditions make much less likely than others: the first of them in order.
        seen = {tuple(map(id, row.values())) for row in rows}
        others = (row for row in _points(lists, rules) if tuple(map(id, row.values())) not in seen)
        rows += islice(others, trials - len(rows))
    if len(rows) < trials:
        trace.report("TooManyTrials", Argument(site, "trials"), (), trials=trials, size=len(rows))
    return rows


def _asked(
    trace: Trace, site: Site, target: StepDef | PipelineDef, method: object, trials: int | None, seed: object
) -> bool:
    """Whether search, number of trials and seed are valid; mistakes are recorded."""
    if is_value(method) or not (isinstance(method, Learning) or method in get_args(Method)):
        trace.report("UnknownSearch", Argument(site, "search"), (), have=shown(method))
        return False
    kind = method.kind if isinstance(method, Learning) else method
    if is_value(seed) or isinstance(seed, bool) or not isinstance(seed, int):
        trace.report("BadSeed", Argument(site, "seed"), (), have=shown(seed))
        return False
    if trials is None:
        if kind != "grid":
            trace.report("TrialsMissing", site, (), search=kind)
        return kind == "grid"
    if count(trace, site, "trials", trials) is None:
        return False
    if trials > MOST:
        trace.report("TooMany", Argument(site, "trials"), (), what="trials", name=target.name, most=MOST)
    return trials <= MOST


def _listed(
    trace: Trace, site: Site, spaces: Mapping[str, object], found: Mapping[str, _Drawn | None]
) -> bool:
    """Whether all spaces are lists of values, as a grid requires; the first other one is recorded."""
    for name, space in found.items():
        if callable(space):
            place = Argument(site, "over", part=f"item:{name}")
            trace.report("GridContinuous", place, (), name=name, space=type(spaces[name]).__name__)
            return False
    return True


def _grid(
    trace: Trace, site: Site, lists: Mapping[str, list[Expr]], rules: Mapping[str, Rule], trials: int | None
) -> list[dict[str, Expr]]:
    """Every point; none, which is recorded, if there are too many or not as many as trials were requested."""
    rows = list(islice(_points(lists, rules), MOST + 1))
    if len(rows) > MOST:
        found = "too many" if rules else str(_size(lists, rules, MOST))
        trace.report("GridTooLarge", Argument(site, "over"), (), most=MOST, found=found)
        return []
    if trials is not None and trials != len(rows):
        trace.report("GridTrials", Argument(site, "trials"), (), trials=trials, size=len(rows))
        return []
    return rows


def _repeated(trace: Trace, found: Mapping[str, _Drawn | None], site: Site) -> None:
    """Record values that occur more than once in a space."""
    for name, space in found.items():
        if space is not None and not callable(space):
            counts = Counter(_written(one.value) for one in space if isinstance(one, Const))
            again = [value for value, times in counts.items() if times > 1]
            if again:
                place = Argument(site, "over", part=f"item:{name}")
                trace.report(
                    "RepeatedValue", place, (), name=name, values=(*again[:3], *["..."] * (len(again) > 3))
                )


def _written(known: object) -> str:
    return f"{type(known).__name__}.{known.name}" if isinstance(known, Enum) else repr(known)


def _ranges(
    trace: Trace,
    target: StepDef | PipelineDef,
    spaces: Mapping[str, object],
    found: Mapping[str, _Drawn | None],
    site: Site,
) -> None:
    """Record tuples of two numbers: in other tools, and in `uniform(low, high)`, these are bounds."""
    for name, space in spaces.items():
        bounds = items_of(space) or ()
        if type(space) is tuple and len(bounds) == 2 and found[name] is not None:
            low, high = bounds
            kind = target.signature.by_name[name].type
            plain = t.without_none(kind)
            numbers = all(type(one) in (int, float) for one in bounds)
            if isinstance(plain, t.Number) and numbers and low < high:
                place = Argument(site, "over", part=f"item:{name}")
                whole = plain == t.INT
                trace.report("MeantAsRange", place, (), name=name, low=low, high=high, whole=whole)


def _rules(
    trace: Trace,
    target: StepDef | PipelineDef,
    spaces: Mapping[str, object],
    found: Mapping[str, _Drawn | None],
    site: Site,
) -> dict[str, Rule] | None:
    if not any(isinstance(one, Space) and one.conditions for one in spaces.values()):
        return {}
    from flowdsl.points.searched import rules

    return rules(trace, target, spaces, found, site)


def _size(lists: Mapping[str, list[Expr]], rules: Mapping[str, Rule], enough: int) -> int:
    """The number of points; with conditions, at most `enough`."""
    if not rules:
        return math.prod(map(len, lists.values()))
    return sum(1 for _ in islice(_points(lists, rules), enough))


def _points(lists: Mapping[str, list[Expr]], rules: Mapping[str, Rule]) -> Iterator[dict[str, Expr]]:
    """Every combination; the last parameter varies fastest.

    A parameter with a rule is chosen after those without one, and has its default where it is not searched.
    """
    nothing: dict[str, Expr] = {}
    rows = iter((nothing,))
    for name in (*(name for name in lists if name not in rules), *rules):
        rows = _extended(rows, name, lists[name], rules.get(name))
    return ({name: row[name] for name in lists} for row in rows) if rules else rows


def _extended(
    rows: Iterator[dict[str, Expr]], name: str, items: list[Expr], rule: Rule | None
) -> Iterator[dict[str, Expr]]:
    for row in rows:
        for item in items if rule is None or rule.holds(row) else (rule.default,):
            yield {**row, name: item}


def _at_random(seed: int) -> Iterable[_Source]:
    # Only random() is used: its sequence for a seed is the same in every Python.
    import random

    return repeat(random.Random(seed).random)


def _evenly(trace: Trace, site: Site, spaces: Mapping[str, object], seed: int) -> Iterable[_Source] | None:
    from flowdsl.points.sobol import MOST_DIMENSIONS, points

    # A normal distribution is drawn from two numbers, everything else from one.
    dimensions = sum(2 if isinstance(one, Space) and one.kind == "normal" else 1 for one in spaces.values())
    if dimensions > MOST_DIMENSIONS:
        place = Argument(site, "search")
        trace.report("TooManySearched", place, (), most=MOST_DIMENSIONS, dimensions=dimensions)
        return None
    return (iter(point).__next__ for point in points(dimensions, seed))


def _drawn(
    spaces: Mapping[str, _Drawn], rules: Mapping[str, Rule], trials: int, sources: Iterable[_Source]
) -> list[dict[str, Expr]]:
    """The requested number of distinct points, each drawn from its own source; fewer if there are not enough.

    Parameters that a point does not search are drawn as well, so that conditions do not affect others.
    """
    from operator import attrgetter

    drawn = [space if callable(space) else _picker(space) for space in spaces.values()]
    # A value of a list is always the same object, a drawn one is a number.
    marks = [attrgetter("value") if callable(space) else id for space in spaces.values()]
    rows: list[dict[str, Expr]] = []
    seen: set[tuple[object, ...]] = set()
    for source in islice(sources, 100 * trials):
        if len(rows) == trials:
            break
        cells = [draw(source) for draw in drawn]
        if rules:
            cells = _followed(dict(zip(spaces, cells)), rules)  # noqa: B905 -- as many, always
        key = tuple([mark(cell) for mark, cell in zip(marks, cells)])  # noqa: B905
        if key not in seen:
            seen.add(key)
            rows.append(dict(zip(spaces, cells)))  # noqa: B905
    return rows


def _followed(row: dict[str, Expr], rules: Mapping[str, Rule]) -> list[Expr]:
    """The values of a point, with the defaults of parameters that are not searched."""
    for name, rule in rules.items():
        if not rule.holds(row):
            row[name] = rule.default
    return list(row.values())


def _picker(items: list[Expr]) -> Callable[[_Source], Expr]:
    last = len(items) - 1
    return lambda source: items[min(int(source() * (last + 1)), last)]


def _space(
    trace: Trace, target: StepDef | PipelineDef, name: str, space: object, site: Site
) -> _Drawn | None:
    """A space as a list of its values, or as a function that draws one; None after a mistake."""
    parameter = target.signature.by_name[name]
    place = Argument(site, "over", part=f"item:{name}")
    kind = parameter.type
    if isinstance(kind, t.Unsupported):
        return None

    def complain(word: str, **data: Any) -> None:
        if word == "WrongType":
            data = {"parameter": name, "step": target.name, **data}
        trace.report(word, place, (), **data)

    if is_value(space):
        trace.report("SpaceRunTime", place, (), name=name)
        return None
    have = type(space).__name__
    if not isinstance(space, Space):
        values = in_order(space)
        if values is None:
            trace.report("NotASpace", place, (), name=name, have=have)
            return None
        if len(values) > MOST:
            trace.report("TooMany", place, (), what="values", name=name, most=MOST)
            return None
        space = Space("choice", tuple(values), site)
    if space.kind == "choice":
        if (only := _only_list(space, kind, have)) is not None:
            problem = f"its only value is a {type(only).__name__}, and `{name}` is {t.spell(kind)}"
            texts = ", ".join([*map(shown, only[:3]), *["..."][: len(only) > 3]])
            form = f"choice({texts}), or the list without `choice`"
            trace.report("BadSpace", place, (), space=_spelled(space), problem=problem, form=form)
            return None
        items = [lift(item, kind, complain) for item in space.arguments]
        if not items:
            trace.report("EmptySpace", place, (), name=name)
        if not items or any(isinstance(item, Poison) for item in items):
            return None
        tell_changed(complain, name, space.arguments, t.Sequence(kind))
        return items
    return _numbers(trace, name, space, kind, place)


def _numbers(trace: Trace, name: str, space: Space, kind: t.Type, place: Argument) -> _Drawn | None:
    """The same for a space of numbers."""
    if (wrong := _wrong(space)) is not None:
        known = not any(map(is_value, space.arguments))
        form = _FORMS[space.kind] if known else "numbers that are known while compiling"
        trace.report("BadSpace", place, (), space=_spelled(space), problem=wrong, form=form)
        return None
    whole = space.kind == "integer"
    plain = t.without_none(kind)
    if not isinstance(plain, t.Number) or (plain == t.INT and not whole):
        trace.report(
            "SpaceType",
            place,
            (),
            name=name,
            space=space.kind,
            gives="int" if whole else "float",
            want=t.spell(kind),
        )
        return None
    if whole:
        low, high = space.arguments
        if high - low < MOST:
            convert = int if plain == t.INT else float
            return [Const(convert(number), kind) for number in range(low, high + 1)]
        return lambda source: Const(low + int(source() * (high - low + 1)), kind)
    if space.kind == "quniform":
        return [Const(number, kind) for number in multiples(*space.arguments)]
    drawn = _sampler(space)
    return lambda source: Const(drawn(source), kind)


_FORMS = {
    "uniform": "uniform(low, high) with low < high",
    "loguniform": "loguniform(low, high) with 0 < low < high",
    "quniform": "quniform(low, high, step) with low < high and a step that fits between them",
    "integer": "integer(low, high) with whole numbers, low <= high",
    "normal": "normal(mean, deviation) with a deviation above 0",
}


def _only_list(space: Space, kind: t.Type, have: str) -> Sequence[object] | None:
    """The list that is the only value of `choice(...)`, if the parameter does not accept a list."""
    if have != Space.__name__ or len(space.arguments) != 1:
        return None
    only: object = space.arguments[0]
    plain = t.without_none(kind)
    takes = isinstance(plain, (t.Sequence, t.Fixed, t.Record, t.Json))
    return cast("Sequence[object]", only) if isinstance(only, (list, tuple, range)) and not takes else None


def _spelled(space: Space) -> str:
    return f"{space.kind}({', '.join(map(shown, space.arguments))})"


def _wrong(space: Space) -> str | None:
    """The problem with the numbers of a space, or None."""
    for argument in space.arguments:
        if is_value(argument):
            return "its numbers are known only when the pipeline runs"
        number = isinstance(argument, (int, float)) and not isinstance(argument, bool)
        if not number or not math.isfinite(argument):
            return f"{argument!r} is not a finite number"
    if space.kind == "integer" and any(not isinstance(argument, int) for argument in space.arguments):
        return "its bounds are whole numbers"
    if space.kind == "normal":
        return None if space.arguments[1] > 0 else "its standard deviation must be above 0"
    low, high = space.arguments[:2]
    if space.kind == "integer" and low == high:
        return None
    if not low < high:
        return f"its lower bound {low!r} is {'above' if low > high else 'also'} its upper bound {high!r}"
    if space.kind == "loguniform" and low <= 0:
        return f"its lower bound {low!r} is not above 0"
    if space.kind == "quniform" and not (high - low) / MOST < space.arguments[2] <= high - low:
        return f"its step {space.arguments[2]!r} is not above 0 and at most {high - low!r}"
    return None


def _sampler(space: Space) -> Callable[[_Source], float]:
    """A function that draws one float from a space.

    It is rounded to six digits: readable, and equal on machines whose logarithms differ in the last bit.
    """
    low, high = space.arguments
    if space.kind == "normal":

        def drawn(source: _Source) -> float:
            radius = math.sqrt(-2 * math.log(1 - source()))
            return float(f"{low + high * radius * math.cos(2 * math.pi * source()):.6g}")

        return drawn
    least, most = float(low), float(high)
    straight = space.kind == "uniform"
    exp = math.exp
    first = low if straight else math.log(low)
    width = high - low if straight else math.log(high) - first

    def spread(source: _Source) -> float:
        number = first + source() * width
        number = float(f"{number if straight else exp(number):.6g}")
        return number if least <= number <= most else min(max(number, least), most)

    return spread


def multiples(low: float, high: float, step: float) -> list[float]:
    """The multiples of a step between bounds, in decimal arithmetic."""
    from decimal import Decimal

    unit = Decimal(repr(step))
    first = math.ceil(Decimal(repr(low)) / unit)
    last = math.floor(Decimal(repr(high)) / unit)
    return [float(unit * number) for number in range(first, last + 1)]
