"""Uses of `item`: that there is a loop, and that its items have what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.manifest.items import survey
from flowdsl.compiler.lint.variables import typing
from flowdsl.compiler.lint.variables.findings import (
    ItemKey,
    LiteralTag,
    UnknownVariable,
)
from flowdsl.compiler.lint.variables.unreplaced import unreplaced
from flowdsl.compiler.lint.variables.uses import (
    Place,
    Spot,
    gathered,
    loop_around,
)
from flowdsl.compiler.lint.workflow.expression_values import ITEM
from flowdsl.compiler.lint.workflow.loops import read_list
from flowdsl.compiler.lint.workflow.passed_values import arriving, items_of, named
from flowdsl.compiler.tree import compact, is_mapping, string

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.items import Survey
    from flowdsl.compiler.lint.manifest.template import Call
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.functions import Kind


def is_item(name: str) -> bool:
    """Whether a variable is the item of a loop, or a key of it."""
    return name.partition(".")[0] == ITEM


class Items:
    """Checks how texts use the items of loops."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._lists: dict[int, list[Survey]] = {}

    def used(
        self, spot: Spot, key: str, place: Place, exact: bool, text: str | None = None
    ) -> Iterator[Problem]:
        """The findings about `item` or `item.key`, in a tag of a `text` or in an expression."""
        call = loop_around(place, spot.path)
        name = f"item.{key}" if key else "item"
        if call is None:
            own = loop_around(place)
            why = "there is no loop" if own is None else "a loop has no items before it begins"
            reason = "add a loop here, or pass the item on as an argument" if own is None else "remove it"
            if key or text is None:
                yield spot.problem(UnknownVariable(name, (), reason if own is None else f"{reason}: {why}"))
            elif (
                literal := unreplaced(LiteralTag(name, why, reason), name, spot.path, text, place)
            ) is not None:
                yield spot.problem(literal)
            return
        if not key:
            return
        if call.loop == "withSequence":
            reason = "the items of `withSequence` are numbers: write `item`"
            yield spot.problem(UnknownVariable(name, ("item",), reason))
            return
        whole = key if exact else key.partition(".")[0]
        found = next((each for each in self._of_loop(call) if whole not in each.common), None)
        if found is None:
            return
        if not found.some:
            yield spot.problem(UnknownVariable(name, ("item",), "the items are plain values: write `item`"))
        else:
            which = "not every item has" if key in found.some else "no item has"
            yield spot.problem(ItemKey(which, key, found.some - {key}))

    def extra(self, use: typing.Use, text: str, place: Place, path: Path) -> typing.Extra:
        """What is known at the place of an expression, including the kind of `item`: a mapping if the items are."""
        call = loop_around(place, path) if "item" in text else None
        if call is None:
            return typing.Extra(use, item="any")  # a missing loop is reported elsewhere
        if call.loop != "withItems":
            return typing.Extra(use, open=call.loop == "withParam")
        found = self._view.survey(call).kinds
        kind: Kind = "text" if dict not in found else "map" if len(found) == 1 else "any"
        return typing.Extra(use, item=kind)

    def values(self, name: str, place: Place, path: Path) -> Iterator[tuple[Path, str]]:
        """The known values of `item` or `item.key` at the place of an expression, each with its path."""
        call = loop_around(place, path)
        if call is None or any(map(is_item, named(string(call.data, "when")))):
            return  # not every item gets through
        key = name.partition(".")[2]
        for where, item in items_of(self._view, call):
            value = item.get(key) if key and is_mapping(item) else None if key else item
            if isinstance(value, (str, int, float)) and "{{" not in str(value):
                inner = (key,) if key and where[-2:-1] == ("withItems",) else ()
                yield (*where, *inner), value if isinstance(value, str) else compact(value)

    def _of_loop(self, call: Call) -> list[Survey]:
        """The known items of a loop: for `withParam`, each list that it may get."""
        if call.loop == "withItems":
            return [self._view.survey(call)]
        if id(call) not in self._lists:
            text: str = call.data["withParam"]
            written = arriving(self._view, call.owner, text, (*call.path, "withParam"))
            lists = [read_list(value) for _, value in written] or [gathered(call, text)]
            self._lists[id(call)] = [survey(each, written=False) for each in lists if each]
        return self._lists[id(call)]
