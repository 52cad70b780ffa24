"""What was learned about types in one pass over the document, for the next pass.

Whatever is handed on has one type, and that is all there is to it for most manifests. Where a value is compared as a
number in one place and becomes part of a text in another one, what is handed over there keeps its type; and where the
value is a text in any case, as 007 is, the comparison is left to Argo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Asked
    from flowdsl.compiler.importing.ports import Port
    from flowdsl.compiler.tree import Path

Place = tuple[int, "Path"]
"""A path in a document, which is identified by its id."""


class Types:
    """Facts about types from earlier readings, and those that this reading finds."""

    def __init__(self, before: Types | None = None) -> None:
        self._parted: set[Place] = set() if before is None else {*before._parted}
        self._left: set[Place] = set() if before is None else {*before._left}
        self._handed: list[tuple[Place, Port, Port]] = []
        self._asked: list[tuple[Place, Asked]] = []
        self._counted: list[tuple[Place, Port]] = []

    def apart(self, place: Place, given: Port, taken: Port) -> bool:
        """Whether a value that is passed at a place keeps its own type."""
        self._handed.append((place, given, taken))
        if place in self._parted:
            taken.root.unknown = True
        return place in self._parted

    def is_apart(self, place: Place) -> bool:
        """Whether a value that is passed at a place is known to keep its own type."""
        return place in self._parted

    def counted(self, place: Place, taken: Port) -> None:
        """Record that the index of a loop is passed at a place; it becomes a text if texts are expected."""
        self._counted.append((place, taken))

    def is_left(self, place: Place) -> bool:
        """Whether a condition is left to Argo."""
        return place in self._left

    def ask(self, place: Place, asked: Asked) -> None:
        """Record a condition."""
        self._asked.append((place, asked))

    def settle(self) -> Types | None:
        """Propagate types along with values; returns facts for another reading if a condition does not fit them."""
        self._hand_on()
        after = Types(self)
        for place, asked in self._asked:
            wrong = asked.texts
            if not wrong:
                continue
            roots = {id(port.root) for port in wrong}
            parted = {
                where
                for where, given, taken in self._handed
                if where not in self._parted
                and {id(given.root), id(taken.root)} <= roots
                and not given.kind.startswith("list")
            }
            after._parted |= parted
            if not parted:
                after._left.add(place)
        after._parted |= {place for place, taken in self._counted if not taken.counts}
        more = after._parted != self._parted or after._left != self._left
        return after if more else None

    def _hand_on(self) -> None:
        """Propagate that a number is expected to where the value comes from; texts remain texts."""
        parted = [(given, taken) for place, given, taken in self._handed if place in self._parted]
        more = True
        while more:
            more = False
            for given, taken in parted:
                before = given.root.number, given.root.shown, taken.root.text
                wanted = taken.root
                if not wanted.text:
                    given.asked(number=wanted.number, whole=wanted.whole)
                given.asked(shown=wanted.shown)
                taken.asked(text=not given.counts or (given.kind, taken.kind) == ("float", "int"))
                more = more or before != (given.root.number, given.root.shown, taken.root.text)
