"""The containers of a run that have logs, by names that its author knows.

The controller names a node by the path to it: `run.train(3:lr:0.1)(1)` is the second attempt at the fourth round of
the task `train`. Source: operator.go and steps.go of Argo 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.runtime.local.controller.names import LEARNING
from flowdsl.runtime.names import hyphened

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = r"[^.()\[\]]+"
_PIECE = regex(rf"\.(?P<name>{_NAME})|\[\d+\]|\((?P<attempt>\d+)\)|\((?P<round>\d+):")
_ITEM_ENDS = regex(rf"\)(?=$|\.{_NAME}|\(\d+[:)]|\[\d+\])")
_NUMBER = regex(r'(?:^|[{,])"?(?:i|flowdsl-index)"?: ?"?(?:/\d+)*/(\d+)')
"""The number of a trial in the node name, for a sweep that learns; rounds are numbered separately."""
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f]")


class Place(NamedTuple):
    """The position of a step in its run."""

    path: tuple[str, ...]
    """The names on the path to it; a loop's has the number of the round: `("runs", "train(3)")`."""
    attempts: tuple[int, ...] = ()
    """The numbers of attempts, from 0, for each part of the path that may be retried."""

    def called(self, otherwise: str) -> str:
        """Its name; a run of one step has no path."""
        name = _CONTROL.sub("", ".".join(self._short()) or otherwise)
        if not any(self.attempts):
            return name
        return f"{name}, attempt {'.'.join(str(one + 1) for one in self.attempts)}"

    def _short(self) -> list[str]:
        """The path, without graphs that exist only for a loop: `train(3)` for `train.train(3)`."""
        below = (*self.path[1:], "")
        return [one for one, next_ in zip(self.path, below, strict=False) if not next_.startswith(f"{one}(")]

    def within(self, wanted: str) -> bool:
        """Whether a name refers to it: its own or that of what contains it, with or without the rounds of loops."""
        names = wanted.split(".")
        return any(
            all(_same(*pair) for pair in zip(path[at:], names, strict=False))
            for path in _ways(self.path)
            for at in range(len(path) - len(names) + 1)
        )

    def ends(self, wanted: str) -> bool:
        """Whether a name is its own, or the end of the path to it."""
        names = [hyphened(one) for one in wanted.split(".")]
        return any([hyphened(one) for one in path[-len(names) :]] == names for path in _ways(self.path))


def _ways(path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """A path as it is, and with rounds by the names of the graphs around their loops: `runs(3)` for `runs.train(3)`."""
    yield path
    for at in range(len(path) - 1, 0, -1):
        name, bracket, number = path[at].partition("(")
        if bracket and "(" not in path[at - 1] and name != path[at - 1]:
            yield from _ways((*path[: at - 1], f"{path[at - 1]}({number}", *path[at + 1 :]))


def _same(name: str, wanted: str) -> bool:
    plain = hyphened(wanted)
    return any(hyphened(one) == plain for one in (name, name.partition("(")[0]))


def place(run: str, node: str) -> Place:
    """The position of a node in a run, by its name."""
    rest = node.removeprefix(run)
    path: list[str] = []
    attempts: list[int] = []
    at = 0
    while matched := _PIECE.match(rest, at):
        at = matched.end()
        if matched["name"] is not None:
            path.append(matched["name"])
        elif matched["attempt"] is not None:
            attempts.append(int(matched["attempt"]))
        elif matched["round"] is not None:
            ends = _ITEM_ENDS.search(rest, at)
            item = rest[at : ends.start() if ends else len(rest)]
            at = ends.end() if ends else len(rest)
            number = _NUMBER.search(item) if path[1:] and LEARNING.match(path[-2]) else None
            path[-2 if number else -1 :] = [
                f"{''.join(path[-1:])}({number[1] if number else matched['round']})"
            ]
    if at < len(rest):
        path.append(rest[at:].removeprefix("."))
    return Place(tuple(path), tuple(attempts))


def called(run: str, node: str) -> str:
    """The name of a node's step as users see it, whichever attempt it is: `runs.train(3)`."""
    return Place(place(run, node).path).called(run)


class Source(NamedTuple):
    """One container of one attempt of a step."""

    place: Place
    called: str
    """Its name, with the container if there are several."""
    step: str
    """The name of its step, without the attempt."""
    pod: str
    container: str
    started: str = ""
    """When it began, in RFC 3339; empty if it has not."""
    uid: str = ""
    """The uid of the pod."""
    node: str = ""
    """The node of the cluster that it runs on; empty if unknown."""
    run: str = ""
    """The name of the run that owns the pod."""
