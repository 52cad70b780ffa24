"""Sweeps that learn while they run: the dimensions of their search, and the size of its rounds."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, cast

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.space_condition import Compared, Joined
from flowdsl.loop import count, shown
from flowdsl.places.place import Argument
from flowdsl.space import Space
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr
from flowdsl.values.texts import meant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.grammar.space_condition import Condition
    from flowdsl.pipeline import PipelineDef
    from flowdsl.points.searched import Rule
    from flowdsl.space import Learning
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Loop, Trace

MOST_TRIALS, MOST_ROUNDS = 1000, 100
"""Each round gets all trials before it, and the object of a run contains all of that."""


class Dimension(NamedTuple):
    """One parameter of a search.

    `kind`: a `choice` of the `values`; or from the first of the `numbers` to the second a `float`, with `log` by
    orders of magnitude, or an `int`; with `step` so many times the third. `condition`: where the parameter is
    searched, in Python: `at` has the number of each parameter, of a choice its position, and None for one that is not
    searched, which is its `default`.
    """

    name: str
    kind: str
    numbers: tuple[float, ...]
    values: tuple[Const, ...]
    condition: str = ""
    default: Expr | None = None


class Learnt(NamedTuple):
    """How points are chosen in the run: `startup` random ones, then rounds of `size`, each based on those before it.

    `kind` is the `search` of the sweep.
    """

    kind: str
    dimensions: tuple[Dimension, ...]
    startup: int
    size: int
    seed: int
    image: str | None


def rounds_of(trials: int, startup: int, size: int) -> int:
    """The number of rounds for so many trials: the random ones together, the others by the size of a round."""
    return 1 + -((startup - trials) // size)


def learnt(
    trace: Trace,
    loop: Loop,
    target: StepDef | PipelineDef,
    spaces: Mapping[str, object],
    lists: Mapping[str, list[Expr]],
    rules: Mapping[str, Rule],
    method: Learning,
    trials: int,
    seed: int,
) -> Learnt | None:
    """The settings for choosing the points of a loop in the run; None after a mistake, which is recorded.

    `lists` are the values of finite spaces, `rules` those of parameters that are not searched in all points.
    """
    image = cast("object", method.image)
    if image is not None and (not isinstance(image, str) or not image.strip()):
        trace.report("NotAnImage", Argument(method.site, "image"), (), have=shown(image))
        return None
    startup = count(trace, method.site, "startup", method.startup)
    if startup is None:
        return None
    if loop.parallel is None:
        trace.report("RoundsUnknown", loop.site, ())
        return None
    if trials <= startup:
        place, word = Argument(loop.site, "trials"), type(method).__name__
        trace.report("NothingLearnt", place, (), trials=trials, startup=startup, word=word)
        return None
    rounds = rounds_of(trials, startup, loop.parallel)
    if trials > MOST_TRIALS or rounds > MOST_ROUNDS:
        place = Argument(loop.site, "trials" if trials > MOST_TRIALS else "parallel")
        trace.report("TooManyRounds", place, (), trials=trials, rounds=rounds)
        return None
    found: dict[str, Dimension] = {}
    for name in (*(name for name in spaces if name not in rules), *rules):
        space, values = spaces[name], lists.get(name, [])
        known = tuple(one for one in values if isinstance(one, Const))
        problem = _unsearchable(space, target.signature.by_name[name].type, len(known) == len(values))
        if problem is not None:
            place = Argument(loop.site, "over", part=f"item:{name}")
            trace.report("Unsearchable", place, (), name=name, reason=problem[0], way=problem[1])
            return None
        one = _dimension(name, space, known)
        if (rule := rules.get(name)) is not None:
            parts = [_python(tree, found, rule) for tree in rule.conditions]
            one = one._replace(condition=" and ".join(parts), default=rule.default)
        found[name] = one
    return Learnt(method.kind, tuple(found.values()), startup, loop.parallel, seed, method.image)


def _unsearchable(space: object, kind: t.Type, known: bool) -> tuple[str, str] | None:
    """Why a search cannot learn about a space, and the remedy; None if it can."""
    if isinstance(space, Space) and space.kind == "normal":
        return "a normal distribution has no bounds", 'write uniform(low, high), or search="random"'
    if t.holds_file(kind):
        return "its values are files", 'choose among their names, or write search="random"'
    if not known:
        return "its values are known only at run time", 'write values that are known now, or search="random"'
    return None


def _dimension(name: str, space: object, values: tuple[Const, ...]) -> Dimension:
    if not isinstance(space, Space) or space.kind == "choice":
        return Dimension(name, "choice", (), values)
    numbers: tuple[float, ...] = space.arguments
    if space.kind == "quniform":
        unit = Decimal(repr(numbers[2]))
        low, high = (int(Decimal(repr(one.value)) / unit) for one in (values[0], values[-1]))
        return Dimension(name, "step", (low, high, numbers[2]), ())
    kinds = {"uniform": "float", "loguniform": "log", "integer": "int"}
    return Dimension(name, kinds[space.kind], numbers, ())


def _python(tree: Condition, known: Mapping[str, Dimension], rule: Rule) -> str:
    """A condition as Python code."""
    if isinstance(tree, Joined):
        return f"({f' {tree.word} '.join(_python(one, known, rule) for one in tree.parts)})"
    if not isinstance(tree, Compared):
        return f"not {_python(tree.part, known, rule)}"
    one, holds = known[tree.name], rule.comparison(tree)
    at = f'at["{tree.name}"]'
    otherwise = isinstance(one.default, Const) and holds(one.default.value)
    if one.kind == "choice":
        positions = [position for position, value in enumerate(one.values) if holds(value.value)]
        return f"{at} in {[None, *positions] if otherwise else positions}"
    numbers = [meant(value, t.FLOAT) for value in tree.values if value.text != "None"]
    among = "in" if tree.sign in ("==", "in") else "not in"
    test = f"{at} {tree.sign} {numbers[0]!r}" if tree.sign[0] in "<>" else f"{at} {among} {numbers!r}"
    if one.default is None:
        return test
    return f"({at} is None or {test})" if otherwise else f"({at} is not None and {test})"
