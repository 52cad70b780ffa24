"""Parses Kubernetes resource quantities: `500m`, `1.5`, `8Gi`, `1e3`."""

from __future__ import annotations

from decimal import Context, Decimal
from functools import cache, lru_cache
from typing import Any

from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.lalr import Lalr, kind_of
from flowdsl.grammar.regex import regex

_USUAL = regex(r"([0-9]+(?:\.[0-9]+)?)((?:[KMGTPE]i)?|[mkMGTPE])")
_FACTORS = {
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", 1)},
    **{suffix: Decimal(1000) ** -power for power, suffix in enumerate("mun", 1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}

_NUMBER = regex(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_EXPONENT = regex(r"[eE][+-]?[0-9]")
_WORD = regex(r"[^\W\d_]+|%")


@lru_cache(1024)
def quantity(text: str) -> Decimal:
    """The exact value of a Kubernetes quantity, in its base unit (bytes, cores, pieces).

    Suffixes: n u m k M G T P E (powers of 1000), Ki Mi Gi Ti Pi Ei (powers of 1024), or an exponent
    `e3` of at most three digits. Raises GrammarError; common mistakes (`8GB`, `4 Gi`) are answered
    with the right spelling. Source: k8s.io/apimachinery, pkg/api/resource/quantity.go.
    """
    if match := _USUAL.fullmatch(text):
        number, suffix = Decimal(match[1]), match[2]
    else:
        try:
            tree: Any = _lalr().parse(text)
        except GrammarError:
            raise _mistake(text) from None
        number, unit = Decimal(tree.children[0]), tree.children[1]
        if unit is not None and kind_of(unit) == "EXPONENT":
            return number.scaleb(int(unit[1:]), Context(prec=len(text)))
        suffix = str(unit or "")
    return Context(prec=len(text) + 24).multiply(number, _FACTORS[suffix])


def spelled(amount: Decimal) -> str:
    """An amount in common notation: in Ti, Gi or Mi if it is a whole number of them, else without a suffix."""
    whole = int(amount)
    if whole != amount:
        return f"{amount.normalize():f}"
    for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20)):
        if whole >= size and whole % size == 0:
            return f"{whole // size}{unit}"
    return str(whole)


def has_exponent(text: str) -> bool:
    """Whether a quantity has an exponent, such as `1e3`, in place of a suffix."""
    return _EXPONENT.search(text) is not None


@cache
def _lalr() -> Lalr:
    # The probable intention shows in the whole text.
    return Lalr("quantity.lark", lambda _, __: "")


def _mistake(text: str) -> GrammarError:
    """The error for a text that is not a quantity, with the spelling that was probably meant."""
    stripped = text.strip()
    number = _NUMBER.match(stripped)
    if number is None:
        return GrammarError(
            text, 0, len(text), "a number with an optional suffix, such as `2`, `500m` or `4Gi`"
        )
    offset = text.index(stripped)
    rest = stripped[number.end() :]
    unit = rest.strip()
    start = offset + number.end()
    if meant := _meant(unit):
        choices = " or ".join(f"`{number[0]}{suffix}`" for suffix in meant)
        return GrammarError(text, start, offset + len(stripped), choices)
    if not unit:  # only whitespace around the number
        return GrammarError(text, 0, len(text), f"`{stripped}` without white space")
    return GrammarError(
        text, start, offset + len(stripped), "a suffix of n u m k M G T P E or Ki Mi Gi Ti Pi Ei"
    )


def _meant(unit: str) -> tuple[str, ...]:
    """The suffixes that a misspelt unit may stand for."""
    if unit in _FACTORS and unit:
        return (unit,)
    word = _WORD.fullmatch(unit)
    lower = unit.lower()
    if word is None:
        return ()
    if lower in ("cpu", "cpus", "core", "cores", "gpu", "gpus", "b", "byte", "bytes"):
        return ("",)
    letter = lower[0] if lower[0] in "kmgtpe" else ""
    decimal = "k" if letter == "k" else letter.upper()
    if letter and lower in (f"{letter}i", f"{letter}ib"):
        return (f"{letter.upper()}i",)
    if letter and lower in (letter, f"{letter}b"):
        return (decimal, f"{letter.upper()}i")
    return ()
