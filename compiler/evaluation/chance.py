"""The random functions of sprig, seeded, so that a run that is taken up again gets the same values.

Source: strings.go, numeric.go and crypto.go of github.com/Masterminds/sprig 3.3.0.
"""

from __future__ import annotations

import base64
import string
import uuid
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from flowdsl.compiler.evaluation.values import ExpressionError, NotHere, within
from flowdsl.grammar.digest import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from flowdsl.compiler.evaluation.values import Value


class Chance:
    """A generator of random numbers, reproducible with its seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._made = 0

    def octets(self, count: int) -> bytes:
        """That many random bytes."""
        found = b""
        while len(found) < count:
            self._made += 1
            found += sha256(f"{self._seed}/{self._made}".encode("utf-8", "surrogatepass")).digest()
        return found[:count]

    def below(self, limit: int) -> int:
        """A random number from 0 up to an exclusive limit."""
        return int.from_bytes(self.octets(16), "big") % limit


_SOURCE: ContextVar[Chance | None] = ContextVar("_SOURCE", default=None)


@contextmanager
def by(chance: Chance) -> Generator[None]:
    """Evaluate random functions with this generator; without any, they are not evaluated."""
    token = _SOURCE.set(chance)
    try:
        yield
    finally:
        _SOURCE.reset(token)


def _source() -> Chance:
    if (chance := _SOURCE.get()) is None:
        raise NotHere("what is made by chance is not evaluated here")
    return chance


def _signs(known: str) -> Callable[[int], Value]:
    def made(count: int) -> Value:
        chance = _source()
        return "".join(known[chance.below(len(known))] for _ in range(within(max(count, 0))))

    return made


def _octets(count: int) -> Value:
    return base64.b64encode(_source().octets(within(max(count, 0)))).decode()


def _number(least: int, limit: int) -> Value:
    chance = _source()
    if limit <= least:
        raise ExpressionError("invalid argument to Intn")
    return least + chance.below(limit - least)


def _shuffled(text: str) -> Value:
    chance, left = _source(), [*text]
    return "".join(left.pop(chance.below(len(left))) for _ in text)


CHANCES: dict[str, Callable[..., Value]] = {
    "randAlpha": _signs(string.ascii_letters),
    "randAlphaNum": _signs(string.ascii_letters + string.digits),
    "randAscii": _signs("".join(map(chr, range(32, 127)))),
    "randNumeric": _signs(string.digits),
    "randBytes": _octets,
    "randInt": _number,
    "shuffle": _shuffled,
    "uuidv4": lambda: str(uuid.UUID(bytes=_source().octets(16), version=4)),
}
